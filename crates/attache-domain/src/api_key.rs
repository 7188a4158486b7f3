//! Keys that clients give for their conversations. They are kept in memory, never stored and never shown.

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
#[derive(Debug)]
pub struct ApiKeys {
    kept: Mutex<BoundedCache<String, ApiKey>>,
}

impl Default for ApiKeys {
    fn default() -> Self {
        Self { kept: Mutex::new(BoundedCache::new(MAX_KEYS, MAX_KEYS)) }
    }
}

impl ApiKeys {
    /// `name` must not be guessable.
    pub fn keep(&self, name: String, key: ApiKey) {
        self.kept.lock().ignore_poison().insert(name, key, 1);
    }

    pub fn find(&self, name: &str) -> Option<ApiKey> {
        self.kept.lock().ignore_poison().get(name).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_keys_is_bounded() {
        let keys = ApiKeys::default();
        for number in 0..=MAX_KEYS {
            keys.keep(number.to_string(), ApiKey::from(format!("key-{number}")));
            assert!(keys.find("0").is_some(), "it is used all the time");
        }
        assert!(keys.find("1").is_none());
        assert_eq!(keys.find("1024").as_ref().map(ApiKey::expose), Some("key-1024"));
        assert!(!format!("{keys:?}").contains("key-"), "{keys:?}");
    }

    #[test]
    fn a_key_does_not_show_itself() {
        let key = ApiKey::from("hunter2".to_owned());
        assert_eq!(format!("{key:?} {:#?}", Some(&key)), "ApiKey(…) Some(\n    ApiKey(…),\n)");
        assert_eq!(key.expose(), "hunter2");
    }
}
