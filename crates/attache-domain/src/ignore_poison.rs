//! The one way to take a lock whose holder may have panicked.

use std::sync::LockResult;

/// Takes the guard of a poisoned lock as well. What is behind our locks is changed in single steps, so a panic leaves it
/// whole; refusing the lock would turn one failed request into a server that fails for good.
///
/// ```
/// use std::sync::Mutex;
///
/// use attache_domain::IgnorePoison;
///
/// let counter = Mutex::new(1);
/// *counter.lock().ignore_poison() += 1;
/// assert_eq!(counter.into_inner().ignore_poison(), 2);
/// ```
pub trait IgnorePoison {
    type Guard;

    fn ignore_poison(self) -> Self::Guard;
}

impl<G> IgnorePoison for LockResult<G> {
    type Guard = G;

    fn ignore_poison(self) -> G {
        self.unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
