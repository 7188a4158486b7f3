//! The stored forms. Golden files pin them; old forms stay readable.

use std::sync::Arc;

use attache_domain::{ContextId, Event, Seq, TaskState, TaskSummary, Timestamp};
use attache_store::StoreError;
use rusqlite::Row;
use serde::Deserialize;

use crate::error::corrupt;

/// The bits of a position for the event's number; the rest hold the task's. Enough for 268 million events in each of
/// 34 billion tasks.
const SEQ_BITS: u32 = 28;
const MAX_SEQ: u64 = (1 << SEQ_BITS) - 1;

/// The position of the events of a task up to `seq`; beyond the maximum, that of the last possible event.
pub(crate) fn place(task: i64, seq: Seq) -> i64 {
    (task << SEQ_BITS) | seq.0.min(MAX_SEQ) as i64
}

/// The number of the last event at a position.
pub(crate) fn seq_at(place: i64) -> Seq {
    Seq(place as u64 & MAX_SEQ)
}

/// The number of the task at a position.
pub(crate) fn task_at(place: i64) -> i64 {
    place >> SEQ_BITS
}

/// The maximum position of `task`.
pub(crate) fn last_place(task: i64) -> i64 {
    place(task, Seq(MAX_SEQ))
}

pub(crate) fn fits(seq: Seq) -> bool {
    seq.0 < MAX_SEQ
}

/// The body of a batch: the events as a JSON array.
pub(crate) fn encode(events: &[Arc<Event>]) -> Result<String, serde_json::Error> {
    serde_json::to_string(events)
}

/// The events of a batch that ends with `last`.
pub(crate) fn decode(body: &[u8], last: Seq) -> Result<Vec<Arc<Event>>, StoreError> {
    let mut json = serde_json::Deserializer::from_slice(body);
    // The values of clients and models may be nested up to the parser's limit, and an event adds levels.
    json.disable_recursion_limit();
    let events = Vec::<Arc<Event>>::deserialize(&mut json).map_err(corrupt)?;
    json.end().map_err(corrupt)?;
    let found = events.last().map_or(Seq::START, |event| event.seq);
    if found != last {
        return Err(corrupt(format!("a batch that should end with event {last} ends with {found}")));
    }
    if events.windows(2).any(|pair| pair[1].seq != pair[0].seq.next()) {
        return Err(corrupt(format!(
            "the events of the batch that ends with {last} are not numbered one after the other"
        )));
    }
    Ok(events)
}

/// The number of a state in the database. Its meaning never changes.
pub(crate) fn code_of(state: TaskState) -> u8 {
    match state {
        TaskState::Submitted => 0,
        TaskState::Working => 1,
        TaskState::Completed => 2,
        TaskState::Failed => 3,
        TaskState::Canceled => 4,
        TaskState::InputRequired => 5,
        TaskState::Rejected => 6,
        TaskState::AuthRequired => 7,
    }
}

pub(crate) fn state_of(code: u8) -> Option<TaskState> {
    TaskState::ALL.into_iter().find(|state| code_of(*state) == code)
}

/// ?1 the task's number.
pub(crate) const FIND_SUMMARY: &str =
    "SELECT context, state, status_at, hidden, unfinished FROM task WHERE number = ?1";

/// The columns of `FIND_SUMMARY`.
pub(crate) fn summary_of(row: &Row<'_>) -> rusqlite::Result<TaskSummary> {
    let code: u8 = row.get(1)?;
    let state = state_of(code).ok_or(rusqlite::Error::IntegralValueOutOfRange(1, code.into()))?;
    let milliseconds: i64 = row.get(2)?;
    let status_at = Timestamp::from_millisecond(milliseconds)
        .map_err(|_| rusqlite::Error::IntegralValueOutOfRange(2, milliseconds))?;
    Ok(TaskSummary {
        context: ContextId::new(row.get::<_, String>(0)?),
        state,
        status_at,
        hidden: row.get(3)?,
        unfinished: row.get(4)?,
    })
}

/// The first whole millisecond at or after `at`.
pub(crate) fn millisecond_from(at: Timestamp) -> i64 {
    let floor = at.as_millisecond();
    let is_whole = Timestamp::from_millisecond(floor).is_ok_and(|whole| whole >= at);
    if is_whole { floor } else { floor + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_a_task_lie_between_those_of_its_neighbours() {
        assert!(place(1, Seq(u64::MAX)) < place(2, Seq::START));
        assert_eq!(last_place(7), place(8, Seq::START) - 1);
        assert_eq!(seq_at(place(7, Seq(123))), Seq(123));
        assert!(place((1 << 35) - 1, Seq(MAX_SEQ)) > 0);
    }

    #[test]
    fn every_state_has_a_number_of_its_own() {
        for state in TaskState::ALL {
            assert_eq!(state_of(code_of(state)), Some(state));
        }
        assert_eq!(state_of(8), None);
    }

    #[test]
    fn a_batch_with_another_end_is_corrupt() {
        let body = br#"[{"seq":1,"at":0,"fact":"cancel_requested"}]"#;
        assert_eq!(decode(body, Seq(1)).unwrap().len(), 1);
        assert!(matches!(decode(body, Seq(2)), Err(StoreError::Corrupt { .. })));
        assert!(matches!(decode(b"[]", Seq(2)), Err(StoreError::Corrupt { .. })));
        assert!(matches!(decode(b"[{", Seq(1)), Err(StoreError::Corrupt { .. })));
    }
}
