//! Requests in, operations out, per version and binding.

use attache_domain::{
    CancelTask, ContextId, Fault, GetTask, ListTasks, Operation, OperationKind, Part, PartContent, Role,
    SendConfiguration, SendMessage, SubscribeTask, TaskId, TaskState,
};
use attache_wire::{
    DecodeOptions, DecodedOperation, JsonForm, MessageTask, Version, decode, decode_with, jsonrpc, rest,
};
use serde_json::{Value, json};

use crate::fixture::{full_send, object, time, user_text};
use crate::golden;

#[track_caller]
fn rpc(name: &str) -> DecodedOperation {
    let envelope = jsonrpc::parse(&golden::bytes(name), 64).unwrap();
    let (version, kind) = jsonrpc::method(&envelope.method).unwrap();
    decode(jsonrpc::json_form(version), kind, envelope.params).unwrap()
}

#[track_caller]
fn rest(verb: &str, target: &str, body: Option<Value>) -> DecodedOperation {
    try_rest(verb, target, body).unwrap()
}

fn try_rest(verb: &str, target: &str, body: Option<Value>) -> Result<DecodedOperation, Fault> {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    rest::decode(&rest::route(verb, path)?, query, body)
}

#[track_caller]
fn send(decoded: DecodedOperation) -> SendMessage {
    match decoded.operation {
        Operation::Send(send) => send,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_text_message_is_read_in_both_versions_on_json_rpc() {
    let expected = SendMessage {
        message: user_text("hello"),
        answers: attache_wire::read_answers(&user_text("hello")),
        configuration: SendConfiguration::default(),
        metadata: None,
        options: Default::default(),
    };
    for name in ["v1_0/in/send_text.json", "v0_3_rpc/in/send_text.json"] {
        let decoded = rpc(name);
        assert_eq!(decoded.tenant, None);
        assert_eq!(send(decoded), expected, "{name}");
    }
}

#[test]
fn every_member_of_a_1_0_message_is_read() {
    let decoded = rpc("v1_0/in/send_everything.json");
    assert_eq!(decoded.tenant.as_deref(), Some("acme"));
    assert_eq!(send(decoded), full_send(JsonForm::V1_0));
}

#[test]
fn d7_1_0_takes_snake_case_integer_enums_nulls_url_safe_base64_and_unknown_members() {
    let decoded = rpc("v1_0/in/send_snake_case.json");
    assert_eq!(decoded.tenant.as_deref(), Some("acme"));
    assert_eq!(send(decoded), full_send(JsonForm::V1_0));
}

#[test]
fn m1_every_member_of_a_0_3_message_is_read_on_json_rpc() {
    assert_eq!(send(rpc("v0_3_rpc/in/send_everything.json")), full_send(JsonForm::V0_3Rpc));
}

#[test]
fn m9_0_3_json_rpc_takes_messages_without_kind() {
    assert_eq!(send(rpc("v0_3_rpc/in/send_without_kind.json")), full_send(JsonForm::V0_3Rpc));
}

#[test]
fn every_spelling_of_a_0_3_rest_message_is_read() {
    for name in ["send_everything", "send_snake_case", "send_json_schema"] {
        let body = golden::value(&format!("v0_3_rest/in/{name}.json"));
        let decoded = rest("POST", "/v1/message:send", Some(body));
        assert_eq!(decoded.tenant, None);
        assert_eq!(send(decoded), full_send(JsonForm::V0_3Rest), "{name}");
    }
}

#[test]
fn a_1_0_rest_message_is_read_and_the_tenant_in_the_path_wins() {
    let body = golden::value("v1_0/in/rest_send.json");
    let decoded = rest("POST", "/acme/message:stream", Some(body.clone()));
    assert_eq!(decoded.tenant.as_deref(), Some("acme"));
    let Operation::Stream(send) = decoded.operation else { panic!("not a stream") };
    assert_eq!(send.message.role, Role::Agent);
    assert_eq!(send.message.parts, [Part::new(PartContent::Data(Value::Null))]);
    assert_eq!((send.message.context, send.message.task), (None, None), "empty ids are no ids");
    assert_eq!(send.configuration.history_length, Some(0));

    let decoded = rest("POST", "/message:send", Some(body));
    assert_eq!(decoded.tenant.as_deref(), Some("other"));
}

#[test]
fn l1_l3_every_filter_of_a_listing_is_read() {
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
    let decoded = rpc("v1_0/in/list_everything.json");
    assert_eq!(decoded.tenant.as_deref(), Some("acme"));
    assert_eq!(decoded.operation, Operation::List(expected.clone()));

    let camel = "/acme/tasks?contextId=c-1&status=TASK_STATE_INPUT_REQUIRED&pageSize=7&pageToken=b3BhcXVl\
                 &historyLength=0&statusTimestampAfter=2025-10-28T12%3A30%3A00.007%2B02:00&includeArtifacts=true";
    let snake = "/tasks?tenant=acme&context_id=c-1&status=TASK_STATE_INPUT_REQUIRED&page_size=7\
                 &page_token=b3BhcXVl&history_length=0&status_timestamp_after=2025-10-28T10:30:00.007Z\
                 &include_artifacts=true&A2A-Version=1.0";
    for target in [camel, snake] {
        let decoded = rest("GET", target, None);
        assert_eq!(decoded.tenant.as_deref(), Some("acme"), "{target}");
        assert_eq!(decoded.operation, Operation::List(expected.clone()), "{target}");
    }
}

#[test]
fn l1_l3_a_listing_without_filters_has_the_defaults() {
    let expected = Operation::List(ListTasks::default());
    assert_eq!(rest("GET", "/tasks", None).operation, expected);
    assert_eq!(rest("GET", "/tasks?status=&pageToken=&pageSize=", None).operation, expected);
    for params in [
        None,
        Some(json!(null)),
        Some(json!({ "status": "TASK_STATE_UNSPECIFIED" })),
        Some(json!({ "status": 0 })),
    ] {
        assert_eq!(decode(JsonForm::V1_0, OperationKind::List, params).unwrap().operation, expected);
    }
}

#[test]
fn every_state_filter_is_read_by_name_and_by_number() {
    let names = [
        ("TASK_STATE_SUBMITTED", TaskState::Submitted),
        ("TASK_STATE_WORKING", TaskState::Working),
        ("TASK_STATE_COMPLETED", TaskState::Completed),
        ("TASK_STATE_FAILED", TaskState::Failed),
        ("TASK_STATE_CANCELED", TaskState::Canceled),
        ("TASK_STATE_INPUT_REQUIRED", TaskState::InputRequired),
        ("TASK_STATE_REJECTED", TaskState::Rejected),
        ("TASK_STATE_AUTH_REQUIRED", TaskState::AuthRequired),
    ];
    for (number, (name, state)) in (1..).zip(names) {
        for status in [json!(name), json!(number)] {
            let decoded = decode(JsonForm::V1_0, OperationKind::List, Some(json!({ "status": status })));
            let expected = Operation::List(ListTasks { state: Some(state), ..ListTasks::default() });
            assert_eq!(decoded.unwrap().operation, expected);
        }
    }
}

#[test]
fn get_cancel_and_subscribe_are_read_on_every_binding() {
    let get =
        |history_length| Operation::Get(GetTask { task: TaskId::from("t-1"), history_length, at: None });
    let cancel = |metadata| Operation::Cancel(CancelTask { task: TaskId::from("t-1"), metadata });
    let subscribe = Operation::Subscribe(SubscribeTask::to(TaskId::from("t-1")));
    let why = Some(object(json!({ "why": "too slow" })));
    for json_form in [JsonForm::V1_0, JsonForm::V0_3Rpc] {
        let read = |kind, params| decode(json_form, kind, Some(params)).unwrap().operation;
        assert_eq!(read(OperationKind::Get, json!({ "id": "t-1" })), get(None));
        assert_eq!(read(OperationKind::Get, json!({ "id": "t-1", "historyLength": 3 })), get(Some(3)));
        assert_eq!(read(OperationKind::Cancel, json!({ "id": "t-1", "metadata": why })), cancel(why.clone()));
        assert_eq!(read(OperationKind::Subscribe, json!({ "id": "t-1" })), subscribe);
    }
    for prefix in ["", "/v1"] {
        let read = |verb, rest_of_path: &str, body| {
            rest(verb, &format!("{prefix}/tasks/{rest_of_path}"), body).operation
        };
        assert_eq!(read("GET", "t-1", None), get(None));
        assert_eq!(read("GET", "t-1?historyLength=3", None), get(Some(3)));
        assert_eq!(read("GET", "t-1?history_length=3&id=other", None), get(Some(3)));
        let body = golden::value("v1_0/in/rest_cancel.json");
        assert_eq!(read("POST", "t-1:cancel", Some(body)), cancel(why.clone()));
        for empty in [None, Some(json!(null)), Some(json!({}))] {
            assert_eq!(read("POST", "t-1:cancel", empty.clone()), cancel(None));
            assert_eq!(read("POST", "t-1:subscribe", empty), subscribe);
        }
        assert_eq!(read("GET", "t-1:subscribe", None), subscribe);
    }
}

#[test]
fn the_extended_card_needs_no_parameters() {
    for json_form in JsonForm::ALL {
        let decoded = decode(json_form, OperationKind::ExtendedCard, None).unwrap();
        assert_eq!(decoded.operation, Operation::ExtendedCard);
    }
    let params = Some(json!({ "tenant": "acme" }));
    let tenant = |json_form| decode(json_form, OperationKind::ExtendedCard, params.clone()).unwrap().tenant;
    assert_eq!(tenant(JsonForm::V1_0).as_deref(), Some("acme"));
    assert_eq!(tenant(JsonForm::V0_3Rpc), None, "0.3 knows no tenants");
}

/// Sends with `configuration`, as each form needs the message.
#[track_caller]
fn configured(json_form: JsonForm, configuration: Option<Value>) -> SendConfiguration {
    let mut params = match json_form {
        JsonForm::V1_0 => golden::value("v1_0/in/send_text.json")["params"].take(),
        JsonForm::V0_3Rpc => golden::value("v0_3_rpc/in/send_text.json")["params"].take(),
        JsonForm::V0_3Rest => {
            json!({ "message": { "messageId": "m-1", "role": "ROLE_USER", "content": [{ "text": "hello" }] } })
        }
    };
    if let Some(configuration) = configuration {
        params["configuration"] = configuration;
    }
    send(decode(json_form, OperationKind::Send, Some(params)).unwrap()).configuration
}

#[track_caller]
fn check_waits(json_form: JsonForm, configuration: Option<Value>, waits: bool) {
    let read = configured(json_form, configuration.clone());
    assert_eq!(!read.return_immediately, waits, "{json_form:?} {configuration:?}");
}

#[test]
fn b1_1_0_waits_unless_told_to_return_immediately() {
    check_waits(JsonForm::V1_0, None, true);
    check_waits(JsonForm::V1_0, Some(json!({})), true);
    check_waits(JsonForm::V1_0, Some(json!({ "returnImmediately": false })), true);
    check_waits(JsonForm::V1_0, Some(json!({ "returnImmediately": true })), false);
    check_waits(JsonForm::V1_0, Some(json!({ "blocking": false })), true);
}

#[test]
fn b3_absent_blocking_on_0_3_json_rpc_blocks() {
    check_waits(JsonForm::V0_3Rpc, None, true);
    check_waits(JsonForm::V0_3Rpc, Some(json!({})), true);
    check_waits(JsonForm::V0_3Rpc, Some(json!({ "blocking": null })), true);
    check_waits(JsonForm::V0_3Rpc, Some(json!({ "blocking": true })), true);
    check_waits(JsonForm::V0_3Rpc, Some(json!({ "blocking": false })), false);
}

#[test]
fn b3_absent_blocking_on_0_3_rest_without_configuration_blocks() {
    check_waits(JsonForm::V0_3Rest, None, true);
    check_waits(JsonForm::V0_3Rest, Some(json!(null)), true);
}

#[test]
fn b3_absent_blocking_on_0_3_rest_with_a_configuration_does_not_block() {
    check_waits(JsonForm::V0_3Rest, Some(json!({})), false);
    check_waits(JsonForm::V0_3Rest, Some(json!({ "blocking": false })), false);
    check_waits(JsonForm::V0_3Rest, Some(json!({ "blocking": true })), true);
}

#[test]
fn history_length_zero_is_nothing_except_on_0_3_rest_where_it_is_everything() {
    for (json_form, zero) in
        [(JsonForm::V1_0, Some(0)), (JsonForm::V0_3Rpc, Some(0)), (JsonForm::V0_3Rest, None)]
    {
        let length =
            |value: Value| configured(json_form, Some(json!({ "historyLength": value }))).history_length;
        assert_eq!(length(json!(0)), zero, "{json_form:?}");
        assert_eq!(length(json!(2)), Some(2));
        assert_eq!(length(json!(2.0)), Some(2));
        assert_eq!(length(json!(null)), None);
    }
    let get = rest("GET", "/v1/tasks/t-1?historyLength=0", None).operation;
    assert_eq!(get, Operation::Get(GetTask { task: TaskId::from("t-1"), history_length: None, at: None }));
}

#[test]
fn m1_only_a_flagged_lone_value_is_unwrapped() {
    let read = |part: Value| {
        let message = json!({ "messageId": "m-1", "role": "user", "parts": [part] });
        let params = Some(json!({ "message": message }));
        send(decode(JsonForm::V0_3Rpc, OperationKind::Send, params).unwrap()).message.parts.remove(0)
    };
    let unflagged = read(json!({ "kind": "data", "data": { "value": 1 }, "metadata": { "a": 1 } }));
    assert_eq!(unflagged.content, PartContent::Data(json!({ "value": 1 })));
    assert_eq!(unflagged.metadata, Some(object(json!({ "a": 1 }))));

    let flag = json!({ "data_part_compat": true, "a": 1 });
    let flagged = read(json!({ "kind": "data", "data": { "value": 1 }, "metadata": flag }));
    assert_eq!(flagged.content, PartContent::Data(json!(1)));
    assert_eq!(flagged.metadata, Some(object(json!({ "a": 1 }))));

    let more = read(json!({ "kind": "data", "data": { "value": 1, "b": 2 }, "metadata": flag }));
    assert_eq!(more.content, PartContent::Data(json!({ "value": 1, "b": 2 })));
    let other = read(json!({ "kind": "data", "data": { "b": 2 }, "metadata": flag }));
    assert_eq!(other.content, PartContent::Data(json!({ "b": 2 })));
    assert_eq!(other.metadata, Some(object(flag)));
}

#[test]
fn every_method_has_its_version_and_operation() {
    let methods = [
        (OperationKind::Send, "message/send", "SendMessage"),
        (OperationKind::Stream, "message/stream", "SendStreamingMessage"),
        (OperationKind::Get, "tasks/get", "GetTask"),
        (OperationKind::Cancel, "tasks/cancel", "CancelTask"),
        (OperationKind::Subscribe, "tasks/resubscribe", "SubscribeToTask"),
        (OperationKind::PushCreate, "tasks/pushNotificationConfig/set", "CreateTaskPushNotificationConfig"),
        (OperationKind::PushGet, "tasks/pushNotificationConfig/get", "GetTaskPushNotificationConfig"),
        (OperationKind::PushList, "tasks/pushNotificationConfig/list", "ListTaskPushNotificationConfigs"),
        (
            OperationKind::PushDelete,
            "tasks/pushNotificationConfig/delete",
            "DeleteTaskPushNotificationConfig",
        ),
        (OperationKind::ExtendedCard, "agent/getAuthenticatedExtendedCard", "GetExtendedAgentCard"),
    ];
    for (kind, v0_3, v1_0) in methods {
        assert_eq!(jsonrpc::method(v0_3), Some((Version::V0_3, kind)));
        assert_eq!(jsonrpc::method(v1_0), Some((Version::V1_0, kind)));
    }
    assert_eq!(jsonrpc::method("ListTasks"), Some((Version::V1_0, OperationKind::List)));
    for unknown in ["tasks/list", "", "sendMessage", "SendMessage "] {
        assert_eq!(jsonrpc::method(unknown), None, "{unknown}");
    }
}

#[test]
fn a_task_beside_the_message_counts_where_the_interface_says_so() {
    let named = |json_form, message_task, inside: Option<&str>| {
        let parts = json!([{"kind": "text", "text": "hello"}]);
        let mut message = json!({"role": "user", "parts": parts, "messageId": "m1", "contextId": "c1"});
        if json_form == JsonForm::V1_0 {
            message = json!({"role": "ROLE_USER", "parts": [{"text": "hello"}], "messageId": "m1"});
        }
        message["taskId"] = json!(inside);
        let options = DecodeOptions { message_task, ..DecodeOptions::default() };
        let params = json!({"taskId": "beside", "message": message});
        let decoded = decode_with(json_form, OperationKind::Send, Some(params), options).unwrap();
        send(decoded).message.task
    };
    use MessageTask::{AlsoInParams, InMessage};
    assert_eq!(named(JsonForm::V0_3Rpc, AlsoInParams, None), Some(TaskId::from("beside")));
    assert_eq!(named(JsonForm::V0_3Rpc, AlsoInParams, Some("inside")), Some(TaskId::from("inside")));
    assert_eq!(named(JsonForm::V0_3Rpc, InMessage, None), None);
    assert_eq!(named(JsonForm::V1_0, AlsoInParams, None), None);
}
