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
    let shared = Arc::new(SharedState::default());
    shared.tally.complete([]);
    let mut writer = Writer::prepare(&connection, shared.clone()).unwrap();
    assert!(write(&mut writer, vec![small("a", 0)])[0].is_ok());

    let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    connection.pragma_update_and_check(None, "max_page_count", pages + 2, |_| Ok(())).unwrap();
    let large = append("b", 0, " ".repeat(100_000));
    let answers = write(&mut writer, vec![small("a", 1), large, small("c", 0)]);
    for answer in answers {
        assert!(matches!(answer, Err(StoreError::Unavailable { .. })), "{answer:?}");
    }
    assert_eq!((count(&connection, "task"), count(&connection, "batch")), (1, 1));
    assert_eq!(shared.tally.all(), Some(1));

    // Nothing of the failed transaction is remembered: "a" still stands at one.
    let answers = write(&mut writer, vec![small("a", 1), small("c", 0)]);
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!((count(&connection, "task"), count(&connection, "batch")), (2, 3));
    assert_eq!(shared.tally.all(), Some(2));
}

#[test]
fn tasks_are_found_before_and_after_they_are_filed_and_after_a_crash() {
    const COMMITS: usize = 100;
    const TOGETHER: usize = 150;
    let connection = database();
    let mut writer = Writer::prepare(&connection, Arc::default()).unwrap();
    for commit in 0..COMMITS {
        let names = (0..TOGETHER).map(|number| format!("task {commit}/{number}"));
        let answers = write(&mut writer, names.map(|name| small(&name, 0)).collect());
        assert!(answers.iter().all(Result::is_ok));
    }
    // Some are filed, some are not; those up to the mark all are.
    let filed = count(&connection, "task_by_id");
    assert!(filed > 5_000 && filed < count(&connection, "task"), "{filed} are filed");
    let mark: i64 = connection.query_row("SELECT up_to FROM filing", [], |row| row.get(0)).unwrap();
    assert!(mark > 0, "a whole round was made");
    let missing = "task WHERE number <= (SELECT up_to FROM filing)
        AND number NOT IN (SELECT task FROM task_by_id)";
    assert_eq!(count(&connection, missing), 0);

    let every_opening_conflicts = |writer: &mut Writer<'_>| {
        for commit in 0..COMMITS {
            let names = (0..TOGETHER).step_by(10).map(|number| format!("task {commit}/{number}"));
            for answer in write(writer, names.map(|name| small(&name, 0)).collect()) {
                assert!(matches!(answer, Err(StoreError::Conflict { head: Seq(1), .. })), "{answer:?}");
            }
        }
    };
    every_opening_conflicts(&mut writer);
    drop(writer);
    let mut after_crash = Writer::prepare(&connection, Arc::default()).unwrap();
    every_opening_conflicts(&mut after_crash);

    // A clean end leaves nothing to take up.
    after_crash.filing.file_everything(&connection).unwrap();
    assert_eq!(count(&connection, "task_by_id"), count(&connection, "task"));
    assert_eq!(count(&connection, "task WHERE number > (SELECT up_to FROM filing)"), 0);
    drop(after_crash);
    every_opening_conflicts(&mut Writer::prepare(&connection, Arc::default()).unwrap());
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

/// A commit shows to readers a moment before they are told of it; a listing may be read in between.
#[test]
fn what_is_listed_is_found_before_readers_are_told_of_it() {
    let connection = database();
    let shared = Arc::<SharedState>::default();
    let mut writer = Writer::prepare(&connection, shared.clone()).unwrap();
    let mut reader = Reader::prepare(&connection, shared).unwrap();
    let key = |task: &str| TaskKey { scope: Scope::new("tenant", "owner"), task: task.into() };
    let opening = || "[{\"seq\":1,\"at\":0,\"fact\":\"cancel_requested\"}]".to_owned();
    write(&mut writer, vec![append("a", 0, opening())]);
    let (new, _answer) = append("b", 0, opening());
    writer.transact(&[new]).unwrap().remove(0).unwrap();
    assert_eq!(reader.events(&key("b"), Seq::START, 10).unwrap().len(), 0, "nobody was told");
    assert_eq!(reader.events_of_listed(&key("b"), 10).unwrap().len(), 1);
    assert_eq!(reader.events_of_listed(&key("c"), 10).unwrap().len(), 0);
    writer.publish();
    for task in ["a", "b"] {
        assert_eq!(reader.events(&key(task), Seq::START, 10).unwrap().len(), 1);
        assert_eq!(reader.events_of_listed(&key(task), 10).unwrap().len(), 1);
    }
}
