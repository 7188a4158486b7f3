//! The frames and the status of gRPC over HTTP/2.

use attache_net::{HttpResponse, NetError};
use attache_wire::client::Protocol;

use crate::ClientError;

/// One message, not compressed.
pub(crate) fn frame(message: &[u8]) -> Result<Vec<u8>, ClientError> {
    let length = u32::try_from(message.len())
        .map_err(|_| ClientError::Malformed { what: "the message is too large for gRPC".into() })?;
    let mut frame = Vec::with_capacity(HEAD + message.len());
    frame.push(0);
    frame.extend_from_slice(&length.to_be_bytes());
    frame.extend_from_slice(message);
    Ok(frame)
}

/// A flag and a length.
const HEAD: usize = 5;

/// Takes messages out of their frames.
#[derive(Debug)]
pub(crate) struct FrameParser {
    buffer: Vec<u8>,
    max_message_bytes: usize,
}

impl FrameParser {
    pub(crate) fn new(max_message_bytes: usize) -> Self {
        Self { buffer: Vec::new(), max_message_bytes }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole message.
    pub(crate) fn next_message(&mut self) -> Result<Option<Vec<u8>>, ClientError> {
        let Some((head, rest)) = self.buffer.split_first_chunk::<HEAD>() else { return Ok(None) };
        let [flag, length @ ..] = *head;
        let length = u32::from_be_bytes(length) as usize;
        if flag != 0 {
            return Err(ClientError::Malformed {
                what: "a compressed message, although no compression was requested".into(),
            });
        }
        if length > self.max_message_bytes {
            let what = format!("a message of {length} bytes; at most {} are read", self.max_message_bytes);
            return Err(ClientError::Malformed { what });
        }
        if rest.len() < length {
            return Ok(None);
        }
        let message = rest[..length].to_vec();
        self.buffer.drain(..HEAD + length);
        Ok(Some(message))
    }
}

/// How the call ended: the status stands after the body, or in the head of a response without one.
pub(crate) fn end_of_call(response: &HttpResponse, protocol: Protocol) -> Result<(), ClientError> {
    let field = |name: &str| response.trailer(name).or_else(|| response.header(name));
    match field("grpc-status") {
        Some("0") => Ok(()),
        Some(code) => {
            let message = field("grpc-message").unwrap_or_default();
            let details = field("grpc-status-details-bin").unwrap_or_default();
            Err(protocol.decode_grpc_status(code, message, details).into())
        }
        None if response.status() == 200 => {
            Err(NetError::Interrupted { what: "the call ended without a status".into() }.into())
        }
        None => Err(ClientError::from_status(response.status(), b"")),
    }
}

/// Whether the response can hold messages.
pub(crate) fn is_grpc(response: &HttpResponse) -> bool {
    response.status() == 200
        && response.header("content-type").is_some_and(|kind| kind.starts_with("application/grpc"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_out_of_their_frames_however_they_are_cut() {
        let whole = [frame(b"one").unwrap(), frame(b"").unwrap(), frame(b"three").unwrap()].concat();
        for size in 1..whole.len() {
            let (mut parser, mut found) = (FrameParser::new(10), Vec::new());
            for piece in whole.chunks(size) {
                parser.push(piece);
                while let Some(message) = parser.next_message().unwrap() {
                    found.push(message);
                }
            }
            assert_eq!(found, [b"one".to_vec(), b"".to_vec(), b"three".to_vec()], "{size}");
        }
    }

    #[test]
    fn a_frame_that_is_too_large_or_compressed_is_refused() {
        for (frame, part) in [(frame(&[0; 11]).unwrap(), "11 bytes"), (vec![1, 0, 0, 0, 0], "compressed")] {
            let mut parser = FrameParser::new(10);
            parser.push(&frame);
            let error = parser.next_message().unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
