//! Conversations to hand to a model, and its answers in a form that is easy to compare.

use std::sync::Arc;

use attache_domain::{Base64, CallId, Content, Message, Part, PartContent, Role, ToolResult};
use attache_model::script::ScriptModel;
use attache_model::{BuiltInModel, ModelChunk, ModelRequest, ModelStreamItem, TurnFinish};
use futures_util::{FutureExt, StreamExt};
use serde_json::Value;

pub(crate) fn script(yaml: &str) -> ScriptModel {
    ScriptModel::from_yaml(yaml).unwrap_or_else(|error| panic!("{error}\n{yaml}"))
}

/// A script of one rule that matches everything. `steps` is YAML, not indented.
pub(crate) fn steps(steps: &str) -> ScriptModel {
    let steps: String = steps.trim().lines().map(|line| format!("      {line}\n")).collect();
    script(&format!("rules:\n  - text: '([a-z]*) ?(?<rest>.*)'\n    steps:\n{steps}"))
}

pub(crate) fn message(id: &str, role: Role, parts: Vec<Part>) -> Arc<Message> {
    Arc::new(Message {
        id: id.into(),
        role,
        parts,
        context: Some("context".into()),
        task: Some("task".into()),
        requested: None,
        command: None,
        sender: None,
        reference_tasks: Vec::new(),
        extensions: Vec::new(),
        metadata: None,
    })
}

pub(crate) fn user(text: &str) -> Arc<Message> {
    message("message-1", Role::User, vec![Part::text(text)])
}

/// The request of the last turn of a conversation in which the caller said `texts`, one in each turn.
pub(crate) fn conversation(texts: &[&str]) -> ModelRequest {
    let mut history = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        if index > 0 {
            // What the agent said in between is no turn of the caller's.
            history.push(message("agent", Role::Agent, vec![Part::text("said")]));
            history.push(message("agent", Role::Agent, vec![Part::text("asked")]));
        }
        history.push(user(text));
    }
    ModelRequest { history, turn: texts.len() as u32, emitted: 0, results: Vec::new() }
}

/// The result of a call.
pub(crate) fn result(text: &str) -> ToolResult {
    ToolResult {
        call: CallId("call".into()),
        name: "tool".into(),
        output: vec![Content::Text(text.into())],
        failed: false,
    }
}

pub(crate) fn failure(text: &str) -> ToolResult {
    ToolResult { failed: true, ..result(text) }
}

/// Everything a turn says, whose calls have `results`, round by round, as it would be recorded: the
/// items of all rounds, and for each the number of results and chunks that were there before it.
#[track_caller]
pub(crate) fn rounds(
    model: &impl BuiltInModel,
    request: &ModelRequest,
    results: &[Vec<ToolResult>],
) -> Vec<(usize, u32, ModelStreamItem)> {
    let mut played = Vec::new();
    let mut request = ModelRequest { emitted: 0, results: Vec::new(), ..request.clone() };
    loop {
        for item in answer(model, request.clone()) {
            let is_chunk = matches!(item, ModelStreamItem::Chunk(_));
            played.push((request.results.len(), request.emitted, item));
            request.emitted += u32::from(is_chunk);
        }
        let waits = matches!(played.last(), Some((_, _, ModelStreamItem::Finish(TurnFinish::Calls(_)))));
        match results.get(request.results.len()) {
            Some(next) if waits => request.results.push(next.clone()),
            _ => return played,
        }
    }
}

/// A turn that is cut off after any item goes on with exactly the items that would have come next in its round.
#[track_caller]
pub(crate) fn check_resumption(
    model: &impl BuiltInModel,
    request: &ModelRequest,
    results: &[Vec<ToolResult>],
) {
    let played = rounds(model, request, results);
    for (place, (round, emitted, _)) in played.iter().enumerate() {
        let again =
            ModelRequest { emitted: *emitted, results: results[..*round].to_vec(), ..request.clone() };
        let expected: Vec<&ModelStreamItem> =
            played[place..].iter().filter(|(later, _, _)| later == round).map(|(_, _, item)| item).collect();
        assert_eq!(answer(model, again).iter().collect::<Vec<_>>(), expected, "after {place} items");
    }
}

/// Everything the model answers, which must be there without any waiting.
#[track_caller]
pub(crate) fn answer(model: &impl BuiltInModel, request: ModelRequest) -> Vec<ModelStreamItem> {
    let items = model.stream(request).collect::<Vec<_>>().now_or_never();
    let items = items.expect("the stream was pending without a wait");
    items.into_iter().map(Result::unwrap).collect()
}

/// The transcript of one turn.
#[track_caller]
pub(crate) fn play(model: &impl BuiltInModel, texts: &[&str]) -> Vec<String> {
    answer(model, conversation(texts)).iter().map(shown).collect()
}

pub(crate) fn shown(item: &ModelStreamItem) -> String {
    match item {
        ModelStreamItem::Chunk(chunk) => match chunk {
            ModelChunk::Thought(text) => format!("thought {text}"),
            ModelChunk::Text(text) => format!("text {text}"),
            ModelChunk::Artifact { artifact, append, last } => {
                let parts: Vec<String> = artifact.parts.iter().map(shown_part).collect();
                let name = artifact.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
                let append = if *append { " append" } else { "" };
                let last = if *last { " last" } else { "" };
                format!("artifact {}{name}{append}{last}: {}", artifact.id, parts.join(" + "))
            }
            ModelChunk::CredentialNeeded(text) => format!("credential {text}"),
            ModelChunk::Resumed => "resumed".into(),
        },
        ModelStreamItem::Finish(finish) => match finish {
            TurnFinish::Completed { status: None } => "completed".into(),
            TurnFinish::Completed { status: Some(status) } => format!("completed: {status}"),
            TurnFinish::InputRequired { question: None } => "input required".into(),
            TurnFinish::InputRequired { question: Some(question) } => format!("input required: {question}"),
            TurnFinish::AuthRequired { explanation } => format!("auth required: {explanation}"),
            TurnFinish::Failed { reason } => format!("failed: {reason}"),
            TurnFinish::Rejected { reason } => format!("rejected: {reason}"),
            TurnFinish::Calls(calls) => {
                let shown =
                    calls.iter().map(|call| format!("{} {}", call.name, Value::Object(call.input.clone())));
                format!("calls: {}", shown.collect::<Vec<_>>().join(" + "))
            }
            TurnFinish::Replied { parts } => {
                format!("replied: {}", parts.iter().map(shown_part).collect::<Vec<_>>().join(" + "))
            }
        },
    }
}

fn shown_part(part: &Part) -> String {
    let content = match &part.content {
        PartContent::Text(text) => format!("text {text}"),
        PartContent::Raw(Base64(text)) => format!("raw {text}"),
        PartContent::Url(url) => format!("url {url}"),
        PartContent::Data(value) => format!("data {value}"),
    };
    let labels = [&part.media_type, &part.filename];
    let labels = labels.into_iter().flatten().map(|label| format!(" [{label}]"));
    let metadata = part
        .metadata
        .iter()
        .map(|metadata| format!(" {}", serde_json::to_string(metadata).expect("metadata is JSON")));
    std::iter::once(content).chain(labels).chain(metadata).collect()
}
