//! What the caller wrote, as templates and rules see it.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use attache_domain::{Message, Part};

/// The text of one message, without a copy where it stands in one part.
#[derive(Debug, Clone)]
pub(super) enum Speech {
    Nothing,
    OnePart { message: Arc<Message>, part: usize },
    Joined(Arc<str>),
}

impl Speech {
    /// The text of a message that is only looked at.
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

/// Everything a placeholder can stand for in one turn.
#[derive(Debug)]
pub(super) struct Words {
    /// What the rule matched.
    pub(super) matched: Speech,
    /// What was said last; the same as `matched` in a rule's first turn.
    pub(super) latest: Speech,
    pub(super) turn: u32,
    /// Where the rule's groups stand in `matched`; empty when no template of the rule uses one.
    pub(super) groups: Vec<Option<Range<usize>>>,
}

impl Words {
    pub(super) fn group(&self, number: usize) -> &str {
        let range = self.groups.get(number).cloned().flatten();
        range.and_then(|range| self.matched.as_str().get(range)).unwrap_or_default()
    }
}
