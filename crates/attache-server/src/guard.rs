//! The first thing every request meets: where it comes from, who sends it, and its number.

use std::sync::Arc;

use attache_domain::Fault;
use attache_wire::Version;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::app::App;
use crate::{cors, framing};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The number under which a request is found in the logs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestNumber(pub(crate) u64);

pub(crate) async fn admit(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let number = app.next_request_number();
    let origin = request.headers().get(header::ORIGIN).cloned();
    let mut response = match check(&app, &request) {
        Err(fault) => refuse(&request, &fault),
        Ok(_) if request.method() == Method::OPTIONS => StatusCode::NO_CONTENT.into_response(),
        Ok(caller) => {
            let method = tracing::enabled!(tracing::Level::DEBUG).then(|| request.method().clone());
            let path = method.as_ref().map(|_| request.uri().path().to_owned());
            request.extensions_mut().insert(caller);
            request.extensions_mut().insert(RequestNumber(number));
            let response = next.run(request).await;
            if let (Some(method), Some(path)) = (method, path) {
                let status = response.status().as_u16();
                tracing::debug!(request = number, %method, path, status, "answered");
            }
            response
        }
    };
    response.headers_mut().insert(REQUEST_ID, HeaderValue::from(number));
    if let Some(origin) = origin {
        cors::allow(&mut response, origin);
    }
    response
}

/// The card and the health check are public; everything else is for callers.
fn check(app: &App, request: &Request) -> Result<crate::auth::Caller, Fault> {
    let authority = request.uri().authority().map(|authority| authority.as_str());
    app.gate.check_source(authority, request.headers())?;
    let path = request.uri().path();
    if request.method() == Method::OPTIONS || path == "/health" || path.starts_with("/.well-known/") {
        return Ok(crate::auth::Caller { owner: "" });
    }
    app.gate.authenticate(request.headers())
}

/// Spelled for the binding that the path belongs to.
fn refuse(request: &Request, fault: &Fault) -> Response {
    let path = request.uri().path();
    let mut response = if path == "/" {
        framing::rpc_fault(Version::V1_0, &attache_wire::jsonrpc::RequestId::Null, fault)
    } else {
        framing::rest_fault(attache_wire::rest::version_of_path(path), fault)
    };
    if *fault == Fault::Unauthenticated {
        let scheme = HeaderValue::from_static("Bearer realm=\"attache\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
    }
    response
}
