//! The live endpoint: prompts and answers in, flat events out. `POST /tasks` is in [`gemini_routes`](crate::gemini_routes).

use std::pin::pin;
use std::sync::Arc;

use attache_domain::{Fault, MessageId, Operation, OperationKind, SendMessage, TaskId};
use attache_wire::devtool::{Profile, live_routes};
use attache_wire::jsonrpc::{self, Envelope, RequestId};
use attache_wire::{Dialect, Encoder, Encoding, Version, json, rest};
use http::request::Parts;
use http::{HeaderMap, Method};
use serde_json::Value;
use uuid::Uuid;

use crate::app::{App, RequestOrigin, verb_not_allowed};
use crate::extension_selection::ExtensionSelection;
use crate::framing::{BindingName, Framing, json as answer, with_retry_after};
use crate::http::Response;
use crate::operations::{open_call, shape};
use crate::request_body::RequestBody;
use crate::task_stream::{StreamOpening, StreamStart};
use crate::{body, large_bodies, live_socket};

/// An error names this much of an unknown method.
const MAX_NAME_CHARS: usize = 80;

/// One of these routes.
pub(crate) enum LiveRoute {
    /// A message to the task, and what happens until its prompt is settled.
    Stream(TaskId),
    /// The WebSocket.
    Socket,
}

/// The route of the path; none while the live endpoint is off.
pub(crate) fn find(app: &App, head: &Parts) -> Option<LiveRoute> {
    if !app.options.live {
        return None;
    }
    if head.uri.path() == "/ws" {
        return Some(LiveRoute::Socket);
    }
    let id = head.uri.path().strip_prefix("/tasks/")?.strip_suffix("/messages/stream")?;
    (!id.is_empty() && !id.contains('/')).then(|| LiveRoute::Stream(TaskId::from(id)))
}

pub(crate) async fn handle(
    app: &Arc<App>,
    route: LiveRoute,
    head: &Parts,
    body: &mut RequestBody,
    origin: RequestOrigin,
) -> Response {
    let task = match route {
        LiveRoute::Stream(task) => task,
        LiveRoute::Socket => return live_socket::handle(app, head, origin).await,
    };
    if head.method != Method::POST {
        return verb_not_allowed(head, "POST");
    }
    let bytes = match body::read(&head.headers, body, &app.options.limits).await {
        Ok(bytes) => bytes,
        Err(fault) => return fault_response(&RequestId::Null, &fault),
    };
    let streamed = async {
        let (id, read) = read_request(&bytes, app.options.limits.json_depth);
        let streamed = match read {
            Ok(send) => stream(app, &task, &head.headers, send, origin).await,
            Err(fault) => Err(fault),
        };
        let refused = streamed.as_ref().err();
        app.metrics.count_call(BindingName::Rest, Version::V0_3, OperationKind::Stream, refused);
        streamed.unwrap_or_else(|fault| fault_response(&id, &fault))
    };
    large_bodies::run(bytes.len(), pin!(streamed)).await
}

/// Reads a JSON-RPC request, or its parameters alone.
pub(crate) fn read_request(bytes: &[u8], max_depth: usize) -> (RequestId, Result<SendMessage, Fault>) {
    let value = match json::parse(bytes, max_depth) {
        Ok(value) => value,
        Err(fault) => return (RequestId::Null, Err(fault)),
    };
    if is_parameters(&value) {
        return (RequestId::Null, live_routes::read_message(value));
    }
    match jsonrpc::parse(bytes, max_depth) {
        Ok(Envelope { id, method, params }) if method == live_routes::METHOD => {
            (id, live_routes::read_message(params.unwrap_or_default()))
        }
        Ok(Envelope { id, method, .. }) => {
            let method = method.chars().take(MAX_NAME_CHARS).collect();
            (id, Err(Fault::MethodNotFound { method }))
        }
        Err((id, fault)) => (id, Err(fault)),
    }
}

fn is_parameters(value: &Value) -> bool {
    value.get("jsonrpc").is_none() && (value.get("message").is_some() || value.get("text").is_some())
}

async fn stream(
    app: &Arc<App>,
    task: &TaskId,
    headers: &HeaderMap,
    mut send: SendMessage,
    origin: RequestOrigin,
) -> Result<Response, Fault> {
    origin.caller.may_ask(OperationKind::Stream)?;
    live_routes::address(&mut send, task)?;
    complete(app, headers, &mut send, origin);
    let scope = origin.caller.scope("");
    let operation = Operation::Stream(send);
    let open_call = open_call(app, &scope, origin, &operation).await?;
    let Operation::Stream(send) = operation else { return Err(Fault::Internal) };
    let (subscription, bare) = app.session.stream(&scope, send, None).await?;
    tracing::debug!(request = origin.number, task = %subscription.view.task, "a live stream");
    let first = if bare { StreamOpening::Message } else { StreamOpening::Events };
    let shape = shape(None, Profile::Live);
    let start = StreamStart { open_call, subscription, shape, first, resumes: false };
    Ok(Framing::Rest { version: Version::V0_3 }.stream(app, encoder(), start))
}

pub(crate) fn encoder() -> Encoder {
    Encoder { encoding: Encoding::Json(Dialect::V0_3Rpc), epoch: None }
}

/// Adds what the protocols of A2A require and this one does not: an id, and what the client expects.
pub(crate) fn complete(app: &App, headers: &HeaderMap, send: &mut SendMessage, origin: RequestOrigin) {
    if send.message.id.as_str().is_empty() {
        send.message.id = MessageId::from(Uuid::new_v4().to_string());
    }
    let mut extensions = ExtensionSelection::of(app, headers, Version::V0_3);
    extensions.set_recognized_profile(Some(Profile::Live));
    extensions.apply_to(app, send, origin);
}

/// A JSON-RPC error with the status that HTTP+JSON has for it.
pub(crate) fn fault_response(id: &RequestId, fault: &Fault) -> Response {
    let mut out = Vec::new();
    jsonrpc::write_error(Version::V0_3, id, fault, &mut out);
    let status = rest::error(Version::V0_3, fault).status;
    with_retry_after(answer(status, "application/json", out), fault)
}
