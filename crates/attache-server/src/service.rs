//! The entry of every request: numbers it, checks where it comes from and who sends it, and dispatches it.

use std::sync::Arc;

use attache_domain::Fault;
use attache_wire::jsonrpc::RequestId;
use attache_wire::{Version, rest};
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, StatusCode, header};

use crate::app::{App, RequestOrigin, dispatch};
use crate::auth::Caller;
use crate::connection_origin::Admission;
use crate::http::{Body, Request, Response};
use crate::peer::Peer;
use crate::request_body::{RequestBody, UnreadBody};
use crate::{auth, cors, framing, front_page, grpc, rest_api};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Responds to one request. Also returns whether more of its body is to come.
pub(crate) async fn respond(app: Arc<App>, peer: Peer, request: Request) -> (Response, UnreadBody) {
    let number = app.next_request_number();
    let (head, body) = request.into_parts();
    let mut body = RequestBody::new(body);
    let admitted = app.guard.check_source(&head);
    let is_admitted = admitted.is_ok();
    let mut response = match admitted.and_then(|()| authenticate(&app, peer, &head)) {
        Err(fault) => refuse(&head, &fault),
        Ok(_) if head.method == Method::OPTIONS => no_content(),
        Ok(caller) => {
            let is_local = auth::is_local(peer, &head);
            let origin = RequestOrigin {
                caller,
                number,
                is_local,
                connection: peer.origin,
                answer_place: app.options.answers,
            };
            dispatch(&app, &head, &mut body, origin).await
        }
    };
    let (method, path, status) = (&head.method, head.uri.path(), response.status().as_u16());
    tracing::debug!(request = number, %method, path, status, "answered");
    let rest = body.discard_rest(&head).await;
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, HeaderValue::from(number));
    // Without it a client may send its next request into a closing connection and take that for a network error.
    if rest == UnreadBody::Incoming {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    if let Some(origin) = head.headers.get(header::ORIGIN).filter(|_| is_admitted) {
        cors::allow(&mut response, origin.clone());
    }
    (response, rest)
}

/// The card, the health check and the page for browsers are public; other paths need an authenticated caller.
fn authenticate(app: &App, peer: Peer, head: &Parts) -> Result<Caller, Fault> {
    let path = head.uri.path();
    let is_public = path == "/health"
        || path.strip_prefix("/answers").unwrap_or(path).starts_with("/.well-known/")
        || front_page::is_for(head);
    if head.method == Method::OPTIONS || is_public || (grpc::is_for(head) && grpc::is_public(path)) {
        return Ok(Caller::ANONYMOUS);
    }
    if peer.origin.admission == Admission::OverLimit {
        let limit = app.options.limits.connections_per_address;
        let what = format!(
            "this address has {limit} connections, which is the most it may have; close some of them"
        );
        return Err(Fault::LimitReached { what });
    }
    app.guard.authenticate(peer, head)
}

/// The fault as the path's binding encodes it.
fn refuse(head: &Parts, fault: &Fault) -> Response {
    let path = head.uri.path();
    if grpc::is_for(head) {
        return grpc::refuse(path, fault);
    }
    let mut response = if matches!(path, "/" | "/a2a" | "/answers") {
        framing::rpc_fault(Version::V1_0, &RequestId::Null, fault)
    } else {
        framing::rest_fault(rest::version_of_path(path), fault)
    };
    if rest_api::is_alone_on(head) {
        response = rest_api::as_json(response);
    }
    if matches!(fault, Fault::Unauthenticated | Fault::TokenNeeded) {
        let scheme = HeaderValue::from_static("Bearer realm=\"attache\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
    }
    response
}

fn no_content() -> Response {
    let mut response = Response::new(Body::from(Bytes::new()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}
