//! The trait of commands.

use std::sync::Arc;

use async_trait::async_trait;
use attache_domain::{CommandArgument, ToolResult};
use serde_json::{Map, Value};

use crate::CommandContext;

#[async_trait]
pub trait Command: Send + Sync + 'static {
    /// One word, as people write it.
    fn name(&self) -> &str;

    /// Other words for it. They are not listed, and a command that bears one of them as its name comes first.
    fn other_names(&self) -> &[&str] {
        &[]
    }

    /// One sentence for people.
    fn description(&self) -> &str;

    /// In their order, what has to be there first. One that lists none is given none.
    fn arguments(&self) -> Vec<CommandArgument> {
        Vec::new()
    }

    /// A word after the name that is one of them is never an argument.
    fn sub_commands(&self) -> Vec<Arc<dyn Command>> {
        Vec::new()
    }

    /// The model works on it for a while: the caller follows its task instead of waiting for the end.
    fn is_followed(&self) -> bool {
        false
    }

    /// May it be given with these arguments? Looks at nothing else, and is quick.
    fn check(&self, _arguments: &str) -> Result<(), CommandError> {
        Ok(())
    }

    /// The next step. Called again with the results each time tools were used. The same request gives the same step.
    async fn run(&self, request: CommandRequest<'_>) -> Result<CommandStep, CommandError>;
}

/// A command as it was given, and how far it is.
pub struct CommandRequest<'a> {
    pub arguments: &'a str,
    /// The whole line, as it was written.
    pub line: &'a str,
    /// The results of the tools, step by step.
    pub results: &'a [Vec<ToolResult>],
    pub context: &'a dyn CommandContext,
}

/// What a command wants to happen.
#[derive(Debug, Clone, PartialEq)]
pub enum CommandStep {
    /// It is done: for people, and for programs.
    Done { text: String, data: Option<Value> },
    /// Use these tools as if the model had asked for them: rules and approvals apply.
    UseTools(Vec<ToolUse>),
    /// Send this prompt to the model.
    Prompt(String),
    /// The conversation is to be summed up now.
    Compress,
    /// Continue the conversation with this model.
    ChooseModel(String),
    /// The next call to this agent begins a new conversation with it.
    ForgetAgent(String),
}

impl CommandStep {
    pub fn done(text: impl Into<String>, data: Value) -> Self {
        Self::Done { text: text.into(), data: Some(data) }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct ToolUse {
    pub tool: String,
    pub input: Map<String, Value>,
}

/// Why a command cannot be given, or did not work out. Says what was wrong and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    #[error("{what}")]
    Unknown { what: String },
    #[error("{what}")]
    BadArguments { what: String },
    #[error("{what}")]
    Failed { what: String },
}
