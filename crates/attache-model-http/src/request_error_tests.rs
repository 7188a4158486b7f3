//! Error bodies, as they come and as they are understood.

use serde_json::json;

use super::*;
use crate::failed_attempt::outcome;

fn head(status: u16) -> ResponseHead {
    ResponseHead { status, ..ResponseHead::default() }
}

#[track_caller]
fn check(status: u16, body: Value, expected: &str) {
    let fault = RequestError::of_answer(&head(status), &body.to_string()).failed_attempt("m");
    assert_eq!(outcome(&fault), expected, "{status} {body}");
}

fn openai(kind: &str, code: &str, message: &str) -> Value {
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
}

fn anthropic(kind: &str, message: &str) -> Value {
    json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "r"})
}

#[test]
fn each_status_has_its_meaning() {
    for (status, expected) in [
        (400, "request"),
        (401, "credential"),
        (402, "quota"),
        (403, "credential"),
        (404, "request"),
        (408, "again, unavailable"),
        (409, "again, unavailable"),
        (413, "too long"),
        (422, "request"),
        (429, "again, unavailable"),
        (500, "again, unavailable"),
        (503, "again, unavailable"),
        (529, "again, unavailable"),
        (307, "request"),
    ] {
        check(status, json!({"error": {"message": "no"}}), expected);
        check(status, json!({"error": "no"}), expected);
        check(status, json!({"detail": "no"}), expected);
        check(status, json!([{"error": {"message": "no"}}]), expected);
        check(status, json!("no"), expected);
        check(status, json!(null), expected);
    }
}

#[test]
fn words_say_more_than_a_status() {
    let long = "This model's maximum context length is 8192 tokens. However, you requested 9000.";
    check(400, openai("invalid_request_error", "context_length_exceeded", "x"), "too long");
    check(400, openai("BadRequestError", "", long), "too long");
    check(400, openai("exceed_context_size_error", "", "x"), "too long");
    check(400, anthropic("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"), "too long");
    let output = "input length and `max_tokens` exceed context limit: 9 + 8 > 10";
    check(400, anthropic("invalid_request_error", output), "too long");
    check(429, openai("insufficient_quota", "insufficient_quota", "x"), "quota");
    check(400, anthropic("invalid_request_error", "Your credit balance is too low to go on."), "quota");
    let spend = json!({"error": {"type": "rate_limit_error", "details": {"error_code": "enforced_spend_limit_reached"}}});
    check(429, spend, "quota");
    check(404, openai("invalid_request_error", "model_not_found", "x"), "no model");
    check(404, anthropic("not_found_error", "model: claude-9"), "no model");
    check(404, json!({"error": "model 'x' not found, try pulling it first"}), "no model");
    check(404, json!({"detail": "Not Found"}), "request");
    check(404, anthropic("not_found_error", "Not Found"), "request");
    let page = RequestError::of_answer(&head(404), "<html><title>All models</title>").failed_attempt("m");
    assert_eq!(outcome(&page), "request", "{page:?}");
    check(401, openai("invalid_request_error", "invalid_api_key", "Incorrect API key"), "credential");
}

#[test]
fn a_pause_is_asked_for_in_many_ways() {
    #[track_caller]
    fn check_head(head: ResponseHead, message: &str, expected: &str) {
        let body = openai("rate_limit_error", "", message).to_string();
        assert_eq!(outcome(&RequestError::of_answer(&head, &body).failed_attempt("m")), expected, "{head:?}");
    }
    let some = |text: &str| Some(text.to_owned());
    check_head(ResponseHead { retry_after: some("7"), ..head(429) }, "", "again in 7 s, unavailable");
    let both = ResponseHead { retry_after: some("7"), retry_after_ms: some("1500"), ..head(429) };
    check_head(both, "", "again in 1.5 s, unavailable");
    let dated = ResponseHead {
        retry_after: some("Wed, 21 Oct 2026 07:28:10 GMT"),
        date: some("Wed, 21 Oct 2026 07:28:00 GMT"),
        ..head(503)
    };
    check_head(dated, "", "again in 10 s, unavailable");
    let past = ResponseHead {
        retry_after: some("Wed, 21 Oct 2026 07:28:00 GMT"),
        date: some("Wed, 21 Oct 2026 07:28:10 GMT"),
        ..head(503)
    };
    check_head(past, "", "again in 0 s, unavailable");
    let undated = ResponseHead { retry_after: some("Wed, 21 Oct 2026 07:28:10 GMT"), ..head(503) };
    check_head(undated, "", "again, unavailable");
    check_head(head(429), "Please try again in 20ms.", "again in 0.02 s, unavailable");
    check_head(ResponseHead { retry_after: some("301"), ..head(429) }, "", "quota");
    check_head(ResponseHead { retry_after: some("-1"), ..head(429) }, "", "again, unavailable");
    check_head(ResponseHead { should_retry: some("false"), ..head(503) }, "", "unavailable");
}

#[test]
fn an_error_in_the_stream_is_known_by_its_words() {
    #[track_caller]
    fn check_event(error: Value, expected: &str) {
        assert_eq!(outcome(&RequestError::of_event(&error).failed_attempt("m")), expected, "{error}");
    }
    check_event(json!({"type": "overloaded_error", "message": "x"}), "again, unavailable");
    check_event(json!({"type": "api_error", "message": "x"}), "again, unavailable");
    check_event(json!({"type": "invalid_request_error", "message": "x"}), "request");
    check_event(json!({"type": "authentication_error", "message": "x"}), "credential");
    check_event(json!({"type": "insufficient_quota", "message": "x"}), "quota");
    check_event(json!({"code": 502, "message": "x"}), "again, unavailable");
    check_event(json!({"code": 400, "message": "x"}), "request");
    check_event(json!("strange"), "again, unavailable");
    check_event(json!({}), "again, unavailable");
}

#[test]
fn messages_are_shown_as_they_came() {
    #[track_caller]
    fn check_why(body: &str, expected: &str) {
        assert_eq!(RequestError::of_answer(&head(400), body).failed_attempt("m").why, expected);
    }
    check_why(&openai("invalid_request_error", "", "bad").to_string(), "bad (400 invalid_request_error)");
    check_why(&openai("a", "exact", "bad").to_string(), "bad (400 exact)");
    check_why("<html>", "a web page (400)");
    check_why("", "400");
    check_why(r#"{"detail":[{"loc":["body"]}]}"#, r#"[{"loc":["body"]}] (400)"#);
}
