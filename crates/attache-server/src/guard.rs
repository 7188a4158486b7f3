//! The first thing every request meets: where it comes from, who sends it, and its number.

use std::convert::Infallible;
use std::sync::Arc;

use attache_domain::Fault;
use attache_wire::jsonrpc::RequestId;
use attache_wire::{Version, rest};
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, StatusCode, header};
use hyper::body::Body as _;

use crate::app::{Admitted, App, dispatch};
use crate::auth::Caller;
use crate::http::{Body, Request, Response};
use crate::{cors, framing, grpc};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Answers one request, whoever it is from; always.
pub(crate) async fn answer(app: Arc<App>, request: Request) -> Result<Response, Infallible> {
    let number = app.next_request_number();
    let origin = request.headers().get(header::ORIGIN).cloned();
    let mut response = match check(&app, &request) {
        Err(fault) => ending_early(&request, refuse(&request, &fault)),
        Ok(_) if request.method() == Method::OPTIONS => no_content(),
        Ok(caller) if tracing::enabled!(tracing::Level::DEBUG) => {
            let (method, path) = (request.method().clone(), request.uri().path().to_owned());
            let response = dispatch(&app, request, Admitted { caller, number }).await;
            tracing::debug!(request = number, %method, path, status = response.status().as_u16(), "answered");
            response
        }
        Ok(caller) => dispatch(&app, request, Admitted { caller, number }).await,
    };
    response.headers_mut().insert(REQUEST_ID, HeaderValue::from(number));
    if let Some(origin) = origin {
        cors::allow(&mut response, origin);
    }
    Ok(response)
}

/// The card and the health check are public; everything else is for callers.
fn check(app: &App, request: &Request) -> Result<Caller, Fault> {
    let authority = request.uri().authority().map(|authority| authority.as_str());
    app.gate.check_source(authority, request.headers())?;
    let path = request.uri().path();
    let is_public = path == "/health" || path.starts_with("/.well-known/");
    if request.method() == Method::OPTIONS || is_public || (grpc::is_for(request) && grpc::is_public(path)) {
        return Ok(Caller::NOBODY);
    }
    app.gate.authenticate(request.headers())
}

/// Spelled for the binding that the path belongs to.
fn refuse(request: &Request, fault: &Fault) -> Response {
    let path = request.uri().path();
    if grpc::is_for(request) {
        return grpc::refuse(path, fault);
    }
    let mut response = if path == "/" {
        framing::rpc_fault(Version::V1_0, &RequestId::Null, fault)
    } else {
        framing::rest_fault(rest::version_of_path(path), fault)
    };
    if *fault == Fault::Unauthenticated {
        let scheme = HeaderValue::from_static("Bearer realm=\"attache\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
    }
    response
}

/// An HTTP/1 connection ends when the body of a request was not read. A client that is not told so may send its next
/// request into it and take that for a broken network.
fn ending_early(request: &Request, mut response: Response) -> Response {
    if request.version() < http::Version::HTTP_2 && !request.body().is_end_stream() {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

fn no_content() -> Response {
    let mut response = Response::new(Body::from(Bytes::new()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}
