//! Operations to HTTP requests.

use std::borrow::Cow;

use attache_domain::{
    DEFAULT_PAGE_SIZE, ListTasks, Metadata, Operation, OperationKind, SendConfiguration, SendMessage, TaskId,
};

use super::{JsonBinding, Protocol, UnsupportedOperation};
use crate::encode::text::{write_integer, write_object, write_text, write_texts, write_time};
use crate::encode::{message, push};
use crate::enum_names::state_name;
use crate::{Dialect, Version, jsonrpc, percent};

/// An HTTP request without its host and headers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedRequest {
    pub verb: Verb,
    /// Percent-encoded, relative to the URL of the interface; empty for JSON-RPC.
    pub path: String,
    pub query: String,
    /// JSON.
    pub body: Option<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Get,
    Post,
}

pub(super) fn encode(
    protocol: Protocol,
    tenant: Option<&str>,
    operation: &Operation,
) -> Result<EncodedRequest, UnsupportedOperation> {
    let request = Request::new(protocol.dialect(), operation)
        .map_err(|operation| UnsupportedOperation { version: protocol.version, operation })?;
    match protocol.binding {
        JsonBinding::JsonRpc => request.json_rpc(protocol.version, tenant),
        JsonBinding::HttpJson => Ok(request.rest(protocol.version, tenant)),
    }
}

/// An operation in the words of one dialect.
struct Request<'a> {
    kind: OperationKind,
    task: Option<&'a TaskId>,
    params: Vec<(&'static str, Param<'a>)>,
}

enum Param<'a> {
    Text(Cow<'a, str>),
    Integer(usize),
    Flag(bool),
    Json(Vec<u8>),
}

impl<'a> Request<'a> {
    fn new(dialect: Dialect, operation: &'a Operation) -> Result<Self, OperationKind> {
        let (kind, task, params) = match operation {
            Operation::Send(send) => (OperationKind::Send, None, send_params(dialect, send)),
            Operation::Stream(send) => (OperationKind::Stream, None, send_params(dialect, send)),
            Operation::Get(get) => {
                let length = get.history_length.map(|length| ("historyLength", Param::Integer(length)));
                (OperationKind::Get, Some(&get.task), length.into_iter().collect())
            }
            Operation::List(list) if dialect == Dialect::V1_0 => {
                (OperationKind::List, None, list_params(list))
            }
            Operation::Cancel(cancel) => {
                (OperationKind::Cancel, Some(&cancel.task), metadata_param(cancel.metadata.as_ref()))
            }
            Operation::Subscribe(subscribe) => (OperationKind::Subscribe, Some(&subscribe.task), Vec::new()),
            Operation::List(_) => return Err(OperationKind::List),
            Operation::PushConfig(_) => return Err(OperationKind::PushCreate),
            Operation::ExtendedCard => return Err(OperationKind::ExtendedCard),
            Operation::Commands(_) => return Err(OperationKind::Commands),
            Operation::Execute(_) => return Err(OperationKind::Execute),
        };
        Ok(Self { kind, task, params })
    }

    fn json_rpc(
        mut self,
        version: Version,
        tenant: Option<&'a str>,
    ) -> Result<EncodedRequest, UnsupportedOperation> {
        let unsupported = UnsupportedOperation { version, operation: self.kind };
        let method = jsonrpc::method_name(version, self.kind).ok_or(unsupported)?;
        if let Some(task) = self.task {
            self.params.push(("id", Param::Text(task.as_str().into())));
        }
        if let (Some(tenant), Version::V1_0) = (tenant, version) {
            self.params.push(("tenant", Param::Text(tenant.into())));
        }
        let mut body = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":".to_vec();
        write_text(method, &mut body);
        body.extend_from_slice(b",\"params\":");
        write_params(&self.params, &mut body);
        body.push(b'}');
        Ok(EncodedRequest { verb: Verb::Post, path: String::new(), query: String::new(), body: Some(body) })
    }

    fn rest(self, version: Version, tenant: Option<&str>) -> EncodedRequest {
        let prefix = match (version, tenant) {
            (Version::V0_3, _) => "v1/".to_owned(),
            (Version::V1_0, Some(tenant)) => format!("{}/", percent::encode(tenant)),
            (Version::V1_0, None) => String::new(),
        };
        let task = self.task.map(|task| percent::encode(task.as_str()).to_string()).unwrap_or_default();
        let path = match self.kind {
            OperationKind::Send => "message:send".to_owned(),
            OperationKind::Stream => "message:stream".to_owned(),
            OperationKind::Get => format!("tasks/{task}"),
            OperationKind::Cancel => format!("tasks/{task}:cancel"),
            OperationKind::Subscribe => format!("tasks/{task}:subscribe"),
            _ => "tasks".to_owned(),
        };
        let path = format!("{prefix}{path}");
        if matches!(self.kind, OperationKind::Get | OperationKind::List) {
            return EncodedRequest { verb: Verb::Get, path, query: query(&self.params), body: None };
        }
        let mut body = Vec::new();
        write_params(&self.params, &mut body);
        EncodedRequest { verb: Verb::Post, path, query: String::new(), body: Some(body) }
    }
}

fn send_params<'a>(dialect: Dialect, send: &SendMessage) -> Vec<(&'static str, Param<'a>)> {
    let mut encoded = Vec::new();
    message::write(dialect, &send.message, &mut encoded);
    let mut params = vec![("message", Param::Json(encoded))];
    if send.configuration != SendConfiguration::default() || dialect != Dialect::V1_0 {
        let mut encoded = Vec::new();
        write_params(&configuration_params(dialect, &send.configuration), &mut encoded);
        params.push(("configuration", Param::Json(encoded)));
    }
    params.extend(metadata_param(send.metadata.as_ref()));
    params
}

fn configuration_params(
    dialect: Dialect,
    configuration: &SendConfiguration,
) -> Vec<(&'static str, Param<'static>)> {
    let mut params = Vec::new();
    if !configuration.accepted_output_modes.is_empty() {
        let mut modes = Vec::new();
        write_texts(b"", &configuration.accepted_output_modes, &mut modes);
        params.push(("acceptedOutputModes", Param::Json(modes)));
    }
    if let Some(length) = configuration.history_length {
        params.push(("historyLength", Param::Integer(length)));
    }
    match dialect {
        Dialect::V1_0 if !configuration.return_immediately => {}
        Dialect::V1_0 => params.push(("returnImmediately", Param::Flag(true))),
        Dialect::V0_3Rpc | Dialect::V0_3Rest => {
            params.push(("blocking", Param::Flag(!configuration.return_immediately)));
        }
    }
    if let Some(requested) = &configuration.push {
        let name = match dialect {
            Dialect::V1_0 => "taskPushNotificationConfig",
            Dialect::V0_3Rpc => "pushNotificationConfig",
            Dialect::V0_3Rest => "pushNotification",
        };
        let mut config = b"{".to_vec();
        push::write_members(dialect.version(), &requested.config, &mut config);
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
        params.push(("status", Param::Text(state_name(Dialect::V1_0, state).into())));
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
