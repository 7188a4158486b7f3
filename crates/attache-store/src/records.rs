//! The trait of small records that are not facts: keys, configurations, cursors. They can be deleted and may be secret.

use async_trait::async_trait;

use crate::StoreError;

#[async_trait]
pub trait Records: Send + Sync + 'static {
    /// [`StoreError::Corrupt`] when there is a record and it cannot be read.
    async fn get(&self, space: &str, key: &str) -> Result<Option<Vec<u8>>, StoreError>;

    /// Stores `value` unless there is one already; returns the stored value.
    async fn get_or_put(&self, space: &str, key: &str, value: Vec<u8>) -> Result<Vec<u8>, StoreError>;

    /// Makes all changes, in this order, or none. When it returns, they are as durable as the store promises.
    async fn change(&self, changes: Vec<RecordChange>) -> Result<(), StoreError>;

    /// Up to `limit` records of `space` whose keys begin with `prefix` and come strictly after `after`, in the order of
    /// the bytes of their keys. Fewer than `limit`: there are no more. A record that cannot be read is left out.
    async fn list_prefix(
        &self,
        space: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Record>, StoreError>;
}

#[derive(Clone, PartialEq, Eq)]
pub enum RecordChange {
    /// Replaces an existing record.
    Put { space: &'static str, record: Record },
    /// Deleting a missing record is no error.
    Delete { space: &'static str, key: String },
}

/// One record within its space. Has no debug text: it may be secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Record {
    pub key: String,
    pub value: Vec<u8>,
}
