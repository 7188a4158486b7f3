//! Damage in one place leaves everything else readable.

use std::path::Path;

use attache_domain::{Fact, Seq, TaskState};
use attache_store::conformance::Sample;
use attache_store::{
    EventLog, ListQuery, Record, RecordChange, Records, Snapshot, StoreError, StoreStatus, TaskIndex,
};
use attache_store_sql::{SqliteOptions, SqliteStore};
use rusqlite::Connection;

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path, SqliteOptions::default()).expect("opens")
}

/// Changes the file behind the store's back.
fn tamper(path: &Path, sql: &str) {
    let connection = Connection::open(path).expect("opens");
    assert!(connection.execute(sql, []).expect("is SQL") > 0, "{sql} changed nothing");
}

fn said(text: &str) -> Fact {
    Fact::TextSaid { text: text.into(), last: false }
}

fn query(limit: usize) -> ListQuery {
    let scope = Sample::new("any").key.scope;
    ListQuery { scope, context: None, state: None, since: None, after: None, limit }
}

#[track_caller]
fn check_corrupt<T: std::fmt::Debug>(result: Result<T, StoreError>) {
    assert!(matches!(result, Err(StoreError::Corrupt { .. })), "{result:?}");
}

/// Every bit of a batch as it is stored: body and checksum.
#[tokio::test]
async fn a_flipped_bit_in_a_batch_is_always_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let store = open(&path);
    let mut sample = Sample::new("a");
    sample.append(&store, [said("a"), said("b")]).await.unwrap();
    // Behind the back of the store, which reads what is there each time.
    let tampering = Connection::open(&path).unwrap();
    tampering.execute_batch("PRAGMA synchronous = OFF").unwrap();
    let (body, checksum): (Vec<u8>, i64) = tampering
        .query_row("SELECT CAST(body AS BLOB), checksum FROM batch", [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    let put = |body: &[u8], checksum: i64| {
        let changed = "UPDATE batch SET body = CAST(?1 AS TEXT), checksum = ?2";
        assert_eq!(tampering.execute(changed, (body, checksum)).unwrap(), 1);
    };
    for bit in 0..body.len() * 8 {
        let mut flipped = body.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        put(&flipped, checksum);
        check_corrupt(store.read(&sample.key, Seq::START, 10).await);
    }
    for bit in 0..i64::BITS {
        put(&body, checksum ^ (1 << bit));
        check_corrupt(store.read(&sample.key, Seq::START, 10).await);
    }
    put(&body, checksum);
    assert_eq!(store.read(&sample.key, Seq::START, 10).await.unwrap().len(), 2);
}

/// Destroys one page in the middle of a table or an index.
fn destroy_page(path: &Path, name: &str) {
    let connection = Connection::open(path).expect("opens");
    let pages = "SELECT pageno FROM dbstat WHERE name = ?1 AND pagetype = 'leaf' ORDER BY path";
    let mut statement = connection.prepare(pages).expect("is SQL");
    let pages: Vec<u32> = statement
        .query_map([name], |row| row.get(0))
        .expect("is SQL")
        .map(|page| page.expect("a number"))
        .collect();
    let size: u32 = connection.query_row("PRAGMA page_size", [], |row| row.get(0)).expect("is SQL");
    let start = ((pages[pages.len() / 2] - 1) * size) as usize;
    drop(statement);
    drop(connection);
    let mut bytes = std::fs::read(path).expect("reads");
    bytes[start..start + size as usize].fill(0xff);
    std::fs::write(path, bytes).expect("writes");
}

/// SQLite cannot read what lies on such a page, and stops there; everything else is still found.
#[tokio::test]
async fn a_damaged_page_of_the_listing_leaves_out_what_lies_on_it() {
    const TASKS: usize = 400;
    for name in ["task", "task_by_status", "task_unfinished"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tasks.db");
        let store = open(&path);
        for number in 0..TASKS {
            let seconds = i64::try_from(number).unwrap();
            Sample::new(&format!("task-{number:04}"))
                .in_context("one")
                .unfinished(true)
                .with_status_at(seconds)
                .put(&store)
                .await;
        }
        drop(store);
        destroy_page(&path, name);
        let store = open(&path);
        // The table has some fifty rows on a page; the indexes repeat what is in it.
        let least = if name == "task" { TASKS - 150 } else { TASKS };
        let unfinished = store.unfinished().await.unwrap();
        assert!((least..=TASKS).contains(&unfinished.len()), "{name}: {}", unfinished.len());
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = store.list(&ListQuery { after: after.take(), ..query(70) }).await.unwrap();
            found.extend(page.tasks.iter().map(|place| place.task.as_str().to_owned()));
            if !page.more {
                break;
            }
            after = page.tasks.last().cloned();
        }
        assert!((least..=TASKS).contains(&found.len()), "{name}: {}", found.len());
        assert!(found.is_sorted_by(|newer, older| newer > older), "{name}: the latest first, each once");
        let context = Some("one".into());
        let listed = store.list(&ListQuery { context, ..query(TASKS) }).await.unwrap();
        assert!((least..=TASKS).contains(&listed.tasks.len()), "{name}: {}", listed.tasks.len());
        assert!(store.counts().await.unwrap().total >= u64::try_from(least).unwrap(), "{name}");
        assert!(store.status().unreadable_rows > 0, "{name}: it is told");
    }
}

#[tokio::test]
async fn events_before_the_damage_are_read_and_other_tasks_are_not_concerned() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let store = open(&path);
    let (mut a, mut b) = (Sample::new("a"), Sample::new("b"));
    for sample in [&mut a, &mut b] {
        for text in ["one", "two", "three"] {
            sample.append(&store, [said(text)]).await.unwrap();
        }
    }
    drop(store);
    tamper(&path, "UPDATE batch SET body = replace(body, 'two', 'owt') WHERE place >> 28 = 1");
    let store = open(&path);
    assert_eq!(store.read(&a.key, Seq::START, 10).await.unwrap().len(), 1);
    check_corrupt(store.read(&a.key, Seq(1), 10).await);
    assert_eq!(store.read(&a.key, Seq(2), 10).await.unwrap().len(), 1);
    let each = store.read_each(&[a.key.clone(), b.key.clone()], 10).await.unwrap();
    assert!(each[0].is_err(), "a part of a log is not taken for all of it");
    assert_eq!(each[1].as_ref().unwrap().len(), 3);
    // The damaged log can still be added to, and so can the other.
    a.put(&store).await;
    b.put(&store).await;
}

#[tokio::test]
async fn missing_events_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let store = open(&path);
    let (mut hole, mut begin, mut all) = (Sample::new("hole"), Sample::new("begin"), Sample::new("all"));
    for sample in [&mut hole, &mut begin, &mut all] {
        for text in ["one", "two", "three"] {
            sample.append(&store, [said(text)]).await.unwrap();
        }
    }
    drop(store);
    tamper(&path, "DELETE FROM batch WHERE place IN ((1 << 28) + 2, (2 << 28) + 1) OR place >> 28 = 3");
    let store = open(&path);
    assert_eq!(store.read(&hole.key, Seq::START, 10).await.unwrap().len(), 1);
    check_corrupt(store.read(&hole.key, Seq(1), 10).await);
    check_corrupt(store.read(&begin.key, Seq::START, 10).await);
    check_corrupt(store.read(&all.key, Seq::START, 10).await);
    let each = store.read_each(&[begin.key, all.key], 10).await.unwrap();
    assert!(each.iter().all(Result::is_err));
}

#[tokio::test]
async fn rows_without_a_checksum_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let store = open(&path);
    let mut sample = Sample::new("a");
    sample.put(&store).await;
    store.save_snapshot(&sample.key, Snapshot { at: Seq(1), bytes: vec![1] }).await.unwrap();
    store.get_or_put("space", "key", b"value".to_vec()).await.unwrap();
    drop(store);
    for table in ["batch", "snapshot", "record"] {
        tamper(&path, &format!("UPDATE {table} SET checksum = NULL"));
    }
    let store = open(&path);
    assert_eq!(store.read(&sample.key, Seq::START, 10).await.unwrap().len(), 1);
    assert!(store.snapshot(&sample.key, Seq(9)).await.unwrap().is_some());
    assert_eq!(store.get("space", "key").await.unwrap().as_deref(), Some(&b"value"[..]));
}

#[tokio::test]
async fn a_damaged_listing_row_is_left_out_and_pages_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let store = open(&path);
    for number in 0..9 {
        let state = if number % 2 == 0 { TaskState::Completed } else { TaskState::Working };
        let sample = Sample::new(&format!("{number}")).in_state(state).unfinished(number % 2 == 1);
        sample.with_status_at(number).put(&store).await;
    }
    drop(store);
    // Far outside of any calendar, and text that is none.
    tamper(&path, "UPDATE task SET status_at = 9000000000000000000 WHERE id = '4'");
    tamper(&path, "UPDATE task SET id = CAST(x'ff33' AS TEXT) WHERE id = '3'");
    let store = open(&path);
    for limit in [1, 2, 3, 100] {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = store.list(&ListQuery { after: after.take(), ..query(limit) }).await.unwrap();
            found.extend(page.tasks.iter().map(|place| place.task.as_str().to_owned()));
            if !page.more {
                break;
            }
            after = page.tasks.last().cloned();
            assert!(after.is_some(), "more tasks follow an empty page");
        }
        assert_eq!(found, ["8", "7", "6", "5", "2", "1", "0"], "{limit} at a time");
    }
    let working = ListQuery { state: Some(TaskState::Working), ..query(100) };
    assert_eq!(store.list(&working).await.unwrap().tasks.len(), 3);
    let unfinished = store.unfinished().await.unwrap();
    assert_eq!(unfinished.iter().map(|key| key.task.as_str()).collect::<Vec<_>>(), ["1", "5", "7"]);
    assert!(store.status().unreadable_rows > 0);
    // A write to the task whose row is damaged fails for itself only.
    let damaged = Sample { head: Seq(1), ..Sample::new("4") }.append_of([said("more")]);
    let mut sound = Sample { head: Seq(1), ..Sample::new("8") };
    let append = sound.append_of([said("more")]);
    let (damaged, sound_too) = tokio::join!(store.append(damaged), store.append(append));
    check_corrupt(damaged);
    sound_too.unwrap();
    sound.head = Seq(2);
    sound.put(&store).await;
}

#[tokio::test]
async fn damaged_records_and_snapshots_are_named_and_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let store = open(&path);
    let mut sample = Sample::new("a");
    sample.put(&store).await;
    store.save_snapshot(&sample.key, Snapshot { at: Seq(1), bytes: vec![1] }).await.unwrap();
    for key in ["a", "b", "c", "d"] {
        store.get_or_put("space", key, key.as_bytes().to_vec()).await.unwrap();
    }
    drop(store);
    tamper(&path, "UPDATE record SET value = x'00' WHERE key = 'b'");
    tamper(&path, "UPDATE snapshot SET bytes = x'00'");
    let store = open(&path);
    check_corrupt(store.get("space", "b").await);
    check_corrupt(store.get_or_put("space", "b", b"other".to_vec()).await);
    let found = store.list_prefix("space", "", None, 3).await.unwrap();
    assert_eq!(found.iter().map(|record| record.key.as_str()).collect::<Vec<_>>(), ["a", "c", "d"]);
    check_corrupt(store.snapshot(&sample.key, Seq(9)).await);
    assert_eq!(store.status(), StoreStatus { unreadable_rows: 1, ..StoreStatus::default() });
    // Another value mends it.
    let record = Record { key: "b".into(), value: b"new".to_vec() };
    store.change(vec![RecordChange::Put { space: "space", record }]).await.unwrap();
    assert_eq!(store.get("space", "b").await.unwrap().as_deref(), Some(&b"new"[..]));
}

/// Each kind of write fails in turn, alone and in company, in the way in which a full disk ends a whole transaction.
#[tokio::test]
async fn a_write_that_fails_leaves_nothing_behind_and_can_be_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tasks.db");
    let store = open(&path);
    let mut sample = Sample::new("a");
    sample.put(&store).await;
    let tampering = Connection::open(&path).unwrap();
    for (round, table) in ["batch", "snapshot", "record", "batch"].into_iter().enumerate() {
        let fails = |when: &str| {
            let raise = "BEGIN SELECT RAISE(ROLLBACK, 'database or disk is full'); END";
            format!("CREATE TRIGGER fails_{when} BEFORE {when} ON {table} {raise}")
        };
        tampering.execute_batch(&format!("{}; {}", fails("INSERT"), fails("UPDATE"))).unwrap();
        let snapshot = Snapshot { at: sample.head, bytes: vec![7] };
        let key = format!("key-{round}");
        let change = || {
            let record = Record { key: key.clone(), value: b"value".to_vec() };
            store.change(vec![RecordChange::Put { space: "space", record }])
        };
        let before = sample.clone();
        let (appended, kept, changed) = tokio::join!(
            sample.append(&store, [said("more")]),
            store.save_snapshot(&before.key, snapshot.clone()),
            change(),
        );
        let failed =
            [("batch", appended.is_err()), ("snapshot", kept.is_err()), ("record", changed.is_err())];
        assert!(failed.contains(&(table, true)), "{table}: {failed:?}");
        // What was refused is not there, and what was accepted is.
        let events = store.read(&before.key, before.head, 10).await.unwrap().len();
        assert_eq!(events, usize::from(appended.is_ok()), "{table}");
        let found = store.snapshot(&before.key, before.head).await.unwrap();
        assert_eq!(found.is_some_and(|found| found.at == before.head), kept.is_ok(), "{table}");
        assert_eq!(store.get("space", &key).await.unwrap().is_some(), changed.is_ok(), "{table}");
        tampering.execute_batch("DROP TRIGGER fails_INSERT; DROP TRIGGER fails_UPDATE").unwrap();
        if appended.is_err() {
            sample.append(&store, [said("more")]).await.unwrap();
        }
        store.save_snapshot(&before.key, snapshot).await.unwrap();
        change().await.unwrap();
        assert_eq!(store.read(&before.key, before.head, 10).await.unwrap().len(), 1, "{table}");
    }
    drop(tampering);
    drop(store);
    let store = open(&path);
    assert_eq!(store.read(&sample.key, Seq::START, 100).await.unwrap().len(), 5);
    assert_eq!(store.status(), StoreStatus::default());
}
