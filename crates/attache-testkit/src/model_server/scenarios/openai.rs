//! Named responses of OpenAI that every client must handle.

use serde_json::json;

use crate::model_server::PlannedResponse;
use crate::model_server::openai::{self, Chunk, chunk};

/// The names of all of them.
pub const NAMES: &[&str] = &[
    "text",
    "thoughts",
    "parallel-calls",
    "interleaved-calls",
    "empty-arguments",
    "unicode",
    "no-usage",
    "length",
    "filtered",
    "refused",
    "unended",
    "bad-request",
    "no-such-model",
    "no-quota",
    "busy",
];

pub fn answer(name: &str) -> Option<PlannedResponse> {
    Some(match name {
        "text" => response([
            chunk().text("The quick brown fox "),
            chunk().text("jumps over "),
            chunk().text("the lazy dog."),
            chunk().finish("stop"),
            openai::full_usage(json!({
                "prompt_tokens": 10, "completion_tokens": 11, "total_tokens": 21,
                "prompt_tokens_details": {"cached_tokens": 4},
                "completion_tokens_details": {"reasoning_tokens": 2},
            })),
        ]),
        "thoughts" => response([
            chunk().reasoning_content("**Counting** One, "),
            chunk().reasoning_content("two."),
            chunk().text("Two."),
            chunk().finish("stop"),
            openai::usage(3, 1),
        ]),
        "parallel-calls" => response([
            chunk().text("I will look."),
            chunk().call(0, "call_a", "read_file", ""),
            chunk().arguments(0, "{\"pa"),
            chunk().arguments(0, "th\":\"a.txt\"}"),
            chunk().call(1, "call_b", "read_file", ""),
            chunk().arguments(1, "{\"path\":\"b.txt\"}"),
            chunk().finish("tool_calls"),
            openai::usage(5, 6),
        ]),
        "interleaved-calls" => response([
            chunk().call(0, "call_a", "list", "{\"fol").call(1, "call_b", "list", "{"),
            chunk().arguments(1, "}").arguments(0, "der\":"),
            chunk().arguments(0, "\"src\"}"),
            chunk().finish("tool_calls"),
            openai::usage(5, 6),
        ]),
        "empty-arguments" => response([
            chunk().call(0, "call_a", "list", ""),
            chunk().finish("tool_calls"),
            openai::usage(5, 6),
        ]),
        "unicode" => response([
            chunk().text("Grüße \u{1f980} "),
            chunk().text("\u{4f60}\u{597d} \"quoted\"\n"),
            chunk().finish("stop"),
            openai::usage(2, 1),
        ]),
        "no-usage" => response([chunk().text("Done.").finish("stop")]),
        "length" => response([chunk().text("Once upon a"), chunk().finish("length"), openai::usage(2, 3)]),
        "filtered" => {
            response([chunk().text("Well, "), chunk().finish("content_filter"), openai::usage(1, 1)])
        }
        "refused" => response([
            chunk().refusal("I cannot "),
            chunk().refusal("help with that."),
            chunk().finish("stop"),
            openai::usage(1, 1),
        ]),
        // The connection closes after the finish reason, without `[DONE]`.
        "unended" => openai::unended([chunk().role(), chunk().text("Done."), chunk().finish("stop")]),
        "bad-request" => openai::error(400, "invalid_request_error", "", "Invalid value: 'nobody'."),
        "no-such-model" => openai::error(
            404,
            "invalid_request_error",
            "model_not_found",
            "The model `no-such-model` does not exist or you do not have access to it.",
        ),
        "no-quota" => {
            openai::error(429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota.")
        }
        "busy" => openai::error(429, "requests", "rate_limit_exceeded", "Please try again in 2s.")
            .header("retry-after-ms", "2000"),
        _ => return None,
    })
}

/// The first chunk of OpenAI names the role, and its own client requires that.
fn response(chunks: impl IntoIterator<Item = Chunk>) -> PlannedResponse {
    openai::answer([chunk().role()].into_iter().chain(chunks))
}
