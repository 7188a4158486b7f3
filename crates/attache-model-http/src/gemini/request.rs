//! The body of a request.

use attache_model::{LanguageError, Prompt, ToolDeclaration};
use serde_json::{Map, Value, json};

use super::Shared;
use super::contents::{Reader, contents};
use super::models::{Generation, Model};
use super::schema;
use crate::asking::{Circumstances, NUDGE};

/// No more tools can be declared than this.
const MOST_TOOLS: usize = 512;

/// The body of a request, spelled.
pub(super) fn body(
    shared: &Shared,
    prompt: &Prompt,
    circumstances: &Circumstances,
) -> Result<String, LanguageError> {
    let refuse = |what: &str| Err(LanguageError::Request { what: what.into() });
    let reader = Reader { model: &shared.model, route: shared.endpoint.route };
    let contents = contents(&prompt.exchanges, reader);
    if contents.is_empty() {
        return refuse("the prompt says nothing; give it a text");
    }
    let mut body = Map::new();
    body.insert("contents".into(), Value::Array(contents));
    if let Some(instructions) = instructions(prompt, circumstances) {
        body.insert("systemInstruction".into(), instructions);
    }
    if prompt.tools.len() > MOST_TOOLS {
        return refuse(&format!("{} tools are declared; Gemini takes {MOST_TOOLS}", prompt.tools.len()));
    }
    if !prompt.tools.is_empty() {
        let declarations = prompt.tools.iter().map(declaration).collect::<Result<Vec<_>, _>>()?;
        body.insert("tools".into(), json!([{"functionDeclarations": declarations}]));
        let mut calling = json!({"mode": "AUTO"});
        if shared.stream_arguments {
            calling["streamFunctionCallArguments"] = json!(true);
        }
        body.insert("toolConfig".into(), json!({"functionCallingConfig": calling}));
    }
    let generation = generation(&shared.model, prompt);
    if !generation.is_empty() {
        body.insert("generationConfig".into(), Value::Object(generation));
    }
    if let Some(token) = &circumstances.continuation {
        body.insert("continuationToken".into(), json!(token));
    }
    Ok(Value::Object(body).to_string())
}

/// The instructions, and the nudge where one is needed.
fn instructions(prompt: &Prompt, circumstances: &Circumstances) -> Option<Value> {
    let own = prompt.instructions.as_deref().filter(|text| !text.is_empty());
    let nudge = circumstances.nudged.then_some(NUDGE);
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
    set("topP", prompt.top_p.or(known.then_some(0.95)).map(|value| json!(value)));
    set("topK", known.then(|| json!(64)));
    set("maxOutputTokens", prompt.most_output_tokens.map(|value| json!(value)));
    set("thinkingConfig", model.thinking(prompt.thinking));
    config
}
