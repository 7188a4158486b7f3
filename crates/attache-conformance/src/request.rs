//! The requests of checks, independent of version and binding.

use serde_json::Value;

use crate::behaviour::Behaviour;
use crate::protocol::PushConfig;

/// A message to send, with its options.
#[derive(Debug, Clone)]
pub(crate) struct SendRequest {
    pub(crate) text: String,
    pub(crate) message_id: String,
    pub(crate) context: Option<String>,
    pub(crate) task: Option<String>,
    /// `None`: the protocol's default, which is to wait.
    pub(crate) wait: Option<bool>,
    pub(crate) history: Option<i64>,
    pub(crate) accepted: Vec<String>,
    pub(crate) push: Option<PushConfig>,
}

impl SendRequest {
    pub(crate) fn behaving(word: Behaviour) -> Self {
        Self::text(&word.text())
    }

    pub(crate) fn text(text: &str) -> Self {
        Self {
            text: text.into(),
            message_id: uuid::Uuid::new_v4().to_string(),
            context: None,
            task: None,
            wait: None,
            history: None,
            accepted: Vec::new(),
            push: None,
        }
    }

    pub(crate) fn at_once(mut self) -> Self {
        self.wait = Some(false);
        self
    }

    pub(crate) fn waiting(mut self) -> Self {
        self.wait = Some(true);
        self
    }

    pub(crate) fn in_context(mut self, context: &str) -> Self {
        self.context = Some(context.into());
        self
    }

    pub(crate) fn for_task(mut self, task: &str) -> Self {
        self.task = Some(task.into());
        self
    }

    pub(crate) fn history(mut self, length: i64) -> Self {
        self.history = Some(length);
        self
    }

    pub(crate) fn push(mut self, config: PushConfig) -> Self {
        self.push = Some(config);
        self
    }

    pub(crate) fn accepting(mut self, modes: &[&str]) -> Self {
        self.accepted = modes.iter().map(|mode| (*mode).to_owned()).collect();
        self
    }
}

/// One call. Its parameters may be invalid.
#[derive(Debug, Clone)]
pub(crate) enum Operation {
    /// The whole parameters, in the JSON form of the pair.
    Send(Value),
    Stream(Value),
    Get {
        task: String,
        history: Option<Value>,
    },
    /// Members and their values; over REST the query.
    List(Vec<(&'static str, Value)>),
    Cancel {
        task: String,
    },
    Subscribe {
        task: String,
    },
    PushCreate {
        task: String,
        config: PushConfig,
    },
    PushGet {
        task: String,
        config: Option<String>,
    },
    PushList {
        task: String,
    },
    PushDelete {
        task: String,
        config: String,
    },
    ExtendedCard,
}

impl Operation {
    pub(crate) fn streams(&self) -> bool {
        matches!(self, Self::Stream(_) | Self::Subscribe { .. })
    }
}
