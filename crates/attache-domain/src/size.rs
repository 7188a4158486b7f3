//! Estimates the bytes that a fact takes in the log. Content that can be large is counted.

use serde_json::Value;

use crate::{
    Artifact, Content, Fact, Message, Metadata, ModelPart, ModelPartContent, Part, PartContent, Preview,
    Proposal,
};

/// Names, ids, position and time.
const FRAME: usize = 150;

impl Fact {
    /// Its estimated bytes in the log.
    pub fn size(&self) -> u64 {
        (FRAME + self.content_size()) as u64
    }

    fn content_size(&self) -> usize {
        match self {
            Self::TextSaid { text, .. }
            | Self::ThoughtShared { text }
            | Self::TextReplaced { text }
            | Self::CallShowed { text, .. } => text.len(),
            Self::TaskOpened(opened) => message(&opened.message) + metadata(opened.metadata.as_ref()),
            Self::MessageReceived { message: said, .. }
            | Self::PromptQueued { message: said, .. }
            | Self::CredentialAsked { message: said }
            | Self::PersonAsked { message: said, .. }
            | Self::Noticed { message: said }
            | Self::NoticedLater { message: said, .. }
            | Self::Replied { message: said } => message(said),
            Self::TurnEnded { message: said, .. }
            | Self::PromptSettled { message: said, .. }
            | Self::PromptTaken { said, .. } => said.as_ref().map_or(0, |said| message(said)),
            Self::ArtifactAdded { artifact, .. } => artifact_size(artifact),
            Self::ModelAnswered(answer) => answer.parts.iter().map(part_size).sum(),
            Self::ContextGiven(given) => contents(&given.contents),
            Self::ContextReduced(reduction) => reduction.summary.as_ref().map_or(0, String::len),
            Self::CallProposed(proposed) => proposal(&proposed.proposal),
            Self::CallAnswered { answer, .. } => {
                answer.new_content.as_ref().map_or(0, String::len) + answer.answers.as_ref().map_or(0, value)
            }
            Self::CallStateSaved { state, .. } | Self::ConversationStateSaved { state, .. } => value(state),
            Self::CallAsked(asked) => asked.text.len() + asked.url.as_ref().map_or(0, String::len),
            Self::CallFinished(finished) => {
                contents(&finished.output)
                    + finished.summary.len()
                    + finished.diff.as_ref().map_or(0, String::len)
            }
            Self::TurnStarted { .. }
            | Self::CallStarted { .. }
            | Self::CallLost { .. }
            | Self::CallDeferred { .. }
            | Self::CallCancelRequested { .. }
            | Self::TextWithdrawn
            | Self::TextEnded
            | Self::WorkResumed
            | Self::ModelChosen { .. }
            | Self::ModelResponded { .. }
            | Self::CancelRequested
            | Self::TaskCanceled => 0,
        }
    }
}

fn message(message: &Message) -> usize {
    parts(&message.parts) + metadata(message.metadata.as_ref())
}

fn artifact_size(artifact: &Artifact) -> usize {
    parts(&artifact.parts) + metadata(artifact.metadata.as_ref())
}

fn parts(parts: &[Part]) -> usize {
    let size = |part: &Part| {
        metadata(part.metadata.as_ref())
            + match &part.content {
                PartContent::Text(text) | PartContent::Url(text) => text.len(),
                PartContent::Raw(base64) => base64.0.len(),
                PartContent::Data(data) => value(data),
            }
    };
    parts.iter().map(size).sum()
}

fn part_size(part: &ModelPart) -> usize {
    match &part.what {
        ModelPartContent::Text(text) | ModelPartContent::Thought(text) => text.len(),
        ModelPartContent::Call(call) => members(&call.input),
        ModelPartContent::Hidden => 0,
    }
}

fn proposal(proposal: &Proposal) -> usize {
    let shown = match &proposal.shown {
        Preview::Edit { diff, original, new_content, .. } => {
            diff.len() + original.as_ref().map_or(0, String::len) + new_content.len()
        }
        Preview::Exec { command, .. } => command.len(),
        Preview::Agent { prompt, .. } => prompt.len() + FRAME,
        Preview::Mcp { .. } | Preview::Info { .. } | Preview::Questions { .. } | Preview::Plain { .. } => {
            FRAME
        }
    };
    members(&proposal.input) + shown
}

fn contents(contents: &[Content]) -> usize {
    let size = |content: &Content| match content {
        Content::Text(text) => text.len(),
        Content::Bytes { bytes, .. } => bytes.0.len(),
        Content::Link { url, .. } => url.len(),
    };
    contents.iter().map(size).sum()
}

fn metadata(metadata: Option<&Metadata>) -> usize {
    metadata.map_or(0, members)
}

fn members(members: &Metadata) -> usize {
    members.iter().map(|(name, member)| name.len() + 4 + value(member)).sum()
}

fn value(of: &Value) -> usize {
    match of {
        Value::Null | Value::Bool(_) | Value::Number(_) => 5,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| 1 + value(item)).sum(),
        Value::Object(object) => members(object),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_large_counts_about_as_much_as_it_takes() {
        let text = "x".repeat(10_000);
        let message = Message::from_agent("m".into(), "c".into(), None, &*text);
        for fact in [
            Fact::TextSaid { text: text.clone(), last: false },
            Fact::CallShowed { call: crate::CallId("a".into()), text },
            Fact::Noticed { message: message.into() },
            Fact::CancelRequested,
        ] {
            let stored = serde_json::to_string(&fact).unwrap().len() as u64;
            assert!(fact.size().abs_diff(stored) < 300, "{} for {stored}", fact.size());
        }
    }
}
