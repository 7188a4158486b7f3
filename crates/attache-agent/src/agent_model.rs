//! The model of a conversation: a language model or a built-in one.

use std::fmt;
use std::sync::Arc;

use attache_model::{BuiltInModel, LanguageModel};

use crate::SettingsRefusal;

#[derive(Clone)]
pub enum AgentModel {
    /// A language model. It gets the conversation; its text and calls become facts.
    Language(Arc<dyn LanguageModel>),
    /// A model in this process that runs whole turns and sees only the task.
    BuiltIn(Arc<dyn BuiltInModel>),
    /// A language model whose key the client has to give again. Calls that were approved run without it.
    WithoutKey(SettingsRefusal),
}

impl AgentModel {
    pub fn name(&self) -> &str {
        match self {
            Self::Language(model) => model.name(),
            Self::BuiltIn(model) => model.name(),
            Self::WithoutKey(_) => "a model whose key is needed again",
        }
    }
}

impl fmt::Debug for AgentModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Language(model) => write!(formatter, "Language({})", model.name()),
            Self::BuiltIn(model) => write!(formatter, "BuiltIn({})", model.name()),
            Self::WithoutKey(refusal) => write!(formatter, "WithoutKey({refusal})"),
        }
    }
}
