//! The events that a run shows.

use std::collections::HashMap;

use attache_domain::{CallId, Event, Fact, FinishedCall, ModelPartContent, ToolCall};

use crate::denial::Denials;

/// Bytes of the output of a call that are kept until it is over; of more, the end.
const MAX_SHOWN: usize = 1 << 20;

/// One thing to show, whatever the format.
#[derive(Debug, PartialEq)]
pub enum OutputEvent<'a> {
    /// The next piece of the answer.
    Text(&'a str),
    /// What was shown of the answer does not count: it was cut off. It may start again.
    Withdrawn,
    ToolUse(&'a ToolCall),
    /// A call is over; the text is what it has shown while it ran.
    ToolResult(&'a FinishedCall, String),
    Warning(String),
}

/// Turns events into collector, one after the other.
#[derive(Debug, Default)]
pub(crate) struct OutputEvents {
    /// What was shown of this turn's answer, and counts.
    shown: String,
    /// What calls that are not over have shown.
    live: HashMap<CallId, String>,
    pub(crate) denials: Denials,
}

impl OutputEvents {
    pub(crate) fn of<'a>(&mut self, event: &'a Event) -> Vec<OutputEvent<'a>> {
        match &event.fact {
            Fact::TextSaid { text, .. } => self.say(text).into_iter().collect(),
            Fact::TextWithdrawn => self.withdraw(""),
            Fact::TextReplaced { text } => self.withdraw(text),
            Fact::ModelAnswered(answer) => {
                let calls = answer.parts.iter().filter_map(|part| match &part.what {
                    ModelPartContent::Call(call) => Some(OutputEvent::ToolUse(call)),
                    _ => None,
                });
                let calls: Vec<_> = calls.collect();
                for call in &calls {
                    if let OutputEvent::ToolUse(call) = call {
                        self.denials.remember(call);
                    }
                }
                calls
            }
            Fact::CallShowed { call, text } => {
                let live = self.live.entry(call.clone()).or_default();
                live.push_str(text);
                let cut = live.ceil_char_boundary(live.len().saturating_sub(MAX_SHOWN));
                live.drain(..cut);
                Vec::new()
            }
            Fact::CallFinished(finished) => {
                let live = self.live.remove(&finished.call).unwrap_or_default();
                let denied = self.denials.warning(finished).map(OutputEvent::Warning);
                [OutputEvent::ToolResult(finished, live)].into_iter().chain(denied).collect()
            }
            Fact::Noticed { message } | Fact::CredentialAsked { message } => {
                vec![OutputEvent::Warning(message.text())]
            }
            _ => Vec::new(),
        }
    }

    /// Has no text been shown that counts?
    pub(crate) fn is_silent(&self) -> bool {
        self.shown.is_empty()
    }

    fn say<'a>(&mut self, text: &'a str) -> Option<OutputEvent<'a>> {
        self.shown.push_str(text);
        (!text.is_empty()).then_some(OutputEvent::Text(text))
    }

    /// All but `kept` does not count; what was shown of that need not be shown again.
    fn withdraw<'a>(&mut self, kept: &'a str) -> Vec<OutputEvent<'a>> {
        let shown = std::mem::replace(&mut self.shown, kept.to_owned());
        if shown == kept {
            return Vec::new();
        }
        let again = (!shown.starts_with(kept)).then_some(OutputEvent::Text(kept));
        [OutputEvent::Withdrawn].into_iter().chain(again).collect()
    }
}

#[cfg(test)]
mod tests {
    use attache_domain::{Seq, Timestamp};

    use super::*;

    fn event(fact: Fact) -> Event {
        Event { seq: Seq(1), at: Timestamp::UNIX_EPOCH, fact }
    }

    fn said(text: &str) -> Fact {
        Fact::TextSaid { text: text.into(), last: false }
    }

    #[track_caller]
    fn check(facts: Vec<Fact>, expected: &[OutputEvent<'_>]) {
        let events: Vec<_> = facts.into_iter().map(event).collect();
        let mut collector = OutputEvents::default();
        let found: Vec<_> = events.iter().flat_map(|event| collector.of(event)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn text_is_shown_as_it_comes() {
        check(
            vec![said("a"), said(""), said("b"), Fact::TextEnded],
            &[OutputEvent::Text("a"), OutputEvent::Text("b")],
        );
    }

    #[test]
    fn what_is_kept_at_a_withdrawal_is_not_shown_twice() {
        let replaced = Fact::TextReplaced { text: "kept ".into() };
        let facts = vec![said("kept "), said("lost"), replaced, said("new")];
        check(
            facts,
            &[
                OutputEvent::Text("kept "),
                OutputEvent::Text("lost"),
                OutputEvent::Withdrawn,
                OutputEvent::Text("new"),
            ],
        );
    }

    #[test]
    fn an_answer_that_starts_again_is_shown_again() {
        let facts = vec![said("lost"), Fact::TextWithdrawn, said("lo"), said("ng")];
        check(
            facts,
            &[
                OutputEvent::Text("lost"),
                OutputEvent::Withdrawn,
                OutputEvent::Text("lo"),
                OutputEvent::Text("ng"),
            ],
        );
    }

    #[test]
    fn a_withdrawal_of_nothing_is_not_worth_a_word() {
        check(vec![Fact::TextWithdrawn, said("a")], &[OutputEvent::Text("a")]);
    }
}
