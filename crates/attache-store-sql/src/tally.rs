//! How many visible tasks each caller has in each state, counted once and then kept up to date.
//!
//! Counting a hundred thousand rows takes milliseconds, so it is done while the store already serves.
//! Changes since the snapshot that is being counted are added from the first commit on; sums do not
//! mind the order. Until the count is in, there is no answer, and readers count in the database.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use attache_domain::TaskState;

use crate::stored::code_of;

#[derive(Default)]
pub(crate) struct Tally {
    counts: Mutex<Counts>,
}

/// `by` more (or less) visible tasks in one state of one caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TallyChange {
    pub(crate) scope: i64,
    pub(crate) state: TaskState,
    pub(crate) by: i64,
}

#[derive(Default)]
struct Counts {
    complete: bool,
    by_scope: HashMap<i64, [i64; TaskState::ALL.len()]>,
    all: i64,
}

impl Tally {
    /// What a commit changed.
    pub(crate) fn change(&self, changes: impl IntoIterator<Item = TallyChange>) {
        let mut counts = self.counts();
        for change in changes {
            counts.add(change);
        }
    }

    /// What was there before the first change.
    pub(crate) fn complete(&self, counted: impl IntoIterator<Item = TallyChange>) {
        let mut counts = self.counts();
        for change in counted {
            counts.add(change);
        }
        counts.complete = true;
    }

    /// The tasks of one caller, in `state` or in any.
    pub(crate) fn of(&self, scope: i64, state: Option<TaskState>) -> Option<u64> {
        let counts = self.counts();
        let by_state = counts.by_scope.get(&scope);
        let sum = by_state.map_or(0, |by_state| match state {
            Some(state) => by_state[usize::from(code_of(state))],
            None => by_state.iter().sum(),
        });
        counts.complete.then(|| u64::try_from(sum).unwrap_or(0))
    }

    /// The tasks of all callers.
    pub(crate) fn all(&self) -> Option<u64> {
        let counts = self.counts();
        counts.complete.then(|| u64::try_from(counts.all).unwrap_or(0))
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn add(&mut self, TallyChange { scope, state, by }: TallyChange) {
        self.by_scope.entry(scope).or_default()[usize::from(code_of(state))] += by;
        self.all += by;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_before_the_count_is_in_are_not_lost() {
        let tally = Tally::default();
        let change = |state, by| TallyChange { scope: 1, state, by };
        tally.change([change(TaskState::Working, -1), change(TaskState::Completed, 1)]);
        assert_eq!((tally.of(1, None), tally.all()), (None, None));
        tally.complete([change(TaskState::Working, 5)]);
        assert_eq!(tally.of(1, Some(TaskState::Working)), Some(4));
        assert_eq!(tally.of(1, Some(TaskState::Completed)), Some(1));
        assert_eq!((tally.of(1, None), tally.of(2, None), tally.all()), (Some(5), Some(0), Some(5)));
    }
}
