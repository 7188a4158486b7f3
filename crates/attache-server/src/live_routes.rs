//! The live endpoint: prompts and answers in, flat events out. `POST /tasks` is in [`rest_api`](crate::rest_api).

use std::pin::pin;
use std::sync::Arc;

use attache_domain::{
    Cursor, Fault, Interface, MessageId, Operation, OperationKind, Scope, SendMessage, SubscribeTask, TaskId,
};
use attache_session::{FinishedTaskRule, PromptStream};
use attache_wire::devtool::live_tools::{RegisterTools, UnregisterTools};
use attache_wire::devtool::{Dialect, live_routes, live_tools};
use attache_wire::jsonrpc::{self, Envelope, RequestId};
use attache_wire::{Encoder, Encoding, JsonForm, Version, json, rest};
use http::request::Parts;
use http::{HeaderMap, Method};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::app::{App, RequestOrigin, verb_not_allowed};
use crate::extension_selection::ExtensionSelection;
use crate::framing::{BindingName, Framing, json as answer, nothing_more, with_retry_after};
use crate::http::Response;
use crate::live_answers::{answered_call, check_has_begun, is_answer};
use crate::live_updates::LiveUpdates;
use crate::operations::{open_request, shape};
use crate::request_body::RequestBody;
use crate::sse::SseStream;
use crate::task_stream::{StreamOpening, StreamStart};
use crate::{body, large_bodies, last_event_id, live_socket};

/// An error names this much of an unknown method.
const MAX_NAME_CHARS: usize = 80;

/// One of these routes.
pub(crate) enum LiveRoute {
    /// A message to the task, and what happens until its prompt is settled; or all activity of the task.
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
    if head.method == Method::GET {
        let followed = follow(app, &task, head, origin).await;
        app.metrics.count_call(
            BindingName::Rest,
            Version::V0_3,
            OperationKind::Subscribe,
            followed.as_ref().err(),
        );
        return followed.unwrap_or_else(|fault| fault_response(&RequestId::Null, &fault));
    }
    if head.method != Method::POST {
        return verb_not_allowed(head, "GET, POST");
    }
    let bytes = match body::read(&head.headers, body, &app.options.limits).await {
        Ok(bytes) => bytes,
        Err(fault) => return fault_response(&RequestId::Null, &fault),
    };
    let streamed = async {
        let (id, read) = read_request(&bytes, app.options.limits.json_depth);
        let streamed = match read {
            Ok(LiveRequest::Message(send)) => stream(app, &task, &head.headers, *send, origin).await,
            Ok(LiveRequest::Subscribe { .. }) => Err(unknown_method(live_routes::SUBSCRIBE)),
            Ok(LiveRequest::Register(_) | LiveRequest::Unregister(_)) => Err(Fault::Unsupported {
                what: "tools stay as long as their client is connected: bring them over the WebSocket".into(),
            }),
            Err(fault) => Err(fault),
        };
        let refused = streamed.as_ref().err();
        app.metrics.count_call(BindingName::Rest, Version::V0_3, OperationKind::Stream, refused);
        streamed.unwrap_or_else(|fault| fault_response(&id, &fault))
    };
    large_bodies::run(bytes.len(), pin!(streamed)).await
}

/// What a client asks for.
pub(crate) enum LiveRequest {
    Message(Box<SendMessage>),
    /// The events of a task on a WebSocket, after a cursor or from now on.
    Subscribe {
        /// None: the session of the socket.
        task: Option<TaskId>,
        after: Option<Cursor>,
    },
    /// MCP servers for a session, while the WebSocket is open.
    Register(RegisterTools),
    Unregister(UnregisterTools),
}

/// Reads a JSON-RPC request, or its parameters alone.
pub(crate) fn read_request(bytes: &[u8], max_depth: usize) -> (RequestId, Result<LiveRequest, Fault>) {
    let message = |params| live_routes::read_message(params).map(Box::new).map(LiveRequest::Message);
    let value = match json::parse(bytes, max_depth) {
        Ok(value) => value,
        Err(fault) => return (RequestId::Null, Err(fault)),
    };
    if is_parameters(&value) {
        return (RequestId::Null, message(value));
    }
    match jsonrpc::parse(bytes, max_depth) {
        Ok(Envelope { id, method, params }) if method == live_routes::METHOD => (id, message(given(params))),
        Ok(Envelope { id, method, params }) if method == live_routes::SUBSCRIBE => {
            let read = live_routes::read_subscribe(given(params));
            (id, read.map(|(task, after)| LiveRequest::Subscribe { task, after }))
        }
        Ok(Envelope { id, method, params }) if method == live_tools::REGISTER => {
            let read = live_tools::read_register(given(params));
            (id, read.map(LiveRequest::Register))
        }
        Ok(Envelope { id, method, params }) if method == live_tools::UNREGISTER => {
            let read = live_tools::read_unregister(given(params));
            (id, read.map(LiveRequest::Unregister))
        }
        Ok(Envelope { id, method, .. }) => (id, Err(unknown_method(&method))),
        Err((id, fault)) => (id, Err(fault)),
    }
}

/// Parameters may be left out where none is required.
fn given(params: Option<Value>) -> Value {
    params.unwrap_or_else(|| Value::Object(Map::new()))
}

fn unknown_method(method: &str) -> Fault {
    Fault::MethodNotFound { method: method.chars().take(MAX_NAME_CHARS).collect() }
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
    check_session(app, task)?;
    live_routes::address(&mut send, task)?;
    let after = last_event_id::cursor(headers)?;
    let scope = origin.caller.scope("");
    if is_answer(&send) {
        check_has_begun(app, &scope, task, answered_call(&send).as_ref()).await?;
    } else if let Some(after) = after.as_ref().filter(|_| send.message.id.as_str().is_empty()) {
        // A new prompt would do the work twice: clients of event streams send a request again by themselves.
        let seen = app.session.prompt_seen(&scope, task, after, &send.message.text()).await?;
        send.message.id = seen.ok_or_else(live_routes::resumed_without_id)?;
    }
    complete(app, headers, &mut send, origin, Interface::LiveHttp);
    let operation = Operation::Stream(send);
    let open_request = open_request(app, &scope, origin, &operation).await?;
    let Operation::Stream(send) = operation else { return Err(Fault::Internal) };
    let streamed = app.session.stream_prompt(&scope, send, after.as_ref()).await;
    let PromptStream { subscription, turn } =
        streamed.map_err(|fault| live_routes::name_calls(fault, task))?;
    tracing::debug!(request = origin.number, task = %subscription.view.task, "[A2AService] a live stream");
    if subscription.is_over() {
        return Ok(nothing_more());
    }
    let first = StreamOpening::Prompt { turn };
    let shape = shape(None, Dialect::Live);
    let start = StreamStart { open_request, subscription, shape, first, resumes: after.is_some() };
    Ok(events(app, start, LiveUpdates::new(app, origin, Some(task.clone()))))
}

/// Server-sent events of a task, with the news besides.
fn events(app: &Arc<App>, start: StreamStart, news: LiveUpdates) -> Response {
    let mut stream = SseStream::new(app, Framing::Rest { version: Version::V0_3 }, encoder(app), start);
    stream.set_news(news);
    stream.into_response()
}

/// The endpoint of one session knows no other task.
pub(crate) fn check_session(app: &App, task: &TaskId) -> Result<(), Fault> {
    match &app.options.live_session {
        Some(session) if session != task => Err(Fault::TaskNotFound { task: task.clone() }),
        _ => Ok(()),
    }
}

/// All activity of the task, until nothing can happen to it any more or the client leaves.
async fn follow(
    app: &Arc<App>,
    task: &TaskId,
    head: &Parts,
    origin: RequestOrigin,
) -> Result<Response, Fault> {
    origin.caller.may_ask(OperationKind::Subscribe)?;
    check_session(app, task)?;
    let last_event = last_event_id::cursor(&head.headers)?;
    let comes_back = last_event.is_some();
    let after = match last_event {
        Some(after) => Some(after),
        None => live_routes::cursor_in_query(head.uri.query())?,
    };
    let open_request = Some(app.open_requests.take_stream(origin)?);
    let scope = origin.caller.scope("");
    let start = follow_task(app, &scope, task, after.as_ref()).await?;
    if comes_back && start.subscription.is_over() {
        return Ok(nothing_more());
    }
    let start = StreamStart { open_request, ..start };
    Ok(events(app, start, LiveUpdates::new(app, origin, Some(task.clone()))))
}

/// The events of the task after a cursor. Without one, its state and its open questions come first.
pub(crate) async fn follow_task(
    app: &App,
    scope: &Scope,
    task: &TaskId,
    after: Option<&Cursor>,
) -> Result<StreamStart, Fault> {
    let (subscription, first) = match after {
        Some(after) => (app.session.events_after(scope, task, after).await?, StreamOpening::Events),
        None => {
            let subscribe = SubscribeTask::to(task.clone());
            let subscription = app.session.subscribe(scope, &subscribe, FinishedTaskRule::Show).await?;
            (subscription, StreamOpening::Task)
        }
    };
    let resumes = after.is_some() && subscription.gap.is_none();
    let shape = shape(None, Dialect::Live);
    Ok(StreamStart { open_request: None, subscription, shape, first, resumes })
}

/// Events have cursors, which need the name of the log.
pub(crate) fn encoder(app: &App) -> Encoder {
    let epoch = Some(app.session.epoch().clone());
    Encoder { encoding: Encoding::Json(JsonForm::V0_3Rpc), epoch }
}

/// Adds what the protocols of A2A require and this one does not: an id, and what the client expects.
pub(crate) fn complete(
    app: &App,
    headers: &HeaderMap,
    send: &mut SendMessage,
    origin: RequestOrigin,
    interface: Interface,
) {
    let has_id = !send.message.id.as_str().is_empty();
    if !has_id {
        send.message.id = MessageId::from(Uuid::new_v4().to_string());
    }
    let mut extensions = ExtensionSelection::of(app, headers, Version::V0_3);
    extensions.set_recognized_dialect(Some(Dialect::Live));
    extensions.apply_to(app, send, origin, interface);
    // An id is optional here. A client gives one to be able to send the message again after it was cut off.
    send.options.resumes = has_id;
}

/// A JSON-RPC error with the status that HTTP+JSON has for it.
pub(crate) fn fault_response(id: &RequestId, fault: &Fault) -> Response {
    let mut out = Vec::new();
    jsonrpc::write_error(Version::V0_3, id, fault, &mut out);
    let status = rest::error(Version::V0_3, fault).status;
    with_retry_after(answer(status, "application/json", out), fault)
}
