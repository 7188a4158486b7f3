//! The one cache type of the workspace: bounded by entries and by weight, least recently used first out.

use std::borrow::Borrow;
use std::fmt;
use std::hash::Hash;

use hashlink::LruCache;

/// A map that forgets. Losing an entry costs time only.
///
/// ```
/// use attache_domain::BoundedCache;
///
/// let mut cache = BoundedCache::new(2, 100);
/// cache.insert("a", 1, 10);
/// cache.insert("b", 2, 10);
/// cache.get("a");
/// cache.insert("c", 3, 10);
/// assert_eq!(cache.get("a"), Some(&1));
/// assert_eq!(cache.get("b"), None);
/// ```
pub struct BoundedCache<K, V> {
    entries: LruCache<K, (usize, V)>,
    max_entries: usize,
    max_weight: usize,
    weight: usize,
}

impl<K: Eq + Hash, V> BoundedCache<K, V> {
    pub fn new(max_entries: usize, max_weight: usize) -> Self {
        Self { entries: LruCache::new_unbounded(), max_entries, max_weight, weight: 0 }
    }

    /// The value, which counts as used now.
    pub fn get<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.entries.get(key).map(|(_, value)| value)
    }

    /// Replaces the value of `key`. A value above the weight limit is not kept.
    pub fn insert(&mut self, key: K, value: V, weight: usize) {
        self.remove(&key);
        if weight > self.max_weight {
            return;
        }
        self.weight += weight;
        self.entries.insert(key, (weight, value));
        while self.entries.len() > self.max_entries || self.weight > self.max_weight {
            let Some((_, (weight, _))) = self.entries.remove_lru() else { break };
            self.weight -= weight;
        }
    }

    pub fn remove<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        let (weight, value) = self.entries.remove(key)?;
        self.weight -= weight;
        Some(value)
    }
}

impl<K, V> fmt::Debug for BoundedCache<K, V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("BoundedCache").field("weight", &self.weight).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_goes_when_there_are_too_many() {
        let mut cache = BoundedCache::new(2, 100);
        cache.insert(1, "one", 1);
        cache.insert(2, "two", 1);
        assert_eq!(cache.get(&1), Some(&"one"));
        cache.insert(3, "three", 1);
        assert_eq!(cache.get(&1), Some(&"one"));
        assert_eq!(cache.get(&2), None);
    }

    #[test]
    fn weights_are_bounded_and_given_back() {
        let mut cache = BoundedCache::new(10, 10);
        cache.insert(1, "one", 6);
        cache.insert(2, "two", 5);
        assert_eq!(cache.get(&1), None);
        assert_eq!(cache.get(&2), Some(&"two"));
        cache.insert(2, "another two", 10);
        assert_eq!(cache.get(&2), Some(&"another two"));
        assert_eq!(cache.remove(&2), Some("another two"));
        cache.insert(3, "too heavy", 11);
        assert_eq!(cache.get(&3), None);
        cache.insert(4, "four", 10);
        assert_eq!(cache.get(&4), Some(&"four"));
    }

    #[test]
    fn a_value_that_is_too_heavy_removes_the_one_before() {
        let mut cache = BoundedCache::new(10, 10);
        cache.insert(1, "one", 1);
        cache.insert(1, "too heavy", 11);
        assert_eq!(cache.get(&1), None, "the old value must not stay");
    }
}
