//! Passes the saved state of a running call to the journal.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use attache_tool::{CallState, MAX_STATE_BYTES, ToolError, ToolErrorKind};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

/// A value to save. The reply is sent when the value is durable, or when it is recorded if it is for the conversation.
pub(crate) struct SaveRequest {
    /// The key for later calls of the conversation; none: for this call.
    pub(crate) key: Option<Arc<str>>,
    pub(crate) value: Value,
    pub(crate) saved: oneshot::Sender<()>,
}

/// The saved state for the calls of a conversation, by key.
pub(crate) type ConversationState = BTreeMap<Arc<str>, Arc<Value>>;

/// The tool's side. A second save waits until the first is received.
pub(crate) struct StateSender {
    requests: mpsc::Sender<SaveRequest>,
    /// The state at the start of the call.
    kept: ConversationState,
}

/// The side of the task that runs the call.
pub(crate) struct StateReceiver(Option<mpsc::Receiver<SaveRequest>>);

pub(crate) fn channel(kept: ConversationState) -> (StateSender, StateReceiver) {
    let (requests, receiver) = mpsc::channel(1);
    (StateSender { requests, kept }, StateReceiver(Some(receiver)))
}

impl StateReceiver {
    /// For tools that save nothing.
    pub(crate) fn none() -> Self {
        Self(None)
    }

    pub(crate) async fn next(&mut self) -> SaveRequest {
        let request = match &mut self.0 {
            Some(receiver) => receiver.recv().await,
            None => None,
        };
        match request {
            Some(request) => request,
            None => std::future::pending().await,
        }
    }
}

#[async_trait]
impl CallState for StateSender {
    async fn save(&self, value: Value) -> Result<(), ToolError> {
        self.request(None, value).await
    }

    fn kept(&self, key: &str) -> Option<Value> {
        self.kept.get(key).map(|value| value.as_ref().clone()).filter(|value| !value.is_null())
    }

    async fn keep(&self, key: &str, value: Value) -> Result<(), ToolError> {
        self.request(Some(key.into()), value).await
    }
}

impl StateSender {
    async fn request(&self, key: Option<Arc<str>>, value: Value) -> Result<(), ToolError> {
        let bytes = value.to_string().len();
        if bytes > MAX_STATE_BYTES {
            let what = format!("the state of a call may have {MAX_STATE_BYTES} bytes, not {bytes}");
            return Err(ToolError::new(ToolErrorKind::ExecutionFailed, what));
        }
        let ended =
            |_| ToolError::new(ToolErrorKind::ExecutionFailed, "the call is over and saves nothing more");
        let (saved, is_saved) = oneshot::channel();
        self.requests.send(SaveRequest { key, value, saved }).await.map_err(|_| ended(()))?;
        is_saved.await.map_err(|_| ended(()))
    }
}
