//! The body of a request.

use std::sync::{Arc, Mutex};

use attache_domain::IgnorePoison;
use attache_model::{LanguageError, Prompt, ToolDeclaration};
use bytes::Bytes;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::Gemini;
use super::contents::{TargetModel, write_contents};
use super::models::{Generation, Model};
use super::schema;
use crate::answer_request::{NUDGE, RequestVariation};

/// The maximum number of declared tools.
const MAX_TOOLS: usize = 512;

/// The body of a request as JSON.
pub(super) fn body(
    shared: &Gemini,
    prompt: &Prompt,
    variation: &RequestVariation,
) -> Result<Bytes, LanguageError> {
    let refuse = |what: &str| Err(LanguageError::Request { what: what.into() });
    let unencoded = |error: serde_json::Error| LanguageError::Request { what: error.to_string() };
    if prompt.tools.len() > MAX_TOOLS {
        return refuse(&format!("{} tools are declared; Gemini takes {MAX_TOOLS}", prompt.tools.len()));
    }
    let reader = TargetModel { model: &shared.model, route: &shared.connection.endpoint.route };
    let contents =
        write_contents(r#"{"contents":["#, &prompt.exchanges, prompt.key, reader, &shared.prefixes);
    let mut text = contents.map_err(unencoded)?;
    if text.is_empty() {
        return refuse("the prompt says nothing; give it a text");
    }
    let generation = generation(&shared.model, prompt);
    let rest = RequestTail {
        system_instruction: instructions(prompt, variation),
        tools: shared.declared.of(&prompt.tools)?,
        tool_config: (!prompt.tools.is_empty()).then(|| json!({"functionCallingConfig": {"mode": "AUTO"}})),
        generation_config: (!generation.is_empty()).then_some(generation),
        continuation_token: variation.continuation.as_ref(),
    };
    text.write("]");
    text.close_with(&rest).map_err(unencoded)?;
    Ok(shared.prefixes.finish(text))
}

/// The members after the contents.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RequestTail<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Arc<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation_config: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    continuation_token: Option<&'a Value>,
}

/// The encoded declarations of the last request: most requests declare the same tools.
#[derive(Debug, Default)]
pub(super) struct DeclarationCache {
    last: Mutex<Option<Declaration>>,
}

#[derive(Debug)]
struct Declaration {
    tools: Arc<[ToolDeclaration]>,
    encoded: Arc<RawValue>,
}

impl DeclarationCache {
    fn of(&self, tools: &Arc<[ToolDeclaration]>) -> Result<Option<Arc<RawValue>>, LanguageError> {
        if tools.is_empty() {
            return Ok(None);
        }
        let mut last = self.last.lock().ignore_poison();
        // Conversations often have the same tools. Comparing costs less than encoding.
        if let Some(known) = last.as_ref().filter(|known| known.tools == *tools) {
            return Ok(Some(known.encoded.clone()));
        }
        let declarations = tools.iter().map(declaration).collect::<Result<Vec<_>, _>>()?;
        let encoded = to_raw_value(&json!([{"functionDeclarations": declarations}]))
            .map_err(|error| LanguageError::Request { what: error.to_string() })?;
        let encoded: Arc<RawValue> = encoded.into();
        *last = Some(Declaration { tools: tools.clone(), encoded: encoded.clone() });
        Ok(Some(encoded))
    }
}

/// The instructions, and the nudge if needed.
fn instructions(prompt: &Prompt, variation: &RequestVariation) -> Option<Value> {
    let own = prompt.instructions.as_deref().filter(|text| !text.is_empty());
    let nudge = variation.nudged.then_some(NUDGE);
    let parts: Vec<Value> = own.into_iter().chain(nudge).map(|text| json!({"text": text})).collect();
    (!parts.is_empty()).then(|| json!({"parts": parts, "role": "user"}))
}

fn declaration(tool: &ToolDeclaration) -> Result<Value, LanguageError> {
    if !is_name(&tool.name) {
        let what = format!(
            "no tool can be called {:?}: a name begins with a letter or _, goes on with letters, digits and _.:- \
             and has at most 128 of them",
            tool.name
        );
        return Err(LanguageError::Request { what });
    }
    Ok(json!({
        "name": tool.name,
        "description": tool.description,
        "parametersJsonSchema": schema::clean(&tool.parameters),
    }))
}

fn is_name(name: &str) -> bool {
    let begins = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let fits = |character: char| character.is_ascii_alphanumeric() || "_.:-".contains(character);
    begins && name.len() <= 128 && name.chars().all(fits)
}

fn generation(model: &Model, prompt: &Prompt) -> Map<String, Value> {
    let mut config = Map::new();
    let known = model.generation != Generation::Unknown;
    let mut set = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            config.insert(key.into(), value);
        }
    };
    set("temperature", prompt.temperature.or(known.then_some(1.0)).map(|value| json!(value)));
    set("topP", known.then(|| json!(0.95)));
    set("topK", known.then(|| json!(64)));
    set("thinkingConfig", model.thinking());
    config
}
