//! Answers in the shape of OpenAI's chat completions.
//!
//! ```
//! use attache_testkit::model_server::{ModelServer, openai};
//!
//! let answer = openai::answer([
//!     openai::chunk().text("The answer "),
//!     openai::chunk().text("is 42.").finish("stop"),
//!     openai::usage(7, 12),
//! ]);
//! let server = ModelServer::with_responses([answer]);
//! assert!(server.url().starts_with("http://127.0.0.1:"));
//! ```

use serde_json::{Value, json};

use crate::model_server::PlannedResponse;

/// A stream of these chunks with the regular end.
pub fn answer(chunks: impl IntoIterator<Item = Chunk>) -> PlannedResponse {
    unended(chunks).bytes(DONE)
}

/// As [`answer`], without the final `[DONE]`.
pub fn unended(chunks: impl IntoIterator<Item = Chunk>) -> PlannedResponse {
    chunks.into_iter().fold(PlannedResponse::stream(), |planned, chunk| planned.bytes(event(&chunk.0)))
}

pub const DONE: &str = "data: [DONE]\n\n";

/// One event in the format of OpenAI.
pub fn event(value: &Value) -> String {
    format!("data: {value}\n\n")
}

pub fn chunk() -> Chunk {
    Chunk(json!({
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "fake",
        "choices": [{"index": 0, "delta": {}, "finish_reason": null}],
        "usage": null,
    }))
}

/// The last chunk, with the token usage.
pub fn usage(prompt: u64, answer: u64) -> Chunk {
    full_usage(json!({"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}))
}

pub fn full_usage(usage: Value) -> Chunk {
    let mut chunk = chunk();
    chunk.0["choices"] = json!([]);
    chunk.0["usage"] = usage;
    chunk
}

/// An event of the stream, as any JSON.
pub fn bare(value: Value) -> Chunk {
    Chunk(value)
}

/// An HTTP error.
pub fn error(status: u16, kind: &str, code: &str, message: &str) -> PlannedResponse {
    PlannedResponse::text(status, "application/json", &error_body(kind, code, message).to_string())
}

pub fn error_body(kind: &str, code: &str, message: &str) -> Value {
    let code = if code.is_empty() { Value::Null } else { json!(code) };
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
}

/// One chunk of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk(Value);

impl Chunk {
    pub fn text(self, text: &str) -> Self {
        self.delta("content", json!(text))
    }

    pub fn role(self) -> Self {
        self.delta("role", json!("assistant")).text("")
    }

    /// Under the name that newer vLLM gives it.
    pub fn reasoning(self, text: &str) -> Self {
        self.delta("reasoning", json!(text))
    }

    /// Under the name that DeepSeek gives it.
    pub fn reasoning_content(self, text: &str) -> Self {
        self.delta("reasoning_content", json!(text))
    }

    pub fn refusal(self, text: &str) -> Self {
        self.delta("refusal", json!(text))
    }

    /// The beginning of a call.
    pub fn call(self, index: u64, id: &str, name: &str, arguments: &str) -> Self {
        let function = json!({"name": name, "arguments": arguments});
        self.call_piece(json!({"index": index, "id": id, "type": "function", "function": function}))
    }

    /// More of a call's arguments.
    pub fn arguments(self, index: u64, arguments: &str) -> Self {
        self.call_piece(json!({"index": index, "function": {"arguments": arguments}}))
    }

    /// A piece of a call, as any JSON.
    pub fn call_piece(mut self, piece: Value) -> Self {
        let delta = &mut self.0["choices"][0]["delta"];
        match delta["tool_calls"].as_array_mut() {
            Some(pieces) => pieces.push(piece),
            None => delta["tool_calls"] = json!([piece]),
        }
        self
    }

    pub fn delta(mut self, key: &str, value: Value) -> Self {
        self.0["choices"][0]["delta"][key] = value;
        self
    }

    pub fn finish(mut self, reason: &str) -> Self {
        self.0["choices"][0]["finish_reason"] = json!(reason);
        self
    }
}
