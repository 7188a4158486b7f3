use std::path::Path;

use attache_domain::{ContextId, Seq, TaskState, TaskSummary, Timestamp};

use super::*;
use crate::reader::Reader;
use crate::schema;

type Waiter = oneshot::Receiver<Result<WriteReply, StoreError>>;

fn database() -> Connection {
    let mut connection = Connection::open_in_memory().unwrap();
    schema::migrate(&mut connection, Path::new("test")).unwrap();
    connection
}

fn append(task: &str, expected: u64, body: String) -> (Write, Waiter) {
    let summary = TaskSummary {
        context: ContextId::new("context"),
        state: TaskState::Working,
        status_at: Timestamp::UNIX_EPOCH,
        hidden: false,
        unfinished: true,
    };
    let key = TaskKey { scope: Scope::new("tenant", "owner"), task: task.into() };
    let (answer, waiter) = oneshot::channel();
    let (expected, last) = (Seq(expected), Seq(expected + 1));
    let body_checksum = checksum::of_body(body.as_bytes());
    let body = AppendBody { key, expected, last, body, body_checksum, summary };
    (Write { change: WriteRequest::Append(body), answer }, waiter)
}

fn write(writer: &mut Writer<'_>, writes: Vec<(Write, Waiter)>) -> Vec<Result<WriteReply, StoreError>> {
    let (mut writes, waiters): (Vec<_>, Vec<_>) = writes.into_iter().unzip();
    writer.commit_together(&mut writes);
    waiters.into_iter().map(|mut waiter| waiter.try_recv().unwrap()).collect()
}

fn count(connection: &Connection, table: &str) -> i64 {
    connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
}

/// What listings show.
fn counted(connection: &Connection) -> i64 {
    connection.query_row("SELECT sum(tasks) FROM task_count", [], |row| row.get(0)).unwrap()
}

fn small(task: &str, expected: u64) -> (Write, Waiter) {
    append(task, expected, "[]".to_owned())
}

#[test]
fn a_conflict_among_several_appends_concerns_only_itself() {
    let connection = database();
    let mut writer = Writer::prepare(&connection, Arc::default()).unwrap();
    let answers = write(
        &mut writer,
        vec![small("a", 0), small("a", 0), small("b", 0), small("b", 5), small("a", 1), small("none", 3)],
    );
    let heads: Vec<_> = answers
        .into_iter()
        .map(|answer| match answer {
            Ok(_) => None,
            Err(StoreError::Conflict { head, .. }) => Some(head.0),
            Err(error) => panic!("{error}"),
        })
        .collect();
    assert_eq!(heads, [None, Some(1), None, Some(1), None, Some(0)]);
    assert_eq!((count(&connection, "task"), count(&connection, "batch")), (2, 3));
}

#[test]
fn a_full_disk_fails_the_whole_transaction_and_the_next_one_works() {
    let connection = database();
    let mut writer = Writer::prepare(&connection, Arc::default()).unwrap();
    assert!(write(&mut writer, vec![small("a", 0)])[0].is_ok());

    let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    connection.pragma_update_and_check(None, "max_page_count", pages + 2, |_| Ok(())).unwrap();
    let large = append("b", 0, " ".repeat(100_000));
    let answers = write(&mut writer, vec![small("a", 1), large, small("c", 0)]);
    for answer in answers {
        assert!(matches!(answer, Err(StoreError::Unavailable { .. })), "{answer:?}");
    }
    assert_eq!((count(&connection, "task"), count(&connection, "batch")), (1, 1));
    assert_eq!(counted(&connection), 1);

    // Nothing of the failed transaction is remembered: "a" still stands at one.
    let answers = write(&mut writer, vec![small("a", 1), small("c", 0)]);
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!((count(&connection, "task"), count(&connection, "batch")), (2, 3));
    assert_eq!(counted(&connection), 2);
}

#[test]
fn the_first_value_of_a_record_wins_within_a_transaction() {
    let connection = database();
    let mut writer = Writer::prepare(&connection, Arc::default()).unwrap();
    let put = |value: &[u8]| {
        let (answer, waiter) = oneshot::channel();
        let change = WriteRequest::Record { space: "space".into(), key: "key".into(), value: value.to_vec() };
        (Write { change, answer }, waiter)
    };
    for answer in write(&mut writer, vec![put(b"first"), put(b"second")]) {
        assert!(matches!(answer, Ok(WriteReply::Record(value)) if value == b"first"));
    }
}

/// A listing and a read after it see the same commit: there is nothing to tell readers.
#[test]
fn what_is_listed_is_found() {
    let connection = database();
    let shared = Arc::<SharedState>::default();
    let mut writer = Writer::prepare(&connection, shared.clone()).unwrap();
    let mut reader = Reader::prepare(&connection, shared).unwrap();
    let key = |task: &str| TaskKey { scope: Scope::new("tenant", "owner"), task: task.into() };
    let opening = || "[{\"seq\":1,\"at\":0,\"fact\":\"cancel_requested\"}]".to_owned();
    let (new, _answer) = append("b", 0, opening());
    writer.transact(&[new]).unwrap().remove(0).unwrap();
    assert_eq!(reader.counts().unwrap().total, 1, "nothing was published");
    assert_eq!(reader.events(&key("b"), Seq::START, 10).unwrap().len(), 1);
    assert_eq!(reader.events_of_listed(&key("b"), 10).unwrap().len(), 1);
    assert_eq!(reader.events_of_listed(&key("c"), 10).unwrap().len(), 0);
}
