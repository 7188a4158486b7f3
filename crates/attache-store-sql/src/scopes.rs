//! The numbers of callers, remembered so that no request looks them up twice.

use std::collections::HashMap;
use std::sync::RwLock;

use attache_domain::{IgnorePoison, Scope};

/// Beyond this many the memory starts afresh; the database still knows them all.
const MAX_REMEMBERED: usize = 10_000;

/// Holds committed numbers only: they never change, so an entry is never wrong.
#[derive(Default)]
pub(crate) struct Scopes {
    numbers: RwLock<HashMap<Scope, i64>>,
}

impl Scopes {
    pub(crate) fn number(&self, scope: &Scope) -> Option<i64> {
        self.numbers.read().ignore_poison().get(scope).copied()
    }

    pub(crate) fn remember(&self, scope: Scope, number: i64) {
        let mut numbers = self.numbers.write().ignore_poison();
        if numbers.len() >= MAX_REMEMBERED {
            numbers.clear();
        }
        numbers.insert(scope, number);
    }
}
