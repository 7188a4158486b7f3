//! The HTTP+JSON binding: the path tells the version and the operation.

use std::sync::Arc;

use attache_domain::Fault;
use attache_wire::{json, rest, version};
use http::request::Parts;
use http::{HeaderMap, Method};
use serde_json::Value;

use crate::app::{Admitted, App};
use crate::arriving::Arriving;
use crate::body;
use crate::framing::{Framing, rest_fault};
use crate::http::Response;
use crate::perform::{JsonRequest, perform};

pub(crate) async fn handle(
    app: &Arc<App>,
    head: &Parts,
    body: &mut Arriving,
    admitted: Admitted,
) -> Response {
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
    let body = match read_body(app, head, body).await {
        Ok(body) => body,
        Err(fault) => return framing.fault(&fault),
    };
    let decode = || rest::decode(&route, head.uri.query().unwrap_or_default(), body);
    let request = JsonRequest { head, admitted, framing, dialect: route.dialect, kind: route.kind };
    perform(app, request, decode).await
}

async fn read_body(app: &App, head: &Parts, body: &mut Arriving) -> Result<Option<Value>, Fault> {
    if head.method != Method::POST {
        return Ok(None);
    }
    let limits = &app.options.limits;
    let bytes = body::read(&head.headers, body, limits).await?;
    if bytes.is_empty() {
        return Ok(None);
    }
    json::parse(&bytes, limits.json_depth).map(Some)
}

pub(crate) fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    // A value that is not text is no version we know, so it is shown as such rather than ignored.
    headers.get(name).map(|value| value.to_str().unwrap_or("unreadable"))
}
