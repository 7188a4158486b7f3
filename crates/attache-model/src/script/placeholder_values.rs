//! The values of placeholders, from the caller's messages.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use attache_domain::{Content, Message, Part, ToolResult};

/// The text of one message, borrowed if it is in one part.
#[derive(Debug, Clone)]
pub(super) enum MessageText {
    Nothing,
    OnePart { message: Arc<Message>, part: usize },
    Joined(Arc<str>),
}

impl MessageText {
    /// The text of a message, for reading only.
    pub(super) fn of(message: &Message) -> Cow<'_, str> {
        let mut texts = message.parts.iter().filter_map(Part::as_text);
        match (texts.next(), texts.next()) {
            (None, _) => Cow::Borrowed(""),
            (Some(text), None) => Cow::Borrowed(text),
            (Some(_), Some(_)) => Cow::Owned(message.text()),
        }
    }

    pub(super) fn keep(message: &Arc<Message>) -> Self {
        let mut texts = message.parts.iter().enumerate().filter(|(_, part)| part.as_text().is_some());
        match (texts.next(), texts.next()) {
            (None, _) => Self::Nothing,
            (Some((part, _)), None) => Self::OnePart { message: Arc::clone(message), part },
            (Some(_), Some(_)) => Self::Joined(message.text().into()),
        }
    }

    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Nothing => "",
            Self::OnePart { message, part } => {
                message.parts.get(*part).and_then(Part::as_text).unwrap_or_default()
            }
            Self::Joined(text) => text,
        }
    }
}

/// The values of all placeholders in one turn.
#[derive(Debug)]
pub(super) struct PlaceholderValues {
    /// The text that the rule matched.
    pub(super) matched: MessageText,
    /// The text of the latest message; the same as `matched` in a rule's first turn.
    pub(super) latest: MessageText,
    pub(super) turn: u32,
    /// The positions of the rule's groups in `matched`; empty if no template uses a group.
    pub(super) groups: Vec<Option<Range<usize>>>,
    pub(super) outcomes: CallResults,
}

impl PlaceholderValues {
    pub(super) fn group(&self, number: usize) -> &str {
        let range = self.groups.get(number).cloned().flatten();
        range.and_then(|range| self.matched.as_str().get(range)).unwrap_or_default()
    }
}

/// The results of the calls of a turn so far.
#[derive(Debug, Default)]
pub(super) struct CallResults {
    /// One entry for each call of the script; none for a skipped call.
    texts: Vec<Option<String>>,
    /// Whether one of the latest calls failed.
    pub(super) failed: bool,
}

impl CallResults {
    /// Adds the results of `count` calls that ran together.
    pub(super) fn add(&mut self, count: usize, results: &[ToolResult]) {
        self.failed = results.iter().any(|result| result.failed);
        self.texts.extend((0..count).map(|place| Some(results.get(place).map(text_of).unwrap_or_default())));
    }

    pub(super) fn pass_over(&mut self, count: usize) {
        self.texts.extend((0..count).map(|_| None));
    }

    pub(super) fn calls(&self) -> usize {
        self.texts.len()
    }

    pub(super) fn text(&self, place: usize) -> &str {
        self.texts.get(place).and_then(Option::as_deref).unwrap_or_default()
    }

    /// The result of the latest call.
    pub(super) fn latest(&self) -> &str {
        self.texts.iter().rev().flatten().next().map(String::as_str).unwrap_or_default()
    }
}

fn text_of(result: &ToolResult) -> String {
    let texts: Vec<&str> = result
        .output
        .iter()
        .filter_map(|content| match content {
            Content::Text(text) => Some(text.as_str()),
            Content::Bytes { .. } | Content::Link { .. } => None,
        })
        .collect();
    texts.join("\n")
}
