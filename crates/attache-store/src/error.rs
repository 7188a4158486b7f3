//! Errors of stores, by what the caller can do.

use attache_domain::Seq;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Another append was first: read the new events, decide again, append again.
    #[error("the log is at {head}, not at {expected}")]
    Conflict { expected: Seq, head: Seq },
    /// Nothing was written; a retry may work.
    #[error("the store is not available")]
    Unavailable {
        #[source]
        source: BoxError,
    },
    /// This task or record cannot be read. Everything else in the store stays readable.
    #[error("a stored record cannot be read: {what}")]
    Corrupt { what: String },
    /// The store's files were deleted or replaced while it was open. Nothing is acknowledged any more.
    #[error("the store is gone: {what}")]
    Gone { what: String },
}

impl StoreError {
    pub fn unavailable(source: impl Into<BoxError>) -> Self {
        Self::Unavailable { source: source.into() }
    }
}
