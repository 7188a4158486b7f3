//! The REST API: tasks, prompts with named events, confirmations and commands.
//!
//! Reading, listing and canceling go the way of A2A's HTTP+JSON binding and answer with the union of both.

mod commands;

use std::pin::pin;
use std::sync::{Arc, OnceLock};

use attache_domain::{
    CallId, DuplicateRule, Fault, GetTask, Interface, MessageId, OfferedKey, Operation, OperationKind, Scope,
    SendMessage, TaskId,
};
use attache_session::{PromptStream, Reservation, SendReply};
use attache_wire::devtool::rest_api::{
    self, Confirmation, CreateTask, CreatedTask, DeliveredAnswer, ExecuteTask, Route, RouteMatch, TaskState,
};
use attache_wire::devtool::setting_names::name_setting;
use attache_wire::devtool::{Dialect, gemini_routes as gemini, live_routes};
use attache_wire::{Encoder, Encoding, JsonForm, Version, json, rest as a2a, version};
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, header};
use serde_json::Value;
use uuid::Uuid;

use crate::app::{App, RequestOrigin, unless_refused, verb_not_allowed};
use crate::connection_origin::Admission;
use crate::extension_selection::ExtensionSelection;
use crate::framing::{BindingName, Framing, json as answer, nothing_more, rest_api_fault};
use crate::handler::TaskForm;
use crate::http::Response;
use crate::live_answers::check_has_begun;
use crate::operation_call::OperationCall;
use crate::operations::{open_request, shape};
use crate::request_body::RequestBody;
use crate::task_stream::{StreamOpening, StreamStart};
use crate::{body, gemini_routes, health, large_bodies, last_event_id, rest};

const JSON: &str = "application/json";
const A2A_JSON: &str = "application/a2a+json";

/// The route of the request, unless its client speaks A2A and A2A has the path too.
pub(crate) fn find(head: &Parts) -> Option<RouteMatch> {
    let found = rest_api::find(head.method.as_str(), head.uri.path())?;
    match &found {
        RouteMatch::Route { is_shared: true, .. } | RouteMatch::OtherMethod { is_shared: true, .. }
            if speaks_a2a(head) =>
        {
            None
        }
        _ => Some(found),
    }
}

/// Whether the path is one of this API and not of A2A.
pub(crate) fn is_alone_on(head: &Parts) -> bool {
    let found = rest_api::find(head.method.as_str(), head.uri.path());
    matches!(
        found,
        Some(RouteMatch::Route { is_shared: false, .. } | RouteMatch::OtherMethod { is_shared: false, .. })
    )
}

/// Whether the client names a version or an extension of A2A, or asks for A2A's media type.
fn speaks_a2a(head: &Parts) -> bool {
    let names = ["a2a-extensions", "x-a2a-extensions"];
    let version = head.headers.get(version::HEADER_NAME);
    version.is_some_and(|version| !version.as_bytes().trim_ascii().is_empty())
        || names.iter().any(|name| head.headers.contains_key(*name))
        || head.headers.get_all(header::ACCEPT).iter().any(accepts_a2a)
        || head.uri.query().is_some_and(|query| version::parse_requested(None, Some(query)) != Ok(None))
}

/// Media types are compared without regard to case, and one with `q=0` is refused by the client.
fn accepts_a2a(accept: &HeaderValue) -> bool {
    accept.to_str().unwrap_or_default().split(',').any(|range| {
        let mut parts = range.split(';').map(str::trim);
        let names_a2a = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(A2A_JSON));
        let is_zero = |part: &str| {
            part.split_once('=').is_some_and(|(name, value)| {
                name.trim().eq_ignore_ascii_case("q") && value.trim().parse() == Ok(0.0)
            })
        };
        names_a2a && !parts.any(is_zero)
    })
}

pub(crate) async fn handle(
    app: &Arc<App>,
    found: RouteMatch,
    head: &Parts,
    body: &mut RequestBody,
    origin: RequestOrigin,
) -> Response {
    let (route, parameter) = match found {
        RouteMatch::Route { route, parameter, .. } => (route, parameter.unwrap_or_default()),
        RouteMatch::OtherMethod { allowed, .. } => return as_json(verb_not_allowed(head, allowed)),
    };
    let response = match route {
        Route::Health => return health::serve(app).await,
        Route::OpenApi => return open_api(app),
        Route::ListTasks | Route::GetTask | Route::ListCommands => {
            rest::handle(app, head, body, origin, TaskForm::Union).await
        }
        Route::CancelTask => {
            let (kind, task) = (OperationKind::Cancel, Some(parameter));
            let route = a2a::Route { json_form: JsonForm::V1_0, kind, tenant: None, task, config: None };
            rest::serve(app, route, head, body, origin, TaskForm::Union).await
        }
        Route::CreateTask | Route::ExecuteTask | Route::Confirm | Route::ExecuteCommand => {
            match body::read(&head.headers, body, &app.options.limits).await {
                Ok(bytes) => {
                    let length = bytes.len();
                    let request = Request { app, head, origin, parameter };
                    large_bodies::run(length, pin!(request.serve(route, bytes))).await
                }
                Err(fault) => rest_api_fault(&fault),
            }
        }
    };
    as_json(response)
}

/// Clients of this API know one media type for JSON.
pub(crate) fn as_json(mut response: Response) -> Response {
    let media_type = response.headers().get(header::CONTENT_TYPE);
    if media_type.is_some_and(|media_type| media_type == a2a::content_type(Version::V1_0)) {
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(JSON));
    }
    response
}

fn open_api(app: &App) -> Response {
    static DOCUMENT: OnceLock<Vec<u8>> = OnceLock::new();
    let document = DOCUMENT
        .get_or_init(|| rest_api::to_bytes(&rest_api::openapi::document("/", &app.options.card.version)));
    answer(200, JSON, document.clone())
}

/// A request with a body of this API.
struct Request<'a> {
    app: &'a Arc<App>,
    head: &'a Parts,
    origin: RequestOrigin,
    /// The parameter of the path.
    parameter: String,
}

impl Request<'_> {
    async fn serve(&self, route: Route, bytes: Bytes) -> Response {
        let parsed = match bytes.is_empty() {
            true => Ok(Value::Null),
            false => json::parse(&bytes, self.app.options.limits.json_depth),
        };
        drop(bytes);
        let body = match parsed {
            Ok(body) if route == Route::CreateTask => return self.create(body).await,
            Ok(body) => body,
            Err(fault) => return rest_api_fault(&fault),
        };
        let kind = match route {
            Route::ExecuteTask => OperationKind::Stream,
            Route::Confirm => OperationKind::Send,
            _ => OperationKind::Execute,
        };
        let call =
            OperationCall { kind, binding: BindingName::Rest, version: Version::V1_0, origin: self.origin };
        let work = async {
            match route {
                Route::ExecuteTask => self.handle_prompt(body).await,
                Route::Confirm => self.confirm(body).await,
                _ => self.run_command(body).await,
            }
        };
        let served = call.serve(self.app, work).await;
        served.unwrap_or_else(|fault| rest_api_fault(&fault))
    }

    fn scope(&self) -> Scope {
        self.origin.caller.scope("")
    }

    /// A client of Gemini CLI's server gets the id alone, and its form of errors. One without settings is taken for such a
    /// client where the operator says so.
    async fn create(&self, body: Value) -> Response {
        let options = &self.app.options;
        let is_gemini = rest_api::is_gemini_create(&body)
            || (body["agentSettings"].is_null() && options.default_dialect == Dialect::Gemini);
        match self.reserve(body, is_gemini).await {
            Ok((status, created)) => answer(status, JSON, created),
            Err(fault) if is_gemini => gemini_routes::fault_response(&fault),
            Err(fault) => {
                tracing::debug!(
                    request = self.origin.number,
                    reason = name_setting(&fault).to_string(),
                    "a call was refused"
                );
                rest_api_fault(&fault)
            }
        }
    }

    /// Reserves an id for a task whose first message is yet to come. A server for one session names that.
    async fn reserve(&self, body: Value, is_gemini: bool) -> Result<(u16, Vec<u8>), Fault> {
        let (app, scope) = (self.app, self.scope());
        if let Some(session) = app.options.live_session.clone() {
            return Ok((200, self.created(&scope, session, is_gemini).await?));
        }
        if self.origin.connection.admission == Admission::Reserve {
            return Err(Fault::Busy { what: "all connections are taken" });
        }
        // Clients without the right to prompt must not fill the memory for keys.
        self.origin.caller.may_ask(OperationKind::Execute)?;
        let (context, mut requested) = match is_gemini {
            true => gemini::read_create(body)?,
            false => CreateTask::read(body)?.into_parts(),
        };
        let key = app.take_settings(requested.as_deref_mut(), self.origin);
        // A session of the live endpoint stays open between prompts.
        let dialect = match (is_gemini, app.options.live) {
            (true, _) => Dialect::Gemini,
            (false, true) => Dialect::Live,
            (false, false) => Dialect::RestApi,
        };
        let rights = self.origin.caller.rights();
        let reservation = Reservation { context, requested, ending: dialect.ending(), rights };
        let reserved = app.session.reserve(&scope, reservation).await;
        let task = unless_refused(key, reserved)?;
        Ok((201, self.created(&scope, task, is_gemini).await?))
    }

    async fn created(&self, scope: &Scope, task: TaskId, is_gemini: bool) -> Result<Vec<u8>, Fault> {
        let app = self.app;
        if is_gemini {
            return Ok(rest_api::to_bytes(&task.as_str()));
        }
        let reserved = app.session.get(scope, &GetTask { task, history_length: None, at: None }).await?;
        Ok(match app.options.live {
            true => gemini::to_bytes(&live_routes::created(&reserved.view)),
            false => rest_api::to_bytes(&CreatedTask::of(&reserved.view)),
        })
    }

    /// A prompt, and what happens until it is settled.
    async fn handle_prompt(&self, body: Value) -> Result<Response, Fault> {
        let app = self.app;
        rest_api::check_task_id(&self.parameter)?;
        let task = TaskId::from(self.parameter.as_str());
        let mut send = ExecuteTask::read(body)?.into_send(task.clone());
        let scope = self.scope();
        // A client that was cut off sends the same message again.
        let after = last_event_id::cursor(&self.head.headers)?;
        if let Some(after) = after.as_ref().filter(|_| send.message.id.as_str().is_empty()) {
            // A new prompt would do the work twice: clients of event streams send a request again by themselves.
            let seen = app.session.prompt_seen(&scope, &task, after, &send.message.text()).await?;
            send.message.id = seen.ok_or_else(rest_api::resumed_without_id)?;
        }
        let key = complete(app, &self.head.headers, &mut send, self.origin);
        let begin = async {
            let operation = Operation::Stream(send);
            let open_request = open_request(app, &scope, self.origin, &operation).await?;
            let Operation::Stream(send) = operation else { return Err(Fault::Internal) };
            Ok((app.session.stream_prompt(&scope, send, after.as_ref()).await?, open_request))
        };
        let (PromptStream { subscription, turn }, open_request) = unless_refused(key, begin.await)?;
        tracing::debug!(request = self.origin.number, task = %subscription.view.task, "a stream of the REST API");
        if subscription.is_over() {
            return Ok(nothing_more());
        }
        let (first, shape) = (StreamOpening::Prompt { turn }, shape(None, Dialect::RestApi));
        let start = StreamStart { open_request, subscription, shape, first, resumes: after.is_some() };
        let encoder = Encoder { encoding: Encoding::Json(JsonForm::V1_0), epoch: None };
        Ok(Framing::RestApi.stream(app, encoder, start))
    }

    /// The answer to the question about a call.
    async fn confirm(&self, body: Value) -> Result<Response, Fault> {
        let app = self.app;
        self.origin.caller.rights().require_to_send(true)?;
        rest_api::check_task_id(&self.parameter)?;
        let confirmation = Confirmation::read(body)?;
        let scope = self.scope();
        let task = TaskId::from(self.parameter.as_str());
        let call = CallId(confirmation.tool_call_id.clone());
        check_has_begun(app, &scope, &task, Some(&call)).await?;
        let mut send = confirmation.to_send(task);
        // Its body has no settings.
        let _ = complete(app, &self.head.headers, &mut send, self.origin);
        send.configuration.return_immediately = true;
        let operation = Operation::Send(send);
        let _open_request = open_request(app, &scope, self.origin, &operation).await?;
        let Operation::Send(send) = operation else { return Err(Fault::Internal) };
        let SendReply::Task(view) = app.session.send(&scope, send).await? else {
            return Err(Fault::Internal);
        };
        let delivered = DeliveredAnswer {
            task_id: view.task.as_str(),
            tool_call_id: &confirmation.tool_call_id,
            option_id: &confirmation.option_id,
            state: TaskState::of_view(&view),
        };
        Ok(answer(200, JSON, rest_api::to_bytes(&delivered)))
    }
}

/// Adds what A2A requires and this API does not: an id, and what the client expects.
fn complete(
    app: &App,
    headers: &HeaderMap,
    send: &mut SendMessage,
    origin: RequestOrigin,
) -> Option<OfferedKey> {
    let has_own_id = !send.message.id.as_str().is_empty();
    if !has_own_id {
        send.message.id = MessageId::from(Uuid::new_v4().to_string());
    }
    let key = app.take_settings(send.message.requested.as_deref_mut(), origin);
    app.address_to_session(send);
    let mut extensions = ExtensionSelection::of(app, headers, Version::V1_0);
    extensions.set_recognized_dialect(Some(Dialect::RestApi));
    extensions.apply_to(app, send, origin, Interface::Rest);
    if has_own_id {
        send.options.duplicate_rule = DuplicateRule::Id;
    }
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_accepts_a2as_media_type_in_any_case_unless_its_quality_is_zero() {
        for (accept, expected) in [
            ("application/a2a+json", true),
            ("Application/A2A+JSON;q=0.5", true),
            ("text/html, application/a2a+json ; charset=utf-8", true),
            ("application/a2a+json;q=0", false),
            ("application/json, application/a2a+json; Q=0.0", false),
            ("application/a2a+json-seq", false),
            ("*/*", false),
            ("", false),
        ] {
            assert_eq!(accepts_a2a(&HeaderValue::from_static(accept)), expected, "{accept}");
        }
    }
}
