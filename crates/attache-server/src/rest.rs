//! The HTTP+JSON binding: the path tells the version and the operation.

use std::sync::Arc;

use attache_domain::Fault;
use attache_wire::{json, rest, version};
use http::{HeaderMap, Method};
use hyper::body::Incoming;
use serde_json::Value;

use crate::app::{Admitted, App};
use crate::body;
use crate::framing::{Framing, rest_fault};
use crate::http::{Request, Response};
use crate::perform::{JsonRequest, perform};

pub(crate) async fn handle(app: &Arc<App>, request: Request, admitted: Admitted) -> Response {
    let (head, body) = request.into_parts();
    let path = head.uri.path();
    let route = match rest::route(head.method.as_str(), path) {
        Ok(route) => route,
        Err(fault) => return rest_fault(rest::version_of_path(path), &fault),
    };
    let spoken = route.dialect.version();
    let framing = Framing::Rest { version: spoken };
    let checked = version::parse_requested(header(&head.headers, version::NAME), head.uri.query())
        .and_then(|requested| version::check_rest(path, spoken, requested, app.options.strict_version));
    if let Err(fault) = checked {
        return framing.fault(&fault);
    }
    let body = match read_body(app, &head.method, &head.headers, body).await {
        Ok(body) => body,
        Err(fault) => return framing.fault(&fault),
    };
    let decode = || rest::decode(&route, head.uri.query().unwrap_or_default(), body);
    let request = JsonRequest { head: &head, admitted, framing, dialect: route.dialect, kind: route.kind };
    perform(app, request, decode).await
}

async fn read_body(
    app: &App,
    method: &Method,
    headers: &HeaderMap,
    body: Incoming,
) -> Result<Option<Value>, Fault> {
    if method != Method::POST {
        return Ok(None);
    }
    let limits = &app.options.limits;
    let bytes = body::read(headers, body, limits).await?;
    if bytes.is_empty() {
        return Ok(None);
    }
    json::parse(&bytes, limits.json_depth).map(Some)
}

pub(crate) fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    // A value that is not text is no version we know, so it is shown as such rather than ignored.
    headers.get(name).map(|value| value.to_str().unwrap_or("unreadable"))
}
