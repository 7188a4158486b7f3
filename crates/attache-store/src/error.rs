//! What can go wrong with a store, by what the caller can do about it.

use attache_domain::Seq;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Somebody else appended first: read what is new, decide again, append again.
    #[error("the log is at {head}, not at {expected}")]
    Conflict { expected: Seq, head: Seq },
    /// Nothing was written; trying again later may work.
    #[error("the store is not available")]
    Unavailable {
        #[source]
        source: BoxError,
    },
    /// What is stored about this task, or in this record, cannot be understood. Everything else in the store stays
    /// readable.
    #[error("a stored record cannot be read: {what}")]
    Corrupt { what: String },
    /// The store's own files were deleted or replaced while it was open. Nothing is acknowledged any more.
    #[error("the store is gone: {what}")]
    Gone { what: String },
}

impl StoreError {
    pub fn unavailable(source: impl Into<BoxError>) -> Self {
        Self::Unavailable { source: source.into() }
    }
}
