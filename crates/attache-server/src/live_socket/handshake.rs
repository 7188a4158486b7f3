//! The HTTP request that opens a WebSocket.

use attache_domain::Fault;
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, StatusCode, Version, header};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use hyper_util::server::conn::auto::upgrade::downcast;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use crate::auth::LIVE_PROTOCOL;
use crate::http::{Body, Response};
use crate::listen::Socket;

const VERSION: &str = "13";

/// The length of sixteen bytes in base64.
const KEY_LENGTH: usize = 24;

/// The response that switches protocols, and the connection once it has been sent.
pub(super) fn accept(head: &Parts) -> Result<(Response, OnUpgrade), Fault> {
    let accepted = check(head)?;
    let Some(upgrade) = head.extensions.get::<OnUpgrade>().cloned() else {
        return Err(refused("a WebSocket needs a connection of HTTP/1.1"));
    };
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

fn refused(what: &str) -> Fault {
    Fault::InvalidRequest { what: what.into() }
}

/// Returns the value that accepts the client's key.
pub(super) fn check(head: &Parts) -> Result<HeaderValue, Fault> {
    if head.method != Method::GET || !has_token(head, &header::UPGRADE, "websocket") {
        return Err(refused("this path is a WebSocket: connect to it with ws://"));
    }
    if head.version != Version::HTTP_11 {
        return Err(refused("a WebSocket needs a connection of HTTP/1.1"));
    }
    if !has_token(head, &header::CONNECTION, "upgrade") {
        return Err(refused("the header Connection must say Upgrade"));
    }
    if single(head, &header::SEC_WEBSOCKET_VERSION).is_none_or(|version| version != VERSION) {
        return Err(refused("the header Sec-WebSocket-Version must be 13"));
    }
    let key = single(head, &header::SEC_WEBSOCKET_KEY).filter(|key| is_key(key));
    let Some(key) = key else {
        return Err(refused("the header Sec-WebSocket-Key must be one value of 16 bytes in base64"));
    };
    // A body would be taken for frames, and a proxy may see another request in it.
    let has_length = single(head, &header::CONTENT_LENGTH).is_some_and(|length| length != "0")
        || head.headers.get_all(header::CONTENT_LENGTH).iter().count() > 1;
    if has_length || head.headers.contains_key(header::TRANSFER_ENCODING) {
        return Err(refused("the request that opens a WebSocket has no body"));
    }
    HeaderValue::from_str(&derive_accept_key(key.as_bytes())).map_err(|_| Fault::Internal)
}

/// The connection after the handshake. `None` if the client did not wait for the response: what it sent was read, and
/// checked, as HTTP.
pub(super) fn socket_of(upgraded: Upgraded) -> Option<Socket> {
    let parts = downcast::<TokioIo<Socket>>(upgraded).ok()?;
    parts.read_buf.is_empty().then(|| parts.io.into_inner())
}

/// Adds the version of the protocol to a refusal of the handshake.
pub(super) fn refusal(head: &Parts, mut response: Response) -> Response {
    if !has_token(head, &header::SEC_WEBSOCKET_VERSION, VERSION) {
        response.headers_mut().insert(header::SEC_WEBSOCKET_VERSION, HeaderValue::from_static(VERSION));
    }
    response
}

fn is_key(key: &str) -> bool {
    let digits = key.trim_end_matches('=');
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    key.len() == KEY_LENGTH && digits.len() == KEY_LENGTH - 2 && digits.bytes().all(is_digit)
}

/// The value of a header that occurs once.
fn single<'a>(head: &'a Parts, name: &HeaderName) -> Option<&'a str> {
    let mut values = head.headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?.trim();
    values.next().is_none().then_some(value)
}

fn has_token(head: &Parts, name: &HeaderName, token: &str) -> bool {
    let values = head.headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|value| value.trim().eq_ignore_ascii_case(token))
}
