//! The OpenAPI 3.1 document of the REST API.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::responses::{CommandResult, ErrorBody, Health, TaskState};
use super::route::{ROUTES, Route, RouteSpec};
use super::schemas;

/// What ids are made of.
const WITHOUT_CONTROLS: &str = "^[^\\x00-\\x1f\\x7f-\\x9f]*$";

/// The document; `url` is the address of the server.
pub fn document(url: &str, version: &str) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut requests = settings.clone().for_deserialize().into_generator();
    let mut responses = settings.for_serialize().into_generator();
    let mut paths = Map::new();
    for spec in &ROUTES {
        let operation = operation(spec, &mut requests, &mut responses);
        let path = paths.entry(spec.path.to_owned()).or_insert_with(|| json!({}));
        path[spec.method.to_ascii_lowercase()] = operation;
    }
    let mut schemas = responses.take_definitions(true);
    schemas::simplify(&mut schemas);
    schemas.extend(requests.take_definitions(true));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "attache",
            "version": version,
            "license": { "name": "Apache License 2.0", "identifier": "Apache-2.0" },
            "description": "Tasks, prompts, confirmations and commands of a coding agent. The whole of A2A is served beside it.",
        },
        "servers": [{ "url": url }],
        // A server without a token serves local callers of its own user without one.
        "security": [{}, { "bearer": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
        },
    })
}

fn operation(spec: &RouteSpec, requests: &mut SchemaGenerator, responses: &mut SchemaGenerator) -> Value {
    let mut operation = json!({
        "operationId": spec.operation,
        "summary": spec.summary,
        "responses": {},
    });
    let parameters = parameters(spec);
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    if let Some(body) = &spec.body {
        let schema = (body.schema)(requests).to_value();
        // `null` counts as an empty body.
        let schema = if body.is_required { schema } else { json!({ "anyOf": [schema, { "type": "null" }] }) };
        operation["requestBody"] =
            json!({ "required": body.is_required, "content": { "application/json": { "schema": schema } } });
    }
    let schema = (spec.schema)(responses).to_value();
    let schema = match spec.route {
        Route::ExecuteTask => server_sent_event(&schema),
        _ => schema,
    };
    operation["responses"][spec.status.to_string()] =
        json!({ "description": spec.response, "content": { spec.media_type: { "schema": schema } } });
    for status in spec.errors {
        let schema = error_schema(spec.route, *status, responses);
        let mut content = json!({ "application/json": { "schema": schema } });
        // Callers are checked before it is known what they mean by a path that A2A has too.
        if spec.is_shared && matches!(status, 401 | 403 | 429) {
            content["application/a2a+json"] = json!({ "schema": schema });
        }
        operation["responses"][status.to_string()] =
            json!({ "description": reason(*status), "content": content });
    }
    if spec.route == Route::ExecuteTask {
        operation["responses"]["204"] =
            json!({ "description": "The prompt is settled, and the client has seen its last event" });
    }
    if spec.route == Route::Health {
        let schema = responses.subschema_for::<Health>();
        operation["responses"]["503"] = json!({ "description": "The store does not work", "content": { "application/json": { "schema": schema } } });
    }
    operation
}

/// Each event of a stream, whose data has this schema.
fn server_sent_event(data: &Value) -> Value {
    json!({
        "type": "object",
        "properties": {
            "id": { "type": "string" },
            "event": {
                "type": "string",
                "description": "The `type` of the data; `error`, whose data is an error, when the stream breaks off.",
            },
            "data": { "type": "string", "contentMediaType": "application/json", "contentSchema": data },
        },
        "required": ["event", "data"],
    })
}

/// Clients of Gemini CLI's server get their own form of errors, and a refused command is a result.
fn error_schema(route: Route, status: u16, responses: &mut SchemaGenerator) -> Value {
    let error = responses.subschema_for::<ErrorBody>().to_value();
    match (route, status) {
        (Route::CreateTask, 400 | 429 | 503) => {
            let theirs = json!({ "type": "object", "properties": { "error": { "type": "string" } }, "required": ["error"] });
            json!({ "anyOf": [error, theirs] })
        }
        (Route::ExecuteCommand, 400 | 404) => {
            json!({ "anyOf": [responses.subschema_for::<CommandResult<'_>>(), error] })
        }
        _ => error,
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        400 => "The request is wrong, or does not fit the state of the task",
        401 => "A token is needed",
        403 => "The caller may not call",
        404 => "There is no such task or command",
        413 => "The body is too large",
        429 => "The caller has too many calls open",
        _ => "The server cannot serve this now",
    }
}

/// The parameter of the path, and those of the query.
fn parameters(spec: &RouteSpec) -> Vec<Value> {
    // An empty value counts as none.
    let query = |name: &str, schema: Value, description: &str| json!({ "name": name, "in": "query", "allowEmptyValue": true, "schema": schema, "description": description });
    let name = spec.path.split_once('{').and_then(|(_, rest)| rest.split_once('}')).map(|(name, _)| name);
    let mut parameters = Vec::new();
    if let Some(name) = name {
        let mut schema = json!({ "type": "string", "minLength": 1 });
        if name == "taskId" {
            schema["maxLength"] = 1024.into();
            schema["pattern"] = WITHOUT_CONTROLS.into();
        }
        parameters.push(json!({ "name": name, "in": "path", "required": true, "schema": schema }));
    }
    let history = || {
        let schema = json!({ "type": "integer", "minimum": 0, "maximum": i32::MAX });
        query("historyLength", schema, "At most this many of the most recent messages")
    };
    match spec.route {
        Route::ExecuteTask => parameters.push(json!({
            "name": "Last-Event-ID",
            "in": "header",
            "schema": { "type": "string", "pattern": "^[0-9]{0,15}$" },
            "description": "The `id` of the last event that the client has seen of a message that it sends again: the stream begins after it",
        })),
        Route::GetTask => parameters.push(history()),
        Route::ListTasks => {
            let id = json!({ "type": "string", "maxLength": 1024, "pattern": WITHOUT_CONTROLS });
            let states = [
                "SUBMITTED",
                "WORKING",
                "COMPLETED",
                "FAILED",
                "CANCELED",
                "INPUT_REQUIRED",
                "REJECTED",
                "AUTH_REQUIRED",
            ];
            let a2a = states.map(|state| format!("TASK_STATE_{state}"));
            let states: Vec<_> =
                TaskState::ALL.iter().map(|state| state.name().to_owned()).chain(a2a).collect();
            let states = json!({ "type": "string", "enum": states });
            parameters.extend([
                query("contextId", id.clone(), "Tasks of this conversation"),
                query("status", states.clone(), "Tasks in this state, of this API or of A2A"),
                query("state", states, "The same as status; both count if both are given"),
                query(
                    "statusTimestampAfter",
                    json!({ "type": "string", "anyOf": [{ "format": "date-time" }, { "maxLength": 0 }] }),
                    "Tasks whose state changed since",
                ),
                query(
                    "pageSize",
                    json!({ "type": "integer", "minimum": 1, "maximum": 100 }),
                    "At most so many tasks",
                ),
                query("pageToken", json!({ "type": "string" }), "The `nextPageToken` of the page before"),
                history(),
                query("includeArtifacts", json!({ "type": "boolean" }), "With the artifacts of each task"),
            ]);
        }
        _ => {}
    }
    parameters
}
