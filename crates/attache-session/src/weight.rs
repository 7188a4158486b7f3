//! Estimates memory use, for caches that are bounded by it.

use attache_domain::{
    Artifact, CallRecord, CallRecords, Content, Exchange, Fact, FileChange, Message, Metadata, ModelPart,
    ModelPartContent, Part, PartContent, Preview, Proposal, TaskView,
};
use serde_json::Value;

/// What a call has shown is kept anew with each event that adds to it.
pub(crate) fn weight_of_live(fact: &Fact, call_records: &CallRecords) -> usize {
    let Fact::CallShowed { call, .. } = fact else { return 0 };
    let weigh = |record: &CallRecord| record.live.len() + weight_of_input(&record.call.input);
    call_records.find(call).map_or(0, |record| weigh(record))
}

/// About how much memory a fact takes.
pub(crate) fn weight_of_fact(fact: &Fact) -> usize {
    const OVERHEAD: usize = 200;
    OVERHEAD
        + match fact {
            Fact::TextSaid { text, .. } | Fact::ThoughtShared { text } => text.len() * 2,
            Fact::ArtifactAdded { artifact, .. } => weight_of_artifact(artifact),
            Fact::TaskOpened(opened) => {
                weight_of_message(&opened.message) + weight_of_metadata(opened.metadata.as_ref())
            }
            Fact::MessageReceived { message, .. }
            | Fact::PromptQueued { message, .. }
            | Fact::CredentialAsked { message }
            | Fact::PersonAsked { message, .. }
            | Fact::Noticed { message }
            | Fact::NoticedLater { message, .. }
            | Fact::Replied { message } => weight_of_message(message),
            Fact::CallShowed { text, .. } | Fact::TextReplaced { text } => text.len() * 2,
            Fact::ContextGiven(given) => weight_of_contents(&given.contents),
            Fact::ContextReduced(reduction) => reduction.summary.as_ref().map_or(0, String::len),
            Fact::ModelAnswered(answer) => answer.parts.iter().map(weight_of_part).sum(),
            Fact::CallProposed(proposed) => weight_of_proposal(&proposed.proposal),
            Fact::CallAnswered { answer, .. } => answer.new_content.as_ref().map_or(0, String::len),
            Fact::CallStateSaved { state, .. } | Fact::ConversationStateSaved { state, .. } => {
                weight_of_value(state)
            }
            Fact::CallAsked(asked) => asked.text.len() * 2,
            Fact::CallFinished(finished) => {
                weight_of_contents(&finished.output) + finished.diff.as_ref().map_or(0, String::len)
            }
            Fact::TurnEnded { message, .. }
            | Fact::PromptSettled { message, .. }
            | Fact::PromptTaken { said: message, .. } => {
                message.as_ref().map_or(0, |message| weight_of_message(message))
            }
            Fact::TurnStarted { .. }
            | Fact::CallStarted { .. }
            | Fact::CallLost { .. }
            | Fact::CallDeferred { .. }
            | Fact::CallCancelRequested { .. }
            | Fact::TextWithdrawn
            | Fact::TextEnded
            | Fact::WorkResumed
            | Fact::ModelChosen { .. }
            | Fact::ModelResponded { .. }
            | Fact::CancelRequested
            | Fact::TaskCanceled => 0,
        }
}

fn weight_of_part(part: &ModelPart) -> usize {
    const OVERHEAD: usize = 256;
    OVERHEAD
        + match &part.what {
            ModelPartContent::Text(text) | ModelPartContent::Thought(text) => text.len(),
            ModelPartContent::Call(call) => weight_of_input(&call.input),
            ModelPartContent::Hidden => 0,
        }
}

fn weight_of_proposal(proposal: &Proposal) -> usize {
    let shown = match &proposal.shown {
        Preview::Edit { diff, original, new_content, .. } => {
            diff.len() + original.as_ref().map_or(0, String::len) + new_content.len()
        }
        Preview::Exec { command, .. } => command.len(),
        Preview::Agent { prompt, .. } => prompt.len() + 1024,
        Preview::Mcp { .. } | Preview::Info { .. } | Preview::Questions { .. } | Preview::Plain { .. } => {
            1024
        }
    };
    weight_of_input(&proposal.input) + shown
}

fn weight_of_input(input: &Metadata) -> usize {
    input.iter().map(|(name, value)| name.len() + weight_of_value(value)).sum()
}

/// Small values take far more in memory than in JSON.
fn weight_of_value(value: &Value) -> usize {
    const EACH: usize = 64;
    EACH + match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight_of_value).sum(),
        Value::Object(members) => weight_of_input(members),
    }
}

fn weight_of_metadata(metadata: Option<&Metadata>) -> usize {
    metadata.map_or(0, weight_of_input)
}

fn weight_of_message(message: &Message) -> usize {
    weight_of_parts(&message.parts) + weight_of_metadata(message.metadata.as_ref())
}

fn weight_of_artifact(artifact: &Artifact) -> usize {
    weight_of_parts(&artifact.parts) + weight_of_metadata(artifact.metadata.as_ref())
}

fn weight_of_contents(contents: &[Content]) -> usize {
    let weigh = |content: &Content| match content {
        Content::Text(text) => text.len(),
        Content::Bytes { bytes, .. } => bytes.0.len(),
        Content::Link { url, .. } => url.len(),
    };
    contents.iter().map(weigh).sum()
}

/// About how much memory a task takes without its tail.
pub fn weight_of_view(view: &TaskView) -> usize {
    const OVERHEAD: usize = 1024;
    let history = view.history.iter().map(|message| weight_of_message(message));
    let artifacts = view.artifacts.iter().map(weight_of_artifact);
    let exchanges = view.exchanges.iter().map(|placed| match placed.exchange.as_ref() {
        Exchange::User(contents) => weight_of_contents(contents),
        Exchange::Model(parts) => parts.iter().map(weight_of_part).sum(),
        Exchange::Results(results) => results.iter().map(|result| weight_of_contents(&result.output)).sum(),
    });
    let weigh = |change: &FileChange| change.content.len() + change.original.as_ref().map_or(0, String::len);
    let changes = view.changes.iter().map(weigh);
    let granted = view.granted.iter().map(|grant| weight_of_proposal(&grant.proposal));
    OVERHEAD + history.chain(artifacts).chain(exchanges).chain(changes).chain(granted).sum::<usize>()
}

fn weight_of_parts(parts: &[Part]) -> usize {
    const PER_PART: usize = 128;
    let weigh = |part: &Part| match &part.content {
        PartContent::Text(text) | PartContent::Url(text) => text.len(),
        PartContent::Raw(base64) => base64.0.len(),
        PartContent::Data(value) => weight_of_value(value),
    };
    let metadata = parts.iter().map(|part| weight_of_metadata(part.metadata.as_ref())).sum::<usize>();
    parts.len() * PER_PART + parts.iter().map(weigh).sum::<usize>() * 2 + metadata
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn many_small_values_weigh_what_they_take() {
        let many = Value::Array(vec![json!({"": 0}); 10_000]);
        let parts = [Part::new(PartContent::Data(many))];
        // An object of one member takes a node of a tree, the text of its name and the value.
        assert!(weight_of_parts(&parts) > 2_000_000, "{}", weight_of_parts(&parts));
        assert!(weight_of_parts(&[Part::text("short")]) < 1000);
    }

    #[test]
    fn metadata_counts_wherever_it_is() {
        let metadata = || json!({"long": "x".repeat(5000)}).as_object().cloned();
        let mut message = Message::from_agent("m".into(), "c".into(), None, "short");
        assert!(weight_of_message(&message) < 1000);
        message.metadata = metadata();
        assert!(weight_of_message(&message) > 5000);
        message.metadata = None;
        message.parts[0].metadata = metadata();
        assert!(weight_of_message(&message) > 5000);
    }
}
