//! Reads the messages of a conversation.

use std::sync::Arc;

use attache_domain::{Message, Role};

/// The messages that began the turns of the task at hand, one each. A conversation may begin with earlier
/// tasks; what was said in those is left out.
pub(crate) fn callers_messages(history: &[Arc<Message>]) -> Vec<&Arc<Message>> {
    let task = history.last().and_then(|message| message.task.as_ref());
    history.iter().filter(|message| message.role == Role::User && message.task.as_ref() == task).collect()
}
