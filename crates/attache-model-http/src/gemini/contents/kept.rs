//! What was spelled before: a conversation is told again and again, and only its end is new.
//!
//! An answer with calls and what came of them is always two contents, whatever is around them, so they are kept together.
//! Known by where they are in memory: as long as one is kept here, nothing else can be at its place.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use attache_domain::Exchange;
use serde_json::value::RawValue;

/// Of spelled text, for all conversations together. Beyond it everything is forgotten and spelled once more.
const MOST_BYTES: usize = 16 * 1024 * 1024;

#[derive(Debug, Default)]
pub(in crate::gemini) struct Kept {
    pairs: Mutex<Pairs>,
}

#[derive(Debug, Default)]
pub(super) struct Pairs {
    known: HashMap<Key, Known>,
    bytes: usize,
}

/// Where an answer and its results are, and whether they belong to the turn that is going on.
type Key = (usize, usize, bool);

#[derive(Debug)]
struct Known {
    /// Hold the places.
    _places: [Weak<Exchange>; 2],
    spelled: [Arc<RawValue>; 2],
}

impl Kept {
    pub(super) fn pairs(&self) -> MutexGuard<'_, Pairs> {
        self.pairs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pairs {
    pub(super) fn find(&self, pair: [&Arc<Exchange>; 2], current: bool) -> Option<[Arc<RawValue>; 2]> {
        self.known.get(&key(pair, current)).map(|known| known.spelled.clone())
    }

    pub(super) fn keep(&mut self, pair: [&Arc<Exchange>; 2], current: bool, spelled: [Arc<RawValue>; 2]) {
        self.bytes += spelled.iter().map(|spelled| spelled.get().len()).sum::<usize>();
        if self.bytes > MOST_BYTES {
            *self = Self::default();
        }
        let places = pair.map(Arc::downgrade);
        self.known.insert(key(pair, current), Known { _places: places, spelled });
    }
}

fn key([answer, results]: [&Arc<Exchange>; 2], current: bool) -> Key {
    (Arc::as_ptr(answer).addr(), Arc::as_ptr(results).addr(), current)
}
