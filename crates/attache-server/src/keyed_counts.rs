//! Counts open calls or connections per caller or address, up to a limit.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard};

use attache_domain::IgnorePoison;

/// How many each key holds.
#[derive(Debug)]
pub(crate) struct KeyedCounts<K>(Arc<Mutex<HashMap<K, usize>>>);

/// Counts as one until it is dropped.
#[derive(Debug)]
pub(crate) struct KeyedCount<K: Eq + Hash> {
    key: K,
    counts: Arc<Mutex<HashMap<K, usize>>>,
}

impl<K> Default for KeyedCounts<K> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K: Eq + Hash + Clone> KeyedCounts<K> {
    /// One more for `key`, or `None` when it has `limit` already.
    pub(crate) fn take(&self, key: K, limit: usize) -> Option<KeyedCount<K>> {
        let mut counts = locked(&self.0);
        let held = counts.get(&key).copied().unwrap_or(0);
        if held >= limit {
            return None;
        }
        counts.insert(key.clone(), held + 1);
        drop(counts);
        Some(KeyedCount { key, counts: self.0.clone() })
    }
}

impl<K: Eq + Hash> Drop for KeyedCount<K> {
    fn drop(&mut self) {
        let mut counts = locked(&self.counts);
        // A key at zero is removed, so that the map stays as small as what is open.
        if let Some(held) = counts.get_mut(&self.key) {
            *held -= 1;
            if *held == 0 {
                counts.remove(&self.key);
            }
        }
    }
}

fn locked<K>(counts: &Mutex<HashMap<K, usize>>) -> MutexGuard<'_, HashMap<K, usize>> {
    counts.lock().ignore_poison()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_has_a_limit_of_its_own_and_gets_back_what_it_drops() {
        let counts = KeyedCounts::default();
        let first = counts.take("a", 2).unwrap();
        let second = counts.take("a", 2).unwrap();
        assert!(counts.take("a", 2).is_none());
        assert!(counts.take("a", 3).is_some(), "a larger limit leaves room");
        assert!(counts.take("b", 2).is_some());
        drop(first);
        assert!(counts.take("a", 2).is_some());
        drop(second);
        assert!(locked(&counts.0).is_empty());
    }
}
