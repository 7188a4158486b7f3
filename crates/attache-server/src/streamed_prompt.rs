//! The prompt that a stream is about: what belongs to prompts before it is not shown.

use attache_domain::{Fact, MessageId, Progress};
use attache_session::TailEntry;
use attache_wire::devtool::Dialect;

pub(crate) struct StreamedPrompt {
    /// The stream ends with this turn.
    pub(crate) turn: u32,
    /// Older logs do not know it.
    message: Option<MessageId>,
}

impl StreamedPrompt {
    pub(crate) fn of(progress: &Progress, turn: u32) -> Self {
        Self { turn, message: progress.prompt_of(turn).cloned() }
    }

    /// The entry belongs to a prompt before this one. On the live endpoint a prompt is shown from its arrival.
    pub(crate) fn hides(&self, entry: &TailEntry, dialect: Dialect) -> bool {
        entry.stage().turn.number < self.turn
            && (dialect == Dialect::RestApi || !self.is_named_by(&entry.event.fact))
    }

    /// The fact says that the prompt arrived, waits, or is taken up.
    fn is_named_by(&self, fact: &Fact) -> bool {
        let Some(id) = &self.message else { return false };
        match fact {
            Fact::MessageReceived { message, .. } | Fact::PromptQueued { message, .. } => message.id == *id,
            Fact::PromptTaken { message, .. } => message.as_ref() == Some(id),
            Fact::Noticed { message } => message.id.as_str().strip_prefix("queued-") == Some(id.as_str()),
            _ => false,
        }
    }
}
