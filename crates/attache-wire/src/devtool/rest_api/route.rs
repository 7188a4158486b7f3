//! The paths of the REST API. The server dispatches by this list, and the OpenAPI document is written from it.

use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::body::{Confirmation, CreateTask, ExecuteCommand, ExecuteTask};
use super::event::RestEvent;
use super::members::{Task, TaskList};
use super::responses::{CommandList, CommandResult, CreatedTask, DeliveredAnswer, Health};
use crate::percent;

/// What a request of the REST API asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    CreateTask,
    ListTasks,
    GetTask,
    ExecuteTask,
    Confirm,
    CancelTask,
    ListCommands,
    ExecuteCommand,
    Health,
    OpenApi,
}

/// Writes the schema of a type.
pub(super) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// One path with one method, and everything that the OpenAPI document says about it.
pub struct RouteSpec {
    pub route: Route,
    pub method: &'static str,
    /// A segment in braces is a parameter.
    pub path: &'static str,
    /// A2A 1.0 has the path too, and clients that name a version of A2A mean that.
    pub is_shared: bool,
    pub(super) operation: &'static str,
    pub(super) summary: &'static str,
    pub(super) body: Option<BodySpec>,
    pub(super) status: u16,
    pub(super) response: &'static str,
    pub(super) media_type: &'static str,
    pub(super) schema: SchemaOf,
    /// The statuses of refused requests.
    pub(super) errors: &'static [u16],
}

pub(super) struct BodySpec {
    pub(super) schema: SchemaOf,
    pub(super) is_required: bool,
}

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

const fn body(schema: SchemaOf, is_required: bool) -> Option<BodySpec> {
    Some(BodySpec { schema, is_required })
}

fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

const ANY: &[u16] = &[400, 401, 403, 413, 429, 503];
const OF_A_TASK: &[u16] = &[400, 401, 403, 404, 413, 429, 503];

pub static ROUTES: [RouteSpec; 10] = [
    RouteSpec {
        route: Route::CreateTask,
        method: "POST",
        path: "/tasks",
        is_shared: true,
        operation: "createTask",
        summary: "Reserves a task; its first prompt starts it",
        body: body(schema::<CreateTask>, false),
        status: 201,
        response: "The task",
        media_type: JSON,
        schema: schema::<CreatedTask<'_>>,
        errors: ANY,
    },
    RouteSpec {
        route: Route::ListTasks,
        method: "GET",
        path: "/tasks",
        is_shared: true,
        operation: "listTasks",
        summary: "Lists the caller's tasks, newest first",
        body: None,
        status: 200,
        response: "One page of tasks",
        media_type: JSON,
        schema: schema::<TaskList<'_>>,
        errors: ANY,
    },
    RouteSpec {
        route: Route::GetTask,
        method: "GET",
        path: "/tasks/{taskId}",
        is_shared: true,
        operation: "getTask",
        summary: "Reads a task with its history, artifacts and pending confirmations",
        body: None,
        status: 200,
        response: "The task",
        media_type: JSON,
        schema: schema::<Task<'_>>,
        errors: OF_A_TASK,
    },
    RouteSpec {
        route: Route::ExecuteTask,
        method: "POST",
        path: "/tasks/{taskId}/execute",
        is_shared: false,
        operation: "executeTask",
        summary: "Gives a prompt and streams what happens until it is settled",
        body: body(schema::<ExecuteTask>, true),
        status: 200,
        response: "Server-sent events; the schema is that of the data of each",
        media_type: EVENTS,
        schema: schema::<RestEvent<'_>>,
        errors: OF_A_TASK,
    },
    RouteSpec {
        route: Route::Confirm,
        method: "POST",
        path: "/tasks/{taskId}/confirmations",
        is_shared: false,
        operation: "confirmToolCall",
        summary: "Answers the question about a tool call; the first answer counts",
        body: body(schema::<Confirmation>, true),
        status: 200,
        response: "The answer was taken",
        media_type: JSON,
        schema: schema::<DeliveredAnswer<'_>>,
        errors: OF_A_TASK,
    },
    RouteSpec {
        route: Route::CancelTask,
        method: "POST",
        path: "/tasks/{taskId}/cancel",
        is_shared: false,
        operation: "cancelTask",
        summary: "Cancels a task",
        body: None,
        status: 200,
        response: "The canceled task",
        media_type: JSON,
        schema: schema::<Task<'_>>,
        errors: OF_A_TASK,
    },
    RouteSpec {
        route: Route::ListCommands,
        method: "GET",
        path: "/commands",
        is_shared: true,
        operation: "listCommands",
        summary: "Lists the commands",
        body: None,
        status: 200,
        response: "The commands",
        media_type: JSON,
        schema: schema::<CommandList>,
        errors: ANY,
    },
    RouteSpec {
        route: Route::ExecuteCommand,
        method: "POST",
        path: "/commands/{name}/execute",
        is_shared: false,
        operation: "executeCommand",
        summary: "Runs a command",
        body: body(schema::<ExecuteCommand>, false),
        status: 200,
        response: "The result of the command, whether it succeeded or not",
        media_type: JSON,
        schema: schema::<CommandResult<'_>>,
        errors: OF_A_TASK,
    },
    RouteSpec {
        route: Route::Health,
        method: "GET",
        path: "/health",
        is_shared: false,
        operation: "health",
        summary: "Whether the server works, and how busy it is",
        body: None,
        status: 200,
        response: "It works",
        media_type: JSON,
        schema: schema::<Health>,
        errors: &[403],
    },
    RouteSpec {
        route: Route::OpenApi,
        method: "GET",
        path: "/openapi.json",
        is_shared: false,
        operation: "openApi",
        summary: "This document",
        body: None,
        status: 200,
        response: "An OpenAPI 3.1 document",
        media_type: JSON,
        schema: schema::<serde_json::Map<String, serde_json::Value>>,
        errors: &[401, 403, 429, 503],
    },
];

/// A path of the API.
#[derive(Debug, PartialEq, Eq)]
pub enum RouteMatch {
    /// With the decoded parameter of the path.
    Route { route: Route, is_shared: bool, parameter: Option<String> },
    /// The path takes other methods. `is_shared`: A2A has the path, too.
    OtherMethod { is_shared: bool, allowed: &'static str },
}

/// Finds the route for a method and a path that is still percent-encoded and has no query. HEAD counts as GET.
///
/// ```
/// use attache_wire::devtool::rest_api::{RouteMatch, Route, find};
///
/// let Some(RouteMatch::Route { route, parameter, .. }) = find("POST", "/tasks/t-1/execute") else { panic!() };
/// assert_eq!((route, parameter.as_deref()), (Route::ExecuteTask, Some("t-1")));
/// ```
pub fn find(method: &str, path: &str) -> Option<RouteMatch> {
    let method = if method == "HEAD" { "GET" } else { method };
    let mut other: Option<(bool, &'static str)> = None;
    for spec in &ROUTES {
        let Some(parameter) = parameter_of(spec.path, path) else { continue };
        if spec.method == method {
            let parameter = match parameter {
                Some(segment) => Some(percent::decode_segment(segment)?.into_owned()),
                None => None,
            };
            return Some(RouteMatch::Route { route: spec.route, is_shared: spec.is_shared, parameter });
        }
        // With another method, a colon is that of a call of A2A.
        if spec.is_shared && parameter.is_some_and(|segment| segment.contains(':')) {
            continue;
        }
        other = Some((spec.is_shared, if other.is_some() { "GET, POST" } else { spec.method }));
    }
    other.map(|(is_shared, allowed)| RouteMatch::OtherMethod { is_shared, allowed })
}

/// The segment of `path` that stands for the parameter of `template`, if there is one; `None` when they do not match.
fn parameter_of<'a>(template: &str, path: &'a str) -> Option<Option<&'a str>> {
    let Some((before, rest)) = template.split_once('{') else { return (template == path).then_some(None) };
    let (_, after) = rest.split_once('}')?;
    let segment = path.strip_prefix(before)?.strip_suffix(after)?;
    (!segment.is_empty() && !segment.contains('/') && !is_a2a_call(segment)).then_some(Some(segment))
}

/// `{id}:cancel` and `{id}:subscribe`, as A2A calls a task's own operations.
fn is_a2a_call(segment: &str) -> bool {
    segment.ends_with(":cancel") || segment.ends_with(":subscribe")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(method: &str, path: &str, expected: Option<(Route, Option<&str>)>) {
        let found = match find(method, path) {
            Some(RouteMatch::Route { route, parameter, .. }) => Some((route, parameter)),
            _ => None,
        };
        let expected = expected.map(|(route, parameter)| (route, parameter.map(str::to_owned)));
        assert_eq!(found, expected, "{method} {path}");
    }

    #[test]
    fn paths_lead_to_their_routes() {
        check("POST", "/tasks", Some((Route::CreateTask, None)));
        check("GET", "/tasks", Some((Route::ListTasks, None)));
        check("HEAD", "/tasks/t-1", Some((Route::GetTask, Some("t-1"))));
        check("POST", "/tasks/a%20b/confirmations", Some((Route::Confirm, Some("a b"))));
        check("POST", "/commands/memory%20show/execute", Some((Route::ExecuteCommand, Some("memory show"))));
        for (method, path) in [
            ("POST", "/tasks/t-1"),
            ("GET", "/tasks/"),
            ("POST", "/tasks//execute"),
            ("POST", "/tasks/a/b/execute"),
            ("POST", "/tasks/%zz/execute"),
            ("GET", "/tasks/t-1/execute"),
            ("GET", "/tasks/t-1:subscribe"),
            ("GET", "/"),
        ] {
            check(method, path, None);
        }
    }

    #[test]
    fn another_method_is_refused_with_those_that_the_path_takes() {
        let refused = |allowed, is_shared| Some(RouteMatch::OtherMethod { is_shared, allowed });
        assert_eq!(find("GET", "/tasks/t/execute"), refused("POST", false));
        assert_eq!(find("PUT", "/openapi.json"), refused("GET", false));
        assert_eq!(find("PUT", "/tasks"), refused("GET, POST", true));
        assert_eq!(find("DELETE", "/tasks/t"), refused("GET", true));
        assert_eq!(find("POST", "/tasks/t:explode"), None);
    }
}
