//! Tokens that are requested when they are needed.

use attache_net::Secret;
use futures_util::future::BoxFuture;

/// Gives a token, or says why there is none.
pub type TokenSource = dyn Fn(TokenRenewal) -> BoxFuture<'static, Result<Secret, String>> + Send + Sync;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenRenewal {
    /// One that was given before is as good.
    IfNeeded,
    /// The last one was refused.
    Now,
}
