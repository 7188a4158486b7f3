//! The JSON-RPC binding: one path for both versions; the method's name gives the version.

use std::pin::pin;
use std::sync::Arc;

use attache_domain::{AnswerLocation, Fault, OperationKind};
use attache_wire::devtool::{Dialect, commands};
use attache_wire::jsonrpc::{self, Envelope, RequestId};
use attache_wire::{
    DecodeOptions, Encoding, MessageTask, PartKinds, Version, decode_with, omits_part_kinds, version,
};
use bytes::Bytes;
use http::request::Parts;
use serde_json::Value;

use crate::app::{App, RequestOrigin};
use crate::framing::{Framing, rpc_fault};
use crate::handler::{self, OperationRequest, SendResponseForm, TaskForm};
use crate::http::Response;
use crate::request_body::RequestBody;
use crate::{body, large_bodies, rest};

/// A second path of this binding. Some clients post here whatever the card says.
pub(crate) const A2A_PATH: &str = "/a2a";

/// An error names this much of an unknown method.
const MAX_NAME_CHARS: usize = 80;

pub(crate) async fn handle(
    app: &Arc<App>,
    head: &Parts,
    body: &mut RequestBody,
    origin: RequestOrigin,
) -> Response {
    let requested =
        version::parse_requested(rest::header(&head.headers, version::HEADER_NAME), head.uri.query());
    // Until the method is known, errors have the version of the header; no header means 0.3.
    let guess = match &requested {
        Ok(Some(version)) => *version,
        Ok(None) => Version::V0_3,
        Err(_) => Version::V1_0,
    };
    let bytes = match body::read(&head.headers, body, &app.options.limits).await {
        Ok(bytes) => bytes,
        Err(fault) => return rpc_fault(guess, &RequestId::Null, &fault),
    };
    let length = bytes.len();
    large_bodies::run(length, pin!(answer(app, head, bytes, origin, requested, guess))).await
}

async fn answer(
    app: &Arc<App>,
    head: &Parts,
    bytes: Bytes,
    origin: RequestOrigin,
    requested: Result<Option<Version>, Fault>,
    guess: Version,
) -> Response {
    let Envelope { id, method, params } = match jsonrpc::parse(&bytes, app.options.limits.json_depth) {
        Ok(envelope) => envelope,
        Err((id, fault)) => return rpc_fault(guess, &id, &fault),
    };
    drop(bytes);
    // The extension's methods have one name in both versions; the header says which.
    let named = jsonrpc::method(&method).or_else(|| {
        let used_version = requested.as_ref().ok().copied().flatten().unwrap_or(Version::V0_3);
        commands::method(&method).map(|kind| (used_version, kind))
    });
    let Some((used_version, kind)) = named else {
        let looks_like = if method.contains('/') { Version::V0_3 } else { Version::V1_0 };
        let version = requested.as_ref().ok().copied().flatten().unwrap_or(looks_like);
        let method = method.chars().take(MAX_NAME_CHARS).collect();
        let fault = requested.err().unwrap_or(Fault::MethodNotFound { method });
        return rpc_fault(version, &id, &fault);
    };
    let json_form = jsonrpc::json_form(used_version);
    let (framing, encoding) = (Framing::JsonRpc { version: used_version, id }, Encoding::Json(json_form));
    let infers_kinds = head.uri.path() == A2A_PATH;
    let is_mixed =
        !infers_kinds && used_version == Version::V0_3 && mixes_versions(origin, kind, params.as_ref());
    let send_response_form = if is_mixed { SendResponseForm::Wrapped } else { SendResponseForm::OfVersion };
    let request = OperationRequest {
        head,
        origin,
        framing,
        encoding,
        kind,
        send_response_form,
        task_form: TaskForm::A2a,
    };
    let checked = requested.and_then(|requested| {
        version::check_rpc(&method, used_version, requested, app.options.strict_version)
    });
    if let Err(fault) = checked {
        return request.refusal(&fault);
    }
    let options = decode_options(app, infers_kinds || is_mixed);
    handler::handle(app, request, || decode_with(json_form, kind, params, options)).await
}

/// Some clients send the method of 0.3 with the parts of 1.0, and read the answer in the envelope of 1.0. The interface for
/// clients that need help accepts that.
fn mixes_versions(origin: RequestOrigin, kind: OperationKind, params: Option<&Value>) -> bool {
    origin.answer_place == AnswerLocation::StatusMessage
        && kind == OperationKind::Send
        && params.is_some_and(omits_part_kinds)
}

fn decode_options(app: &App, infers_kinds: bool) -> DecodeOptions {
    DecodeOptions {
        part_kinds: if infers_kinds { PartKinds::Inferred } else { PartKinds::Required },
        message_task: match app.options.default_dialect {
            Dialect::Gemini => MessageTask::AlsoInParams,
            Dialect::Plain | Dialect::Developer | Dialect::Live | Dialect::RestApi => MessageTask::InMessage,
        },
    }
}
