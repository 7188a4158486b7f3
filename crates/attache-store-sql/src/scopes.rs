//! The numbers of callers, cached so that each is looked up once.

use std::sync::Mutex;

use attache_domain::{BoundedCache, IgnorePoison, Scope};

const MAX_SCOPES: usize = 10_000;

/// Contains only committed numbers, which never change.
pub(crate) struct Scopes {
    numbers: Mutex<BoundedCache<Scope, i64>>,
}

impl Default for Scopes {
    fn default() -> Self {
        Self { numbers: Mutex::new(BoundedCache::new(MAX_SCOPES, MAX_SCOPES)) }
    }
}

impl Scopes {
    pub(crate) fn number(&self, scope: &Scope) -> Option<i64> {
        self.numbers.lock().ignore_poison().get(scope).copied()
    }

    pub(crate) fn remember(&self, scope: Scope, number: i64) {
        self.numbers.lock().ignore_poison().insert(scope, number, 1);
    }
}
