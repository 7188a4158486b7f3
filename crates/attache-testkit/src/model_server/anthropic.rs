//! Answers in the shape of Anthropic's messages.
//!
//! ```
//! use attache_testkit::model_server::{ModelServer, anthropic};
//!
//! let answer = anthropic::message()
//!     .thinking(["Hm."], "c2lnbmVk")
//!     .text(["The answer ", "is 42."])
//!     .usage(7, 12)
//!     .stop("end_turn");
//! let server = ModelServer::with_responses([answer]);
//! assert!(server.url().starts_with("http://127.0.0.1:"));
//! ```

use serde_json::{Value, json};

use crate::model_server::PlannedResponse;

/// Begins a message. Each block is sent from start to stop.
pub fn message() -> Message {
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    message_costing(usage)
}

/// As [`message`], with the token usage of the prompt.
pub fn message_costing(usage: Value) -> Message {
    let message = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "fake", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage,
    });
    let start = json!({"type": "message_start", "message": message});
    Message { events: vec![start], blocks: 0, usage: json!({"output_tokens": 1}) }
}

/// One event in the format of Anthropic.
pub fn event(value: &Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap_or_default())
}

/// An HTTP error.
pub fn error(status: u16, kind: &str, message: &str) -> PlannedResponse {
    PlannedResponse::text(status, "application/json", &error_body(kind, message).to_string())
}

/// The same in the middle of a stream.
pub fn error_body(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"})
}

/// Builds a response.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    events: Vec<Value>,
    blocks: u64,
    usage: Value,
}

impl Message {
    pub fn text<'a>(self, pieces: impl IntoIterator<Item = &'a str>) -> Self {
        let deltas = pieces.into_iter().map(|text| json!({"type": "text_delta", "text": text}));
        self.block(json!({"type": "text", "text": ""}), deltas.collect())
    }

    pub fn thinking<'a>(self, pieces: impl IntoIterator<Item = &'a str>, signature: &str) -> Self {
        let deltas = pieces.into_iter().map(|text| json!({"type": "thinking_delta", "thinking": text}));
        let signature = json!({"type": "signature_delta", "signature": signature});
        let start = json!({"type": "thinking", "thinking": "", "signature": ""});
        self.block(start, deltas.chain([signature]).collect())
    }

    pub fn redacted(self, data: &str) -> Self {
        self.block(json!({"type": "redacted_thinking", "data": data}), Vec::new())
    }

    /// A call whose input arrives in these pieces.
    pub fn call<'a>(self, id: &str, name: &str, pieces: impl IntoIterator<Item = &'a str>) -> Self {
        let deltas = pieces.into_iter().map(|json| json!({"type": "input_json_delta", "partial_json": json}));
        self.block(json!({"type": "tool_use", "id": id, "name": name, "input": {}}), deltas.collect())
    }

    /// A block of any kind.
    pub fn block(mut self, start: Value, deltas: Vec<Value>) -> Self {
        let index = self.blocks;
        self.blocks += 1;
        self.events.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
        for delta in deltas {
            self.events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        self.events.push(json!({"type": "content_block_stop", "index": index}));
        self
    }

    /// An event of any kind.
    pub fn event(mut self, event: Value) -> Self {
        self.events.push(event);
        self
    }

    pub fn ping(self) -> Self {
        self.event(json!({"type": "ping"}))
    }

    /// The token usage at the end.
    pub fn usage(self, input: u64, output: u64) -> Self {
        self.full_usage(json!({"input_tokens": input, "output_tokens": output}))
    }

    pub fn full_usage(mut self, usage: Value) -> Self {
        self.usage = usage;
        self
    }

    /// The regular end.
    pub fn stop(self, reason: &str) -> PlannedResponse {
        self.stop_with(json!({"stop_reason": reason, "stop_sequence": null}))
    }

    pub fn stop_with(self, delta: Value) -> PlannedResponse {
        let usage = self.usage.clone();
        let last = self.event(json!({"type": "message_delta", "delta": delta, "usage": usage}));
        last.event(json!({"type": "message_stop"})).unended()
    }

    /// The response so far, without an end.
    pub fn unended(self) -> PlannedResponse {
        self.events.iter().fold(PlannedResponse::stream(), |planned, value| planned.bytes(event(value)))
    }
}
