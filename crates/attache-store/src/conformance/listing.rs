//! Checks of the task listing: order, filters, pages, totals.

use std::sync::Arc;

use attache_domain::{ContextId, Scope, TaskState};

use super::Store;
use super::samples::{Sample, at};
use crate::{IndexPage, ListCursor, ListQuery};

pub async fn tasks_are_listed_by_newest_status_and_ties_by_id(store: Arc<impl Store>) {
    for (task, seconds) in [("b", 1), ("é", 2), ("a", 2), ("Z", 2), ("z", 2), ("c", 3), ("d", -5)] {
        Sample::new(task).with_status_at(seconds).put(&*store).await;
    }
    let listed = list(&*store, all()).await;
    assert_eq!(names(&listed), ["c", "é", "z", "a", "Z", "b", "d"]);
    assert_eq!(listed.tasks[0].status_at, at(3));
    assert_eq!((listed.total, listed.more), (7, false));
}

pub async fn a_listing_can_be_filtered_by_context(store: Arc<impl Store>) {
    mixed(&*store).await;
    let listed = list(&*store, ListQuery { context: Some("one".into()), ..all() }).await;
    assert_eq!(names(&listed), ["g", "e", "c", "a"]);
    assert_eq!((listed.total, listed.more), (4, false));
    let none = list(&*store, ListQuery { context: Some("no such".into()), ..all() }).await;
    assert_eq!(none, IndexPage::default());
}

pub async fn a_listing_can_be_filtered_by_state(store: Arc<impl Store>) {
    for (seconds, state) in (0..).zip(TaskState::ALL) {
        for task in ["old", "new"] {
            let name = format!("{state:?} {task}");
            let seconds = if task == "new" { seconds + 100 } else { seconds };
            Sample::new(&name).in_state(state).with_status_at(seconds).put(&*store).await;
        }
    }
    for state in TaskState::ALL {
        let listed = list(&*store, ListQuery { state: Some(state), ..all() }).await;
        assert_eq!(names(&listed), [format!("{state:?} new"), format!("{state:?} old")]);
        assert_eq!((listed.total, listed.more), (2, false));
    }
    assert_eq!(list(&*store, all()).await.total, 16);
}

pub async fn a_listing_can_be_filtered_by_time(store: Arc<impl Store>) {
    mixed(&*store).await;
    let listed = list(&*store, ListQuery { since: Some(at(5)), ..all() }).await;
    assert_eq!(names(&listed), ["h", "g", "f"], "the moment itself is included");
    assert_eq!((listed.total, listed.more), (3, false));
    // A time of finer resolution than the stored one: no earlier task may match.
    let finer = at(5) + std::time::Duration::from_micros(1);
    let listed = list(&*store, ListQuery { since: Some(finer), ..all() }).await;
    assert_eq!(names(&listed), ["h", "g"]);
    assert_eq!(listed.total, 2);
    assert_eq!(list(&*store, ListQuery { since: Some(at(99)), ..all() }).await, IndexPage::default());
}

pub async fn all_filters_together_narrow_a_listing(store: Arc<impl Store>) {
    mixed(&*store).await;
    let (one, working) = (Some(ContextId::new("one")), Some(TaskState::Working));
    let cases = [
        (ListQuery { context: one.clone(), state: working, ..all() }, vec!["e", "a"]),
        (ListQuery { context: one.clone(), since: Some(at(3)), ..all() }, vec!["g", "e"]),
        (ListQuery { state: working, since: Some(at(3)), ..all() }, vec!["f", "e"]),
        (ListQuery { context: one, state: working, since: Some(at(3)), ..all() }, vec!["e"]),
    ];
    for (query, expected) in cases {
        let listed = list(&*store, query.clone()).await;
        assert_eq!(names(&listed), expected, "{query:?}");
        assert_eq!((listed.total, listed.more), (expected.len() as u64, false), "{query:?}");
        // The same, page by page with one task each.
        assert_eq!(names_by_pages(&*store, query, 1).await, expected);
    }
}

pub async fn pages_of_a_listing_hold_every_task_once(store: Arc<impl Store>) {
    // Many equal times, in all states.
    let states = TaskState::ALL.iter().cycle();
    for (number, state) in (0..30).zip(states) {
        let name = format!("task {number:02}");
        Sample::new(&name).in_state(*state).with_status_at(number / 7).put(&*store).await;
    }
    let whole: Vec<_> = names(&list(&*store, all()).await);
    assert_eq!(whole.len(), 30);
    for limit in [1, 2, 7, 29, 30, 31] {
        assert_eq!(names_by_pages(&*store, all(), limit).await, whole, "by pages of {limit}");
    }
}

pub async fn pages_of_a_filtered_listing_hold_every_task_once(store: Arc<impl Store>) {
    for number in 0..40 {
        let state = TaskState::ALL[number % 2];
        let context = if number % 5 == 0 { "five" } else { "rest" };
        let sample = Sample::new(&format!("task {number:02}")).in_state(state).in_context(context);
        sample.with_status_at(number as i64 / 3).put(&*store).await;
    }
    let queries = [
        ListQuery { state: Some(TaskState::ALL[1]), ..all() },
        ListQuery { context: Some("rest".into()), ..all() },
        ListQuery { since: Some(at(4)), ..all() },
        ListQuery { context: Some("rest".into()), since: Some(at(4)), ..all() },
    ];
    for query in queries {
        let whole = names(&list(&*store, query.clone()).await);
        assert!(whole.len() > 9);
        assert_eq!(names_by_pages(&*store, query, 4).await, whole);
    }
}

pub async fn a_page_that_ends_exactly_at_the_end_has_no_more(store: Arc<impl Store>) {
    mixed(&*store).await;
    for (limit, more) in [(7, true), (8, false), (9, false)] {
        let listed = list(&*store, ListQuery { limit, ..all() }).await;
        assert_eq!((listed.tasks.len(), listed.more), (limit.min(8), more), "by pages of {limit}");
    }
    let last = ListCursor { status_at: at(0), task: "a".into() };
    let listed = list(&*store, ListQuery { after: Some(last), ..all() }).await;
    assert_eq!((listed.tasks.len(), listed.more, listed.total), (0, false, 8));
}

pub async fn a_place_in_a_listing_survives_newer_tasks(store: Arc<impl Store>) {
    mixed(&*store).await;
    let first = list(&*store, ListQuery { limit: 3, ..all() }).await;
    assert_eq!(names(&first), ["h", "g", "f"]);
    // One newer than all, one with the same time and a greater id, one with the same time and a smaller id.
    for (task, seconds) in [("new", 99), ("fz", 5), ("ez", 5)] {
        Sample::new(task).with_status_at(seconds).put(&*store).await;
    }
    let after = first.tasks.last().cloned();
    let second = list(&*store, ListQuery { after, limit: 3, ..all() }).await;
    assert_eq!(names(&second), ["ez", "e", "d"]);
    assert_eq!((second.total, second.more), (11, true));
}

pub async fn the_total_ignores_place_and_limit(store: Arc<impl Store>) {
    mixed(&*store).await;
    let after = Some(ListCursor { status_at: at(4), task: "e".into() });
    let queries = [
        (all(), 8),
        (ListQuery { context: Some("one".into()), ..all() }, 4),
        (ListQuery { state: Some(TaskState::Working), ..all() }, 4),
        (ListQuery { since: Some(at(2)), ..all() }, 6),
    ];
    for (query, total) in queries {
        for (after, limit) in [(None, 1), (after.clone(), 1), (after.clone(), 100)] {
            let listed = list(&*store, ListQuery { after, limit, ..query.clone() }).await;
            assert_eq!(listed.total, total, "{query:?}");
        }
    }
}

pub async fn hidden_tasks_are_in_no_listing(store: Arc<impl Store>) {
    let mut hidden = Sample::new("hidden").in_context("one").hidden();
    hidden.put(&*store).await;
    Sample::new("shown").in_context("one").put(&*store).await;
    hidden.summary.state = TaskState::Failed;
    hidden.with_status_at(9).put(&*store).await;
    let queries = [
        all(),
        ListQuery { context: Some("one".into()), ..all() },
        ListQuery { since: Some(at(0)), ..all() },
        ListQuery { state: Some(TaskState::Completed), ..all() },
    ];
    for query in queries {
        let listed = list(&*store, query).await;
        assert_eq!((names(&listed), listed.total), (vec!["shown".to_owned()], 1));
    }
    let failed = list(&*store, ListQuery { state: Some(TaskState::Failed), ..all() }).await;
    assert_eq!(failed, IndexPage::default());
}

pub async fn another_callers_tasks_are_in_no_listing(store: Arc<impl Store>) {
    let scopes = [Scope::new("tenant", "owner"), Scope::new("tenant", "x"), Scope::new("", "owner")];
    for (number, scope) in scopes.iter().enumerate() {
        let name = format!("task {number}");
        Sample::new(&name).of(scope.clone()).in_context("one").put(&*store).await;
    }
    for (number, scope) in scopes.into_iter().enumerate() {
        for context in [None, Some(ContextId::new("one"))] {
            let listed = list(&*store, ListQuery { scope: scope.clone(), context, ..all() }).await;
            assert_eq!((names(&listed), listed.total), (vec![format!("task {number}")], 1));
        }
    }
}

pub async fn a_caller_without_tasks_has_an_empty_listing(store: Arc<impl Store>) {
    assert_eq!(list(&*store, all()).await, IndexPage::default());
    Sample::new("a").put(&*store).await;
    let nobody = ListQuery { scope: Scope::new("tenant", "nobody"), ..all() };
    assert_eq!(list(&*store, nobody).await, IndexPage::default());
}

pub async fn a_status_change_moves_a_task_in_the_listing(store: Arc<impl Store>) {
    let mut first = Sample::new("first").in_state(TaskState::Submitted).with_status_at(1);
    first.put(&*store).await;
    Sample::new("second").in_state(TaskState::Submitted).with_status_at(2).put(&*store).await;
    assert_eq!(names(&list(&*store, all()).await), ["second", "first"]);
    first.summary.state = TaskState::Working;
    first.summary.status_at = at(3);
    first.put(&*store).await;
    let listed = list(&*store, all()).await;
    assert_eq!((names(&listed), listed.total), (vec!["first".to_owned(), "second".to_owned()], 2));
    for (state, expected) in [(TaskState::Submitted, "second"), (TaskState::Working, "first")] {
        let listed = list(&*store, ListQuery { state: Some(state), ..all() }).await;
        assert_eq!((names(&listed), listed.total), (vec![expected.to_owned()], 1));
    }
    // Changes only the state, not the time.
    first.summary.state = TaskState::Completed;
    first.put(&*store).await;
    let completed = list(&*store, ListQuery { state: Some(TaskState::Completed), ..all() }).await;
    assert_eq!((names(&completed), completed.total), (vec!["first".to_owned()], 1));
    let working = list(&*store, ListQuery { state: Some(TaskState::Working), ..all() }).await;
    assert_eq!(working, IndexPage::default());
}

pub async fn an_append_without_a_status_change_leaves_the_listing_alone(store: Arc<impl Store>) {
    let mut sample = Sample::new("a").with_status_at(1);
    sample.put(&*store).await;
    Sample::new("b").with_status_at(2).put(&*store).await;
    let before = list(&*store, all()).await;
    sample.put(&*store).await;
    assert_eq!(list(&*store, all()).await, before);
}

/// Tasks a to h, one second apart, in turn of contexts one and two; by pairs working and completed.
async fn mixed(store: &impl Store) {
    for (number, task) in ["a", "b", "c", "d", "e", "f", "g", "h"].into_iter().enumerate() {
        let context = if number % 2 == 0 { "one" } else { "two" };
        let state = if number % 4 < 2 { TaskState::Working } else { TaskState::Completed };
        let sample = Sample::new(task).in_context(context).in_state(state);
        sample.with_status_at(number as i64).put(store).await;
    }
}

fn all() -> ListQuery {
    let scope = Sample::new("any").key.scope;
    ListQuery { scope, context: None, state: None, since: None, after: None, limit: 1_000 }
}

async fn list(store: &impl Store, query: ListQuery) -> IndexPage {
    store.list(&query).await.expect("lists")
}

fn names(listed: &IndexPage) -> Vec<String> {
    listed.tasks.iter().map(|place| place.task.to_string()).collect()
}

async fn names_by_pages(store: &impl Store, query: ListQuery, limit: usize) -> Vec<String> {
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let page = list(store, ListQuery { after, limit, ..query.clone() }).await;
        found.extend(names(&page));
        after = page.tasks.last().cloned();
        if !page.more {
            return found;
        }
        assert_eq!(page.tasks.len(), limit, "a page before the last is full");
    }
}
