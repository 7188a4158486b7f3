//! Push configurations: what each JSON form calls them, in and out.

use attache_domain::{
    Fault, ListPushConfigs, Operation, OperationKind, PushConfigOperation, PushConfigPage, PushStatus,
    StoredPushConfig, TaskId,
};
use attache_wire::{JsonForm, decode, encode, rest};
use serde_json::{Value, json};

use crate::fixture::push_request;

fn flat(schemes: &Value) -> Value {
    let mut config = json!({
        "id": "hook-1",
        "url": "https://hooks.example.com/a2a",
        "token": "hook-token",
        "authentication": { "credentials": "hook-secret" },
    });
    let name = if schemes.is_array() { "schemes" } else { "scheme" };
    config["authentication"][name] = schemes.clone();
    config
}

fn nested(id: bool) -> Value {
    let mut config = flat(&json!(["Bearer"]));
    if !id {
        config.as_object_mut().unwrap().remove("id");
    }
    config
}

fn call(json_form: JsonForm, kind: OperationKind, params: Value) -> PushConfigOperation {
    match decode(json_form, kind, Some(params)).unwrap().operation {
        Operation::PushConfig(call) => call,
        other => panic!("{other:?}"),
    }
}

fn over_rest(method: &str, path: &str, body: Option<Value>) -> PushConfigOperation {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let route = rest::route(method, path).unwrap();
    match rest::decode(&route, query, body).unwrap().operation {
        Operation::PushConfig(call) => call,
        other => panic!("{other:?}"),
    }
}

fn create(json_form: JsonForm) -> PushConfigOperation {
    PushConfigOperation::Create { task: "t-1".into(), request: push_request(json_form) }
}

#[test]
fn a_configuration_is_set_in_each_json_form() {
    let mut v1_0 = flat(&json!("Bearer"));
    v1_0["taskId"] = "t-1".into();
    assert_eq!(call(JsonForm::V1_0, OperationKind::PushCreate, v1_0.clone()), create(JsonForm::V1_0));
    v1_0["taskId"] = "another, but the path wins".into();
    assert_eq!(over_rest("POST", "/tasks/t-1/pushNotificationConfigs", Some(v1_0)), create(JsonForm::V1_0));

    let v0_3 = json!({ "taskId": "t-1", "pushNotificationConfig": nested(true) });
    assert_eq!(call(JsonForm::V0_3Rpc, OperationKind::PushCreate, v0_3), create(JsonForm::V0_3Rpc));
}

#[test]
fn a_resource_is_taken_in_every_form_that_clients_of_0_3_send() {
    let name = "tasks/t-1/pushNotificationConfigs/hook-1";
    for body in [
        json!({ "parent": "tasks/t-1", "configId": "hook-1",
                "config": { "pushNotificationConfig": nested(false) } }),
        json!({ "parent": "tasks/t-1", "config_id": "hook-1",
                "config": { "name": name, "push_notification_config": nested(false) } }),
        json!({ "name": name, "pushNotificationConfig": nested(false) }),
        json!({ "taskId": "t-1", "pushNotificationConfig": nested(true) }),
    ] {
        let read = over_rest("POST", "/v1/tasks/t-1/pushNotificationConfigs", Some(body.clone()));
        assert_eq!(read, create(JsonForm::V0_3Rest), "{body}");
    }
}

#[test]
fn an_id_is_the_task_in_0_3_and_the_configuration_in_1_0() {
    let get = |config: Option<&str>| PushConfigOperation::Get {
        task: "t-1".into(),
        config: config.map(Into::into),
    };
    let old = json!({ "id": "t-1", "pushNotificationConfigId": "hook-1" });
    let new = json!({ "taskId": "t-1", "id": "hook-1" });
    assert_eq!(call(JsonForm::V0_3Rpc, OperationKind::PushGet, old.clone()), get(Some("hook-1")));
    assert_eq!(call(JsonForm::V0_3Rpc, OperationKind::PushGet, json!({ "id": "t-1" })), get(None));
    assert_eq!(call(JsonForm::V1_0, OperationKind::PushGet, new.clone()), get(Some("hook-1")));
    let delete = PushConfigOperation::Delete { task: "t-1".into(), config: "hook-1".into() };
    assert_eq!(call(JsonForm::V0_3Rpc, OperationKind::PushDelete, old), delete);
    assert_eq!(call(JsonForm::V1_0, OperationKind::PushDelete, new), delete);
    for base in ["", "/v1"] {
        let path = format!("{base}/tasks/t-1/pushNotificationConfigs/hook-1");
        assert_eq!(over_rest("GET", &path, None), get(Some("hook-1")));
        assert_eq!(over_rest("DELETE", &path, None), delete);
    }
}

#[test]
fn configurations_are_listed_with_or_without_pages() {
    let list = |page_size, token: &str| {
        let page_token = token.to_owned();
        PushConfigOperation::List(ListPushConfigs { task: "t-1".into(), page_size, page_token })
    };
    assert_eq!(call(JsonForm::V0_3Rpc, OperationKind::PushList, json!({ "id": "t-1" })), list(None, ""));
    let paged = json!({ "taskId": "t-1", "pageSize": 2, "pageToken": "p" });
    assert_eq!(call(JsonForm::V1_0, OperationKind::PushList, paged), list(Some(2), "p"));
    let path = "/tasks/t-1/pushNotificationConfigs?pageSize=2&pageToken=p";
    assert_eq!(over_rest("GET", path, None), list(Some(2), "p"));
    assert_eq!(over_rest("GET", "/v1/tasks/t-1/pushNotificationConfigs", None), list(None, ""));
}

#[test]
fn what_is_missing_is_named_as_the_dialect_names_it() {
    let refused = |json_form, kind, params| match decode(json_form, kind, Some(params)) {
        Err(Fault::InvalidParams { violations }) => {
            violations.into_iter().map(|it| it.field).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    for (json_form, kind, params, fields) in [
        (JsonForm::V1_0, OperationKind::PushCreate, json!({}), vec!["taskId", "url"]),
        (JsonForm::V0_3Rpc, OperationKind::PushCreate, json!({}), vec!["taskId", "pushNotificationConfig"]),
        (
            JsonForm::V0_3Rpc,
            OperationKind::PushCreate,
            json!({ "taskId": "t", "pushNotificationConfig": {} }),
            vec!["pushNotificationConfig.url"],
        ),
        (
            JsonForm::V1_0,
            OperationKind::PushCreate,
            json!({ "taskId": "t", "url": "https://x", "authentication": {} }),
            vec!["authentication.scheme"],
        ),
        (JsonForm::V1_0, OperationKind::PushGet, json!({ "taskId": "t" }), vec!["id"]),
        (
            JsonForm::V0_3Rpc,
            OperationKind::PushDelete,
            json!({ "id": "t" }),
            vec!["pushNotificationConfigId"],
        ),
        (JsonForm::V1_0, OperationKind::PushList, json!({ "taskId": "t", "pageSize": -1 }), vec!["pageSize"]),
    ] {
        assert_eq!(refused(json_form, kind, params), fields);
    }
}

#[test]
fn b7_a_send_may_carry_a_configuration() {
    for (json_form, name) in [
        (JsonForm::V1_0, "taskPushNotificationConfig"),
        (JsonForm::V0_3Rpc, "pushNotificationConfig"),
        (JsonForm::V0_3Rest, "pushNotification"),
        (JsonForm::V0_3Rest, "pushNotificationConfig"),
    ] {
        let schemes = if json_form == JsonForm::V1_0 { json!("Bearer") } else { json!(["Bearer"]) };
        let read = |config: Value| {
            let content = if json_form == JsonForm::V0_3Rest { "content" } else { "parts" };
            let part = if json_form == JsonForm::V0_3Rpc {
                json!({ "kind": "text", "text": "x" })
            } else {
                json!({ "text": "x" })
            };
            let role = if json_form == JsonForm::V0_3Rpc { "user" } else { "ROLE_USER" };
            let message = json!({ "messageId": "m", "role": role, content: [part] });
            let params = json!({ "message": message, "configuration": { name: config } });
            match decode(json_form, OperationKind::Send, Some(params)).unwrap().operation {
                Operation::Send(send) => send.configuration.push,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(read(flat(&schemes)).as_deref(), Some(&push_request(json_form)), "{json_form:?}");
        assert_eq!(read(Value::Null), None);
    }
}

#[test]
fn a_configuration_is_shown_in_each_json_form() {
    for json_form in JsonForm::ALL {
        let kept = StoredPushConfig {
            task: TaskId::from("t-1"),
            config: push_request(json_form).config,
            status: PushStatus::default(),
        };
        let mut out = Vec::new();
        encode::write_push_config(json_form, &kept, &mut out);
        let shown: Value = serde_json::from_slice(&out).unwrap();
        let nested = flat(&json!(["Bearer"]));
        let expected = match json_form {
            JsonForm::V1_0 => {
                let mut expected = flat(&json!("Bearer"));
                expected["taskId"] = "t-1".into();
                expected
            }
            JsonForm::V0_3Rpc => json!({ "taskId": "t-1", "pushNotificationConfig": nested }),
            JsonForm::V0_3Rest => {
                let name = "tasks/t-1/pushNotificationConfigs/hook-1";
                json!({ "name": name, "pushNotificationConfig": nested })
            }
        };
        assert_eq!(shown, expected);

        let page = PushConfigPage { configs: vec![kept], next_page_token: "next".into() };
        let mut out = Vec::new();
        encode::write_push_configs(json_form, &page, &mut out);
        let listed: Value = serde_json::from_slice(&out).unwrap();
        match json_form {
            JsonForm::V0_3Rpc => assert_eq!(listed, json!([expected])),
            _ => assert_eq!(listed, json!({ "configs": [expected], "nextPageToken": "next" })),
        }
    }
}
