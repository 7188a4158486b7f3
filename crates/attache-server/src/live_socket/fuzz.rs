//! Arbitrary handshakes and frames of WebSocket clients.

use std::io::{self, Read, Write};

use attache_wire::jsonrpc::RequestId;
use http::HeaderMap;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Message as Frame, WebSocket};

use super::{MAX_MESSAGE_BYTES, READ_BUFFER_BYTES, handshake};
use crate::live_routes::read_request;

const MAX_DEPTH: usize = 64;

/// A request with these headers opens a socket only if it has a key, and never with a body.
pub(crate) fn accepted(headers: &HeaderMap) {
    let mut request = http::Request::builder().uri("/ws").body(()).expect("a request");
    *request.headers_mut() = headers.clone();
    let (head, ()) = request.into_parts();
    // There is no connection to switch, so it is refused at the latest for that.
    assert!(handshake::accept(&head).is_err());
    if handshake::check(&head).is_ok() {
        assert_eq!(headers.get_all("sec-websocket-key").iter().count(), 1);
        assert!(!headers.contains_key("transfer-encoding"));
        assert!(headers.get("content-length").is_none_or(|length| length == "0"));
    }
}

/// The frames of a client, read as the server reads them. A message is a request or gets an error.
pub(crate) fn frames(bytes: &[u8]) {
    let config = WebSocketConfig::default()
        .read_buffer_size(READ_BUFFER_BYTES)
        .max_message_size(Some(MAX_MESSAGE_BYTES))
        .max_frame_size(Some(MAX_MESSAGE_BYTES));
    let mut socket = WebSocket::from_raw_socket(Client(bytes), Role::Server, Some(config));
    while let Ok(frame) = socket.read() {
        if let Frame::Text(text) = frame {
            assert!(text.len() <= MAX_MESSAGE_BYTES);
            let (id, request) = read_request(text.as_bytes(), MAX_DEPTH);
            assert!(request.is_ok() || request.is_err_and(|fault| !fault.to_string().is_empty()));
            assert!(id == RequestId::Null || text.contains("id"));
        }
    }
}

/// What a client sends; it reads whatever it gets.
struct Client<'a>(&'a [u8]);

impl Read for Client<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Client<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
