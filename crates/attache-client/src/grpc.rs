//! The frames and the status of gRPC over HTTP/2.

use std::io::Read as _;

use attache_net::{HttpResponse, NetError};
use attache_wire::client::Protocol;
use flate2::read::GzDecoder;

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
    /// Compressed messages are gzip. This client asks for none, and some servers compress regardless.
    is_gzip: bool,
}

impl FrameParser {
    pub(crate) fn new(max_message_bytes: usize, is_gzip: bool) -> Self {
        Self { buffer: Vec::new(), max_message_bytes, is_gzip }
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole message.
    pub(crate) fn next_message(&mut self) -> Result<Option<Vec<u8>>, ClientError> {
        let Some((head, rest)) = self.buffer.split_first_chunk::<HEAD>() else { return Ok(None) };
        let [flag, length @ ..] = *head;
        let length = u32::from_be_bytes(length) as usize;
        let is_compressed = flag != 0;
        if is_compressed && !self.is_gzip {
            return Err(ClientError::Malformed { what: "a compressed message that is not gzip".into() });
        }
        if length > self.max_message_bytes {
            let what = format!("a message of {length} bytes; at most {} are read", self.max_message_bytes);
            return Err(ClientError::Malformed { what });
        }
        if rest.len() < length {
            return Ok(None);
        }
        let message = match is_compressed {
            true => self.inflated(&rest[..length])?,
            false => rest[..length].to_vec(),
        };
        self.buffer.drain(..HEAD + length);
        Ok(Some(message))
    }

    /// Stops at the limit for a message, however much more would come.
    fn inflated(&self, compressed: &[u8]) -> Result<Vec<u8>, ClientError> {
        let limit = self.max_message_bytes;
        let mut message = Vec::new();
        let mut decoder = GzDecoder::new(compressed).take(limit as u64 + 1);
        decoder.read_to_end(&mut message).map_err(|_| ClientError::Malformed {
            what: "a compressed message that cannot be read".into(),
        })?;
        if message.len() > limit {
            let what =
                format!("a compressed message of more than {limit} bytes, which is the most that is read");
            return Err(ClientError::Malformed { what });
        }
        Ok(message)
    }
}

/// How the messages of a response are compressed, if some are.
pub(crate) fn is_gzip(response: &HttpResponse) -> bool {
    response.header("grpc-encoding").is_some_and(|name| name.trim().eq_ignore_ascii_case("gzip"))
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
    use std::io::Write as _;

    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn messages_come_out_of_their_frames_however_they_are_cut() {
        let whole = [frame(b"one").unwrap(), frame(b"").unwrap(), frame(b"three").unwrap()].concat();
        for size in 1..whole.len() {
            let (mut parser, mut found) = (FrameParser::new(10, false), Vec::new());
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
            let mut parser = FrameParser::new(10, false);
            parser.push(&frame);
            let error = parser.next_message().unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn a_message_of_gzip_is_read_up_to_the_limit() {
        let compressed = |message: &[u8]| {
            let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(message).unwrap();
            let mut framed = frame(&encoder.finish().unwrap()).unwrap();
            framed[0] = 1;
            framed
        };
        let mut parser = FrameParser::new(100, true);
        parser.push(&[compressed(b"one"), frame(b"two").unwrap()].concat());
        assert_eq!(parser.next_message().unwrap(), Some(b"one".to_vec()));
        assert_eq!(parser.next_message().unwrap(), Some(b"two".to_vec()));
        for (bytes, part) in
            [(compressed(&[0; 5000]), "more than 100 bytes"), (vec![1, 0, 0, 0, 1, 9], "be read")]
        {
            let mut parser = FrameParser::new(100, true);
            parser.push(&bytes);
            let error = parser.next_message().unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
