//! The routes that clients of Gemini CLI's server know beside A2A.

use std::sync::Arc;

use attache_domain::{
    Fault, GetTask, ListCommands, ListTasks, MAX_PAGE_SIZE, Scope, TaskId, TaskState, TaskView,
};
use attache_session::{CommandRefusal, Equipment, EquippedTool, Execution, Reply, Reservation};
use attache_wire::devtool::{Profile, routes};
use attache_wire::jsonrpc::RequestId;
use attache_wire::{Dialect, Version, json, version};
use http::request::Parts;
use http::{HeaderValue, Method, header};
use serde_json::{Value, json as object};

use crate::admission::Admission;
use crate::app::{Admitted, App};
use crate::arriving::Arriving;
use crate::body;
use crate::framing::{Framing, advised, json as answer};
use crate::http::Response;
use crate::open_calls::Purpose;
use crate::operate::{First, Opened, shape};
use crate::speech::Speech;
use crate::sse::EventStream;

/// What a path of theirs asks for.
pub(crate) enum Route {
    Create,
    AllMetadata,
    Metadata(TaskId),
    Commands,
    Execute,
}

/// The route that the path names. An id that is not plain text is no id that this server has given.
pub(crate) fn find(head: &Parts) -> Option<Route> {
    let path = head.uri.path();
    match path {
        // Whoever names a version of A2A means its list, which is only read.
        "/tasks" => {
            let is_theirs = head.method == Method::POST && !head.headers.contains_key(version::NAME);
            is_theirs.then_some(Route::Create)
        }
        "/tasks/metadata" => Some(Route::AllMetadata),
        "/listCommands" => Some(Route::Commands),
        "/executeCommand" => Some(Route::Execute),
        _ => {
            let id = path.strip_prefix("/tasks/")?.strip_suffix("/metadata")?;
            (!id.is_empty() && !id.contains('/')).then(|| Route::Metadata(TaskId::from(id)))
        }
    }
}

pub(crate) async fn handle(
    app: &Arc<App>,
    route: Route,
    head: &Parts,
    body: &mut Arriving,
    admitted: Admitted,
) -> Response {
    let wanted = if matches!(route, Route::Create | Route::Execute) { Method::POST } else { Method::GET };
    if head.method != wanted {
        let mut response = refused(405, &format!("This path takes {wanted}."));
        let allowed = if wanted == Method::POST { "POST" } else { "GET" };
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
        return response;
    }
    let scope = Scope::new(String::new(), admitted.caller.owner);
    let served = match route {
        Route::Create | Route::Execute if admitted.origin.admission == Admission::Reserve => {
            Err(Fault::Busy { what: "all connections are taken" })
        }
        Route::Create => match body::read(&head.headers, body, &app.options.limits).await {
            Ok(bytes) => create(app, &scope, &bytes, admitted).await,
            Err(fault) => Err(fault),
        },
        Route::AllMetadata => all_metadata(app, &scope).await,
        Route::Metadata(task) => metadata(app, &scope, task).await,
        Route::Commands => commands(app, &scope).await,
        Route::Execute => match body::read(&head.headers, body, &app.options.limits).await {
            Ok(bytes) => execute_command(app, &scope, admitted, &bytes).await,
            Err(fault) => Err(fault),
        },
    };
    served.unwrap_or_else(|fault| failed(&fault))
}

/// An id for a task whose first message is yet to come.
async fn create(app: &App, scope: &Scope, bytes: &[u8], admitted: Admitted) -> Result<Response, Fault> {
    let body =
        if bytes.is_empty() { Value::Null } else { json::parse(bytes, app.options.limits.json_depth)? };
    let (context, mut wishes) = routes::read_create(body)?;
    if let Some(wishes) = wishes.as_mut().filter(|_| admitted.is_local) {
        wishes.note_local_client();
    }
    let ending = Profile::Gemini.ending();
    let task = app.session.reserve(scope, Reservation { context, wishes, ending }).await?;
    Ok(answer(201, "application/json", routes::bytes(&task.as_str().into())))
}

async fn all_metadata(app: &App, scope: &Scope) -> Result<Response, Fault> {
    let page = ListTasks { page_size: MAX_PAGE_SIZE, ..ListTasks::default() };
    let page = app.session.list(scope, &page).await?;
    if page.tasks.is_empty() {
        return Ok(answer(204, "application/json", Vec::new()));
    }
    let mut found = Vec::with_capacity(page.tasks.len());
    // The newest last.
    for view in page.tasks.iter().rev() {
        // One whose workspace is gone does not hide the others.
        let equipment = app.session.equipment(view).await.unwrap_or_default();
        found.push(described(view, equipment));
    }
    Ok(well(&found.into()))
}

async fn metadata(app: &App, scope: &Scope, task: TaskId) -> Result<Response, Fault> {
    let seen = app.session.get(scope, &GetTask { task, history_length: None, at: None }).await?;
    let equipment = app.session.equipment(&seen.view).await?;
    Ok(well(&object!({ "metadata": described(&seen.view, equipment) })))
}

fn described(view: &TaskView, equipment: Equipment) -> Value {
    let Equipment { model, servers, tools } = equipment;
    let shown = |tools: Vec<EquippedTool>| tools.into_iter().map(shown).collect::<Vec<_>>();
    let servers = servers.into_iter().map(|server| (server.name, server.status, shown(server.tools)));
    let equipment = routes::TaskEquipment { model, servers: servers.collect(), tools: shown(tools) };
    routes::task_metadata(view, &equipment)
}

fn shown(tool: EquippedTool) -> routes::ShownTool {
    let EquippedTool { name, description, parameters, origin } = tool;
    routes::ShownTool { name, description, parameters, origin }
}

async fn commands(app: &App, scope: &Scope) -> Result<Response, Fault> {
    let specs = app.session.commands(scope, ListCommands::default()).await?;
    Ok(well(&routes::command_list(&specs)))
}

async fn execute_command(
    app: &Arc<App>,
    scope: &Scope,
    admitted: Admitted,
    bytes: &[u8],
) -> Result<Response, Fault> {
    let body = json::parse(bytes, app.options.limits.json_depth)?;
    let mut send = match routes::read_execute(&body) {
        Ok(send) => send,
        Err(what) => return Ok(refused(400, &what)),
    };
    // What the model works on is worth watching, and may go on; the rest is over at once.
    let asks_model = send.message.command.as_ref().and_then(|call| call.path.first()) == Some(&"init".into());
    send.manner.ending = asks_model.then(|| Profile::Gemini.ending());
    let open_call = app.open_calls.take(admitted.caller, admitted.origin, Purpose::Any)?;
    let started = match app.session.execute(scope, send).await? {
        Execution::Refused(CommandRefusal::Unknown(why)) => {
            return Ok(refused(404, &format!("Command not found: {why}")));
        }
        Execution::Refused(CommandRefusal::Unfit(why)) => return Ok(refused(400, &why)),
        Execution::Begun { started, .. } => started,
    };
    let command = started.view.history.first().and_then(|message| message.command.as_deref().cloned());
    let Some(command) = command else { return Err(Fault::Internal) };
    if asks_model {
        let id = RequestId::Text(started.view.task.to_string());
        let framing = Framing::JsonRpc { version: Version::V0_3, id };
        let shape = shape(None, Profile::Gemini);
        let (open_call, subscription) = (Some(open_call), app.session.follow(started));
        let opened = Opened { open_call, subscription, shape, first: First::Task, resumes: false };
        let speech = Speech { language: Dialect::V0_3Rpc, epoch: None };
        return Ok(EventStream::new(app, framing, speech, opened).into_response());
    }
    match app.session.settle(started).await? {
        Reply::Task(view) if view.status.state == TaskState::Failed => {
            let why = view.status.message.as_ref().map(|message| message.text()).unwrap_or_default();
            Ok(refused(500, &why))
        }
        Reply::Task(view) => Ok(well(&routes::executed(&command, &view))),
        Reply::Message(_) => Err(Fault::Internal),
    }
}

fn well(value: &Value) -> Response {
    answer(200, "application/json", routes::bytes(value))
}

fn refused(status: u16, what: &str) -> Response {
    answer(status, "application/json", routes::bytes(&object!({ "error": what })))
}

fn failed(fault: &Fault) -> Response {
    match fault {
        Fault::TaskNotFound { .. } => refused(404, "Task not found"),
        Fault::Unparsable { .. } | Fault::InvalidRequest { .. } | Fault::InvalidParams { .. } => {
            refused(400, &fault.to_string())
        }
        Fault::BodyTooLarge { .. } => refused(413, &fault.to_string()),
        Fault::MediaTypeNotAccepted { .. } => refused(415, &fault.to_string()),
        Fault::Unavailable
        | Fault::StoreFull { .. }
        | Fault::StoreUnavailable { .. }
        | Fault::Overloaded
        | Fault::Busy { .. } => advised(refused(503, &fault.to_string()), fault),
        Fault::LimitReached { .. } => advised(refused(429, &fault.to_string()), fault),
        _ => refused(500, &fault.to_string()),
    }
}
