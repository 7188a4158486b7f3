//! Keys that clients give for their conversations. They are kept in memory, never stored and never shown.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use serde::Deserialize;

use crate::{BoundedCache, IgnorePoison};

/// With more, the key that was used least recently is forgotten, and its conversation asks for it again.
const MAX_KEYS: usize = 1024;

#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub struct ApiKey(Arc<str>);

impl ApiKey {
    /// The text itself, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<String> for ApiKey {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ApiKey(…)")
    }
}

/// The keys by names that the log may hold. After a restart there are none.
#[derive(Debug, Default)]
pub struct ApiKeys {
    keys: Mutex<Keys>,
}

#[derive(Debug)]
struct Keys {
    kept: BoundedCache<String, ApiKey>,
    /// Those of requests that may still be refused.
    offered: HashMap<String, ApiKey>,
}

impl Default for Keys {
    fn default() -> Self {
        Self { kept: BoundedCache::new(MAX_KEYS, MAX_KEYS), offered: HashMap::new() }
    }
}

impl ApiKeys {
    /// The key of a request that may be refused. It can be found at once, and replaces no other before it is accepted.
    /// `name` must not be guessable.
    pub fn offer(self: &Arc<Self>, name: String, key: ApiKey) -> OfferedKey {
        self.keys.lock().ignore_poison().offered.insert(name.clone(), key);
        OfferedKey { keys: self.clone(), name, is_refused: false }
    }

    pub fn find(&self, name: &str) -> Option<ApiKey> {
        let mut keys = self.keys.lock().ignore_poison();
        let offered = keys.offered.get(name).cloned();
        offered.or_else(|| keys.kept.get(name).cloned())
    }
}

/// A key that is kept when this is dropped, unless it was refused: a client that goes away does not take back its request.
#[derive(Debug)]
#[must_use]
pub struct OfferedKey {
    keys: Arc<ApiKeys>,
    name: String,
    is_refused: bool,
}

impl OfferedKey {
    /// Forgets the key, because its request was refused.
    pub fn refuse(mut self) {
        self.is_refused = true;
    }
}

impl Drop for OfferedKey {
    fn drop(&mut self) {
        let mut keys = self.keys.keys.lock().ignore_poison();
        if let Some(key) = keys.offered.remove(&self.name).filter(|_| !self.is_refused) {
            keys.kept.insert(std::mem::take(&mut self.name), key, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_keys_is_bounded() {
        let keys = Arc::new(ApiKeys::default());
        for number in 0..=MAX_KEYS {
            drop(keys.offer(number.to_string(), ApiKey::from(format!("key-{number}"))));
            assert!(keys.find("0").is_some(), "it is used all the time");
        }
        assert!(keys.find("1").is_none());
        assert_eq!(keys.find("1024").as_ref().map(ApiKey::expose), Some("key-1024"));
        assert!(!format!("{keys:?}").contains("key-"), "{keys:?}");
    }

    #[test]
    fn a_refused_key_takes_the_place_of_no_other() {
        let keys = Arc::new(ApiKeys::default());
        drop(keys.offer("first".into(), ApiKey::from("sk-1".to_owned())));
        for number in 0..=MAX_KEYS {
            let name = number.to_string();
            let offered = keys.offer(name.clone(), ApiKey::from("sk-2".to_owned()));
            assert!(keys.find(&name).is_some(), "its task may begin before the request is answered");
            offered.refuse();
            assert!(keys.find(&name).is_none());
        }
        assert!(keys.find("first").is_some());
        drop(keys.offer("second".into(), ApiKey::from("sk-2".to_owned())));
        assert!(keys.find("second").is_some());
    }

    #[test]
    fn a_key_does_not_show_itself() {
        let key = ApiKey::from("hunter2".to_owned());
        assert_eq!(format!("{key:?} {:#?}", Some(&key)), "ApiKey(…) Some(\n    ApiKey(…),\n)");
        assert_eq!(key.expose(), "hunter2");
    }
}
