//! Operations to HTTP requests.

use std::borrow::Cow;

use attache_domain::{
    Binding, DEFAULT_PAGE_SIZE, ListTasks, Metadata, Operation, OperationKind, PushConfig,
    PushConfigOperation, SendConfiguration, SendMessage, TaskId,
};
use serde_json::Value;

use super::{Protocol, UnsupportedOperation, commands, grpc};
use crate::decode::push::COLLECTION;
use crate::encode::text::{write_integer, write_object, write_text, write_texts, write_time};
use crate::encode::{message, push};
use crate::enum_names::state_name;
use crate::proto::transcode;
use crate::{JsonForm, Version, jsonrpc, percent};

/// An HTTP request without its host and headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedRequest {
    pub verb: Verb,
    /// Percent-encoded, relative to the URL of the interface; empty for JSON-RPC. For gRPC, relative to its host.
    pub path: String,
    pub query: String,
    /// JSON; for gRPC, an encoded message without its frame.
    pub body: Option<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Get,
    Post,
    Delete,
}

pub(super) fn encode(
    protocol: Protocol,
    tenant: Option<&str>,
    operation: &Operation,
) -> Result<EncodedRequest, UnsupportedOperation> {
    let request = Request::new(protocol, operation);
    let unsupported = UnsupportedOperation { version: protocol.version, operation: request.kind };
    let encoded = match protocol.binding {
        _ if protocol.version == Version::V0_3 && request.kind == OperationKind::List => None,
        Binding::JsonRpc => request.json_rpc(protocol.version, tenant),
        Binding::HttpJson => request.rest(protocol.version, tenant),
        Binding::Grpc => request.grpc(protocol.version, tenant),
    };
    encoded.ok_or(unsupported)
}

/// An operation in the words of one JSON form. Where its ids stand depends on the binding.
struct Request<'a> {
    kind: OperationKind,
    task: Option<&'a str>,
    /// The id of a push configuration.
    config: Option<&'a str>,
    params: Vec<(&'static str, Param<'a>)>,
}

enum Param<'a> {
    Text(Cow<'a, str>),
    Integer(usize),
    Flag(bool),
    Json(Vec<u8>),
}

impl<'a> Request<'a> {
    fn new(protocol: Protocol, operation: &'a Operation) -> Self {
        let json_form = protocol.json_form();
        let about = |kind, task: &'a str, params| Self { kind, task: Some(task), config: None, params };
        let bare = |kind, params| Self { kind, task: None, config: None, params };
        match operation {
            Operation::Send(send) => bare(OperationKind::Send, send_params(json_form, send)),
            Operation::Stream(send) => bare(OperationKind::Stream, send_params(json_form, send)),
            Operation::Get(get) => {
                let length = get.history_length.map(|length| ("historyLength", Param::Integer(length)));
                about(OperationKind::Get, get.task.as_str(), length.into_iter().collect())
            }
            Operation::List(list) => bare(OperationKind::List, list_params(list)),
            Operation::Cancel(cancel) => {
                let mut params = metadata_param(cancel.metadata.as_ref());
                // The protobuf of 0.3 has no place for it.
                params.retain(|_| json_form != JsonForm::V0_3Rest || protocol.binding == Binding::HttpJson);
                about(OperationKind::Cancel, cancel.task.as_str(), params)
            }
            Operation::Subscribe(subscribe) => {
                about(OperationKind::Subscribe, subscribe.task.as_str(), Vec::new())
            }
            Operation::PushConfig(operation) => Self::about_push(json_form, operation),
            Operation::ExtendedCard => bare(OperationKind::ExtendedCard, Vec::new()),
            Operation::Commands(list) => {
                bare(OperationKind::Commands, json_params(commands::list_members(list)))
            }
            Operation::Execute(send) => {
                bare(OperationKind::Execute, json_params(commands::execute_members(send)))
            }
        }
    }

    fn about_push(json_form: JsonForm, operation: &'a PushConfigOperation) -> Self {
        match operation {
            PushConfigOperation::Create { task, request } => Self {
                kind: OperationKind::PushCreate,
                task: Some(task.as_str()),
                config: Some(request.config.id.as_str()).filter(|id| !id.is_empty()),
                params: push_params(json_form, task.as_str(), &request.config),
            },
            PushConfigOperation::Get { task, config } => Self {
                kind: OperationKind::PushGet,
                task: Some(task.as_str()),
                config: config.as_ref().map(|id| id.as_str()),
                params: Vec::new(),
            },
            PushConfigOperation::List(list) => {
                let size = list.page_size.map(|size| ("pageSize", Param::Integer(size)));
                let token = Some(list.page_token.as_str()).filter(|token| !token.is_empty());
                let token = token.map(|token| ("pageToken", Param::Text(token.into())));
                let params =
                    size.into_iter().chain(token).filter(|_| json_form != JsonForm::V0_3Rpc).collect();
                Self { kind: OperationKind::PushList, task: Some(list.task.as_str()), config: None, params }
            }
            PushConfigOperation::Delete { task, config } => Self {
                kind: OperationKind::PushDelete,
                task: Some(task.as_str()),
                config: Some(config.as_str()),
                params: Vec::new(),
            },
        }
    }

    fn is_about_push(&self) -> bool {
        matches!(
            self.kind,
            OperationKind::PushCreate
                | OperationKind::PushGet
                | OperationKind::PushList
                | OperationKind::PushDelete
        )
    }

    /// The ids as parameters of JSON-RPC; 1.0 has the same ones in protobuf.
    fn id_params(&self, version: Version) -> Vec<(&'static str, Param<'a>)> {
        let (task, config) = match (version, self.kind) {
            (Version::V0_3, OperationKind::PushCreate) => ("taskId", None),
            (Version::V0_3, _) => ("id", Some("pushNotificationConfigId")),
            // The configuration has its id among its members.
            (Version::V1_0, OperationKind::PushCreate) => ("taskId", None),
            (Version::V1_0, _) if self.is_about_push() => ("taskId", Some("id")),
            (Version::V1_0, _) => ("id", None),
        };
        let task = self.task.map(|id| (task, Param::Text(id.into())));
        let config = config.zip(self.config).map(|(name, id)| (name, Param::Text(id.into())));
        task.into_iter().chain(config).collect()
    }

    fn json_rpc(mut self, version: Version, tenant: Option<&'a str>) -> Option<EncodedRequest> {
        let method = match self.kind {
            OperationKind::Commands => "commands/get",
            OperationKind::Execute => "command/execute",
            kind => jsonrpc::method_name(version, kind)?,
        };
        self.params.extend(self.id_params(version));
        // 0.3 has none, but cards in the form of its protobuf may name one, to be set in requests.
        self.params.extend(tenant.map(|tenant| ("tenant", Param::Text(tenant.into()))));
        let mut body = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":".to_vec();
        write_text(method, &mut body);
        // 0.3 defines no parameters for the card.
        if self.kind != OperationKind::ExtendedCard || !self.params.is_empty() {
            body.extend_from_slice(b",\"params\":");
            write_params(&self.params, &mut body);
        }
        body.push(b'}');
        Some(EncodedRequest { verb: Verb::Post, path: String::new(), query: String::new(), body: Some(body) })
    }

    fn rest(mut self, version: Version, tenant: Option<&'a str>) -> Option<EncodedRequest> {
        let older = tenant.filter(|_| version == Version::V0_3);
        self.params.extend(older.map(|tenant| ("tenant", Param::Text(tenant.into()))));
        let prefix = path_prefix(version, tenant);
        let task = self.task.map(|task| percent::encode(task).to_string()).unwrap_or_default();
        let config = self.config.map(|id| format!("/{}", percent::encode(id))).unwrap_or_default();
        let (verb, path) = match self.kind {
            OperationKind::Send => (Verb::Post, "message:send".to_owned()),
            OperationKind::Stream => (Verb::Post, "message:stream".to_owned()),
            OperationKind::Get => (Verb::Get, format!("tasks/{task}")),
            OperationKind::List => (Verb::Get, "tasks".to_owned()),
            OperationKind::Cancel => (Verb::Post, format!("tasks/{task}:cancel")),
            // The definition says GET, the prose POST; an agent may know only one of them, see `get_subscription`.
            OperationKind::Subscribe => (Verb::Post, format!("tasks/{task}:subscribe")),
            OperationKind::PushCreate => (Verb::Post, format!("tasks/{task}/pushNotificationConfigs")),
            OperationKind::PushGet => (Verb::Get, format!("tasks/{task}/pushNotificationConfigs{config}")),
            OperationKind::PushList => (Verb::Get, format!("tasks/{task}/pushNotificationConfigs")),
            OperationKind::PushDelete => {
                (Verb::Delete, format!("tasks/{task}/pushNotificationConfigs{config}"))
            }
            OperationKind::ExtendedCard if version == Version::V0_3 => (Verb::Get, "card".to_owned()),
            OperationKind::ExtendedCard => (Verb::Get, "extendedAgentCard".to_owned()),
            OperationKind::Commands => (Verb::Get, "commands".to_owned()),
            OperationKind::Execute => (Verb::Post, "commands:execute".to_owned()),
        };
        let path = format!("{prefix}{path}");
        if verb != Verb::Post {
            return Some(EncodedRequest { verb, path, query: query(&self.params), body: None });
        }
        let mut body = Vec::new();
        write_params(&self.params, &mut body);
        Some(EncodedRequest { verb, path, query: String::new(), body: Some(body) })
    }

    fn grpc(mut self, version: Version, tenant: Option<&'a str>) -> Option<EncodedRequest> {
        let (path, name) = grpc::method(version, self.kind)?;
        match version {
            Version::V1_0 => {
                self.params.extend(self.id_params(version));
                let tenant = tenant.map(|tenant| ("tenant", Param::Text(tenant.into())));
                self.params.extend(tenant);
            }
            // 0.3 names resources.
            Version::V0_3 => {
                let task = self.task.map(|task| format!("tasks/{task}"));
                let whole = task.map(|task| match (self.kind, self.config) {
                    (OperationKind::PushCreate, _) | (_, None) => task,
                    (_, Some(config)) => format!("{task}/pushNotificationConfigs/{config}"),
                });
                let name = match self.kind {
                    OperationKind::PushCreate => None,
                    OperationKind::PushList => Some("parent"),
                    _ => Some("name"),
                };
                let resource = name.zip(whole).map(|(name, whole)| (name, Param::Text(whole.into())));
                self.params.extend(resource);
            }
        }
        let mut json = Vec::new();
        write_params(&self.params, &mut json);
        let json = serde_json::from_slice(&json).expect("the writers write JSON");
        let body = transcode::transcode(&name, json).ok()?;
        Some(EncodedRequest { verb: Verb::Post, path, query: String::new(), body: Some(body) })
    }
}

/// A subscription over HTTP+JSON with GET.
pub(super) fn get_subscription(protocol: Protocol, tenant: Option<&str>, task: &TaskId) -> EncodedRequest {
    let params = tenant
        .filter(|_| protocol.version == Version::V0_3)
        .map(|tenant| ("tenant", Param::Text(tenant.into())))
        .into_iter()
        .collect::<Vec<_>>();
    let prefix = path_prefix(protocol.version, tenant);
    let path = format!("{prefix}tasks/{}:subscribe", percent::encode(task.as_str()));
    EncodedRequest { verb: Verb::Get, path, query: query(&params), body: None }
}

/// What the paths of HTTP+JSON begin with.
fn path_prefix(version: Version, tenant: Option<&str>) -> String {
    match (version, tenant) {
        (Version::V0_3, _) => "v1/".to_owned(),
        (Version::V1_0, Some(tenant)) => format!("{}/", percent::encode(tenant)),
        (Version::V1_0, None) => String::new(),
    }
}

fn json_params<'a>(members: Vec<(&'static str, Value)>) -> Vec<(&'static str, Param<'a>)> {
    let param = |value: Value| match value {
        Value::String(text) => Param::Text(text.into()),
        other => Param::Json(other.to_string().into_bytes()),
    };
    members.into_iter().map(|(name, value)| (name, param(value))).collect()
}

/// The members of a request that creates a configuration, besides the task.
fn push_params<'a>(json_form: JsonForm, task: &str, config: &PushConfig) -> Vec<(&'static str, Param<'a>)> {
    let mut members = Vec::new();
    push::write_members(json_form.version(), config, &mut members);
    let object = [b"{", &members[..], b"}"].concat();
    match json_form {
        JsonForm::V1_0 => {
            let flat: Metadata = serde_json::from_slice(&object).expect("the writers write JSON");
            let names = ["id", "url", "token", "authentication"];
            let named = names.into_iter().filter_map(|name| {
                let value = flat.get(name).filter(|value| value.as_str() != Some(""))?;
                Some((name, Param::Json(value.to_string().into_bytes())))
            });
            named.collect()
        }
        JsonForm::V0_3Rpc => vec![("pushNotificationConfig", Param::Json(object))],
        JsonForm::V0_3Rest => {
            vec![
                ("parent", Param::Text(format!("tasks/{task}").into())),
                ("configId", Param::Text(config.id.to_string().into())),
                ("config", Param::Json(write_resource(task, config))),
            ]
        }
    }
}

/// A configuration as 0.3's protobuf names and holds it.
fn write_resource(task: &str, config: &PushConfig) -> Vec<u8> {
    let mut resource = b"{\"name\":".to_vec();
    write_text(&format!("tasks/{task}{COLLECTION}{}", config.id), &mut resource);
    resource.extend_from_slice(b",\"pushNotificationConfig\":{");
    push::write_members(Version::V0_3, config, &mut resource);
    resource.extend_from_slice(b"}}");
    resource
}

pub(super) fn push_resource(task: &TaskId, config: &PushConfig) -> EncodedRequest {
    EncodedRequest {
        verb: Verb::Post,
        path: format!("v1/tasks/{}/pushNotificationConfigs", percent::encode(task.as_str())),
        query: String::new(),
        body: Some(write_resource(task.as_str(), config)),
    }
}

fn send_params<'a>(json_form: JsonForm, send: &SendMessage) -> Vec<(&'static str, Param<'a>)> {
    let mut encoded = Vec::new();
    message::write(json_form, &send.message, &mut encoded);
    let mut params = vec![("message", Param::Json(encoded))];
    if send.configuration != SendConfiguration::default() || json_form != JsonForm::V1_0 {
        let mut encoded = Vec::new();
        write_params(&configuration_params(json_form, &send.configuration), &mut encoded);
        params.push(("configuration", Param::Json(encoded)));
    }
    params.extend(metadata_param(send.metadata.as_ref()));
    params
}

fn configuration_params(
    json_form: JsonForm,
    configuration: &SendConfiguration,
) -> Vec<(&'static str, Param<'static>)> {
    let mut params = Vec::new();
    if !configuration.accepted_output_modes.is_empty() {
        let mut modes = Vec::new();
        write_texts(b"", &configuration.accepted_output_modes, &mut modes);
        params.push(("acceptedOutputModes", Param::Json(modes)));
    } else if json_form == JsonForm::V0_3Rpc {
        // Some agents of 0.3 want it said, though it may be left out.
        params.push(("acceptedOutputModes", Param::Json(b"[]".to_vec())));
    }
    if let Some(length) = configuration.history_length {
        params.push(("historyLength", Param::Integer(length)));
    }
    match json_form {
        JsonForm::V1_0 if !configuration.return_immediately => {}
        JsonForm::V1_0 => params.push(("returnImmediately", Param::Flag(true))),
        JsonForm::V0_3Rpc | JsonForm::V0_3Rest => {
            params.push(("blocking", Param::Flag(!configuration.return_immediately)));
        }
    }
    if let Some(requested) = &configuration.push {
        let name = match json_form {
            JsonForm::V1_0 => "taskPushNotificationConfig",
            JsonForm::V0_3Rpc => "pushNotificationConfig",
            JsonForm::V0_3Rest => "pushNotification",
        };
        let mut config = b"{".to_vec();
        push::write_members(json_form.version(), &requested.config, &mut config);
        config.push(b'}');
        params.push((name, Param::Json(config)));
    }
    params
}

fn list_params(list: &ListTasks) -> Vec<(&'static str, Param<'_>)> {
    let mut params = Vec::new();
    if let Some(context) = &list.context {
        params.push(("contextId", Param::Text(context.as_str().into())));
    }
    if let Some(length) = list.history_length {
        params.push(("historyLength", Param::Integer(length)));
    }
    if list.include_artifacts {
        params.push(("includeArtifacts", Param::Flag(true)));
    }
    if list.page_size != DEFAULT_PAGE_SIZE {
        params.push(("pageSize", Param::Integer(list.page_size)));
    }
    if !list.page_token.is_empty() {
        params.push(("pageToken", Param::Text(list.page_token.as_str().into())));
    }
    if let Some(state) = list.state {
        params.push(("status", Param::Text(state_name(JsonForm::V1_0, state).into())));
    }
    if let Some(since) = list.status_since {
        let mut time = Vec::new();
        write_time(since, &mut time);
        let time = String::from_utf8_lossy(&time).trim_matches('"').to_owned();
        params.push(("statusTimestampAfter", Param::Text(time.into())));
    }
    params
}

fn metadata_param(metadata: Option<&Metadata>) -> Vec<(&'static str, Param<'static>)> {
    let Some(metadata) = metadata else { return Vec::new() };
    let mut encoded = Vec::new();
    write_object(metadata, &mut encoded);
    vec![("metadata", Param::Json(encoded))]
}

fn write_params(params: &[(&'static str, Param<'_>)], out: &mut Vec<u8>) {
    out.push(b'{');
    for (index, (name, param)) in params.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_text(name, out);
        out.push(b':');
        match param {
            Param::Text(text) => write_text(text, out),
            Param::Integer(integer) => write_integer(integer, out),
            Param::Flag(flag) => out.extend_from_slice(flag.to_string().as_bytes()),
            Param::Json(json) => out.extend_from_slice(json),
        }
    }
    out.push(b'}');
}

fn query(params: &[(&'static str, Param<'_>)]) -> String {
    let pairs = params.iter().map(|(name, param)| match param {
        Param::Text(text) => format!("{name}={}", percent::encode(text)),
        Param::Integer(integer) => format!("{name}={integer}"),
        Param::Flag(flag) => format!("{name}={flag}"),
        Param::Json(json) => format!("{name}={}", percent::encode(&String::from_utf8_lossy(json))),
    });
    pairs.collect::<Vec<_>>().join("&")
}
