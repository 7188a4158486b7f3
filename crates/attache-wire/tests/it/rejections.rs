//! Bad parameters: which member is named, and what is said about it.

use attache_domain::{Fault, OperationKind};
use attache_wire::{JsonForm, decode, rest};
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
fn check(json_form: JsonForm, kind: OperationKind, params: Value, expected: &[&str]) {
    assert_eq!(violations(decode(json_form, kind, Some(params.clone()))), expected, "{params}");
}

/// A good message of `json_form` in which `member` is replaced, or removed when it is replaced by null.
fn message_with(json_form: JsonForm, member: &str, value: Value) -> Value {
    let mut message = match json_form {
        JsonForm::V1_0 => json!({ "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": "t" }] }),
        JsonForm::V0_3Rpc => {
            json!({ "kind": "message", "messageId": "m", "role": "user", "parts": [{ "kind": "text", "text": "t" }] })
        }
        JsonForm::V0_3Rest => json!({ "messageId": "m", "role": "ROLE_USER", "content": [{ "text": "t" }] }),
    };
    message[member] = value;
    json!({ "message": message })
}

#[track_caller]
fn check_message(json_form: JsonForm, member: &str, value: Value, expected: &str) {
    check(json_form, OperationKind::Send, message_with(json_form, member, value), &[expected]);
}

#[track_caller]
fn check_part(json_form: JsonForm, part: Value, expected: &str) {
    let member = if json_form == JsonForm::V0_3Rest { "content" } else { "parts" };
    check_message(json_form, member, json!([part]), expected);
}

#[test]
fn parameters_must_be_an_object() {
    for json_form in JsonForm::ALL {
        check(json_form, OperationKind::Send, json!([1]), &["params must be an object, not an array"]);
        check(json_form, OperationKind::Get, json!("t-1"), &["params must be an object, not a string"]);
        assert_eq!(violations(decode(json_form, OperationKind::Send, None)), ["message is required"]);
    }
    let route = rest::route("POST", "/message:send").unwrap();
    assert_eq!(
        violations(rest::decode(&route, "", Some(json!([])))),
        ["body must be an object, not an array"]
    );
}

#[test]
fn d1_d2_d8_missing_members_are_all_named_in_the_order_of_the_schema() {
    let params = json!({ "message": {} , "configuration": { "historyLength": -1 }, "metadata": 1 });
    let rest_of_it = [
        "configuration.historyLength must not be negative, but is -1",
        "metadata must be an object, not a number",
    ];
    let missing = |parts| {
        ["message.messageId is required", "message.role is required", parts, rest_of_it[0], rest_of_it[1]]
    };
    check(JsonForm::V1_0, OperationKind::Send, params.clone(), &missing("message.parts is required"));
    check(JsonForm::V0_3Rpc, OperationKind::Stream, params.clone(), &missing("message.parts is required"));
    check(JsonForm::V0_3Rest, OperationKind::Send, params, &missing("message.content is required"));
}

#[test]
fn messages_with_wrong_members_are_refused() {
    for json_form in JsonForm::ALL {
        check(
            json_form,
            OperationKind::Send,
            json!({ "message": "hi" }),
            &["message must be an object, not a string"],
        );
        check_message(json_form, "messageId", json!(""), "message.messageId must not be empty");
        check_message(json_form, "messageId", json!(7), "message.messageId must be a string, not a number");
        check_message(json_form, "messageId", json!(null), "message.messageId is required");
        check_message(json_form, "contextId", json!({}), "message.contextId must be a string, not an object");
        check_message(json_form, "taskId", json!(true), "message.taskId must be a string, not a boolean");
        check_message(json_form, "metadata", json!([]), "message.metadata must be an object, not an array");
        check_message(
            json_form,
            "extensions",
            json!("x"),
            "message.extensions must be an array, not a string",
        );
        check_message(
            json_form,
            "referenceTaskIds",
            json!(["a", null]),
            "message.referenceTaskIds[1] must be a string, not null",
        );
    }
}

#[test]
fn roles_are_refused_with_the_valid_names() {
    let proto = "message.role must be ROLE_USER or ROLE_AGENT, not";
    check_message(JsonForm::V1_0, "role", json!("user"), &format!("{proto} \"user\""));
    for json_form in [JsonForm::V1_0, JsonForm::V0_3Rest] {
        check_message(json_form, "role", json!("ROLE_UNSPECIFIED"), &format!("{proto} \"ROLE_UNSPECIFIED\""));
        check_message(json_form, "role", json!(0), &format!("{proto} 0"));
        check_message(json_form, "role", json!(1.5), &format!("{proto} 1.5"));
        check_message(json_form, "role", json!([]), &format!("{proto} an array"));
        check_message(json_form, "role", json!(null), "message.role is required");
    }
    let schema = "message.role must be user or agent, not";
    check_message(JsonForm::V0_3Rpc, "role", json!("ROLE_USER"), &format!("{schema} \"ROLE_USER\""));
    check_message(JsonForm::V0_3Rpc, "role", json!(1), &format!("{schema} a number"));
}

#[test]
fn a_message_that_says_it_is_something_else_is_refused() {
    for json_form in [JsonForm::V0_3Rpc, JsonForm::V0_3Rest] {
        check_message(json_form, "kind", json!("task"), "message.kind must be \"message\", not \"task\"");
    }
}

#[test]
fn d2_empty_or_wrong_parts_are_refused() {
    for (json_form, name) in
        [(JsonForm::V1_0, "parts"), (JsonForm::V0_3Rpc, "parts"), (JsonForm::V0_3Rest, "content")]
    {
        check_message(json_form, name, json!([]), &format!("message.{name} must hold at least one part"));
        check_message(json_form, name, json!({}), &format!("message.{name} must be an array, not an object"));
        check_message(json_form, name, json!(null), &format!("message.{name} is required"));
        check_part(json_form, json!("hi"), &format!("message.{name}[0] must be an object, not a string"));
        check_part(
            json_form,
            json!({ "kind": "text", "text": 1 }),
            &format!("message.{name}[0].text must be a string, not a number"),
        );
        check_part(
            json_form,
            json!({ "kind": "text", "text": "t", "metadata": 1 }),
            &format!("message.{name}[0].metadata must be an object, not a number"),
        );
    }
}

#[test]
fn a_1_0_part_must_have_one_content() {
    let one = "message.parts[0] must have exactly one of text, raw, url and data, but has";
    check_part(JsonForm::V1_0, json!({}), &format!("{one} none"));
    check_part(JsonForm::V1_0, json!({ "text": "a", "url": "b" }), &format!("{one} text and url"));
    check_part(
        JsonForm::V1_0,
        json!({ "raw": "", "url": "b", "data": 1 }),
        &format!("{one} raw, url and data"),
    );
    check_part(
        JsonForm::V1_0,
        json!({ "kind": "file", "file": { "uri": "u" } }),
        &format!("{one} none; a file is spelled raw or url in version 1.0"),
    );
    check_part(JsonForm::V1_0, json!({ "url": "" }), "message.parts[0].url must not be empty");
    check_part(
        JsonForm::V1_0,
        json!({ "raw": "a b=" }),
        "message.parts[0].raw is not base64: white space at position 1",
    );
    check_part(
        JsonForm::V1_0,
        json!({ "text": "t", "mediaType": 1 }),
        "message.parts[0].mediaType must be a string, not a number",
    );
}

#[test]
fn m9_an_unknown_part_kind_is_refused_with_the_valid_kinds() {
    let kinds = "must be \"text\", \"file\" or \"data\", not";
    check_part(
        JsonForm::V0_3Rpc,
        json!({ "kind": "image", "text": "t" }),
        &format!("message.parts[0].kind {kinds} \"image\""),
    );
    check_part(
        JsonForm::V0_3Rest,
        json!({ "kind": "", "text": "t" }),
        &format!("message.content[0].kind {kinds} \"\""),
    );
    check_part(
        JsonForm::V0_3Rpc,
        json!({ "kind": "text" }),
        "message.parts[0].text is required in a part of kind \"text\"",
    );
}

#[test]
fn a_0_3_part_in_json_rpc_names_its_kind() {
    let required = "message.parts[0].kind is required: \"text\", \"file\" or \"data\"";
    for part in [json!({ "text": "t" }), json!({ "type": "text", "text": "t" }), json!({ "data": {} })] {
        check_part(JsonForm::V0_3Rpc, part, required);
    }
}

#[test]
fn a_0_3_part_must_have_the_content_of_its_kind_and_no_other() {
    check_part(
        JsonForm::V0_3Rpc,
        json!({ "kind": "text", "data": {} }),
        "message.parts[0].text is required in a part of kind \"text\"",
    );
    check_part(
        JsonForm::V0_3Rpc,
        json!({ "kind": "text", "text": "t", "data": {} }),
        "message.parts[0] must have exactly one of text, file and data, but has text and data",
    );
    check_part(
        JsonForm::V0_3Rpc,
        json!({ "kind": "data", "data": [1] }),
        "message.parts[0].data must be an object, not an array",
    );
    check_part(JsonForm::V0_3Rest, json!({ "data": { "n": 1 } }), "message.content[0].data.data is required");
    check_part(
        JsonForm::V0_3Rest,
        json!({ "data": { "data": 1 } }),
        "message.content[0].data.data must be an object, not a number",
    );
}

#[test]
fn a_0_3_file_must_have_bytes_or_a_uri() {
    let file = |file: Value| json!({ "kind": "file", "file": file });
    check_part(JsonForm::V0_3Rpc, file(json!("x")), "message.parts[0].file must be an object, not a string");
    check_part(
        JsonForm::V0_3Rpc,
        file(json!({ "name": "n" })),
        "message.parts[0].file must have exactly one of bytes and uri, but has none",
    );
    check_part(
        JsonForm::V0_3Rpc,
        file(json!({ "bytes": "", "uri": "u" })),
        "message.parts[0].file must have exactly one of bytes and uri, but has bytes and uri",
    );
    check_part(
        JsonForm::V0_3Rpc,
        file(json!({ "bytes": "!" })),
        "message.parts[0].file.bytes is not base64: 1 characters without padding are no whole number of bytes",
    );
    check_part(
        JsonForm::V0_3Rest,
        json!({ "file": { "fileWithBytes": "QQ?=" } }),
        "message.content[0].file.fileWithBytes is not base64: the character '?' at position 2",
    );
    check_part(
        JsonForm::V0_3Rest,
        json!({ "file": { "fileWithUri": "" } }),
        "message.content[0].file.fileWithUri must not be empty",
    );
}

#[test]
fn every_part_that_is_wrong_is_named() {
    let params = message_with(JsonForm::V1_0, "parts", json!([{}, { "text": "good" }, { "text": 1 }]));
    check(
        JsonForm::V1_0,
        OperationKind::Send,
        params,
        &[
            "message.parts[0] must have exactly one of text, raw, url and data, but has none",
            "message.parts[2].text must be a string, not a number",
        ],
    );
}

#[test]
fn configurations_with_wrong_members_are_refused() {
    for json_form in JsonForm::ALL {
        let flag = if json_form == JsonForm::V1_0 { "returnImmediately" } else { "blocking" };
        let push = match json_form {
            JsonForm::V1_0 => "taskPushNotificationConfig",
            JsonForm::V0_3Rpc => "pushNotificationConfig",
            JsonForm::V0_3Rest => "pushNotification",
        };
        for (configuration, expected) in [
            (json!(1), " must be an object, not a number".to_owned()),
            (json!({ "historyLength": -1 }), ".historyLength must not be negative, but is -1".to_owned()),
            (
                json!({ "historyLength": 2_147_483_648_u64 }),
                ".historyLength must be at most 2147483647, but is 2147483648".to_owned(),
            ),
            (json!({ "historyLength": 1.5 }), ".historyLength must be an integer, not 1.5".to_owned()),
            (json!({ "historyLength": true }), ".historyLength must be an integer, not a boolean".to_owned()),
            (
                json!({ "acceptedOutputModes": [1] }),
                ".acceptedOutputModes[0] must be a string, not a number".to_owned(),
            ),
            (json!({ flag: "true" }), format!(".{flag} must be true or false, not a string")),
            (json!({ push: "https://x" }), format!(".{push} must be an object, not a string")),
        ] {
            let mut params = message_with(json_form, "contextId", json!("c"));
            params["configuration"] = configuration;
            check(json_form, OperationKind::Send, params, &[&format!("configuration{expected}")]);
        }
    }
    let mut params = message_with(JsonForm::V0_3Rpc, "contextId", json!("c"));
    params["configuration"] = json!({ "historyLength": "3" });
    let expected = "configuration.historyLength must be an integer, not a string";
    check(JsonForm::V0_3Rpc, OperationKind::Send, params, &[expected]);
}

#[test]
fn get_cancel_and_subscribe_need_an_id() {
    for kind in [OperationKind::Get, OperationKind::Cancel, OperationKind::Subscribe] {
        for json_form in JsonForm::ALL {
            check(json_form, kind, json!({}), &["id is required"]);
            check(json_form, kind, json!({ "id": "" }), &["id must not be empty"]);
            check(json_form, kind, json!({ "id": 3 }), &["id must be a string, not a number"]);
        }
    }
    let both = ["id is required", "historyLength must not be negative, but is -2"];
    check(JsonForm::V1_0, OperationKind::Get, json!({ "historyLength": -2 }), &both);
}

#[test]
fn l1_l3_bad_filters_are_refused_on_both_bindings() {
    let states = "TASK_STATE_SUBMITTED, TASK_STATE_WORKING, TASK_STATE_COMPLETED, TASK_STATE_FAILED, \
                  TASK_STATE_CANCELED, TASK_STATE_INPUT_REQUIRED, TASK_STATE_REJECTED, TASK_STATE_AUTH_REQUIRED";
    let list = OperationKind::List;
    for (params, expected) in [
        (json!({ "pageSize": 0 }), "pageSize must be between 1 and 100, but is 0"),
        (json!({ "pageSize": -5 }), "pageSize must be between 1 and 100, but is -5"),
        (json!({ "pageSize": 101 }), "pageSize must be between 1 and 100, but is 101"),
        (json!({ "pageSize": u64::MAX }), "pageSize must be between 1 and 100, but is 9223372036854775807"),
        (json!({ "historyLength": -1 }), "historyLength must not be negative, but is -1"),
        (json!({ "includeArtifacts": "yes" }), "includeArtifacts must be true or false, not a string"),
        (json!({ "status": "working" }), &format!("status must be one of {states}, not \"working\"")),
        (json!({ "status": 9 }), &format!("status must be one of {states}, not 9")),
        (json!({ "status": [] }), &format!("status must be one of {states}, not an array")),
        (json!({ "contextId": 1 }), "contextId must be a string, not a number"),
        (json!({ "pageToken": 1 }), "pageToken must be a string, not a number"),
        (json!({ "tenant": 1 }), "tenant must be a string, not a number"),
        (
            json!({ "statusTimestampAfter": "yesterday" }),
            "statusTimestampAfter must be a time such as 2025-10-28T10:30:00.000Z, not \"yesterday\"",
        ),
    ] {
        check(JsonForm::V1_0, list, params, &[expected]);
    }
    let route = rest::route("GET", "/tasks").unwrap();
    for (query, expected) in [
        ("pageSize=0", "pageSize must be between 1 and 100, but is 0"),
        ("pageSize=many", "pageSize must be an integer, not \"many\""),
        ("includeArtifacts=1", "includeArtifacts must be true or false, not a string"),
        ("history_length=-1", "historyLength must not be negative, but is -1"),
    ] {
        assert_eq!(violations(rest::decode(&route, query, None)), [expected]);
    }
}

#[test]
fn what_the_caller_sent_is_quoted_only_in_part() {
    let found = violations(decode(
        JsonForm::V1_0,
        OperationKind::Send,
        Some(message_with(JsonForm::V1_0, "role", json!("ü".repeat(1_000_000)))),
    ));
    assert!(found[0].len() < 200, "{}", found[0].len());
}

#[test]
fn a_request_with_very_many_faults_gets_a_short_answer() {
    let parts: Vec<Value> = vec![json!({}); 10_000];
    let params = message_with(JsonForm::V1_0, "parts", parts.into());
    assert_eq!(violations(decode(JsonForm::V1_0, OperationKind::Send, Some(params))).len(), 16);
}
