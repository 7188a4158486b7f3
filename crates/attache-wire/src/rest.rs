//! HTTP+JSON: routes, parameters and error bodies.

use attache_domain::{Fault, OperationKind};
use serde_json::{Map, Value, json};

use crate::decode::decoder::{kind_of, to_camel_case};
use crate::devtool::setting_names::name_setting;
use crate::encode::text::write_value;
use crate::{DecodedOperation, JsonForm, Version, fault, percent};

mod route;

pub use route::{Route, is_reserved, route, version_of_path};

/// Decodes the parameters of a routed request. The path overrides the body, and the query fills in what both leave
/// out. Get and list ignore the body.
pub fn decode(route: &Route, query: &str, body: Option<Value>) -> Result<DecodedOperation, Fault> {
    let body = body.filter(|_| !matches!(route.kind, OperationKind::Get | OperationKind::List));
    let mut members = match body {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(members)) => members,
        Some(other) => {
            return Err(Fault::invalid("body", format!("must be an object, not {}", kind_of(&other))));
        }
    };
    for (name, value) in query_members(query)? {
        members.entry(name).or_insert(value);
    }
    for (name, id) in ids_in_path(route) {
        members.insert(name.to_owned(), id.into());
    }
    let mut decoded = crate::decode(route.json_form, route.kind, Some(Value::Object(members)))?;
    if route.tenant.is_some() {
        decoded.tenant.clone_from(&route.tenant);
    }
    Ok(decoded)
}

/// The parameters of a query that count; others may be repeated.
const FILTERS: [&str; 7] = [
    "contextId",
    "status",
    "statusTimestampAfter",
    "pageSize",
    "pageToken",
    "historyLength",
    "includeArtifacts",
];

/// The members in the query. An empty value counts as absent, as in forms. One that cannot be decoded is refused, because
/// without it a filter would let everything through.
fn query_members(query: &str) -> Result<Map<String, Value>, Fault> {
    let mut members = Map::new();
    for (name, text) in percent::query_pairs(query) {
        let name = to_camel_case(&name);
        let Some(text) = text else {
            return Err(Fault::invalid(name, "cannot be decoded: it is not percent-encoded UTF-8"));
        };
        if text.is_empty() {
            continue;
        }
        let value = typed_query_value(&name, text);
        if FILTERS.contains(&name.as_str()) && members.get(&name).is_some_and(|other| *other != value) {
            return Err(Fault::invalid(name, "is given twice, with different values"));
        }
        members.insert(name, value);
    }
    Ok(members)
}

/// The ids in the path, by their parameter names in this JSON form.
fn ids_in_path(route: &Route) -> impl Iterator<Item = (&'static str, &str)> {
    let about_push = matches!(
        route.kind,
        OperationKind::PushCreate
            | OperationKind::PushGet
            | OperationKind::PushList
            | OperationKind::PushDelete
    );
    let (task, config) = match route.json_form {
        JsonForm::V1_0 if about_push => ("taskId", "id"),
        _ => ("id", "pushNotificationConfigId"),
    };
    let ids = [(task, route.task.as_deref()), (config, route.config.as_deref())];
    ids.into_iter().filter_map(|(name, id)| Some((name, id?)))
}

/// A query holds only text. Converts numbers and booleans that look like one; the decoder refuses the others.
fn typed_query_value(name: &str, text: String) -> Value {
    match (name, text.as_str()) {
        ("includeArtifacts", "true") => Value::Bool(true),
        ("includeArtifacts", "false") => Value::Bool(false),
        ("historyLength" | "pageSize", digits) => match digits.parse::<i64>() {
            Ok(number) => number.into(),
            Err(_) => Value::String(text),
        },
        _ => Value::String(text),
    }
}

/// An error response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorReply {
    pub status: u16,
    pub body: Vec<u8>,
}

/// The response to a request that failed with `fault`.
pub fn error(version: Version, fault: &Fault) -> ErrorReply {
    let (status, error) = error_value(version, fault);
    reply(status, &error)
}

pub(crate) fn reply(status: u16, error: &Value) -> ErrorReply {
    let mut body = Vec::new();
    write_value(error, &mut body);
    ErrorReply { status, body }
}

/// The status and the body of an error response.
pub(crate) fn error_value(version: Version, fault: &Fault) -> (u16, Value) {
    let fault = &*name_setting(fault);
    let names = fault::names(fault);
    let error = match version {
        Version::V1_0 => json!({ "error": {
            "code": names.http_status,
            "status": names.status,
            "message": fault.to_string(),
            "details": fault::details(fault),
        } }),
        Version::V0_3 => {
            let mut error = json!({ "type": names.name, "code": names.code, "message": fault.to_string() });
            if let Some(data) = fault::data(fault) {
                error["data"] = data;
            }
            error
        }
    };
    (names.http_status, error)
}

/// The media type of bodies, errors included, but not of streams.
pub fn content_type(version: Version) -> &'static str {
    match version {
        Version::V0_3 => "application/json",
        Version::V1_0 => "application/a2a+json",
    }
}
