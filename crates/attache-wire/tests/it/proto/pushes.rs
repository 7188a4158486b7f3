//! Push configurations, in and out.

use attache_domain::{
    ListPushConfigs, Operation, OperationKind, PushConfigOperation, PushConfigPage, PushStatus,
    StoredPushConfig,
};
use attache_wire::{JsonForm, Version, proto};
use serde_json::{Value, json};

use super::transcoded::{check, read};
use crate::fixture::push_request;

fn call(version: Version, kind: OperationKind, message: &str, json: Value) -> PushConfigOperation {
    match read(version, kind, message, &json).unwrap().operation {
        Operation::PushConfig(call) => call,
        other => panic!("{other:?}"),
    }
}

fn flat() -> Value {
    json!({
        "taskId": "t-1",
        "id": "hook-1",
        "url": "https://hooks.example.com/a2a",
        "token": "hook-token",
        "authentication": { "scheme": "Bearer", "credentials": "hook-secret" },
    })
}

fn resource() -> Value {
    json!({
        "name": "tasks/t-1/pushNotificationConfigs/hook-1",
        "pushNotificationConfig": {
            "id": "hook-1",
            "url": "https://hooks.example.com/a2a",
            "token": "hook-token",
            "authentication": { "schemes": ["Bearer"], "credentials": "hook-secret" },
        },
    })
}

#[test]
fn a_configuration_is_set_in_the_form_of_each_version() {
    let read = call(Version::V1_0, OperationKind::PushCreate, "TaskPushNotificationConfig", flat());
    assert_eq!(
        read,
        PushConfigOperation::Create { task: "t-1".into(), request: push_request(JsonForm::V1_0) }
    );

    let message = "CreateTaskPushNotificationConfigRequest";
    let expected =
        PushConfigOperation::Create { task: "t-1".into(), request: push_request(JsonForm::V0_3Rest) };
    for (parent, config_id) in
        [("tasks/t-1", "hook-1"), ("tasks/t-1", ""), ("tasks/t-1/pushNotificationConfigs", "")]
    {
        let request = json!({ "parent": parent, "configId": config_id, "config": resource() });
        assert_eq!(call(Version::V0_3, OperationKind::PushCreate, message, request), expected);
    }
    let request = json!({ "parent": "tasks/t-1", "configId": "another", "config": resource() });
    let PushConfigOperation::Create { request, .. } =
        call(Version::V0_3, OperationKind::PushCreate, message, request)
    else {
        panic!("not a creation");
    };
    assert_eq!(request.config.id.as_str(), "another", "the call's own id comes first");
}

#[test]
fn configurations_are_named_as_each_version_does() {
    let pair = json!({ "taskId": "t-1", "id": "hook-1" });
    let name = json!({ "name": "tasks/t-1/pushNotificationConfigs/hook-1" });
    let get = PushConfigOperation::Get { task: "t-1".into(), config: Some("hook-1".into()) };
    let message = "GetTaskPushNotificationConfigRequest";
    assert_eq!(call(Version::V1_0, OperationKind::PushGet, message, pair.clone()), get);
    assert_eq!(call(Version::V0_3, OperationKind::PushGet, message, name.clone()), get);
    let the_only_one = PushConfigOperation::Get { task: "t-1".into(), config: None };
    assert_eq!(
        call(Version::V0_3, OperationKind::PushGet, message, json!({ "name": "tasks/t-1" })),
        the_only_one
    );

    let delete = PushConfigOperation::Delete { task: "t-1".into(), config: "hook-1".into() };
    let message = "DeleteTaskPushNotificationConfigRequest";
    assert_eq!(call(Version::V1_0, OperationKind::PushDelete, message, pair), delete);
    assert_eq!(call(Version::V0_3, OperationKind::PushDelete, message, name), delete);
}

#[test]
fn a_page_of_configurations_is_asked_for() {
    let list = |page_size, page_token: &str| {
        let page_token = page_token.to_owned();
        PushConfigOperation::List(ListPushConfigs { task: "t-1".into(), page_size, page_token })
    };
    let request = json!({ "taskId": "t-1", "pageSize": 3, "pageToken": "next" });
    let message = "ListTaskPushNotificationConfigsRequest";
    assert_eq!(call(Version::V1_0, OperationKind::PushList, message, request), list(Some(3), "next"));
    let request = json!({ "parent": "tasks/t-1" });
    let message = "ListTaskPushNotificationConfigRequest";
    assert_eq!(call(Version::V0_3, OperationKind::PushList, message, request), list(None, ""));
}

#[test]
fn configurations_are_written_in_the_form_of_each_version() {
    for (version, json_form, expected) in
        [(Version::V1_0, JsonForm::V1_0, flat()), (Version::V0_3, JsonForm::V0_3Rest, resource())]
    {
        let config = push_request(json_form).config;
        let kept = StoredPushConfig { task: "t-1".into(), config, status: PushStatus::default() };
        let mut out = Vec::new();
        proto::write_push_config(version, &kept, &mut out);
        check(version, "TaskPushNotificationConfig", &out, &expected);

        let page = PushConfigPage { configs: vec![kept], next_page_token: "next".into() };
        let mut out = Vec::new();
        proto::write_push_configs(version, &page, &mut out);
        let message = match version {
            Version::V0_3 => "ListTaskPushNotificationConfigResponse",
            Version::V1_0 => "ListTaskPushNotificationConfigsResponse",
        };
        check(version, message, &out, &json!({ "configs": [expected], "nextPageToken": "next" }));
    }
}
