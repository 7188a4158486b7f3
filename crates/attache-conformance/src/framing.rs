//! Operations as requests: the method and its parameters on JSON-RPC, verb and path on HTTP+JSON.

use std::sync::atomic::{AtomicU64, Ordering};

use http::Method;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use crate::check::{CheckResult, not_applicable};
use crate::http::HttpRequest;
use crate::json_form;
use crate::pair::Pair;
use crate::protocol::{PushConfig, Version};
use crate::request::Operation;

static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// A JSON-RPC request and its id.
pub(crate) fn json_rpc(pair: &Pair, operation: &Operation) -> CheckResult<(HttpRequest, Value)> {
    let id = json!(format!("conformance-{}", NEXT_ID.fetch_add(1, Ordering::Relaxed)));
    let (method, params) = call(pair, operation)?;
    let mut body = json!({"jsonrpc": "2.0", "id": id, "method": method});
    if !params.is_null() {
        body["params"] = params;
    }
    let mut request = HttpRequest::new(Method::POST, url(pair, "")).body(body.to_string());
    if operation.streams() {
        request = request.header("accept", "text/event-stream");
    }
    Ok((apply_options(pair, request), id))
}

/// The name of the method and its parameters.
pub(crate) fn call(pair: &Pair, operation: &Operation) -> CheckResult<(&'static str, Value)> {
    let new = pair.version() == Version::V1_0;
    let (old_name, new_name, mut params) = match operation {
        Operation::Send(params) => ("message/send", "SendMessage", params.clone()),
        Operation::Stream(params) => ("message/stream", "SendStreamingMessage", params.clone()),
        Operation::Get { task, history } => {
            let mut params = json!({"id": task});
            if let Some(history) = history {
                params["historyLength"] = history.clone();
            }
            ("tasks/get", "GetTask", params)
        }
        Operation::List(members) => {
            if !new {
                return not_applicable("0.3 has no list of tasks");
            }
            let members = members.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
            ("", "ListTasks", Value::Object(members.collect()))
        }
        Operation::Cancel { task } => ("tasks/cancel", "CancelTask", json!({"id": task})),
        Operation::Subscribe { task } => ("tasks/resubscribe", "SubscribeToTask", json!({"id": task})),
        Operation::PushCreate { task, config } => {
            let config = json_form::push_config(pair.json_form(), config);
            let params = if new {
                let mut flat = config;
                flat["taskId"] = task.as_str().into();
                flat
            } else {
                json!({"taskId": task, "pushNotificationConfig": config})
            };
            ("tasks/pushNotificationConfig/set", "CreateTaskPushNotificationConfig", params)
        }
        Operation::PushGet { task, config } => (
            "tasks/pushNotificationConfig/get",
            "GetTaskPushNotificationConfig",
            one_config(new, task, config.as_deref()),
        ),
        Operation::PushList { task } => (
            "tasks/pushNotificationConfig/list",
            "ListTaskPushNotificationConfigs",
            if new { json!({"taskId": task}) } else { json!({"id": task}) },
        ),
        Operation::PushDelete { task, config } => (
            "tasks/pushNotificationConfig/delete",
            "DeleteTaskPushNotificationConfig",
            one_config(new, task, Some(config)),
        ),
        Operation::ExtendedCard => (
            "agent/getAuthenticatedExtendedCard",
            "GetExtendedAgentCard",
            if new { json!({}) } else { Value::Null },
        ),
    };
    if let (Some(tenant), true) = (&pair.interface.tenant, new) {
        params["tenant"] = tenant.as_str().into();
    }
    Ok((if new { new_name } else { old_name }, params))
}

fn one_config(new: bool, task: &str, config: Option<&str>) -> Value {
    let mut params = if new { json!({"taskId": task}) } else { json!({"id": task}) };
    if let Some(config) = config {
        params[if new { "id" } else { "pushNotificationConfigId" }] = config.into();
    }
    params
}

pub(crate) fn rest(pair: &Pair, operation: &Operation) -> CheckResult<HttpRequest> {
    let new = pair.version() == Version::V1_0;
    let at = |task: &str, rest: &str| format!("/tasks/{}{rest}", encoded(task));
    let (method, path, body) = match operation {
        Operation::Send(params) => (Method::POST, "/message:send".to_owned(), Some(params.clone())),
        Operation::Stream(params) => (Method::POST, "/message:stream".to_owned(), Some(params.clone())),
        Operation::Get { task, history: None } => (Method::GET, at(task, ""), None),
        Operation::Get { task, history: Some(history) } => {
            (Method::GET, at(task, &format!("?historyLength={}", query_value(history))), None)
        }
        Operation::List(members) => {
            if !new {
                return not_applicable("0.3 has no list of tasks");
            }
            let pairs: Vec<_> =
                members.iter().map(|(name, value)| format!("{name}={}", query_value(value))).collect();
            let query = if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) };
            (Method::GET, format!("/tasks{query}"), None)
        }
        Operation::Cancel { task } => (Method::POST, at(task, ":cancel"), Some(json!({}))),
        // 1.0, 0.3 and the protobuf file agree on no verb here; other checks try both.
        Operation::Subscribe { task } => (Method::GET, at(task, ":subscribe"), None),
        Operation::PushCreate { task, config } => {
            let body = if new {
                let mut flat = json_form::push_config(pair.json_form(), config);
                flat["taskId"] = task.as_str().into();
                flat
            } else {
                let [wrapped, _] = push_bodies(pair, task, config);
                wrapped
            };
            (Method::POST, at(task, "/pushNotificationConfigs"), Some(body))
        }
        Operation::PushGet { task, config } => {
            let config = config.as_deref().unwrap_or_default();
            (Method::GET, at(task, &format!("/pushNotificationConfigs/{}", encoded(config))), None)
        }
        Operation::PushList { task } => (Method::GET, at(task, "/pushNotificationConfigs"), None),
        Operation::PushDelete { task, config } => {
            (Method::DELETE, at(task, &format!("/pushNotificationConfigs/{}", encoded(config))), None)
        }
        Operation::ExtendedCard => {
            (Method::GET, if new { "/extendedAgentCard" } else { "/card" }.to_owned(), None)
        }
    };
    let mut request = HttpRequest::new(method, rest_url(pair, &path));
    if let Some(body) = body {
        request = request.body(body.to_string());
    }
    if operation.streams() {
        request = request.header("accept", "text/event-stream");
    }
    Ok(apply_options(pair, request))
}

/// The other form of a push configuration in 0.3: the specification allows both.
pub(crate) fn rest_alternative(pair: &Pair, operation: &Operation) -> Option<HttpRequest> {
    let Operation::PushCreate { task, config } = operation else { return None };
    if pair.version() == Version::V1_0 {
        return None;
    }
    let url = rest_url(pair, &format!("/tasks/{}/pushNotificationConfigs", encoded(task)));
    let [_, bare] = push_bodies(pair, task, config);
    Some(apply_options(pair, HttpRequest::new(Method::POST, url).body(bare.to_string())))
}

/// The wrapped and the bare form of a 0.3 push configuration.
pub(crate) fn push_bodies(pair: &Pair, task: &str, config: &PushConfig) -> [Value; 2] {
    let id = config.id.clone().unwrap_or_default();
    let bare = json!({
        "name": format!("tasks/{task}/pushNotificationConfigs/{id}"),
        "pushNotificationConfig": json_form::push_config(pair.json_form(), config),
    });
    [json!({"parent": format!("tasks/{task}"), "configId": id, "config": bare}), bare]
}

/// `path` below the interface's URL, with the prefix of the version and of the tenant.
pub(crate) fn rest_url(pair: &Pair, path: &str) -> String {
    let tenant =
        pair.interface.tenant.as_ref().map(|tenant| format!("/{}", encoded(tenant))).unwrap_or_default();
    match pair.version() {
        Version::V1_0 => url(pair, &format!("{tenant}{path}")),
        Version::V0_3 => url(pair, &format!("/v1{path}")),
    }
}

/// `path` below the interface's URL, with the query of the pair's options.
pub(crate) fn url(pair: &Pair, path: &str) -> String {
    let base = &pair.interface.url;
    let mut url =
        if path.is_empty() { base.clone() } else { format!("{}{path}", base.trim_end_matches('/')) };
    if let Some(query) = &pair.options.query {
        url.push(if url.contains('?') { '&' } else { '?' });
        url.push_str(query);
    }
    url
}

/// Adds the headers of the pair's options that the request lacks.
pub(crate) fn apply_options(pair: &Pair, mut request: HttpRequest) -> HttpRequest {
    let options = &pair.options;
    let mut add = |name: &str, value: &str| {
        if !request.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
            request.headers.push((name.to_owned(), value.to_owned()));
        }
    };
    if let Some(version) = &options.version {
        add("A2A-Version", version);
    }
    if let Some(authorization) = &options.authorization {
        add("Authorization", authorization);
    }
    if request.body.is_some() {
        add("Content-Type", options.content_type.as_deref().unwrap_or("application/json"));
    }
    // Headers of a check replace the default ones.
    request
        .headers
        .retain(|(known, _)| !options.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(known)));
    request.headers.extend(options.headers.iter().cloned());
    request
}

fn query_value(value: &Value) -> String {
    match value {
        Value::String(text) => encoded(text),
        other => encoded(&other.to_string()),
    }
}

/// Percent-encodes everything except characters that any part of a URL can contain.
pub(crate) fn encoded(text: &str) -> String {
    const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    utf8_percent_encode(text, ENCODED).to_string()
}
