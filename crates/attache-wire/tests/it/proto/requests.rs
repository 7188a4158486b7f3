//! Messages in, operations out.

use attache_domain::{
    CancelTask, ContextId, GapPolicy, GetTask, ListTasks, Operation, OperationKind, SendConfiguration,
    SubscribeTask, TaskId, TaskState,
};
use attache_wire::devtool::Dialect;
use attache_wire::{JsonForm, Version, proto};
use serde_json::{Value, json};

use super::transcoded::{from_json, read};
use crate::fixture::{full_send, object, time};
use crate::golden;

#[track_caller]
fn operation(version: Version, kind: OperationKind, message: &str, json: Value) -> Operation {
    read(version, kind, message, &json).unwrap().operation
}

#[test]
fn every_path_of_the_services_names_an_operation() {
    let v0_3 = [
        ("SendMessage", OperationKind::Send),
        ("SendStreamingMessage", OperationKind::Stream),
        ("GetTask", OperationKind::Get),
        ("CancelTask", OperationKind::Cancel),
        ("TaskSubscription", OperationKind::Subscribe),
        ("CreateTaskPushNotificationConfig", OperationKind::PushCreate),
        ("GetTaskPushNotificationConfig", OperationKind::PushGet),
        ("ListTaskPushNotificationConfig", OperationKind::PushList),
        ("DeleteTaskPushNotificationConfig", OperationKind::PushDelete),
        ("GetAgentCard", OperationKind::ExtendedCard),
    ];
    for (name, kind) in v0_3 {
        assert_eq!(proto::method(&format!("/a2a.v1.A2AService/{name}")), Some((Version::V0_3, kind)));
    }
    let v1_0 = [
        ("SendMessage", OperationKind::Send),
        ("SendStreamingMessage", OperationKind::Stream),
        ("GetTask", OperationKind::Get),
        ("ListTasks", OperationKind::List),
        ("CancelTask", OperationKind::Cancel),
        ("SubscribeToTask", OperationKind::Subscribe),
        ("CreateTaskPushNotificationConfig", OperationKind::PushCreate),
        ("GetTaskPushNotificationConfig", OperationKind::PushGet),
        ("ListTaskPushNotificationConfigs", OperationKind::PushList),
        ("DeleteTaskPushNotificationConfig", OperationKind::PushDelete),
        ("GetExtendedAgentCard", OperationKind::ExtendedCard),
    ];
    for (name, kind) in v1_0 {
        assert_eq!(proto::method(&format!("/lf.a2a.v1.A2AService/{name}")), Some((Version::V1_0, kind)));
    }
    for path in
        ["/lf.a2a.v1.A2AService/TaskSubscription", "/a2a.v1.A2AService/ListTasks", "/a2a.v1.A2AService", "/"]
    {
        assert_eq!(proto::method(path), None, "{path}");
    }
}

#[test]
fn every_field_of_a_message_is_read_in_both_versions() {
    let params = golden::value("v1_0/in/send_everything.json")["params"].clone();
    let decoded = read(Version::V1_0, OperationKind::Send, "SendMessageRequest", &params).unwrap();
    assert_eq!(decoded.tenant.as_deref(), Some("acme"));
    assert_eq!(decoded.operation, Operation::Send(full_send(JsonForm::V1_0)));

    let body = golden::value("v0_3_rest/in/send_everything.json");
    let decoded = read(Version::V0_3, OperationKind::Stream, "SendMessageRequest", &body).unwrap();
    assert_eq!(decoded.tenant, None);
    assert_eq!(decoded.operation, Operation::Stream(full_send(JsonForm::V0_3Rest)));
}

fn configured(version: Version, configuration: Value) -> SendConfiguration {
    let mut request = match version {
        Version::V0_3 => {
            json!({ "message": { "messageId": "m", "role": "ROLE_USER", "content": [{ "text": "t" }] } })
        }
        Version::V1_0 => {
            json!({ "message": { "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": "t" }] } })
        }
    };
    request["configuration"] = configuration;
    match operation(version, OperationKind::Send, "SendMessageRequest", request) {
        Operation::Send(send) => send.configuration,
        other => panic!("{other:?}"),
    }
}

#[test]
fn b1_b3_whether_to_wait_is_asked_the_other_way_round_in_0_3() {
    let waits = |version, configuration| !configured(version, configuration).return_immediately;
    assert!(waits(Version::V1_0, Value::Null));
    assert!(waits(Version::V1_0, json!({})));
    assert!(!waits(Version::V1_0, json!({ "returnImmediately": true })));
    assert!(waits(Version::V0_3, Value::Null));
    assert!(!waits(Version::V0_3, json!({})), "false and absent look the same");
    assert!(waits(Version::V0_3, json!({ "blocking": true })));
}

#[test]
fn a_history_of_zero_is_none_in_1_0_and_all_in_0_3() {
    let length =
        |version, length: i32| configured(version, json!({ "historyLength": length })).history_length;
    assert_eq!(length(Version::V1_0, 0), Some(0));
    assert_eq!(length(Version::V0_3, 0), None);
    assert_eq!(length(Version::V1_0, 3), Some(3));
    assert_eq!(length(Version::V0_3, 3), Some(3));
    assert_eq!(configured(Version::V1_0, json!({})).history_length, None);
}

#[test]
fn tasks_are_named_by_id_in_1_0_and_by_resource_in_0_3() {
    let task = TaskId::from("t-1");
    let get = Operation::Get(GetTask { task: task.clone(), history_length: Some(2), at: None });
    let id = json!({ "tenant": "acme", "id": "t-1", "historyLength": 2 });
    let name = json!({ "name": "tasks/t-1", "historyLength": 2 });
    assert_eq!(operation(Version::V1_0, OperationKind::Get, "GetTaskRequest", id), get);
    assert_eq!(operation(Version::V0_3, OperationKind::Get, "GetTaskRequest", name), get);

    let subscribe = Operation::Subscribe(SubscribeTask {
        task: task.clone(),
        after: None,
        gap_policy: GapPolicy::default(),
    });
    let (id, name) = (json!({ "id": "t-1" }), json!({ "name": "tasks/t-1" }));
    let read = operation(Version::V1_0, OperationKind::Subscribe, "SubscribeToTaskRequest", id.clone());
    assert_eq!(read, subscribe);
    let read = operation(Version::V0_3, OperationKind::Subscribe, "TaskSubscriptionRequest", name.clone());
    assert_eq!(read, subscribe);

    let cancel = |metadata| Operation::Cancel(CancelTask { task: task.clone(), metadata });
    assert_eq!(operation(Version::V0_3, OperationKind::Cancel, "CancelTaskRequest", name), cancel(None));
    let with_metadata = json!({ "id": "t-1", "metadata": { "why": "enough" } });
    let read = operation(Version::V1_0, OperationKind::Cancel, "CancelTaskRequest", with_metadata);
    assert_eq!(read, cancel(Some(object(json!({ "why": "enough" })))));
}

#[test]
fn l1_l3_every_filter_of_a_listing_is_read() {
    let params = golden::value("v1_0/in/list_everything.json")["params"].clone();
    let decoded = read(Version::V1_0, OperationKind::List, "ListTasksRequest", &params).unwrap();
    assert_eq!(decoded.tenant.as_deref(), Some("acme"));
    let expected = ListTasks {
        context: Some(ContextId::from("c-1")),
        state: Some(TaskState::InputRequired),
        prompt: None,
        status_since: Some(time(7)),
        page_size: 7,
        page_token: "b3BhcXVl".into(),
        history_length: Some(0),
        include_artifacts: true,
    };
    assert_eq!(decoded.operation, Operation::List(expected));
    let list = operation(Version::V1_0, OperationKind::List, "ListTasksRequest", json!({}));
    assert_eq!(list, Operation::List(ListTasks::default()));
}

#[test]
fn a_card_is_asked_for_without_parameters() {
    for (version, message) in
        [(Version::V0_3, "GetAgentCardRequest"), (Version::V1_0, "GetExtendedAgentCardRequest")]
    {
        let read = operation(version, OperationKind::ExtendedCard, message, json!({}));
        assert_eq!(read, Operation::ExtendedCard);
    }
}

#[test]
fn whole_numbers_in_data_stay_whole() {
    let data =
        json!({ "whole": 3, "half": 0.5, "large": 9_007_199_254_740_991_i64, "negative": -7, "null": null });
    let request =
        json!({ "message": { "messageId": "m", "role": "ROLE_USER", "parts": [{ "data": data }] } });
    let Operation::Send(send) = operation(Version::V1_0, OperationKind::Send, "SendMessageRequest", request)
    else {
        panic!("not a send");
    };
    assert_eq!(serde_json::to_value(&send.message.parts[0].content).unwrap(), json!({ "data": data }));
}

#[test]
fn a_message_in_the_words_of_the_extension_is_recognised() {
    let request = json!({ "message": {
        "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": "t" }],
        "metadata": { "coderAgent": { "kind": "agent-settings", "workspacePath": "/w" } },
    }});
    let decoded = read(Version::V1_0, OperationKind::Send, "SendMessageRequest", &request).unwrap();
    assert_eq!(decoded.dialect, Some(Dialect::Gemini));
}

#[test]
fn settings_beside_the_message_are_recognised_as_requests() {
    let settings = json!({ "coderAgent": { "kind": "agent-settings", "workspacePath": "/w" } });
    for version in Version::ALL {
        let (message, parts) = match version {
            Version::V0_3 => ("request", "content"),
            Version::V1_0 => ("message", "parts"),
        };
        let said = json!({ "messageId": "m", "role": "ROLE_USER", parts: [{ "text": "t" }] });
        let request = json!({ message: said, "metadata": settings });
        let decoded = read(version, OperationKind::Send, "SendMessageRequest", &request).unwrap();
        assert_eq!(decoded.dialect, Some(Dialect::Gemini), "{version:?}");
        let Operation::Send(send) = decoded.operation else { panic!("not a send") };
        let requested = send.message.requested.expect("settings");
        assert_eq!(requested.workspace.as_deref(), Some("/w".as_ref()), "{version:?}");
    }
}

#[test]
fn the_numbers_of_spellings_do_not_meet_those_of_json() {
    let mut numbers = Vec::new();
    for dialect in [Dialect::Plain, Dialect::Developer, Dialect::Gemini] {
        numbers.extend(JsonForm::ALL.map(|json_form| dialect.index(json_form)));
        numbers.extend(Version::ALL.map(|version| proto::index(dialect, version)));
    }
    let count = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), count);
}

#[test]
fn unknown_fields_are_ignored() {
    let mut bytes = from_json(Version::V1_0, "GetTaskRequest", &json!({ "id": "t-1" })).to_vec();
    // Number 99, a text.
    bytes.extend_from_slice(&[0x9a, 0x06, 0x01, b'x']);
    let decoded = proto::decode(Version::V1_0, OperationKind::Get, bytes.into()).unwrap();
    assert_eq!(
        decoded.operation,
        Operation::Get(GetTask { task: "t-1".into(), history_length: None, at: None })
    );
}
