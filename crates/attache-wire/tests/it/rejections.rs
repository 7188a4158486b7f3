//! Bad parameters: which member is named, and what is said about it.

use attache_domain::{Fault, OperationKind};
use attache_wire::{Dialect, decode, rest};
use serde_json::{Value, json};

/// The violations as `field description`.
#[track_caller]
fn violations(result: Result<impl std::fmt::Debug, Fault>) -> Vec<String> {
    match result.unwrap_err() {
        Fault::InvalidParams { violations } => {
            violations.into_iter().map(|found| format!("{} {}", found.field, found.description)).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn check(dialect: Dialect, kind: OperationKind, params: Value, expected: &[&str]) {
    assert_eq!(violations(decode(dialect, kind, Some(params.clone()))), expected, "{params}");
}

/// A good message of `dialect` in which `member` is replaced, or removed when it is replaced by null.
fn message_with(dialect: Dialect, member: &str, value: Value) -> Value {
    let mut message = match dialect {
        Dialect::V1_0 => json!({ "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": "t" }] }),
        Dialect::V0_3Rpc => {
            json!({ "kind": "message", "messageId": "m", "role": "user", "parts": [{ "kind": "text", "text": "t" }] })
        }
        Dialect::V0_3Rest => json!({ "messageId": "m", "role": "ROLE_USER", "content": [{ "text": "t" }] }),
    };
    message[member] = value;
    json!({ "message": message })
}

#[track_caller]
fn check_message(dialect: Dialect, member: &str, value: Value, expected: &str) {
    check(dialect, OperationKind::Send, message_with(dialect, member, value), &[expected]);
}

#[track_caller]
fn check_part(dialect: Dialect, part: Value, expected: &str) {
    let member = if dialect == Dialect::V0_3Rest { "content" } else { "parts" };
    check_message(dialect, member, json!([part]), expected);
}

#[test]
fn parameters_must_be_an_object() {
    for dialect in Dialect::ALL {
        check(dialect, OperationKind::Send, json!([1]), &["params must be an object, not an array"]);
        check(dialect, OperationKind::Get, json!("t-1"), &["params must be an object, not a string"]);
        assert_eq!(violations(decode(dialect, OperationKind::Send, None)), ["message is required"]);
    }
    let route = rest::route("POST", "/message:send").unwrap();
    assert_eq!(violations(rest::decode(&route, "", Some(json!([])))), ["body must be an object, not an array"]);
}

#[test]
fn d1_d2_d8_missing_members_are_all_named_in_the_order_of_the_schema() {
    let params = json!({ "message": {} , "configuration": { "historyLength": -1 }, "metadata": 1 });
    let rest_of_it =
        ["configuration.historyLength must not be negative, but is -1", "metadata must be an object, not a number"];
    let missing = |parts| {
        ["message.messageId is required", "message.role is required", parts, rest_of_it[0], rest_of_it[1]]
    };
    check(Dialect::V1_0, OperationKind::Send, params.clone(), &missing("message.parts is required"));
    check(Dialect::V0_3Rpc, OperationKind::Stream, params.clone(), &missing("message.parts is required"));
    check(Dialect::V0_3Rest, OperationKind::Send, params, &missing("message.content is required"));
}

#[test]
fn messages_with_wrong_members_are_refused() {
    for dialect in Dialect::ALL {
        check(dialect, OperationKind::Send, json!({ "message": "hi" }), &["message must be an object, not a string"]);
        check_message(dialect, "messageId", json!(""), "message.messageId must not be empty");
        check_message(dialect, "messageId", json!(7), "message.messageId must be a string, not a number");
        check_message(dialect, "messageId", json!(null), "message.messageId is required");
        check_message(dialect, "contextId", json!({}), "message.contextId must be a string, not an object");
        check_message(dialect, "taskId", json!(true), "message.taskId must be a string, not a boolean");
        check_message(dialect, "metadata", json!([]), "message.metadata must be an object, not an array");
        check_message(dialect, "extensions", json!("x"), "message.extensions must be an array, not a string");
        check_message(
            dialect,
            "referenceTaskIds",
            json!(["a", null, 3]),
            "message.referenceTaskIds[1] must be a string, not null",
        );
    }
}
