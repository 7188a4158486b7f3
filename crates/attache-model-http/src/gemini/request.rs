//! The body of a request.

use std::sync::{Arc, Mutex};

use attache_domain::IgnorePoison;
use attache_model::{LanguageError, Prompt, ToolDeclaration};
use bytes::Bytes;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::Shared;
use super::contents::{TargetModel, write_contents};
use super::models::{Generation, Model};
use super::schema;
use crate::answer_request::{NUDGE, RequestVariation};

/// No more tools can be declared than this.
const MAX_TOOLS: usize = 512;

/// The body of a request, spelled.
pub(super) fn body(
    shared: &Shared,
    prompt: &Prompt,
    circumstances: &RequestVariation,
) -> Result<Bytes, LanguageError> {
    let refuse = |what: &str| Err(LanguageError::Request { what: what.into() });
    let unspelled = |error: serde_json::Error| LanguageError::Request { what: error.to_string() };
    if prompt.tools.len() > MAX_TOOLS {
        return refuse(&format!("{} tools are declared; Gemini takes {MAX_TOOLS}", prompt.tools.len()));
    }
    let reader = TargetModel { model: &shared.model, route: shared.endpoint.route };
    let mut draft =
        write_contents(r#"{"contents":["#, &prompt.exchanges, reader, &shared.kept).map_err(unspelled)?;
    if draft.is_empty() {
        return refuse("the prompt says nothing; give it a text");
    }
    let generation = generation(&shared.model, prompt);
    let rest = RequestTail {
        system_instruction: shared.instructed.of(prompt, circumstances)?,
        tools: shared.declared.of(&prompt.tools)?,
        tool_config: (!prompt.tools.is_empty()).then(|| {
            let mut calling = json!({"mode": "AUTO"});
            if shared.stream_arguments {
                calling["streamFunctionCallArguments"] = json!(true);
            }
            json!({"functionCallingConfig": calling})
        }),
        generation_config: (!generation.is_empty()).then_some(generation),
        continuation_token: circumstances.continuation.as_ref(),
    };
    draft.write("]");
    draft.close_with(&rest).map_err(unspelled)?;
    Ok(shared.kept.keep(draft))
}

/// What comes after the contents.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RequestTail<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Arc<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Arc<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    generation_config: Option<Map<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    continuation_token: Option<&'a Value>,
}

/// The declarations as they were spelled last: the same tools are declared again and again.
#[derive(Debug, Default)]
pub(super) struct DeclarationCache {
    last: Mutex<Option<Declaration>>,
}

#[derive(Debug)]
struct Declaration {
    tools: Arc<[ToolDeclaration]>,
    spelled: Arc<RawValue>,
}

impl DeclarationCache {
    fn of(&self, tools: &Arc<[ToolDeclaration]>) -> Result<Option<Arc<RawValue>>, LanguageError> {
        if tools.is_empty() {
            return Ok(None);
        }
        let mut last = self.last.lock().ignore_poison();
        // Another conversation often has the same tools: to compare them takes less than to spell them.
        let is_same = |known: &Declaration| Arc::ptr_eq(&known.tools, tools) || known.tools == *tools;
        if let Some(known) = last.as_mut().filter(|known| is_same(known)) {
            known.tools.clone_from(tools);
            return Ok(Some(known.spelled.clone()));
        }
        let declarations = tools.iter().map(declaration).collect::<Result<Vec<_>, _>>()?;
        let spelled = to_raw_value(&json!([{"functionDeclarations": declarations}]))
            .map_err(|error| LanguageError::Request { what: error.to_string() })?;
        let spelled: Arc<RawValue> = spelled.into();
        *last = Some(Declaration { tools: tools.clone(), spelled: spelled.clone() });
        Ok(Some(spelled))
    }
}

/// The instructions as they were spelled last: they are the same for a whole conversation, and often for the next.
#[derive(Debug, Default)]
pub(super) struct InstructionCache {
    last: Mutex<Option<(String, Arc<RawValue>)>>,
}

impl InstructionCache {
    fn of(
        &self,
        prompt: &Prompt,
        circumstances: &RequestVariation,
    ) -> Result<Option<Arc<RawValue>>, LanguageError> {
        let own = prompt.instructions.as_deref().filter(|_| !circumstances.nudged);
        let mut last = self.last.lock().ignore_poison();
        if let Some((_, spelled)) = last.as_ref().filter(|(known, _)| own == Some(known)) {
            return Ok(Some(spelled.clone()));
        }
        let Some(instructions) = instructions(prompt, circumstances) else { return Ok(None) };
        let spelled = to_raw_value(&instructions)
            .map_err(|error| LanguageError::Request { what: error.to_string() })?;
        let spelled: Arc<RawValue> = spelled.into();
        if let Some(own) = own {
            *last = Some((own.to_owned(), spelled.clone()));
        }
        Ok(Some(spelled))
    }
}

/// The instructions, and the nudge where one is needed.
fn instructions(prompt: &Prompt, circumstances: &RequestVariation) -> Option<Value> {
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
    set("maxOutputTokens", prompt.max_output_tokens.map(|value| json!(value)));
    set("thinkingConfig", model.thinking(prompt.thinking));
    config
}
