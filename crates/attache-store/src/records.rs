//! The trait of small records that are not facts: keys, configurations, cursors. They can be deleted and may be secret.

use async_trait::async_trait;

use crate::StoreError;

#[async_trait]
pub trait Records: Send + Sync + 'static {
    /// [`StoreError::Corrupt`] if the record exists and cannot be read.
    async fn get(&self, space: &str, key: &str) -> Result<Option<Vec<u8>>, StoreError>;

    /// Stores `value` unless the key exists; returns the stored value.
    async fn get_or_put(&self, space: &str, key: &str, value: Vec<u8>) -> Result<Vec<u8>, StoreError>;

    /// Applies all changes in this order, or none. When it returns, they are as durable as the store guarantees.
    async fn change(&self, changes: Vec<RecordChange>) -> Result<(), StoreError>;

    /// Up to `limit` records of `space` whose keys begin with `prefix` and come strictly after `after`, in byte order
    /// of their keys. Fewer than `limit` means that there are no more. Leaves out unreadable records.
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

/// A record within its space. No `Debug`, because it may be secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Record {
    pub key: String,
    pub value: Vec<u8>,
}
