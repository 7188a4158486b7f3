//! Bad messages: which field is named, and what is said about it.

use attache_domain::{Fault, OperationKind};
use attache_wire::{Version, proto};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::transcoded::read;

#[track_caller]
fn check(version: Version, kind: OperationKind, message: &str, json: Value, expected: &[&str]) {
    let found: Vec<String> = match read(version, kind, message, &json).unwrap_err() {
        Fault::InvalidParams { violations } => {
            violations.into_iter().map(|found| format!("{} {}", found.field, found.description)).collect()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(found, expected, "{json}");
}

#[track_caller]
fn check_send(version: Version, request: Value, expected: &[&str]) {
    check(version, OperationKind::Send, "SendMessageRequest", request, expected);
}

#[test]
fn d1_d2_d8_missing_fields_are_all_named_in_the_order_of_the_definitions() {
    check_send(Version::V1_0, json!({}), &["message is required"]);
    check_send(Version::V0_3, json!({}), &["request is required"]);
    let request = json!({ "message": {}, "configuration": { "historyLength": -1 } });
    check_send(
        Version::V1_0,
        request.clone(),
        &[
            "message.message_id is required",
            "message.role is required: ROLE_USER or ROLE_AGENT",
            "message.parts must hold at least one part",
            "configuration.history_length must not be negative, but is -1",
        ],
    );
    check_send(
        Version::V0_3,
        request,
        &[
            "request.message_id is required",
            "request.role is required: ROLE_USER or ROLE_AGENT",
            "request.content must hold at least one part",
            "configuration.history_length must not be negative, but is -1",
        ],
    );
}

#[test]
fn roles_and_states_must_be_known() {
    let request = json!({ "message": { "messageId": "m", "role": 7, "parts": [{ "text": "t" }] } });
    check_send(Version::V1_0, request, &["message.role must be ROLE_USER or ROLE_AGENT, not 7"]);
    let list = json!({ "status": 9 });
    let expected = &["status must be a state from 1 to 8, not 9"];
    check(Version::V1_0, OperationKind::List, "ListTasksRequest", list, expected);
}

#[test]
fn every_part_must_hold_something() {
    let parts = json!([{ "text": "" }, {}, { "url": "" }, { "filename": "x" }]);
    let request = json!({ "message": { "messageId": "m", "role": "ROLE_USER", "parts": parts } });
    let none = |index| {
        format!("message.parts[{index}] must have exactly one of text, raw, url and data, but has none")
    };
    check_send(Version::V1_0, request, &[&none(1), "message.parts[2].url must not be empty", &none(3)]);

    let parts = json!([{}, { "file": {} }, { "file": { "fileWithUri": "" } }, { "data": {} }]);
    let request = json!({ "message": { "messageId": "m", "role": "ROLE_USER", "content": parts } });
    check_send(
        Version::V0_3,
        request,
        &[
            "request.content[0] must have exactly one of text, file and data, but has none",
            "request.content[1].file must have exactly one of file_with_uri and file_with_bytes, but has none",
            "request.content[2].file.file_with_uri must not be empty",
            "request.content[3].data.data is required",
        ],
    );
}

#[test]
fn l3_page_sizes_are_bounded() {
    for (size, found) in [(0, "0"), (-1, "-1"), (101, "101")] {
        let expected = format!("page_size must be between 1 and 100, but is {found}");
        check(
            Version::V1_0,
            OperationKind::List,
            "ListTasksRequest",
            json!({ "pageSize": size }),
            &[&expected],
        );
    }
    let list = json!({ "taskId": "t", "pageSize": 101 });
    let expected = &["page_size must be at most 100, but is 101"];
    check(Version::V1_0, OperationKind::PushList, "ListTaskPushNotificationConfigsRequest", list, expected);
}

#[test]
fn tasks_must_be_named_as_the_version_does() {
    check(Version::V1_0, OperationKind::Get, "GetTaskRequest", json!({}), &["id is required"]);
    for (name, expected) in [
        ("", "name is required: tasks/{id}"),
        ("t-1", "name must be tasks/{id}, not \"t-1\""),
        ("tasks/", "name must be tasks/{id}, not \"tasks/\""),
        ("tasks/t-1/x", "name must be tasks/{id}, not \"tasks/t-1/x\""),
    ] {
        check(Version::V0_3, OperationKind::Get, "GetTaskRequest", json!({ "name": name }), &[expected]);
    }
}

#[test]
fn webhooks_need_an_address() {
    let config = json!({ "taskId": "t", "authentication": {} });
    let expected = &["url is required", "authentication.scheme is required"];
    check(Version::V1_0, OperationKind::PushCreate, "TaskPushNotificationConfig", config, expected);
    let request = json!({ "parent": "tasks/t", "config": {} });
    let expected = &["config.push_notification_config is required"];
    check(
        Version::V0_3,
        OperationKind::PushCreate,
        "CreateTaskPushNotificationConfigRequest",
        request,
        expected,
    );
    let name = json!({ "name": "tasks/t" });
    let expected = &["name names no configuration"];
    check(
        Version::V0_3,
        OperationKind::PushDelete,
        "DeleteTaskPushNotificationConfigRequest",
        name,
        expected,
    );
}

#[test]
fn numbers_that_are_none_are_refused() {
    let data = json!({ "fields": 1 });
    let request =
        json!({ "message": { "messageId": "m", "role": "ROLE_USER", "parts": [{ "data": data }] } });
    let mut bytes = super::transcoded::from_json(Version::V1_0, "SendMessageRequest", &request).to_vec();
    let one = 1f64.to_le_bytes();
    let place = bytes.windows(8).position(|window| window == one).unwrap();
    bytes[place..place + 8].copy_from_slice(&f64::NAN.to_le_bytes());
    let fault = proto::decode(Version::V1_0, OperationKind::Send, bytes.into()).unwrap_err();
    assert_eq!(fault, Fault::invalid("message.parts[0].data.fields", "must be a finite number, not NaN"));
}

#[test]
fn what_could_not_be_read_when_it_is_shown_again_is_refused() {
    let sent = |levels: usize, inner: fn(Value) -> Value| {
        let data = (0..levels).fold(json!(1), |data, _| inner(data));
        let part = json!({ "data": data });
        let request = json!({ "message": { "messageId": "m", "role": "ROLE_USER", "parts": [part] } });
        let bytes = super::transcoded::from_json(Version::V1_0, "SendMessageRequest", &request);
        proto::decode(Version::V1_0, OperationKind::Send, bytes)
    };
    let list: fn(Value) -> Value = |data| json!([data]);
    let object: fn(Value) -> Value = |data| json!({ "a": data });
    for (inner, deepest) in [(list, 44), (object, 29)] {
        sent(deepest, inner).unwrap();
        let fault = sent(deepest + 1, inner).unwrap_err().to_string();
        assert!(
            fault.contains("is nested too deep: there may be 44 lists or 29 objects in each other"),
            "{fault}"
        );
    }
}

#[test]
fn what_is_no_message_is_an_invalid_request() {
    for version in Version::ALL {
        let fault = proto::decode(version, OperationKind::Get, (&b"\xff\xff\xff"[..]).into()).unwrap_err();
        assert!(
            matches!(&fault, Fault::InvalidRequest { what } if what.contains("cannot be read")),
            "{fault}"
        );
    }
}

proptest! {
    #[test]
    fn whatever_comes_in_nothing_breaks(bytes: Vec<u8>) {
        for kind in OperationKind::ALL {
            for version in Version::ALL {
                let _ = proto::decode(version, kind, bytes.clone().into());
            }
        }
    }
}
