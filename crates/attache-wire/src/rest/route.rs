//! Finds the operation for a verb and a path.

use attache_domain::{Fault, OperationKind};

use crate::{JsonForm, Version, percent};

/// A parsed request line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    pub json_form: JsonForm,
    pub kind: OperationKind,
    pub tenant: Option<String>,
    pub task: Option<String>,
    /// The push configuration in the path.
    pub config: Option<String>,
}

/// Finds the operation for a verb and a path that is still percent-encoded and has no query.
///
/// 0.3 lives under `/v1` and under `/rest/v1`; everything else is 1.0, with or without a tenant before it. HEAD counts
/// as GET.
pub fn route(method: &str, path: &str) -> Result<Route, Fault> {
    let not_found = || Fault::RouteNotFound { path: path.to_owned() };
    let segments: Vec<&str> = path.strip_prefix('/').ok_or_else(not_found)?.split('/').collect();
    let (json_form, tenant, segments) = split_tenant(&segments).ok_or_else(not_found)?;
    let verb = if method == "HEAD" { "GET" } else { method };
    let target = target(json_form, verb, segments).ok_or_else(not_found)?;
    match target.verbs.iter().find(|(allowed, _)| *allowed == verb) {
        Some((_, kind)) => {
            Ok(Route { json_form, kind: *kind, tenant, task: target.task, config: target.config })
        }
        None => Err(Fault::HttpMethodNotAllowed {
            path: path.to_owned(),
            method: method.to_owned(),
            allowed: target.allowed,
        }),
    }
}

/// The version of responses on `path`, even if there is no such route.
pub fn version_of_path(path: &str) -> Version {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_prefix(V0_3_FOLDER).and_then(|rest| rest.strip_prefix('/')).unwrap_or(path);
    match path.split('/').next() {
        Some("v1") => Version::V0_3,
        _ => Version::V1_0,
    }
}

/// Below this, 0.3 has a URL that no other binding claims: a card of 0.3 must not name one URL for two of them. Clients
/// that drop the path of a URL find the same at `/v1`.
const V0_3_FOLDER: &str = "rest";

/// First segments that cannot be tenants: our paths, possible future ones, and the services of gRPC.
const RESERVED: &[&str] = &[
    ".",
    "..",
    "a2a",
    "a2a.v1.A2AService",
    "answers",
    "commands",
    "commands:execute",
    "grpc.health.v1.Health",
    "grpc.reflection.v1.ServerReflection",
    "grpc.reflection.v1alpha.ServerReflection",
    "lf.a2a.v1.A2AService",
    "v1",
    V0_3_FOLDER,
    "message:send",
    "message:stream",
    "tasks",
    "extendedAgentCard",
    ".well-known",
    "health",
    "metrics",
    "openapi.json",
    "listCommands",
    "executeCommand",
    "ws",
    "blobs",
    "rpc",
    "console",
];

/// Whether `name` cannot be a tenant on any binding because paths that begin with it have another meaning.
pub fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name)
}

/// Splits off the JSON form and the tenant of a path.
fn split_tenant<'a, 'p>(segments: &'a [&'p str]) -> Option<(JsonForm, Option<String>, &'a [&'p str])> {
    let (first, rest) = segments.split_first()?;
    let first = percent::decode_segment(first)?;
    if first == "v1" {
        return Some((JsonForm::V0_3Rest, None, rest));
    }
    if first == V0_3_FOLDER && rest.first() == Some(&"v1") {
        return Some((JsonForm::V0_3Rest, None, &rest[1..]));
    }
    if is_reserved(&first) {
        return Some((JsonForm::V1_0, None, segments));
    }
    if first.is_empty() || rest.is_empty() {
        return None;
    }
    Some((JsonForm::V1_0, Some(first.into_owned()), rest))
}

struct Target {
    verbs: &'static [(&'static str, OperationKind)],
    /// The verbs as a header lists them.
    allowed: &'static str,
    task: Option<String>,
    config: Option<String>,
}

impl Target {
    fn new(verbs: &'static [(&'static str, OperationKind)], allowed: &'static str) -> Self {
        Self { verbs, allowed, task: None, config: None }
    }
}

fn target(json_form: JsonForm, verb: &str, segments: &[&str]) -> Option<Target> {
    let decoded: Vec<_> =
        segments.iter().map(|segment| percent::decode_segment(segment)).collect::<Option<_>>()?;
    let names: Vec<&str> = decoded.iter().map(|segment| &**segment).collect();
    if names.iter().any(|name| name.is_empty()) {
        return None;
    }
    Some(match (json_form, names.as_slice()) {
        (_, ["message:send"]) => Target::new(&[("POST", OperationKind::Send)], "POST"),
        (_, ["message:stream"]) => Target::new(&[("POST", OperationKind::Stream)], "POST"),
        (JsonForm::V1_0, ["extendedAgentCard"]) | (JsonForm::V0_3Rest, ["card"]) => {
            Target::new(&[("GET", OperationKind::ExtendedCard)], "GET")
        }
        (_, ["commands"]) => Target::new(&[("GET", OperationKind::Commands)], "GET"),
        (_, ["commands:execute"]) => Target::new(&[("POST", OperationKind::Execute)], "POST"),
        (JsonForm::V1_0, ["tasks"]) => Target::new(&[("GET", OperationKind::List)], "GET"),
        (_, ["tasks", _]) => task_target(verb, segments[1])?,
        (_, ["tasks", task, "pushNotificationConfigs"]) => Target {
            task: Some((*task).to_owned()),
            ..Target::new(
                &[("POST", OperationKind::PushCreate), ("GET", OperationKind::PushList)],
                "GET, POST",
            )
        },
        (_, ["tasks", task, "pushNotificationConfigs", config]) => Target {
            task: Some((*task).to_owned()),
            config: Some((*config).to_owned()),
            ..Target::new(
                &[("GET", OperationKind::PushGet), ("DELETE", OperationKind::PushDelete)],
                "GET, DELETE",
            )
        },
        _ => return None,
    })
}

/// `{id}`, `{id}:cancel` or `{id}:subscribe`. Splits at the colon before decoding, so an id may hold an encoded one.
fn task_target(verb: &str, segment: &str) -> Option<Target> {
    let (id, target) = match segment.rsplit_once(':') {
        Some((id, "cancel")) => (id, Target::new(&[("POST", OperationKind::Cancel)], "POST")),
        Some((id, "subscribe")) => (
            id,
            Target::new(
                &[("GET", OperationKind::Subscribe), ("POST", OperationKind::Subscribe)],
                "GET, POST",
            ),
        ),
        // A colon in an id is unusual but legal; only a GET can mean that.
        Some(_) if verb != "GET" => return None,
        _ => (segment, Target::new(&[("GET", OperationKind::Get)], "GET")),
    };
    let id = percent::decode_segment(id)?;
    (!id.is_empty()).then(|| Target { task: Some(id.into_owned()), ..target })
}
