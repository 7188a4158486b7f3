//! A prompt as other clients are shown it: who gave it, by which interface, and whether it is worked on.

use attache_domain::{Message, MessageId, PromptChange};
use serde::Serialize;

/// The text that is shown. The rest is in the task.
const MAX_TEXT_BYTES: usize = 64 << 10;

#[derive(Debug, Serialize)]
pub(super) struct UserPrompt<'a> {
    pub(super) message_id: &'a str,
    pub(super) status: &'static str,
    /// Absent when it was shown before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) truncated: bool,
    /// The caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<&'a str>,
    /// What the client calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) client: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) interface: Option<&'static str>,
}

impl<'a> UserPrompt<'a> {
    pub(super) fn of(id: &'a MessageId, message: Option<&'a Message>, change: PromptChange) -> Self {
        let status = match change {
            PromptChange::Received => "RECEIVED",
            PromptChange::Queued => "QUEUED",
            PromptChange::Taken => "TAKEN",
        };
        let mut text = message.map(Message::text);
        let truncated = text.as_mut().is_some_and(|text| {
            let end = text.floor_char_boundary(MAX_TEXT_BYTES);
            let is_longer = end < text.len();
            text.truncate(end);
            is_longer
        });
        let sender = message.and_then(|message| message.sender.as_deref());
        Self {
            message_id: id.as_str(),
            status,
            text,
            truncated,
            by: sender.map(|sender| sender.by.as_str()),
            client: sender.and_then(|sender| sender.client.as_deref()),
            interface: sender.and_then(|sender| sender.interface).map(|interface| interface.as_str()),
        }
    }
}
