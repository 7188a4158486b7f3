//! Named responses of Anthropic that every client must handle.

use serde_json::json;

use crate::model_server::PlannedResponse;
use crate::model_server::anthropic::{self, message};

/// The names of all of them.
pub const NAMES: &[&str] = &[
    "text",
    "thoughts",
    "redacted",
    "withheld",
    "parallel-calls",
    "empty-input",
    "unicode",
    "unknown",
    "length",
    "window",
    "stop-sequence",
    "refused",
    "bad-request",
    "no-such-model",
    "busy",
];

pub fn answer(name: &str) -> Option<PlannedResponse> {
    Some(match name {
        "text" => anthropic::message_costing(json!({
            "input_tokens": 3, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 5, "output_tokens": 1,
        }))
        .ping()
        .text(["The quick brown fox ", "jumps over ", "the lazy dog."])
        .full_usage(json!({"output_tokens": 11, "output_tokens_details": {"thinking_tokens": 2}}))
        .stop("end_turn"),
        "thoughts" => message()
            .thinking(["**Counting** One, ", "two."], "c2lnbmVk")
            .text(["Two."])
            .usage(3, 1)
            .stop("end_turn"),
        "redacted" => message().redacted("aGlkZGVu").text(["Two."]).stop("end_turn"),
        "withheld" => message().thinking([], "c2lnbmVk").text(["Two."]).stop("end_turn"),
        "parallel-calls" => message()
            .thinking(["Two files."], "c2lnbmVk")
            .text(["I will look."])
            .call("toolu_a", "read_file", ["", "{\"pa", "th\": \"a.txt\"}"])
            .ping()
            .call("toolu_b", "read_file", ["{\"path\": \"b.txt\"}"])
            .usage(5, 6)
            .stop("tool_use"),
        "empty-input" => message().call("toolu_a", "list", []).stop("tool_use"),
        "unicode" => {
            message().text(["Grüße \u{1f980} ", "\u{4f60}\u{597d} \"quoted\"\n"]).stop("end_turn")
        }
        "unknown" => message()
            .event(json!({"type": "brand_new", "index": 0}))
            .block(json!({"type": "text", "text": ""}), vec![
                json!({"type": "text_delta", "text": "Done."}),
                json!({"type": "brand_new_delta", "text": "ignored"}),
            ])
            .stop("end_turn"),
        "length" => message().text(["Once upon a"]).usage(2, 3).stop("max_tokens"),
        "window" => message().text(["Once upon a"]).stop("model_context_window_exceeded"),
        "stop-sequence" => message()
            .text(["Done."])
            .stop_with(json!({"stop_reason": "stop_sequence", "stop_sequence": "END"})),
        "refused" => message().text(["Well, "]).stop_with(json!({
            "stop_reason": "refusal", "stop_sequence": null,
            "stop_details": {"type": "refusal", "category": "cyber", "explanation": "that would do harm"},
        })),
        "bad-request" => anthropic::error(400, "invalid_request_error", "messages: roles must alternate"),
        "no-such-model" => anthropic::error(404, "not_found_error", "model: no-such-model"),
        "busy" => anthropic::error(429, "rate_limit_error", "Slow down.").header("retry-after", "2"),
        _ => return None,
    })
}
