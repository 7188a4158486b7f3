//! Error bodies, as they come and as they are understood.

use serde_json::json;

use super::*;
use crate::failed_attempt::outcome;

fn body(status: u16, name: &str, message: &str, details: Value) -> Value {
    json!({"error": {"code": status, "message": message, "status": name, "details": details}})
}

#[track_caller]
fn check(status: u16, body: &Value, expected: &str) {
    let fault = of_status(status, None, body.to_string().as_bytes(), "m");
    assert_eq!(outcome(&fault), expected, "{body}");
    // The same thing said in a list.
    let listed = of_status(status, None, json!([body]).to_string().as_bytes(), "m");
    assert_eq!((outcome(&listed).as_str(), &listed.why), (expected, &fault.why), "[{body}]");
}

#[test]
fn each_status_has_its_meaning() {
    let plain = |status| body(status, "", "no", json!([]));
    check(400, &plain(400), "request");
    check(401, &plain(401), "renew, credential");
    check(403, &plain(403), "credential");
    check(404, &plain(404), "no model");
    check(408, &plain(408), "again, unavailable");
    check(413, &plain(413), "too long");
    check(429, &plain(429), "again, unavailable");
    check(499, &plain(499), "again, unavailable");
    check(500, &plain(500), "again, unavailable");
    check(503, &plain(503), "again, unavailable");
    check(307, &plain(307), "request");
    check(400, &body(400, "", "x", json!([{"reason": "API_KEY_INVALID"}])), "credential");
    check(400, &body(400, "", "The input token count exceeds the maximum number", json!([])), "too long");
}

#[test]
fn an_error_in_another_format_means_a_wrong_address() {
    #[track_caller]
    fn check_address(body: &str, why: &str) {
        let fault = of_status(404, None, body.as_bytes(), "m");
        assert_eq!((outcome(&fault).as_str(), fault.why.as_str()), ("request", why));
        assert!(fault.error.to_string().ends_with("is the base URL right?"), "{}", fault.error);
    }
    check_address("<html><title>Not Found</title>", r#"a web page, "Not Found" (404)"#);
    check_address("404 page not found", "404 page not found (404)");
    check_address(r#"{"detail": "Not Found"}"#, r#"{"detail": "Not Found"} (404)"#);
    check_address("", "404");
}

#[test]
fn a_quota_passes_or_does_not() {
    let check_details =
        |details: Value, expected: &str| check(429, &body(429, "RESOURCE_EXHAUSTED", "x", details), expected);
    let quota = |id: &str| json!({"@type": "google.rpc.QuotaFailure", "violations": [{"quotaId": id}]});
    check_details(json!([{"retryDelay": "2s"}]), "again in 2 s, unavailable");
    check_details(json!([{"retryDelay": "500ms"}]), "again in 0.5 s, unavailable");
    check_details(json!([quota("GenerateRequestsPerDayPerProject"), {"retryDelay": "2s"}]), "quota");
    check_details(json!([quota("GenerateRequestsPerMinute")]), "again in 60 s, unavailable");
    check_details(json!([{"reason": "QUOTA_EXHAUSTED"}]), "quota");
    check_details(json!([{"reason": "MODEL_CAPACITY_EXHAUSTED"}]), "capacity, unavailable");
    check_details(json!([{"retryDelay": "301s"}]), "quota");
    let check_message =
        |message: &str, expected: &str| check(429, &body(429, "", message, json!([])), expected);
    check_message("Please retry in 12.5s.", "again in 12.5 s, unavailable");
    check_message("Please retry in 10h17m5.5s", "quota");
    check_message("Quota exceeded, limit: 0, model: x", "quota");
    check_message("Quota exceeded, limit: 0", "quota");
    check_message("Quota exceeded, limit: 0.5", "again, unavailable");
    check_message("Quota exceeded, limit: 05", "again, unavailable");
}

#[test]
fn a_header_may_say_how_long_to_wait() {
    let fault = of_status(503, Some("7"), b"busy", "m");
    assert_eq!((outcome(&fault).as_str(), fault.why.as_str()), ("again in 7 s, unavailable", "busy (503)"));
}

#[test]
fn messages_are_shown_as_they_came() {
    #[track_caller]
    fn check_why(body: &str, expected: &str) {
        assert_eq!(of_status(400, None, body.as_bytes(), "m").why, expected);
    }
    check_why(&body(400, "INVALID_ARGUMENT", "bad", json!([])).to_string(), "bad (400 INVALID_ARGUMENT)");
    check_why("<html>", "a web page (400)");
    check_why("", "400");
    let inner = body(400, "INVALID_ARGUMENT", "inner", json!([])).to_string();
    check_why(&body(400, "", &inner, json!([])).to_string(), "inner (400 INVALID_ARGUMENT)");
    check_why(&json!({"error": "plain"}).to_string(), "plain (400)");
    assert_eq!(of_status(400, None, "é".repeat(5_000).as_bytes(), "m").why.chars().count(), 2_000 + 7);
}

#[test]
fn an_error_in_the_stream_is_known_by_its_code_or_name() {
    #[track_caller]
    fn check_event(error: Value, expected: &str) {
        assert_eq!(outcome(&of_event(&error, "m")), expected, "{error}");
    }
    check_event(json!({"code": 503, "message": "x"}), "again, unavailable");
    check_event(json!({"status": "RESOURCE_EXHAUSTED"}), "again, unavailable");
    check_event(json!({"code": 400, "message": "x"}), "request");
    check_event(json!({"code": 8, "status": "NOT_FOUND"}), "no model");
    check_event(json!("strange"), "again, unavailable");
}
