//! Arbitrary bytes as frames and as reflection requests.

use attache_proto::reflection::{ServerReflectionRequest, ServerReflectionResponse};
use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use prost::Message;

use super::frame::{self, Compression, PREFIX_BYTES};
use super::{deadline, reflection};
use crate::Limits;
use crate::fuzz::wait;

/// Small enough that generated messages pass it now and then.
const LIMIT: usize = 1000;
/// More than the longest of our own definitions.
const MAX_DEFINITION: usize = 128 << 10;

/// However the bytes are cut, the same messages come out, none is too large, and a body with exactly one message is that
/// message.
pub(crate) fn frames(bytes: &[u8]) {
    let limits = Limits { body_bytes: LIMIT, ..Limits::default() };
    for encoding in [Compression::Identity, Compression::Gzip] {
        let (whole, end) = messages(bytes.chunks(bytes.len().max(1)), encoding);
        for size in [1, 7, 64] {
            assert_eq!(
                messages(bytes.chunks(size), encoding),
                (whole.clone(), end.clone()),
                "in pieces of {size}"
            );
        }
        let only = wait(frame::single_message(Bytes::copy_from_slice(bytes), encoding, &limits));
        match (whole.as_slice(), &end) {
            ([message], Ok(0)) => assert_eq!(only.as_ref(), Ok(message)),
            _ => assert!(only.is_err(), "{only:?} of {whole:?} and {end:?}"),
        }
        for message in &whole {
            assert!(message.len() <= LIMIT);
            let again = frame::framed(message);
            assert_eq!(wait(frame::single_message(again.into(), encoding, &limits)).as_ref(), Ok(message));
        }
    }
}

/// The messages, then how many bytes are left or the fault.
fn messages<'a>(
    pieces: impl Iterator<Item = &'a [u8]>,
    encoding: Compression,
) -> (Vec<Bytes>, Result<usize, String>) {
    let (mut buffer, mut found) = (BytesMut::new(), Vec::new());
    for piece in pieces {
        buffer.extend_from_slice(piece);
        loop {
            match frame::next_message(&mut buffer, encoding, LIMIT) {
                Ok(Some(message)) => found.push(message),
                Ok(None) => break,
                Err(fault) => return (found, Err(fault.to_string())),
            }
        }
    }
    let left = buffer.len();
    assert!(left < LIMIT + PREFIX_BYTES, "no more is kept than a message");
    (found, Ok(left))
}

/// A request has a response, at most as long as a descriptor.
pub(crate) fn question(bytes: &[u8]) {
    let Ok(question) = ServerReflectionRequest::decode(bytes) else { return };
    let answer = reflection::respond_to(question.clone());
    assert!(answer.len() <= MAX_DEFINITION + 3 * bytes.len(), "{} bytes", answer.len());
    let answer = ServerReflectionResponse::decode(&answer[PREFIX_BYTES..]).expect("an answer can be read");
    assert_eq!(answer.original_request, Some(question));
    assert!(answer.message_response.is_some(), "every question has an answer");
}

/// Headers for compression and deadline.
pub(crate) fn head(headers: &HeaderMap) {
    if let Err(status) = Compression::of(headers) {
        assert!(status.message.len() <= 400, "{}", status.message);
    }
    let timeout = headers.get("grpc-timeout");
    assert!(timeout.is_some() || deadline::of(headers) == Ok(None), "nobody waits for nothing");
    // At most a hundred million hours.
    if let Ok(Some(deadline)) = deadline::of(headers) {
        assert!(timeout.is_some_and(|text| text.len() <= 9), "{deadline:?}");
    }
}
