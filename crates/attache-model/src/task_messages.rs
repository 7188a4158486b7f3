//! Reads the messages of a conversation.

use std::sync::Arc;

use attache_domain::{Message, Role};

/// The messages that began the turns of the current task. Messages of earlier tasks of the conversation are left out.
pub(crate) fn callers_messages(history: &[Arc<Message>]) -> Vec<&Arc<Message>> {
    let task = history.last().and_then(|message| message.task.as_ref());
    history.iter().filter(|message| message.role == Role::User && message.task.as_ref() == task).collect()
}
