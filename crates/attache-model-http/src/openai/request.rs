//! The body of a request.

use attache_model::{LanguageError, Prompt, ToolDeclaration};
use serde_json::{Map, Value, json};

use super::OpenAi;
use super::messages::{TargetModel, messages};
use crate::answer_request::RequestVariation;
use crate::tool_names::ToolNames;

/// The encoded body of a request.
pub(super) fn body(
    shared: &OpenAi,
    prompt: &Prompt,
    variation: &RequestVariation,
) -> Result<String, LanguageError> {
    let names = ToolNames::of(prompt);
    let reader = TargetModel {
        route: &shared.connection.endpoint.route,
        model: &shared.connection.model,
        return_reasoning: shared.return_reasoning,
        names: &names,
    };
    let messages = messages(prompt, variation.nudged, reader)
        .ok_or_else(|| LanguageError::Request { what: "the prompt says nothing; give it a text".into() })?;
    let mut body = Map::new();
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            body.insert(key.into(), value);
        }
    };
    set("model", Some(json!(shared.connection.model)));
    set("messages", Some(Value::Array(messages)));
    set("stream", Some(json!(true)));
    set("stream_options", Some(json!({"include_usage": true})));
    let tools: Vec<Value> = prompt.tools.iter().map(|tool| declaration(tool, &names)).collect();
    set("tools", (!tools.is_empty()).then_some(Value::Array(tools)));
    set("temperature", prompt.temperature.filter(|_| shared.is_tunable).map(Value::from));
    Ok(Value::Object(body).to_string())
}

fn declaration(tool: &ToolDeclaration, names: &ToolNames) -> Value {
    json!({"type": "function", "function": {
        "name": names.sent_name(&tool.name),
        "description": tool.description,
        "parameters": parameters(&tool.parameters),
    }})
}

/// An object schema always has `properties`, even if empty, because OpenAI requires them.
fn parameters(schema: &Value) -> Value {
    let mut schema = schema.as_object().cloned().unwrap_or_default();
    schema.remove("$schema");
    schema.entry("type").or_insert_with(|| json!("object"));
    schema.entry("properties").or_insert_with(|| json!({}));
    Value::Object(schema)
}
