//! The end of a connection and its first reason.

use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

#[derive(Debug, Clone, Default)]
pub(super) struct ConnectionEnd {
    token: CancellationToken,
    why: Arc<OnceLock<String>>,
}

impl ConnectionEnd {
    pub(super) fn end(&self, why: &str) {
        let _ = self.why.set(why.to_owned());
        self.token.cancel();
    }

    /// Stores the reason for the end.
    pub(super) fn because(&self, why: &str) {
        let _ = self.why.set(why.to_owned());
    }

    pub(super) fn is_over(&self) -> bool {
        self.token.is_cancelled()
    }

    pub(super) async fn over(&self) {
        self.token.cancelled().await;
    }

    pub(super) fn why(&self) -> String {
        self.why.get().cloned().unwrap_or_else(|| "the server is gone".into())
    }
}
