//! Builds the messages of a turn, with their ids and metadata.

use attache_domain::{ContextId, Message, MessageId, Part, Role, TaskId, TaskView};
use serde_json::{Map, Value};

use crate::reason::StatusReason;

pub(crate) struct TurnOutput {
    task: TaskId,
    context: ContextId,
    turn: u32,
}

impl TurnOutput {
    pub(crate) fn of(view: &TaskView) -> Self {
        Self { task: view.task.clone(), context: view.context.clone(), turn: view.progress.turn.number }
    }

    pub(crate) fn turn(&self) -> u32 {
        self.turn
    }

    pub(crate) fn message(&self, kind: &str, parts: Vec<Part>) -> Message {
        Message {
            id: MessageId::from(format!("{kind}-{}-{}", self.turn, self.task)),
            role: Role::Agent,
            parts,
            context: Some(self.context.clone()),
            task: Some(self.task.clone()),
            requested: None,
            command: None,
            sender: None,
            reference_tasks: Vec::new(),
            extensions: Vec::new(),
            metadata: None,
        }
    }

    /// The message of a turn that stopped without an answer.
    pub(crate) fn reason(&self, reason: StatusReason, text: impl Into<String>) -> Message {
        let mut message = self.text("status", text);
        message.metadata = Some(Map::from_iter([("reason".to_owned(), Value::from(reason.name()))]));
        message
    }

    pub(crate) fn text(&self, kind: &str, text: impl Into<String>) -> Message {
        self.message(kind, vec![Part::text(text)])
    }
}
