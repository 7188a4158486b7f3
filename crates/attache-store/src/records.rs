//! The seam of small records that are not facts: keys, configurations, cursors. Deletable; may be secret.

use async_trait::async_trait;

use crate::StoreError;

#[async_trait]
pub trait Records: Send + Sync + 'static {
    async fn get(&self, space: &str, key: &str) -> Result<Option<Vec<u8>>, StoreError>;

    /// Stores `value` unless there is one already; returns the one that counts.
    async fn get_or_put(&self, space: &str, key: &str, value: Vec<u8>) -> Result<Vec<u8>, StoreError>;
}
