//! The body of a request.
//!
//! The body begins with what changes least: tools, then instructions, then the conversation. A cache mark at the end
//! of each lets Anthropic reuse what it has read.

use std::collections::BTreeSet;

use attache_domain::{Exchange, ModelPartContent};
use attache_model::{LanguageError, Prompt, ToolDeclaration};
use serde_json::{Map, Value, json};

use super::Anthropic;
use super::messages::{TargetModel, messages};
use super::models::family;
use crate::answer_request::{NUDGE, RequestVariation};
use crate::tool_names::ToolNames;

/// The encoded body of a request.
pub(super) fn body(
    shared: &Anthropic,
    prompt: &Prompt,
    variation: &RequestVariation,
) -> Result<String, LanguageError> {
    let names = ToolNames::of(prompt);
    let Anthropic { connection, model } = shared;
    let reader =
        TargetModel { route: &connection.endpoint.route, family: family(&connection.model), names: &names };
    let mut messages = messages(&prompt.exchanges, reader)
        .ok_or_else(|| LanguageError::Request { what: "the prompt says nothing; give it a text".into() })?;
    if let Some(last) = messages.last_mut().and_then(|last| last["content"].as_array_mut()?.last_mut()) {
        last["cache_control"] = json!({"type": "ephemeral"});
    }
    if let Some(so_far) = &variation.continuation {
        messages.push(json!({"role": "assistant", "content": so_far}));
    }
    let mut body = Map::new();
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            body.insert(key.into(), value);
        }
    };
    set("model", Some(json!(connection.model)));
    set("max_tokens", Some(json!(model.max_output)));
    set("stream", Some(json!(true)));
    let past = if prompt.tools.is_empty() { past_tools(prompt) } else { Vec::new() };
    let offered = if past.is_empty() { &prompt.tools[..] } else { &past };
    set("tools", tools(offered, &names));
    // Declared because the history has calls of it, but the model must not call it.
    set("tool_choice", (!past.is_empty()).then(|| json!({"type": "none"})));
    set("system", system(prompt, variation.nudged));
    set("messages", Some(Value::Array(messages)));
    if model.is_adaptive {
        set("thinking", Some(json!({"type": "adaptive", "display": "summarized"})));
    } else {
        set("temperature", prompt.temperature.map(Value::from));
    }
    Ok(Value::Object(body).to_string())
}

/// The tools called so far. Anthropic refuses calls in the history whose tools are not declared.
fn past_tools(prompt: &Prompt) -> Vec<ToolDeclaration> {
    let mut names = BTreeSet::new();
    for exchange in prompt.exchanges.iter() {
        let Exchange::Model(said) = &**exchange else { continue };
        names.extend(said.iter().filter_map(|said| match &said.what {
            ModelPartContent::Call(call) => Some(call.name.as_str()),
            ModelPartContent::Text(_) | ModelPartContent::Thought(_) | ModelPartContent::Hidden => None,
        }));
    }
    let past = |name: &str| ToolDeclaration {
        name: name.to_owned(),
        description: "No longer available.".into(),
        parameters: json!({}),
    };
    names.into_iter().map(past).collect()
}

fn tools(tools: &[ToolDeclaration], names: &ToolNames) -> Option<Value> {
    let mut declared: Vec<Value> = tools.iter().map(|tool| declaration(tool, names)).collect();
    declared.last_mut()?["cache_control"] = json!({"type": "ephemeral"});
    Some(Value::Array(declared))
}

fn declaration(tool: &ToolDeclaration, names: &ToolNames) -> Value {
    let mut schema = tool.parameters.as_object().cloned().unwrap_or_default();
    schema.remove("$schema");
    schema.entry("type").or_insert_with(|| json!("object"));
    json!({"name": names.sent_name(&tool.name), "description": tool.description, "input_schema": schema})
}

/// The instructions, and the nudge if needed.
fn system(prompt: &Prompt, nudged: bool) -> Option<Value> {
    let text = |text: &str| json!({"type": "text", "text": text});
    let own = prompt.instructions.as_deref().filter(|text| !text.trim().is_empty());
    let mut blocks: Vec<Value> = own.map(text).into_iter().collect();
    if let Some(block) = blocks.first_mut() {
        block["cache_control"] = json!({"type": "ephemeral"});
    }
    blocks.extend(nudged.then(|| text(NUDGE)));
    (!blocks.is_empty()).then_some(Value::Array(blocks))
}
