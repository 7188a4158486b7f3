//! Encodes the conversation as OpenAI's messages.

use attache_domain::{Content, ModelPart, ModelPartContent};
use attache_model::Prompt;
use serde_json::{Map, Value, json};

use crate::answer_request::NUDGE;
use crate::history::{AnswerPart, CallWithResult, GO_ON, HistoryMessage, NO_RESULT, history_messages};
use crate::media::{MediaPart, media_part};
use crate::tool_names::ToolNames;

/// The model that the request is for.
#[derive(Debug, Clone, Copy)]
pub(super) struct TargetModel<'a> {
    pub(super) route: &'a str,
    pub(super) model: &'a str,
    pub(super) return_reasoning: bool,
    pub(super) names: &'a ToolNames,
}

/// Messages in order, with every call answered. `None` if there is no content.
pub(super) fn messages(prompt: &Prompt, nudged: bool, reader: TargetModel<'_>) -> Option<Vec<Value>> {
    let mut writer = Writer { reader, messages: Vec::new(), user: Vec::new() };
    for turn in history_messages(&prompt.exchanges) {
        match turn {
            HistoryMessage::User(content) => writer.user.extend(content.iter().filter_map(part)),
            HistoryMessage::Model(parts) => writer.model(&parts),
            HistoryMessage::Results(settled) => writer.results(&settled),
        }
    }
    writer.end_user();
    if writer.messages.is_empty() {
        return None;
    }
    let own = prompt.instructions.as_deref().filter(|text| !text.is_empty());
    let instructions: Vec<&str> = own.into_iter().chain(nudged.then_some(NUDGE)).collect();
    if !instructions.is_empty() {
        writer.messages.insert(0, json!({"role": "system", "content": instructions.join("\n\n")}));
    }
    Some(writer.messages)
}

struct Writer<'a> {
    reader: TargetModel<'a>,
    messages: Vec<Value>,
    /// Merges neighbouring messages of the user, because many templates require alternating roles.
    user: Vec<Value>,
}

impl Writer<'_> {
    fn end_user(&mut self) {
        let parts = std::mem::take(&mut self.user);
        if !parts.is_empty() {
            self.messages.push(json!({"role": "user", "content": content(parts)}));
        }
    }

    fn model(&mut self, parts: &[AnswerPart<'_>]) {
        let texts = parts.iter().filter_map(|part| match &part.model_part.what {
            ModelPartContent::Text(text) => Some(text.as_str()),
            ModelPartContent::Thought(_) | ModelPartContent::Call(_) | ModelPartContent::Hidden => None,
        });
        let text: String = texts.collect();
        let calls: Vec<Value> = parts.iter().filter_map(|part| self.call(part)).collect();
        if text.trim().is_empty() && calls.is_empty() {
            return;
        }
        self.end_user();
        if self.messages.is_empty() {
            self.messages.push(json!({"role": "user", "content": GO_ON}));
        }
        let mut message = Map::new();
        message.insert("role".into(), json!("assistant"));
        message.insert("content".into(), if text.is_empty() { Value::Null } else { json!(text) });
        if let Some((field, thought)) = self.reasoning(parts) {
            message.insert(field, json!(thought));
        }
        let details = parts.iter().filter_map(|part| self.own(part.model_part)?.get("reasoning_details"));
        let details: Vec<Value> = details.filter_map(Value::as_array).flatten().cloned().collect();
        if !details.is_empty() {
            message.insert("reasoning_details".into(), Value::Array(details));
        }
        if !calls.is_empty() {
            message.insert("tool_calls".into(), Value::Array(calls));
        }
        self.messages.push(Value::Object(message));
    }

    fn call(&self, part: &AnswerPart<'_>) -> Option<Value> {
        let ModelPartContent::Call(call) = &part.model_part.what else { return None };
        let arguments = Value::Object(call.input.clone()).to_string();
        let function = json!({"name": self.reader.names.sent_name(&call.name), "arguments": arguments});
        let mut value = json!({"id": part.id, "type": "function", "function": function});
        if let Some(extra) = self.own(part.model_part).and_then(|data| data.get("extra_content")) {
            value["extra_content"] = extra.clone();
        }
        Some(value)
    }

    /// Sends thoughts in the member that they arrived in. A server that requires the member requires it in every
    /// message, also if empty.
    fn reasoning(&self, parts: &[AnswerPart<'_>]) -> Option<(String, String)> {
        if !self.reader.return_reasoning {
            return None;
        }
        let (mut field, mut thought) = ("reasoning_content", String::new());
        for AnswerPart { model_part, .. } in parts {
            if let ModelPartContent::Thought(text) = &model_part.what
                && let Some(name) = self.own(model_part).and_then(|data| data.get("field")?.as_str())
            {
                field = name;
                thought.push_str(text);
            }
        }
        Some((field.to_owned(), thought))
    }

    /// Reasoning data that exactly this model requires back.
    fn own<'a>(&self, part: &'a ModelPart) -> Option<&'a Value> {
        let opaque = part.opaque.as_ref()?;
        let own = opaque.provider == self.reader.route && opaque.model == self.reader.model;
        own.then_some(&opaque.data)
    }

    /// A result can contain only text. Other content follows as a message of the user.
    fn results(&mut self, settled: &[CallWithResult<'_>]) {
        let mut beside = Vec::new();
        for CallWithResult { id, call, result } in settled {
            let output = result.map_or(&[][..], |result| &result.output);
            let parts: Vec<Value> = output.iter().filter_map(part).collect();
            let (texts, media): (Vec<_>, Vec<_>) = parts.into_iter().partition(|part| part["type"] == "text");
            let text = match result {
                None => NO_RESULT.to_owned(),
                Some(result) if texts.is_empty() && result.failed => {
                    "The call failed and does not say why.".to_owned()
                }
                Some(_) if texts.is_empty() && media.is_empty() => "The call has no output.".to_owned(),
                Some(_) if texts.is_empty() => "The output follows.".to_owned(),
                Some(_) => joined(&texts),
            };
            self.messages.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
            if !media.is_empty() {
                let label = format!("The output of {} ({id}):", call.name);
                beside.push(json!({"type": "text", "text": label}));
                beside.extend(media);
            }
        }
        self.user.append(&mut beside);
    }
}

fn part(content: &Content) -> Option<Value> {
    Some(match media_part(content)? {
        MediaPart::Text(text) => json!({"type": "text", "text": text}),
        MediaPart::Image { media_type, bytes } => {
            json!({"type": "image_url", "image_url": {"url": format!("data:{media_type};base64,{bytes}")}})
        }
        MediaPart::Pdf { bytes, name } => json!({"type": "file", "file": {
            "filename": name.unwrap_or("document.pdf"),
            "file_data": format!("data:application/pdf;base64,{bytes}"),
        }}),
    })
}

/// Plain text as a string: some servers do not support parts.
fn content(parts: Vec<Value>) -> Value {
    match parts.iter().all(|part| part["type"] == "text") {
        true => Value::String(joined(&parts)),
        false => Value::Array(parts),
    }
}

fn joined(texts: &[Value]) -> String {
    texts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
#[path = "messages_tests.rs"]
mod tests;
