//! Named responses that every client must handle: Gemini's here, those of other providers in the submodules.
//!
//! Our clients are tested against them, and so are the vendors' own clients as a reference.

pub mod anthropic;
pub mod openai;

use serde_json::json;

use crate::model_server::gemini::{self, chunk};
use crate::model_server::{PlannedResponse, ReceivedRequest};

/// The names of all of them.
pub const NAMES: &[&str] = &[
    "text",
    "thoughts",
    "parallel-calls",
    "separate-calls",
    "signed-end",
    "unicode",
    "late-usage",
    "length",
    "continuation",
    "refused",
    "blocked",
    "bad-request",
    "no-such-model",
    "busy",
];

/// The response of a scenario; it may depend on the request.
pub fn answer(name: &str, received: &ReceivedRequest) -> Option<PlannedResponse> {
    let continued = received.json().get("continuationToken").is_some();
    Some(match name {
        "text" => gemini::answer([
            chunk().text("The quick brown fox "),
            chunk().text("jumps over "),
            chunk().text("the lazy dog.").finish("STOP").full_usage(json!({
                "promptTokenCount": 10, "cachedContentTokenCount": 4, "candidatesTokenCount": 9,
                "thoughtsTokenCount": 2, "totalTokenCount": 21,
            })),
        ]),
        "thoughts" => gemini::answer([
            chunk().thought("**Counting** One, "),
            chunk().thought("two.").usage(3, 0),
            chunk().text("Two.").finish("STOP").usage(3, 1),
        ]),
        "parallel-calls" => gemini::answer([
            chunk()
                .text("I will look.")
                .call("read_file", json!({"path": "a.txt"}))
                .id("c1")
                .signed("c2lnbmVk")
                .call("read_file", json!({"path": "b.txt"}))
                .id("c2"),
            chunk().finish("STOP").usage(5, 6),
        ]),
        "separate-calls" => gemini::answer([
            chunk().call("list", serde_json::Value::Null),
            chunk().call("list", json!({"folder": "src"})).finish("STOP").usage(5, 6),
        ]),
        "signed-end" => gemini::answer([
            chunk().text("Done."),
            chunk().text("").signed("ZW5k").finish("STOP").usage(2, 1),
        ]),
        "unicode" => gemini::answer([
            chunk().text("Grüße \u{1f980} "),
            chunk().text("\u{4f60}\u{597d} \"quoted\"\n").finish("STOP").usage(2, 1),
        ]),
        "late-usage" => gemini::answer([
            chunk().text("Done.").finish("STOP"),
            gemini::bare(json!({"usageMetadata": {"promptTokenCount": 7, "candidatesTokenCount": 1}})),
        ]),
        "length" => gemini::answer([chunk().text("Once upon a").finish("MAX_TOKENS").usage(2, 3)]),
        "continuation" if !continued => gemini::answer([chunk()
            .text("First half, ")
            .continuation("dG9rZW4=")
            .finish("CONTINUATION")
            .usage(10, 20)]),
        "continuation" => gemini::answer([chunk().text("second half.").finish("STOP").usage(11, 5)]),
        "refused" => {
            gemini::answer([chunk().text("Well, ").usage(1, 1), chunk().finish("SAFETY").usage(1, 1)])
        }
        "blocked" => gemini::answer([gemini::bare(json!({
            "promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 3},
        }))]),
        "bad-request" => {
            gemini::error(400, "INVALID_ARGUMENT", "Please use a valid role: user, model.", json!([]))
        }
        "no-such-model" => gemini::error(404, "NOT_FOUND", "models/no-such-model is not found", json!([])),
        "busy" => gemini::error_with_delay(429, "RESOURCE_EXHAUSTED", "Please retry in 2s.", "2s"),
        _ => return None,
    })
}

/// The scenario that a request asks for by the name of its model, of the provider whose path it takes.
pub fn by_model(received: &ReceivedRequest) -> Option<PlannedResponse> {
    let path = received.target.split('?').next().unwrap_or_default();
    let body = received.json();
    let named = body["model"].as_str().unwrap_or_default();
    if path.ends_with("/chat/completions") {
        return openai::answer(named);
    }
    if path.ends_with("/v1/messages") {
        return anthropic::answer(named);
    }
    let (_, after) = path.split_once("/models/")?;
    answer(after.split(':').next()?, received)
}
