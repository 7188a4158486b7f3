//! The HTTP+JSON binding: the path gives the version and the operation.

use std::pin::pin;
use std::sync::Arc;

use attache_domain::{Fault, OperationKind};
use attache_wire::devtool::rest_api;
use attache_wire::{Encoding, json, rest, version};
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Method};
use serde_json::Value;

use crate::app::{App, RequestOrigin};
use crate::framing::{Framing, rest_fault};
use crate::handler::{self, OperationRequest, SendResponseForm, TaskForm};
use crate::http::Response;
use crate::request_body::RequestBody;
use crate::{body, large_bodies};

pub(crate) async fn handle(
    app: &Arc<App>,
    head: &Parts,
    body: &mut RequestBody,
    origin: RequestOrigin,
    form: TaskForm,
) -> Response {
    let path = head.uri.path();
    let route = match rest::route(head.method.as_str(), path) {
        Ok(route) => route,
        Err(fault) => return rest_fault(rest::version_of_path(path), &fault),
    };
    let used_version = route.json_form.version();
    let checked = version::parse_requested(header(&head.headers, version::HEADER_NAME), head.uri.query())
        .and_then(|requested| version::check_rest(path, used_version, requested, app.options.strict_version));
    match checked {
        Ok(()) => serve(app, route, head, body, origin, form).await,
        Err(fault) => rest_fault(used_version, &fault),
    }
}

/// Serves a request whose route is known.
pub(crate) async fn serve(
    app: &Arc<App>,
    route: rest::Route,
    head: &Parts,
    body: &mut RequestBody,
    origin: RequestOrigin,
    form: TaskForm,
) -> Response {
    let framing = match form {
        TaskForm::A2a => Framing::Rest { version: route.json_form.version() },
        TaskForm::Union => Framing::RestApi,
    };
    let bytes = if head.method == Method::POST {
        match body::read(&head.headers, body, &app.options.limits).await {
            Ok(bytes) => bytes,
            Err(fault) => return framing.fault(&fault),
        }
    } else {
        Bytes::new()
    };
    let encoding = Encoding::Json(route.json_form);
    let request = OperationRequest {
        head,
        origin,
        framing,
        encoding,
        kind: route.kind,
        send_response_form: SendResponseForm::OfVersion,
        task_form: form,
    };
    large_bodies::run(bytes.len(), pin!(answer(app, request, &route, bytes))).await
}

async fn answer(
    app: &Arc<App>,
    request: OperationRequest<'_>,
    route: &rest::Route,
    bytes: Bytes,
) -> Response {
    let body = match parse(app, &bytes) {
        Ok(body) => body,
        Err(fault) => return request.framing.fault(&fault),
    };
    drop(bytes);
    let query = request.head.uri.query().unwrap_or_default();
    let has_own_filters = request.kind == OperationKind::List && request.task_form == TaskForm::Union;
    let decode = || match has_own_filters {
        true => rest_api::decode_list(route, query),
        false => rest::decode(route, query, body),
    };
    handler::handle(app, request, decode).await
}

fn parse(app: &App, bytes: &Bytes) -> Result<Option<Value>, Fault> {
    if bytes.is_empty() {
        return Ok(None);
    }
    json::parse(bytes, app.options.limits.json_depth).map(Some)
}

pub(crate) fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    // A value that is not text is refused as an unknown version rather than ignored.
    headers.get(name).map(|value| value.to_str().unwrap_or("unreadable"))
}
