//! Tokens that are requested when needed.

use attache_net::Secret;
use futures_util::future::BoxFuture;

/// Returns a token, or an error message.
pub type TokenSource = dyn Fn(TokenRenewal) -> BoxFuture<'static, Result<Secret, String>> + Send + Sync;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenRenewal {
    /// A cached token is sufficient.
    IfNeeded,
    /// The previous token was refused.
    Now,
}
