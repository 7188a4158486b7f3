//! The HTTP request that opens a WebSocket.

use attache_domain::Fault;
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, StatusCode, header};
use hyper::upgrade::OnUpgrade;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use crate::auth::LIVE_PROTOCOL;
use crate::http::{Body, Response};

const VERSION: &str = "13";

/// The response that switches protocols, and the connection once it has been sent.
pub(super) fn accept(head: &Parts) -> Result<(Response, OnUpgrade), Fault> {
    let refused = |what: &str| Fault::InvalidRequest { what: what.into() };
    if head.method != Method::GET || !has_token(head, &header::UPGRADE, "websocket") {
        return Err(refused("this path is a WebSocket: connect to it with ws://"));
    }
    if !has_token(head, &header::CONNECTION, "upgrade") {
        return Err(refused("the header Connection must say Upgrade"));
    }
    if !has_token(head, &header::SEC_WEBSOCKET_VERSION, VERSION) {
        return Err(refused("the header Sec-WebSocket-Version must be 13"));
    }
    let Some(key) = head.headers.get(header::SEC_WEBSOCKET_KEY) else {
        return Err(refused("the header Sec-WebSocket-Key is missing"));
    };
    let Some(upgrade) = head.extensions.get::<OnUpgrade>().cloned() else {
        return Err(refused("a WebSocket needs a connection of HTTP/1.1"));
    };
    let accepted = HeaderValue::from_str(&derive_accept_key(key.as_bytes())).map_err(|_| Fault::Internal)?;
    let mut response = Response::new(Body::from(bytes::Bytes::new()));
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(header::SEC_WEBSOCKET_ACCEPT, accepted);
    // The only one that is ever chosen: the others may hold a token.
    if has_token(head, &header::SEC_WEBSOCKET_PROTOCOL, LIVE_PROTOCOL) {
        headers.insert(header::SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(LIVE_PROTOCOL));
    }
    Ok((response, upgrade))
}

/// Adds the version of the protocol to a refusal of the handshake.
pub(super) fn refusal(head: &Parts, mut response: Response) -> Response {
    if !has_token(head, &header::SEC_WEBSOCKET_VERSION, VERSION) {
        response.headers_mut().insert(header::SEC_WEBSOCKET_VERSION, HeaderValue::from_static(VERSION));
    }
    response
}

fn has_token(head: &Parts, name: &HeaderName, token: &str) -> bool {
    let values = head.headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|value| value.trim().eq_ignore_ascii_case(token))
}
