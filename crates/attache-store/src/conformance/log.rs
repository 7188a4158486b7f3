//! Checks of the task log: appends, reads, snapshots.

use std::collections::BTreeSet;
use std::sync::Arc;

use attache_domain::{Artifact, Event, Fact, Part, PartContent, Scope, Seq, TaskKey};
use serde_json::{Value, json};

use super::Store;
use super::samples::{Sample, every_kind_of_fact, name_of, numbered, said};
use crate::{EventLog, ListQuery, Snapshot, StoreError};

/// More than any check appends.
const ALL: usize = 100_000;

pub async fn an_appended_batch_reads_back_whole(store: Arc<impl Store>) {
    let mut sample = Sample::new("a");
    let mut events = sample.append(&*store, numbered(3)).await.expect("opens");
    assert_eq!(read(&*store, &sample.key, 0).await, events);
    events.extend(sample.append(&*store, numbered(2)).await.expect("goes on"));
    assert_eq!(read(&*store, &sample.key, 0).await, events);
}

/// JSON of requests has up to 127 levels; the log adds some.
pub async fn what_is_nested_deep_reads_back_whole(store: Arc<impl Store>) {
    let deep = (0..127).fold(Value::Null, |inner, _| json!([inner]));
    let artifact = Artifact {
        id: "deep".into(),
        name: None,
        description: None,
        parts: vec![Part::new(PartContent::Data(deep))],
        metadata: None,
        extensions: Vec::new(),
    };
    let fact = Fact::ArtifactAdded { artifact: Box::new(artifact), append: false, last: true };
    let mut sample = Sample::new("a");
    let events = sample.append(&*store, [fact]).await.expect("opens");
    assert_eq!(read(&*store, &sample.key, 0).await, events);
}

pub async fn a_conflict_tells_expected_and_head_and_writes_nothing(store: Arc<impl Store>) {
    let mut sample = Sample::new("a");
    let events = sample.append(&*store, numbered(3)).await.expect("opens");
    let stale = Sample { head: Seq(1), ..sample.clone() };
    let refused = store.append(stale.append_of([said("late")])).await;
    expect_conflict(refused, 1, 3);
    assert_eq!(read(&*store, &sample.key, 0).await, events);
    // A writer that has read the new events can append.
    sample.put(&*store).await;
}

pub async fn a_refused_append_leaves_the_listing_alone(store: Arc<impl Store>) {
    let mut sample = Sample::new("a").with_status_at(1);
    sample.put(&*store).await;
    let query = ListQuery {
        scope: sample.key.scope.clone(),
        context: None,
        state: None,
        since: None,
        after: None,
        limit: 10,
    };
    let before = store.list(&query).await.expect("lists");
    let stale = Sample { head: Seq(7), ..sample }.with_status_at(9).unfinished(true);
    expect_conflict(store.append(stale.append_of(numbered(1))).await, 7, 1);
    assert_eq!(store.list(&query).await.expect("lists"), before);
    assert_eq!(store.unfinished().await.expect("lists"), []);
}

pub async fn appending_beyond_the_head_conflicts(store: Arc<impl Store>) {
    let mut sample = Sample::new("a");
    sample.put(&*store).await;
    let ahead = Sample { head: Seq(2), ..sample.clone() };
    expect_conflict(store.append(ahead.append_of(numbered(1))).await, 2, 1);
    assert_eq!(read(&*store, &sample.key, 0).await.len(), 1);
}

pub async fn appending_to_a_missing_task_conflicts_at_zero(store: Arc<impl Store>) {
    let sample = Sample { head: Seq(4), ..Sample::new("a") };
    expect_conflict(store.append(sample.append_of(numbered(1))).await, 4, 0);
    assert_eq!(read(&*store, &sample.key, 0).await, []);
}

pub async fn expecting_zero_of_an_existing_task_conflicts(store: Arc<impl Store>) {
    let mut sample = Sample::new("a");
    let events = sample.append(&*store, numbered(2)).await.expect("opens");
    expect_conflict(store.append(Sample::new("a").append_of(numbered(1))).await, 0, 2);
    assert_eq!(read(&*store, &sample.key, 0).await, events);
}

pub async fn a_cursor_inside_a_batch_gives_exactly_the_events_after_it(store: Arc<impl Store>) {
    let mut sample = Sample::new("a");
    let mut events = Vec::new();
    for count in [3, 1, 4] {
        events.extend(sample.append(&*store, numbered(count)).await.expect("appends"));
    }
    for after in 0..=events.len() {
        let expected = &events[after..];
        assert_eq!(read(&*store, &sample.key, after as u64).await, expected, "after {after}");
    }
}

pub async fn several_logs_are_read_in_the_order_asked_for(store: Arc<impl Store>) {
    let mut keys = Vec::new();
    for name in ["a", "b", "c"] {
        let mut sample = Sample::new(name);
        sample.put(&*store).await;
        keys.push(sample.key.clone());
    }
    keys.swap(0, 2);
    keys.insert(1, Sample::new("missing").key);
    let read = store.read_each(&keys, 100).await.expect("reads");
    let read: Vec<_> = read.into_iter().map(|read| read.expect("reads")).collect();
    for (key, events) in keys.iter().zip(&read) {
        assert_eq!(*events, store.read(key, Seq::START, 100).await.expect("reads"), "{key:?}");
    }
    assert_eq!((read.len(), read[1].len()), (4, 0));
}

pub async fn pages_have_no_hole_and_no_repeat(store: Arc<impl Store>) {
    let mut sample = Sample::new("a");
    let mut events = Vec::new();
    for count in [5, 1, 2, 9, 3, 1, 1] {
        events.extend(sample.append(&*store, numbered(count)).await.expect("appends"));
    }
    for limit in [1, 2, 3, 7, 100] {
        let mut found: Vec<Arc<Event>> = Vec::new();
        loop {
            let after = found.last().map_or(Seq::START, |event| event.seq);
            let page = store.read(&sample.key, after, limit).await.expect("reads");
            if page.is_empty() {
                break;
            }
            found.extend(page);
        }
        assert_eq!(found, events, "in pages of {limit}");
    }
}

pub async fn a_page_is_never_empty_while_there_is_more(store: Arc<impl Store>) {
    let mut sample = Sample::new("a");
    sample.append(&*store, numbered(10)).await.expect("opens");
    for after in 0..10 {
        let page = store.read(&sample.key, Seq(after), 1).await.expect("reads");
        assert_eq!(page.first().map(|event| event.seq), Some(Seq(after + 1)));
    }
}

pub async fn a_cursor_at_or_beyond_the_head_reads_empty(store: Arc<impl Store>) {
    let mut sample = Sample::new("a");
    sample.append(&*store, numbered(2)).await.expect("opens");
    // A second task, which a read beyond the end of the first could return.
    Sample::new("b").put(&*store).await;
    for after in [2, 3, 1 << 20, 1 << 40, u64::MAX] {
        assert_eq!(read(&*store, &sample.key, after).await, [], "after {after}");
    }
}

pub async fn an_unknown_task_reads_empty(store: Arc<impl Store>) {
    assert_eq!(read(&*store, &Sample::new("a").key, 0).await, []);
    Sample::new("a").put(&*store).await;
    assert_eq!(read(&*store, &Sample::new("b").key, 0).await, []);
}

pub async fn another_callers_task_of_the_same_id_is_another_task(store: Arc<impl Store>) {
    let mut mine = Sample::new("a");
    let events = mine.append(&*store, numbered(3)).await.expect("opens");
    let others = [Scope::new("tenant", "other"), Scope::new("other", "owner"), Scope::new("", "tenantowner")];
    for scope in others {
        let mut theirs = Sample::new("a").of(scope);
        assert_eq!(read(&*store, &theirs.key, 0).await, []);
        assert_eq!(store.snapshot(&theirs.key, Seq(9)).await.expect("looks"), None);
        let opened = theirs.append(&*store, [said("theirs")]).await.expect("opens");
        assert_eq!(read(&*store, &theirs.key, 0).await, opened);
        assert_eq!(read(&*store, &mine.key, 0).await, events);
    }
}

pub async fn every_kind_of_fact_comes_back_unchanged(store: Arc<impl Store>) {
    let facts = every_kind_of_fact();
    let kinds: BTreeSet<_> = facts.iter().map(name_of).collect();
    assert_eq!(kinds.len(), 37, "a kind of fact has no sample: {kinds:?}");
    let mut together = Sample::new("together");
    let events = together.append(&*store, facts.clone()).await.expect("opens");
    assert_eq!(read(&*store, &together.key, 0).await, events);
    let mut apart = Sample::new("apart");
    for fact in facts {
        apart.append(&*store, [fact]).await.expect("appends");
    }
    assert_eq!(read(&*store, &apart.key, 0).await, events);
}

pub async fn strange_text_and_numbers_come_back_unchanged(store: Arc<impl Store>) {
    let texts =
        ["", "\0", "a\0b", "\u{7f}\u{85}\u{2028}\u{feff}", "\"\\/\r\n\t'", "日本語 \u{10ffff}", "💡e\u{301}"];
    let numbers = ["0.1", "1e-7", "-0.0", "5e-324", "1.7976931348623157e308", "0.30000000000000004"];
    let whole = ["0", "-1", "9007199254740993", "18446744073709551615", "-9223372036854775808"];
    let values = numbers.iter().chain(&whole).map(|number| number.parse().expect("a number"));
    let parts = values.map(|value| Part::new(PartContent::Data(value)));
    let mut facts: Vec<Fact> = texts.iter().map(|text| said(*text)).collect();
    let artifact = attache_domain::Artifact {
        id: "\0 å".into(),
        name: Some(texts.concat()),
        description: None,
        parts: parts.collect(),
        metadata: Some(texts.iter().map(|text| ((*text).to_owned(), (*text).into())).collect()),
        extensions: Vec::new(),
    };
    facts.push(Fact::ArtifactAdded { artifact: artifact.into(), append: false, last: true });
    // The ids are unusual, too.
    let mut sample = Sample::new("日\0本'\"").of(Scope::new("ß\0", "\u{1F980}"));
    let events = sample.append(&*store, facts).await.expect("opens");
    assert_eq!(read(&*store, &sample.key, 0).await, events);
}

pub async fn a_large_text_comes_back_unchanged(store: Arc<impl Store>) {
    let large: String = (0..300_000).map(|number| char::from(b'a' + (number % 26) as u8)).collect();
    let mut sample = Sample::new("a");
    let mut events = Vec::new();
    for size in [1_000, 4_000, 4_100, 70_000, 300_000] {
        events.extend(sample.append(&*store, [said(&large[..size]), said("é")]).await.expect("appends"));
    }
    assert_eq!(read(&*store, &sample.key, 0).await, events);
}

pub async fn the_newest_snapshot_at_or_before_a_place_is_found(store: Arc<impl Store>) {
    let mut sample = Sample::new("a");
    sample.append(&*store, numbered(30)).await.expect("opens");
    let snapshot = |at, text: &str| Snapshot { at: Seq(at), bytes: text.as_bytes().to_vec() };
    assert_eq!(store.snapshot(&sample.key, Seq(30)).await.expect("looks"), None);
    // Out of order, and one of them twice: the later one counts.
    for kept in [snapshot(20, "twenty"), snapshot(10, "old"), snapshot(10, "ten"), snapshot(30, "\0\u{ff}")] {
        store.save_snapshot(&sample.key, kept).await.expect("keeps");
    }
    let cases = [
        (9, None),
        (10, Some(snapshot(10, "ten"))),
        (19, Some(snapshot(10, "ten"))),
        (20, Some(snapshot(20, "twenty"))),
        (29, Some(snapshot(20, "twenty"))),
        (30, Some(snapshot(30, "\0\u{ff}"))),
        (u64::MAX, Some(snapshot(30, "\0\u{ff}"))),
    ];
    for (at_most, expected) in cases {
        let found = store.snapshot(&sample.key, Seq(at_most)).await.expect("looks");
        assert_eq!(found, expected, "at most {at_most}");
    }
}

pub async fn a_snapshot_belongs_to_one_task_only(store: Arc<impl Store>) {
    for task in ["a", "b", "c"] {
        Sample::new(task).put(&*store).await;
    }
    let kept = Snapshot { at: Seq(1), bytes: b"b".to_vec() };
    store.save_snapshot(&Sample::new("b").key, kept.clone()).await.expect("keeps");
    for (task, expected) in [("a", None), ("b", Some(kept)), ("c", None), ("none", None)] {
        let found = store.snapshot(&Sample::new(task).key, Seq(5)).await.expect("looks");
        assert_eq!(found, expected, "of {task}");
    }
    // A snapshot of a missing task is no error: losing a snapshot only costs time.
    let lost = Snapshot { at: Seq(1), bytes: Vec::new() };
    store.save_snapshot(&Sample::new("none").key, lost).await.expect("ignores");
}

/// Everything after `after`, in one page.
pub(super) async fn read(store: &impl EventLog, key: &TaskKey, after: u64) -> Vec<Arc<Event>> {
    store.read(key, Seq(after), ALL).await.expect("reads")
}

#[track_caller]
pub(super) fn expect_conflict(result: Result<(), StoreError>, expected: u64, head: u64) {
    match result {
        Err(StoreError::Conflict { expected: told_expected, head: told_head }) => {
            assert_eq!((told_expected, told_head), (Seq(expected), Seq(head)));
        }
        other => panic!("a conflict was due, not {other:?}"),
    }
}
