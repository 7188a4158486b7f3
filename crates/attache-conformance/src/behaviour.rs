//! The behaviours that the checks ask of the agent under test, and whether the agent supports them.
//!
//! A message's text is `conformance WORD`. The README describes each word.

use crate::check::{CheckResult, ensure, fail};
use crate::pair::Pair;
use crate::protocol::{SendResult, State};
use crate::request::SendRequest;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Behaviour {
    Complete,
    Chunks,
    Burst,
    Brief,
    Slow,
    Ask,
    Auth,
    Fail,
    Reject,
    Message,
    Parts,
}

impl Behaviour {
    pub(crate) const ALL: [Self; 11] = [
        Self::Complete,
        Self::Chunks,
        Self::Burst,
        Self::Brief,
        Self::Slow,
        Self::Ask,
        Self::Auth,
        Self::Fail,
        Self::Reject,
        Self::Message,
        Self::Parts,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Chunks => "chunks",
            Self::Burst => "burst",
            Self::Brief => "brief",
            Self::Slow => "slow",
            Self::Ask => "ask",
            Self::Auth => "auth",
            Self::Fail => "fail",
            Self::Reject => "reject",
            Self::Message => "message",
            Self::Parts => "parts",
        }
    }

    pub(crate) fn text(self) -> String {
        format!("conformance {}", self.as_str())
    }
}

/// Whether the agent at `pair` supports a behaviour. The error says what it did instead.
pub(crate) async fn supports(pair: &Pair, word: Behaviour) -> CheckResult {
    if word == Behaviour::Slow {
        let task = pair.send(SendRequest::behaving(word).at_once()).await?.task()?;
        ensure!(!task.state().is_terminal(), "the task was {:?} at once", task.state());
        // The end of the task does not matter.
        let _ = pair.cancel(&task.id).await;
        return Ok(());
    }
    match (word, pair.send(SendRequest::behaving(word)).await?.done()?) {
        (Behaviour::Message, SendResult::Message(_)) => Ok(()),
        (Behaviour::Message, SendResult::Task(_)) => fail("it answered with a task"),
        (_, SendResult::Message(_)) => fail("it answered with a message"),
        (word, SendResult::Task(task)) => {
            let expected = match word {
                Behaviour::Ask => State::InputRequired,
                Behaviour::Auth => State::AuthRequired,
                Behaviour::Fail => State::Failed,
                Behaviour::Reject => State::Rejected,
                _ => State::Completed,
            };
            ensure!(task.state() == expected, "the task became {:?}", task.state());
            let text: String = task.artifacts().iter().map(crate::protocol::Artifact::text).collect();
            match word {
                Behaviour::Chunks => ensure!(text == "one two three", "the artifact's text is {text:?}"),
                Behaviour::Burst => ensure!(text.ends_with("30 "), "the artifact's text is {text:?}"),
                Behaviour::Parts => ensure!(
                    task.artifacts().iter().map(|artifact| artifact.parts.len()).sum::<usize>() >= 4,
                    "the artifacts have fewer than four parts"
                ),
                _ => {}
            }
            Ok(())
        }
    }
}
