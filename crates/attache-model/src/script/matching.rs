//! Finds the rule that matches, and the position of a turn in it.
//!
//! Every turn of a task begins with one message of the caller. The message of the first turn selects a rule, whose
//! segments are played turn by turn. When they run out, the next message selects again. The position is computed from
//! the conversation and the number of the turn; no state is kept.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use attache_domain::{Message, ReplyShape};

use super::placeholder_values::{CallResults, MessageText, PlaceholderValues};
use super::rule::{Rule, Script};
use crate::ModelRequest;
use crate::task_messages::callers_messages;

/// The segment to start with, and the messages it refers to.
#[derive(Debug)]
pub(super) struct MatchedRule {
    pub(super) rule: usize,
    pub(super) segment: usize,
    pub(super) words: PlaceholderValues,
}

impl MatchedRule {
    pub(super) fn find(script: &Script, request: &ModelRequest) -> Self {
        let messages = callers_messages(&request.history);
        let wanted = request.turn.max(1);
        let mut turn = 1;
        loop {
            let message = message_of_turn(&messages, turn);
            let speech = message.map_or(MessageText::Nothing, MessageText::keep);
            let id = message.map_or("", |message| message.id.as_str());
            let rule = script.rule_for(id, speech.as_str(), turn);
            let segments = u32::try_from(script.rules[rule].segments.len()).unwrap_or(u32::MAX);
            if wanted - turn < segments {
                let latest = message_of_turn(&messages, wanted);
                let latest = if wanted == turn {
                    speech.clone()
                } else {
                    latest.map_or(MessageText::Nothing, MessageText::keep)
                };
                let groups = script.rules[rule].groups(speech.as_str());
                let words = PlaceholderValues {
                    matched: speech,
                    latest,
                    turn: wanted,
                    groups,
                    outcomes: CallResults::default(),
                };
                return Self { rule, segment: (wanted - turn) as usize, words };
            }
            turn += segments;
        }
    }
}

impl Script {
    /// Whether the answer to a message that would open a task is one message without a task.
    pub(super) fn answers_bare<'a>(&self, message_id: &str, text: impl FnOnce() -> Cow<'a, str>) -> bool {
        let bare = |rule: &Rule| rule.reply == ReplyShape::Message;
        self.rules.iter().any(bare) && bare(&self.rules[self.rule_for(message_id, &text(), 1)])
    }

    /// The first rule that matches; the last rule always does.
    fn rule_for(&self, message_id: &str, text: &str, turn: u32) -> usize {
        let fits = |rule: &Rule| {
            rule.turn.is_none_or(|wanted| wanted == turn)
                && rule.message_id.as_deref().is_none_or(|prefix| message_id.starts_with(prefix))
                && rule.text.as_ref().is_none_or(|pattern| pattern.is_match(text))
        };
        self.rules.iter().position(fits).unwrap_or(self.rules.len() - 1)
    }
}

impl Rule {
    fn groups(&self, text: &str) -> Vec<Option<Range<usize>>> {
        let Some(pattern) = self.text.as_ref().filter(|_| self.uses_groups) else { return Vec::new() };
        let captures = pattern.captures(text);
        captures
            .iter()
            .flat_map(|captures| captures.iter())
            .map(|group| group.map(|group| group.range()))
            .collect()
    }
}

fn message_of_turn<'a>(messages: &[&'a Arc<Message>], turn: u32) -> Option<&'a Arc<Message>> {
    messages.get(turn as usize - 1).or(messages.last()).copied()
}
