//! Turns of one conversation run one at a time, in the order in which they were enqueued.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use attache_domain::{ContextId, IgnorePoison, Scope};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

type Key = (Scope, ContextId);

#[derive(Default)]
pub(crate) struct ContextQueues {
    lines: Mutex<HashMap<Key, Weak<Semaphore>>>,
}

/// Held during a turn.
pub(crate) struct ContextPermit(
    #[expect(dead_code, reason = "held until it is dropped")] OwnedSemaphorePermit,
);

/// Resolves when the turn may run.
pub(crate) type ContextPermitFuture = BoxFuture<'static, Option<ContextPermit>>;

impl ContextQueues {
    /// The position in the queue is taken now, not when the waiting begins.
    pub(crate) fn enqueue(&self, scope: &Scope, context: &ContextId) -> ContextPermitFuture {
        let line = self.queue((scope.clone(), context.clone()));
        let mut waiting = async move { line.acquire_owned().await.ok().map(ContextPermit) }.boxed();
        match (&mut waiting).now_or_never() {
            Some(place) => ready(place).boxed(),
            None => waiting,
        }
    }

    fn queue(&self, key: Key) -> Arc<Semaphore> {
        let mut lines = self.lines.lock().ignore_poison();
        if let Some(line) = lines.get(&key).and_then(Weak::upgrade) {
            return line;
        }
        // Removes empty queues before the map has to grow.
        if lines.len() == lines.capacity() {
            lines.retain(|_, line| line.strong_count() > 0);
        }
        let line = Arc::new(Semaphore::new(1));
        lines.insert(key, Arc::downgrade(&line));
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context(name: &str) -> (Scope, ContextId) {
        (Scope::new("", "me"), ContextId::from(name))
    }

    #[test]
    fn one_at_a_time_for_each_conversation() {
        let contexts = ContextQueues::default();
        let ((scope, a), (_, b)) = (context("a"), context("b"));
        let first = contexts.enqueue(&scope, &a).now_or_never().unwrap();
        let mut second = contexts.enqueue(&scope, &a);
        let third = contexts.enqueue(&scope, &a);
        assert!(second.as_mut().now_or_never().is_none());
        assert!(contexts.enqueue(&scope, &b).now_or_never().is_some());
        drop(first);
        assert!(third.now_or_never().is_none(), "whoever looks first, it is not its turn");
        assert!(second.now_or_never().is_some());
    }

    #[test]
    fn conversations_that_are_over_are_forgotten() {
        let contexts = ContextQueues::default();
        for number in 0..10_000 {
            let (scope, context) = context(&number.to_string());
            contexts.enqueue(&scope, &context).now_or_never().unwrap();
        }
        assert!(contexts.lines.lock().unwrap().capacity() < 100);
    }
}
