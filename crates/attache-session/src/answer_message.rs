//! The answer of a turn as the message of the status that ends it, for tasks whose clients read only status messages.
//!
//! Whatever ends the turn is completed before it is recorded, so that the log holds what clients are shown.

use std::sync::Arc;

use attache_domain::{AnswerLocation, Fact, Message, MessageId, Part, PartContent, Progress, Role, TaskView};

/// What the agent has said in the turn; nothing is kept for tasks whose answers are artifacts.
pub(crate) struct AnswerMessage {
    text: Option<String>,
}

impl AnswerMessage {
    /// Continues the turn of `view`.
    pub(crate) fn of(view: &TaskView) -> Self {
        let is_kept = view.progress.presentation.answer == AnswerLocation::StatusMessage;
        Self { text: is_kept.then(|| view.answer_text()) }
    }

    /// Takes note of a fact that is about to be recorded, and completes the one that ends the turn.
    pub(crate) fn complete(&mut self, mut fact: Fact, progress: &Progress) -> Fact {
        let Some(said) = &mut self.text else { return fact };
        match &mut fact {
            Fact::TurnStarted { .. } | Fact::TextWithdrawn => said.clear(),
            Fact::TextSaid { text, .. } => said.push_str(text),
            Fact::TextReplaced { text } => said.clone_from(text),
            Fact::TurnEnded { message, .. } if !said.is_empty() => {
                *message = Some(Arc::new(match message.take() {
                    Some(message) => with_answer(said, &message),
                    None => answer(said, progress),
                }));
            }
            _ => {}
        }
        fact
    }
}

fn answer(text: &str, progress: &Progress) -> Message {
    Message {
        id: MessageId::from(format!("{}-{}", progress.update_context().answer_id(), progress.task)),
        role: Role::Agent,
        parts: vec![Part::text(text)],
        context: Some(progress.context.clone()),
        task: Some(progress.task.clone()),
        requested: None,
        command: None,
        sender: None,
        reference_tasks: Vec::new(),
        extensions: Vec::new(),
        metadata: None,
    }
}

/// The message with the answer in front of its first text.
fn with_answer(answer: &str, message: &Message) -> Message {
    let mut message = message.clone();
    match message.parts.first_mut().map(|part| &mut part.content) {
        Some(PartContent::Text(text)) => *text = format!("{answer}\n\n{text}"),
        _ => message.parts.insert(0, Part::text(answer)),
    }
    message
}
