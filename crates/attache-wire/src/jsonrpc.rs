//! The JSON-RPC envelope of both versions: requests, method names, responses.

use attache_domain::{Fault, OperationKind};
use serde_json::{Map, Value, json};

use crate::decode::decoder::invalid_id_reason;
use crate::devtool::setting_names::name_setting;
use crate::encode::text::{write_integer, write_text, write_value};
use crate::{JsonForm, Version, fault, json};

/// A first request that works with default settings: it asks the agent for help.
pub const EXAMPLE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"hello-1","role":"ROLE_USER","parts":[{"text":"help"}]}}}"#;

/// The id of a request, echoed with its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestId {
    /// No id, or none that could be read.
    Null,
    Number(i64),
    /// An integer above [`i64::MAX`].
    Large(u64),
    Text(String),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Envelope {
    pub id: RequestId,
    pub method: String,
    /// Not decoded yet; `null` counts as absent.
    pub params: Option<Value>,
}

/// Parses one request. A fault comes with the request's id if that could be read.
pub fn parse(body: &[u8], max_depth: usize) -> Result<Envelope, (RequestId, Fault)> {
    let without_id = |fault| (RequestId::Null, fault);
    let mut members = match json::parse(body, max_depth).map_err(without_id)? {
        Value::Object(members) => members,
        Value::Array(_) => return Err(without_id(invalid("batch requests are not supported"))),
        _ => return Err(without_id(invalid("a JSON-RPC request must be an object"))),
    };
    let id = take_id(&mut members).map_err(without_id)?;
    match envelope(members) {
        Ok((method, params)) => Ok(Envelope { id, method, params }),
        Err(fault) => Err((id, fault)),
    }
}

fn take_id(members: &mut Map<String, Value>) -> Result<RequestId, Fault> {
    let found = match members.remove("id") {
        None | Some(Value::Null) => return Ok(RequestId::Null),
        Some(Value::String(text)) => {
            return match invalid_id_reason(&text) {
                None => Ok(RequestId::Text(text)),
                Some(problem) => Err(invalid(format!("id {problem}"))),
            };
        }
        Some(Value::Number(number)) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => return Ok(RequestId::Number(number)),
            (None, Some(number)) => return Ok(RequestId::Large(number)),
            (None, None) => "a number that is no 64-bit integer",
        },
        Some(Value::Bool(_)) => "a boolean",
        Some(Value::Array(_)) => "an array",
        Some(Value::Object(_)) => "an object",
    };
    Err(invalid(format!("id must be a string, an integer or null, not {found}")))
}

fn envelope(mut members: Map<String, Value>) -> Result<(String, Option<Value>), Fault> {
    match members.get("jsonrpc") {
        Some(Value::String(version)) if version == "2.0" => {}
        None => return Err(invalid("jsonrpc is missing; it must be \"2.0\"")),
        Some(_) => return Err(invalid("jsonrpc must be \"2.0\"")),
    }
    let method = match members.remove("method") {
        Some(Value::String(method)) => method,
        None => return Err(invalid("method is missing")),
        Some(_) => return Err(invalid("method must be a string")),
    };
    Ok((method, members.remove("params").filter(|params| !params.is_null())))
}

fn invalid(what: impl Into<String>) -> Fault {
    Fault::InvalidRequest { what: what.into() }
}

/// The version and operation of a method name. 0.3 has no method for listing tasks.
pub fn method(name: &str) -> Option<(Version, OperationKind)> {
    METHODS.iter().find(|(known, ..)| *known == name).map(|(_, version, kind)| (*version, *kind))
}

/// The name of an operation's method, if `version` has one.
pub(crate) fn method_name(version: Version, kind: OperationKind) -> Option<&'static str> {
    METHODS.iter().find(|(_, of, known)| (*of, *known) == (version, kind)).map(|(name, ..)| *name)
}

const METHODS: [(&str, Version, OperationKind); 21] = [
    ("message/send", Version::V0_3, OperationKind::Send),
    ("SendMessage", Version::V1_0, OperationKind::Send),
    ("message/stream", Version::V0_3, OperationKind::Stream),
    ("SendStreamingMessage", Version::V1_0, OperationKind::Stream),
    ("tasks/get", Version::V0_3, OperationKind::Get),
    ("GetTask", Version::V1_0, OperationKind::Get),
    ("ListTasks", Version::V1_0, OperationKind::List),
    ("tasks/cancel", Version::V0_3, OperationKind::Cancel),
    ("CancelTask", Version::V1_0, OperationKind::Cancel),
    ("tasks/resubscribe", Version::V0_3, OperationKind::Subscribe),
    ("SubscribeToTask", Version::V1_0, OperationKind::Subscribe),
    ("tasks/pushNotificationConfig/set", Version::V0_3, OperationKind::PushCreate),
    ("CreateTaskPushNotificationConfig", Version::V1_0, OperationKind::PushCreate),
    ("tasks/pushNotificationConfig/get", Version::V0_3, OperationKind::PushGet),
    ("GetTaskPushNotificationConfig", Version::V1_0, OperationKind::PushGet),
    ("tasks/pushNotificationConfig/list", Version::V0_3, OperationKind::PushList),
    ("ListTaskPushNotificationConfigs", Version::V1_0, OperationKind::PushList),
    ("tasks/pushNotificationConfig/delete", Version::V0_3, OperationKind::PushDelete),
    ("DeleteTaskPushNotificationConfig", Version::V1_0, OperationKind::PushDelete),
    ("agent/getAuthenticatedExtendedCard", Version::V0_3, OperationKind::ExtendedCard),
    ("GetExtendedAgentCard", Version::V1_0, OperationKind::ExtendedCard),
];

/// The JSON form of `version` inside this envelope.
pub fn json_form(version: Version) -> JsonForm {
    match version {
        Version::V0_3 => JsonForm::V0_3Rpc,
        Version::V1_0 => JsonForm::V1_0,
    }
}

/// Writes a response up to its result; the result and [`write_result_close`] follow.
pub fn write_result_open(id: &RequestId, out: &mut Vec<u8>) {
    write_open(id, out);
    out.extend_from_slice(b",\"result\":");
}

pub fn write_result_close(out: &mut Vec<u8>) {
    out.push(b'}');
}

/// Writes a whole error response.
pub fn write_error(version: Version, id: &RequestId, fault: &Fault, out: &mut Vec<u8>) {
    let fault = &*name_setting(fault);
    let data = match version {
        Version::V0_3 => fault::data(fault),
        Version::V1_0 => Some(fault::details(fault)),
    };
    let mut error = json!({ "code": fault::names(fault).code, "message": fault.to_string() });
    if let Some(data) = data {
        error["data"] = data;
    }
    write_open(id, out);
    out.extend_from_slice(b",\"error\":");
    write_value(&error, out);
    out.push(b'}');
}

/// The HTTP status of a response that carries `fault`: 200, unless the fault concerns HTTP itself.
pub fn http_status(fault: &Fault) -> u16 {
    match fault {
        Fault::Unauthenticated
        | Fault::TokenNeeded
        | Fault::BadHead { .. }
        | Fault::Forbidden { .. }
        | Fault::RightMissing { .. }
        | Fault::BodyTooLarge { .. }
        | Fault::StoreFull { .. }
        | Fault::StoreUnavailable { .. }
        | Fault::Unavailable
        | Fault::Overloaded
        | Fault::Busy { .. }
        | Fault::LimitReached { .. } => fault::names(fault).http_status,
        // A2A's table gives 400 for HTTP+JSON only; here it is HTTP's own status.
        Fault::MediaTypeNotAccepted { .. } => 415,
        _ => 200,
    }
}

fn write_open(id: &RequestId, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    match id {
        RequestId::Null => out.extend_from_slice(b"null"),
        RequestId::Number(number) => write_integer(number, out),
        RequestId::Large(number) => write_integer(number, out),
        RequestId::Text(text) => write_text(text, out),
    }
}
