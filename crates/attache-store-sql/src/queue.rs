//! A queue with several consumers.
//!
//! A push never waits. The queue needs no limit: every entry has a waiting caller.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard};

use attache_domain::IgnorePoison;

pub(crate) struct Queue<T> {
    state: Mutex<State<T>>,
    filled: Condvar,
}

struct State<T> {
    entries: VecDeque<T>,
    /// The number of threads that wait in `take`. If it is zero, a push makes no system call.
    sleeping: usize,
    closed: bool,
}

impl<T> Queue<T> {
    pub(crate) fn new() -> Self {
        let state = State { entries: VecDeque::new(), sleeping: 0, closed: false };
        Self { state: Mutex::new(state), filled: Condvar::new() }
    }

    pub(crate) fn push(&self, entry: T) {
        let mut state = self.state();
        state.entries.push_back(entry);
        let wake = state.sleeping > 0;
        drop(state);
        if wake {
            self.filled.notify_one();
        }
    }

    /// Waits for an entry. `None` when the queue is closed and empty.
    pub(crate) fn take(&self) -> Option<T> {
        let mut state = self.state();
        loop {
            if let Some(entry) = state.entries.pop_front() {
                return Some(entry);
            }
            if state.closed {
                return None;
            }
            state.sleeping += 1;
            state = self.filled.wait(state).ignore_poison();
            state.sleeping -= 1;
        }
    }

    /// Entries in the queue are still taken.
    pub(crate) fn close(&self) {
        self.state().closed = true;
        self.filled.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().ignore_poison()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Queue;

    #[test]
    fn every_entry_is_taken_once_also_after_closing() {
        let queue = Arc::new(Queue::new());
        let takers: Vec<_> = (0..3)
            .map(|_| {
                let queue = queue.clone();
                std::thread::spawn(move || std::iter::from_fn(|| queue.take()).collect::<Vec<_>>())
            })
            .collect();
        (0..1000).for_each(|number| queue.push(number));
        queue.close();
        let mut taken: Vec<i32> = takers.into_iter().flat_map(|taker| taker.join().unwrap()).collect();
        taken.sort_unstable();
        assert_eq!(taken, (0..1000).collect::<Vec<_>>());
    }
}
