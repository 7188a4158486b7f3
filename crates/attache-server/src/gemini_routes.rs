//! The routes of Gemini CLI's server beside A2A. `POST /tasks` is in [`rest_api`](crate::rest_api).

use std::sync::Arc;

use attache_domain::{
    Fault, GetTask, ListCommands, ListTasks, MAX_PAGE_SIZE, OperationKind, Scope, TaskId, TaskState, TaskView,
};
use attache_session::{AvailableTool, AvailableTools, CommandRefusal, StartedTask};
use attache_wire::devtool::setting_names::name_setting;
use attache_wire::devtool::{Dialect, gemini_routes};
use attache_wire::jsonrpc::RequestId;
use attache_wire::{Encoder, Encoding, JsonForm, Version, json};
use http::request::Parts;
use http::{HeaderValue, Method, header};
use serde_json::{Value, json as object};

use crate::app::{App, RequestOrigin};
use crate::commands::CommandRun;
use crate::connection_origin::Admission;
use crate::framing::{BindingName, Framing, json as answer, with_retry_after};
use crate::http::Response;
use crate::open_requests::OpenRequest;
use crate::operation_call::OperationCall;
use crate::operations::shape;
use crate::request_body::RequestBody;
use crate::task_stream::{StreamOpening, StreamStart};
use crate::{body, commands};

/// One of these routes.
pub(crate) enum GeminiRoute {
    AllMetadata,
    Metadata(TaskId),
    Commands,
    Execute,
}

/// The route of the path. Ids are compared as they stand: this server gives none that needs percent coding.
pub(crate) fn find(head: &Parts) -> Option<GeminiRoute> {
    let path = head.uri.path();
    match path {
        "/tasks/metadata" => Some(GeminiRoute::AllMetadata),
        "/listCommands" => Some(GeminiRoute::Commands),
        "/executeCommand" => Some(GeminiRoute::Execute),
        _ => {
            let id = path.strip_prefix("/tasks/")?.strip_suffix("/metadata")?;
            (!id.is_empty() && !id.contains('/')).then(|| GeminiRoute::Metadata(TaskId::from(id)))
        }
    }
}

pub(crate) async fn handle(
    app: &Arc<App>,
    route: GeminiRoute,
    head: &Parts,
    body: &mut RequestBody,
    origin: RequestOrigin,
) -> Response {
    let wanted = if matches!(route, GeminiRoute::Execute) { Method::POST } else { Method::GET };
    if head.method != wanted {
        let mut response = error_response(405, &format!("This path takes {wanted}."));
        let allowed = if wanted == Method::POST { "POST" } else { "GET" };
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
        return response;
    }
    let kind = match route {
        GeminiRoute::AllMetadata => OperationKind::List,
        GeminiRoute::Metadata(_) => OperationKind::Get,
        GeminiRoute::Commands => OperationKind::Commands,
        GeminiRoute::Execute => OperationKind::Execute,
    };
    let call = OperationCall { kind, binding: BindingName::Rest, version: Version::V0_3, origin };
    let scope = origin.caller.scope("");
    let work = async {
        match route {
            GeminiRoute::Execute if origin.connection.admission == Admission::Reserve => {
                Err(Fault::Busy { what: "all connections are taken" })
            }
            GeminiRoute::AllMetadata => all_metadata(app, &scope).await,
            GeminiRoute::Metadata(task) => metadata(app, &scope, task).await,
            GeminiRoute::Commands => list_commands(app, &scope).await,
            GeminiRoute::Execute => {
                let bytes = body::read(&head.headers, body, &app.options.limits).await?;
                handle_command(app, &scope, origin, &bytes).await
            }
        }
    };
    call.serve(app, work).await.unwrap_or_else(|fault| fault_response(&fault))
}

async fn all_metadata(app: &App, scope: &Scope) -> Result<Response, Fault> {
    let page = ListTasks { page_size: MAX_PAGE_SIZE, ..ListTasks::default() };
    let page = app.session.list(scope, &page).await?;
    if page.tasks.is_empty() {
        return Ok(answer(204, "application/json", Vec::new()));
    }
    let mut found = Vec::with_capacity(page.tasks.len());
    // Newest last.
    for view in page.tasks.iter().rev() {
        // A task whose workspace is gone does not hide the others.
        let equipment = app.session.available_tools(view).await.unwrap_or_default();
        found.push(metadata_json(view, equipment));
    }
    Ok(ok_response(&found.into()))
}

async fn metadata(app: &App, scope: &Scope, task: TaskId) -> Result<Response, Fault> {
    let seen = app.session.get(scope, &GetTask { task, history_length: None, at: None }).await?;
    let equipment = app.session.available_tools(&seen.view).await?;
    Ok(ok_response(&object!({ "metadata": metadata_json(&seen.view, equipment) })))
}

fn metadata_json(view: &TaskView, equipment: AvailableTools) -> Value {
    let AvailableTools { model, servers, tools } = equipment;
    let shown = |tools: Vec<AvailableTool>| tools.into_iter().map(shown_tool).collect::<Vec<_>>();
    let servers = servers.into_iter().map(|server| (server.name, server.status, shown(server.tools)));
    let equipment = gemini_routes::TaskResources { model, servers: servers.collect(), tools: shown(tools) };
    gemini_routes::task_metadata(view, &equipment)
}

fn shown_tool(tool: AvailableTool) -> gemini_routes::ToolDescription {
    let AvailableTool { name, description, parameters, origin } = tool;
    gemini_routes::ToolDescription { name, description, parameters, origin }
}

async fn list_commands(app: &App, scope: &Scope) -> Result<Response, Fault> {
    let specs = app.session.commands(scope, ListCommands::default()).await?;
    Ok(ok_response(&gemini_routes::command_list(&specs)))
}

async fn handle_command(
    app: &Arc<App>,
    scope: &Scope,
    origin: RequestOrigin,
    bytes: &[u8],
) -> Result<Response, Fault> {
    let body = json::parse(bytes, app.options.limits.json_depth)?;
    let mut send = match gemini_routes::read_execute(&body) {
        Ok(send) => send,
        Err(what) => return Ok(error_response(400, &what)),
    };
    app.address_to_session(&mut send);
    app.guard.sign(origin.caller, &mut send.options);
    let ending = |is_followed: bool| is_followed.then(|| Dialect::Gemini.ending());
    Ok(match commands::run(app, scope, origin, send, ending).await? {
        CommandRun::Refused(CommandRefusal::Unknown(why)) => {
            error_response(404, &format!("Command not found: {why}"))
        }
        CommandRun::Refused(CommandRefusal::BadArguments(why)) => error_response(400, &why),
        CommandRun::Started { started, open_request } => events(app, started, open_request),
        CommandRun::Settled { view, .. } if view.status.state == TaskState::Failed => {
            let why = view.status.message.as_ref().map(|message| message.text()).unwrap_or_default();
            error_response(500, &why)
        }
        CommandRun::Settled { command, view } => {
            ok_response(&gemini_routes::execution_result(&command, &view))
        }
    })
}

/// The events of the command's task.
fn events(app: &Arc<App>, started: StartedTask, open_request: OpenRequest) -> Response {
    let id = RequestId::Text(started.view.task.to_string());
    let framing = Framing::JsonRpc { version: Version::V0_3, id };
    let start = StreamStart {
        open_request: Some(open_request),
        subscription: app.session.follow(started),
        shape: shape(None, Dialect::Gemini),
        first: StreamOpening::Task,
        resumes: false,
    };
    framing.stream(app, Encoder { encoding: Encoding::Json(JsonForm::V0_3Rpc), epoch: None }, start)
}

fn ok_response(value: &Value) -> Response {
    answer(200, "application/json", gemini_routes::to_bytes(value))
}

fn error_response(status: u16, what: &str) -> Response {
    answer(status, "application/json", gemini_routes::to_bytes(&object!({ "error": what })))
}

pub(crate) fn fault_response(fault: &Fault) -> Response {
    let fault = &*name_setting(fault);
    match fault {
        Fault::TaskNotFound { .. } => error_response(404, "Task not found"),
        Fault::Unparsable { .. }
        | Fault::InvalidRequest { .. }
        | Fault::InvalidParams { .. }
        | Fault::SettingRefused { .. }
        | Fault::MediaTypeNotAccepted { .. } => error_response(400, &fault.to_string()),
        Fault::RightMissing { .. } => error_response(403, &fault.to_string()),
        Fault::BodyTooLarge { .. } => error_response(413, &fault.to_string()),
        Fault::Unavailable
        | Fault::StoreFull { .. }
        | Fault::StoreUnavailable { .. }
        | Fault::Overloaded
        | Fault::Busy { .. } => with_retry_after(error_response(503, &fault.to_string()), fault),
        Fault::LimitReached { .. } => with_retry_after(error_response(429, &fault.to_string()), fault),
        _ => error_response(500, &fault.to_string()),
    }
}
