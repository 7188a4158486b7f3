//! Responses of gRPC: always HTTP 200, with the status in the trailers.

use attache_wire::proto::{GrpcCode, GrpcStatus};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bytes::Bytes;
use futures_util::Stream;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use http_body::Frame;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::frame;
use crate::http::{Body, Response};

const STATUS: HeaderName = HeaderName::from_static("grpc-status");
const MESSAGE: HeaderName = HeaderName::from_static("grpc-message");
const DETAILS: HeaderName = HeaderName::from_static("grpc-status-details-bin");
const ACCEPTED: HeaderName = HeaderName::from_static("grpc-accept-encoding");

/// One frame, then success.
pub(crate) fn message(mut out: Vec<u8>) -> Response {
    out.shrink_to_fit();
    response(Body::Answer(out.into(), Some(Box::new(success()))))
}

/// Frames that end with trailers.
pub(super) fn stream(frames: impl Stream<Item = Frame<Bytes>> + Send + 'static) -> Response {
    response(Body::Frames(Box::pin(frames)))
}

/// No message: the status comes in the headers.
pub(crate) fn failure(status: &GrpcStatus) -> Response {
    let mut response = response(Body::from(Bytes::new()));
    write(status, response.headers_mut());
    if status.code == GrpcCode::Unimplemented {
        response.headers_mut().insert(ACCEPTED, HeaderValue::from_static(frame::ACCEPTED_COMPRESSIONS));
    }
    response
}

pub(super) fn success() -> HeaderMap {
    HeaderMap::from_iter([(STATUS, HeaderValue::from_static("0"))])
}

pub(super) fn trailers(status: &GrpcStatus) -> HeaderMap {
    let mut trailers = HeaderMap::new();
    write(status, &mut trailers);
    trailers
}

fn response(body: Body) -> Response {
    let mut response = Response::new(body);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    response
}

fn write(status: &GrpcStatus, headers: &mut HeaderMap) {
    headers.insert(STATUS, HeaderValue::from(status.code as u16));
    if let Ok(message) = HeaderValue::from_str(&percent_encoded(&status.message))
        && !message.is_empty()
    {
        headers.insert(MESSAGE, message);
    }
    if !status.details.is_empty()
        && let Ok(details) = HeaderValue::from_str(&STANDARD_NO_PAD.encode(&status.details))
    {
        headers.insert(DETAILS, details);
    }
}

/// Percent-encodes everything but printable ASCII, and the percent sign.
fn percent_encoded(text: &str) -> String {
    const ENCODED: &AsciiSet = &CONTROLS.add(b'%');
    utf8_percent_encode(text, ENCODED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_put_into_percent_form() {
        assert_eq!(percent_encoded("plain text, with \"quotes\""), "plain text, with \"quotes\"");
        assert_eq!(percent_encoded("100 %\n…"), "100 %25%0A%E2%80%A6");
    }
}
