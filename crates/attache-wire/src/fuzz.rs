//! Ways in for arbitrary bytes: whatever they are, nothing here may panic.

use attache_domain::{Operation, OperationKind};
use serde_json::Value;

use crate::{Dialect, Version, decode, encode, json, jsonrpc, rest};

const DEPTH: usize = 64;

/// The body of a JSON-RPC request.
pub fn jsonrpc(body: &[u8]) {
    let mut out = Vec::new();
    let envelope = match jsonrpc::parse(body, DEPTH) {
        Ok(envelope) => envelope,
        Err((id, fault)) => return jsonrpc::write_error(Version::V1_0, &id, &fault, &mut out),
    };
    let Some((version, kind)) = jsonrpc::method(&envelope.method) else { return };
    if let Err(fault) = decode(jsonrpc::dialect(version), kind, envelope.params) {
        jsonrpc::write_error(version, &envelope.id, &fault, &mut out);
    }
}

/// A REST request: verb, path and query in the first line, the body after it.
pub fn rest(request: &[u8]) {
    let end = request.iter().position(|byte| *byte == b'\n').unwrap_or(request.len());
    let (line, body) = request.split_at(end);
    let line = String::from_utf8_lossy(line);
    let (verb, target) = line.split_once(' ').unwrap_or(("GET", &line));
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let body = json::parse(body, DEPTH).ok();
    let done = rest::route(verb, path).and_then(|route| rest::decode(&route, query, body));
    if let Err(fault) = done {
        rest::error(rest::version_of_path(path), &fault);
    }
}

/// The parameters of send in every dialect; what can be read is written again in every dialect.
pub fn message(params: &[u8]) {
    let Ok(params) = json::parse(params, DEPTH) else { return };
    for dialect in Dialect::ALL {
        let params: Option<Value> = Some(params.clone());
        let Ok(decoded) = decode(dialect, OperationKind::Send, params) else { continue };
        let Operation::Send(send) = decoded.operation else { continue };
        for dialect in Dialect::ALL {
            encode::write_message_item(dialect, &send.message, &mut Vec::new());
        }
    }
}
