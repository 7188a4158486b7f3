//! Entry points for arbitrary bytes: none may panic, and what was parsed must be consistent.
//!
//! Called by the tests of this crate and by the targets in the folder `fuzz`. Nothing here opens a socket.

use std::sync::LazyLock;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use http_body_util::Full;
use tokio::runtime::{Builder, Runtime};

use crate::{Limits, auth, body, grpc, listen, live_socket, push_sender};

/// The body of a gRPC request, as frames.
pub fn grpc_frames(body: &[u8]) {
    grpc::fuzz::frames(body);
}

/// A request to the reflection service.
pub fn grpc_reflection(message: &[u8]) {
    grpc::fuzz::question(message);
}

/// Bytes of an HTTP/2 client.
pub fn http2_frames(bytes: &[u8]) {
    listen::frame_counter::fuzz::counted(bytes);
}

/// Bytes of an HTTP/1 client.
pub fn http1_heads(bytes: &[u8]) {
    listen::head_filter::fuzz::watched(bytes);
}

/// Frames of a WebSocket client.
pub fn socket_frames(bytes: &[u8]) {
    live_socket::fuzz::frames(bytes);
}

/// Lines with headers, an empty line, and a body.
pub fn head(request: &[u8]) {
    let (headers, body) = parts(request);
    auth::fuzz::caller(&headers);
    live_socket::fuzz::accepted(&headers);
    grpc::fuzz::head(&headers);
    let limits = Limits { body_bytes: 1000, ..Limits::default() };
    let read = wait(body::read(&headers, Full::new(Bytes::copy_from_slice(body)), &limits));
    if let Ok(read) = read {
        assert!(read == body && read.len() <= limits.body_bytes);
        let packed =
            headers.get_all(header::CONTENT_ENCODING).iter().any(|value| value.as_bytes() == b"gzip");
        assert!(!packed, "nothing is unpacked");
    }
}

/// The address of a webhook, and after a line break its `Retry-After`.
pub fn webhook(text: &[u8]) {
    push_sender::fuzz::webhook(&String::from_utf8_lossy(text));
}

/// Lines that are no headers are left out.
fn parts(request: &[u8]) -> (HeaderMap, &[u8]) {
    let mut headers = HeaderMap::new();
    let mut rest = request;
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let line = rest[..end].trim_ascii();
        rest = &rest[end + 1..];
        if line.is_empty() {
            break;
        }
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let name = HeaderName::from_bytes(&line[..colon]);
        let value = HeaderValue::from_bytes(line[colon + 1..].trim_ascii());
        if let (Ok(name), Ok(value)) = (name, value)
            && headers.len() < 100
        {
            headers.append(name, value);
        }
    }
    (headers, rest)
}

/// The result of a future that is ready at once.
pub(crate) fn wait<F: Future>(future: F) -> F::Output {
    static RUNTIME: LazyLock<Runtime> =
        LazyLock::new(|| Builder::new_current_thread().enable_time().build().expect("a runtime"));
    RUNTIME.block_on(future)
}

#[cfg(test)]
mod tests {
    use attache_testkit::fuzzing::{check_arbitrary_bytes, check_likely_input};

    use super::*;

    /// Pieces of valid input, so that parsers get beyond the first byte.
    const WORDS: &[&[u8]] = &[
        b"\0",
        b"\x01",
        b"\0\0\0\0\x03",
        b"\x01\0\0\0\x17",
        b"\x1f\x8b\x08\0\0\0\0\0\0\xff",
        b"abc",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x1a\x03",
        b"\x22\x11lf.a2a.v1.Message",
        b"host: ",
        b"localhost",
        b"agent.example",
        b"127.0.0.1",
        b":80",
        b"@evil.example",
        b"origin: http://",
        b"authorization: Bearer secret",
        b"content-type: application/json",
        b"content-encoding: gzip",
        b"connection: upgrade\nupgrade: websocket\nsec-websocket-version: 13",
        b"sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==",
        b"content-length: 3",
        b"\x81\x8f\0\0\0\0{\"text\":\"List\"}",
        b"\x01\x88\0\0\0\0{\"text\":",
        b"\x80\x84\0\0\0\0\"a\"}",
        b"\x89\x80\0\0\0\0",
        b"\x81\xe5\0\0\0\0{\"jsonrpc\":\"2.0\",\"method\":\"tools/register\",\"params\":{\"mcpServers\":{\"a\":{\"url\":\"http://127.0.0.1/\"}}}}",
        b"grpc-timeout: 1S",
        b"grpc-encoding: gzip",
        b"\n",
        b"\n\n",
        b"https://",
        b"Sun, 15 Nov 2026 20:01:30 GMT",
        b"7",
    ];

    fn all(bytes: &[u8]) {
        grpc_frames(bytes);
        grpc_reflection(bytes);
        http2_frames(bytes);
        http1_heads(bytes);
        socket_frames(bytes);
        head(bytes);
        webhook(bytes);
    }

    #[test]
    fn what_once_did_harm_does_none() {
        head(b"host: agent.example:4@3\n");
        head(b"host: localhost:@evil.example\norigin: http://localhost:@evil.example\n");
        head(b"host: evil.example/.localhost\n");
    }

    #[test]
    fn arbitrary_bytes_do_no_harm() {
        check_arbitrary_bytes(all);
    }

    #[test]
    fn likely_bytes_do_no_harm() {
        check_likely_input(WORDS, 20, all);
    }
}
