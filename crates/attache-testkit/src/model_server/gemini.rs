//! Answers in the shape of Gemini's.
//!
//! ```
//! use attache_testkit::model_server::{ModelServer, gemini};
//!
//! let answer = gemini::answer([
//!     gemini::chunk().thought("Hm."),
//!     gemini::chunk().text("The answer is 42.").finish("STOP").usage(7, 12),
//! ]);
//! let server = ModelServer::with_responses([answer]);
//! assert!(server.url().starts_with("http://127.0.0.1:"));
//! ```

use serde_json::{Value, json};

use crate::model_server::PlannedResponse;

/// A stream of these chunks with the regular end.
pub fn answer(chunks: impl IntoIterator<Item = Chunk>) -> PlannedResponse {
    chunks.into_iter().fold(PlannedResponse::stream(), |planned, chunk| planned.bytes(event(&chunk.0)))
}

/// One event in the format of Gemini.
pub fn event(value: &Value) -> String {
    format!("data: {value}\r\n\r\n")
}

/// A whole answer that says `text`.
pub fn says(text: &str) -> PlannedResponse {
    answer([chunk().text(text).finish("STOP").usage(100, 10)])
}

/// A whole answer with one call.
pub fn calls(name: &str, arguments: Value) -> PlannedResponse {
    batch([(name, arguments)])
}

/// A whole answer with several calls.
pub fn batch<'a>(calls: impl IntoIterator<Item = (&'a str, Value)>) -> PlannedResponse {
    let chunk = calls.into_iter().fold(chunk(), |chunk, (name, input)| chunk.call(name, input));
    answer([chunk.finish("STOP").usage(100, 10)])
}

/// An answer that begins with `text` and then hangs.
pub fn stuck(text: &str) -> PlannedResponse {
    answer([chunk().text(text)]).hold()
}

/// An answer that does not begin.
pub fn silent() -> PlannedResponse {
    PlannedResponse::stream().hold()
}

pub fn chunk() -> Chunk {
    Chunk(
        json!({"candidates": [{"content": {"role": "model", "parts": []}, "index": 0}], "modelVersion": "fake"}),
    )
}

/// An event of the stream, as any JSON.
pub fn bare(value: Value) -> Chunk {
    Chunk(value)
}

/// An HTTP error.
pub fn error(status: u16, name: &str, message: &str, details: Value) -> PlannedResponse {
    PlannedResponse::text(status, "application/json", &error_body(status, name, message, details).to_string())
}

/// As [`error`], with a retry delay.
pub fn error_with_delay(status: u16, name: &str, message: &str, delay: &str) -> PlannedResponse {
    let info = json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}]);
    error(status, name, message, info)
}

pub fn error_body(status: u16, name: &str, message: &str, details: Value) -> Value {
    json!({"error": {"code": status, "message": message, "status": name, "details": details}})
}

/// One chunk of an answer. `signed` and `id` change the part added last.
#[derive(Debug, Clone, PartialEq)]
pub struct Chunk(Value);

impl Chunk {
    pub fn text(self, text: &str) -> Self {
        self.part(json!({"text": text}))
    }

    pub fn thought(self, text: &str) -> Self {
        self.part(json!({"text": text, "thought": true}))
    }

    /// A call; `null` for arguments leaves them out.
    pub fn call(self, name: &str, arguments: Value) -> Self {
        let mut call = json!({"name": name});
        if !arguments.is_null() {
            call["args"] = arguments;
        }
        self.part(json!({"functionCall": call}))
    }

    /// A piece of a call whose arguments are streamed.
    pub fn partial_call(self, call: Value) -> Self {
        self.part(json!({"functionCall": call}))
    }

    pub fn part(mut self, part: Value) -> Self {
        self.parts().push(part);
        self
    }

    pub fn id(mut self, id: &str) -> Self {
        self.last_part()["functionCall"]["id"] = json!(id);
        self
    }

    pub fn signed(mut self, signature: &str) -> Self {
        self.last_part()["thoughtSignature"] = json!(signature);
        self
    }

    pub fn finish(mut self, reason: &str) -> Self {
        self.0["candidates"][0]["finishReason"] = json!(reason);
        self
    }

    pub fn finish_message(mut self, message: &str) -> Self {
        self.0["candidates"][0]["finishMessage"] = json!(message);
        self
    }

    pub fn continuation(mut self, token: &str) -> Self {
        self.0["candidates"][0]["continuationToken"] = json!(token);
        self
    }

    pub fn usage(self, prompt: u64, answer: u64) -> Self {
        self.full_usage(json!({"promptTokenCount": prompt, "candidatesTokenCount": answer}))
    }

    pub fn full_usage(mut self, usage: Value) -> Self {
        self.0["usageMetadata"] = usage;
        self
    }

    /// The id of the response, which is in every chunk.
    pub fn response_id(mut self, id: &str) -> Self {
        self.0["responseId"] = id.into();
        self
    }

    fn parts(&mut self) -> &mut Vec<Value> {
        self.0["candidates"][0]["content"]["parts"].as_array_mut().expect("a chunk made by chunk()")
    }

    fn last_part(&mut self) -> &mut Value {
        self.parts().last_mut().expect("a part to say this about")
    }
}
