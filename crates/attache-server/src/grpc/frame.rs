//! gRPC frames: a prefix of five bytes (compressed or not, and the length), then the message.

use std::io::{Read, Write};
use std::pin::pin;

use attache_domain::Fault;
use attache_wire::proto::{GrpcCode, GrpcStatus};
use bytes::{Buf, Bytes, BytesMut};
use flate2::read::GzDecoder;
use http::HeaderMap;

use crate::{Limits, body, large_bodies};

/// The size of the prefix.
pub(super) const PREFIX_BYTES: usize = 5;

/// A byte of gzip decompresses to at most about this many.
const MAX_EXPANSION: usize = 1024;

/// How a request compresses its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compression {
    Identity,
    Gzip,
}

/// The supported values, for clients that try another.
pub(super) const ACCEPTED_COMPRESSIONS: &str = "identity,gzip";

impl Compression {
    pub(super) fn of(headers: &HeaderMap) -> Result<Self, GrpcStatus> {
        match headers.get("grpc-encoding").map(|value| value.to_str().unwrap_or("unreadable").trim()) {
            None | Some("identity") => Ok(Self::Identity),
            Some("gzip") => Ok(Self::Gzip),
            Some(other) => {
                let other: String = other.chars().take(40).collect();
                let message =
                    format!("messages may be compressed as {ACCEPTED_COMPRESSIONS}, not as {other:?}");
                Err(GrpcStatus { code: GrpcCode::Unimplemented, message, details: Vec::new() })
            }
        }
    }

    /// Refuses compressed messages when the request names no compression.
    fn check(self) -> Result<(), Fault> {
        match self {
            Self::Gzip => Ok(()),
            Self::Identity => Err(malformed("the message is compressed, but grpc-encoding does not say how")),
        }
    }
}

/// Makes room for the prefix of a message; [`close`] fills it in.
pub(crate) fn open(out: &mut Vec<u8>) {
    out.resize(out.len() + PREFIX_BYTES, 0);
}

/// Fills in the prefix at `start` of the message that ends here.
pub(crate) fn close(out: &mut [u8], start: usize) {
    let length = u32::try_from(out.len() - start - PREFIX_BYTES).unwrap_or(u32::MAX);
    out[start] = 0;
    out[start + 1..start + PREFIX_BYTES].copy_from_slice(&length.to_be_bytes());
}

/// A frame around a whole message.
pub(super) fn framed(message: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(PREFIX_BYTES + message.len());
    open(&mut out);
    out.extend_from_slice(message);
    close(&mut out, 0);
    out
}

/// The message of a body that holds exactly one. The limit also holds for its decompressed size.
pub(super) async fn single_message(
    body: Bytes,
    encoding: Compression,
    limits: &Limits,
) -> Result<Bytes, Fault> {
    let limit = limits.body_bytes;
    let Prefix { compressed, length } = match Prefix::of(&body, limit)? {
        Some(prefix) => prefix,
        None if body.is_empty() => return Err(malformed("the request holds no message")),
        None => return Err(malformed("the message broke off")),
    };
    let message = body.slice(PREFIX_BYTES..);
    match message.len() {
        found if found < length => return Err(malformed("the message broke off")),
        found if found > length => return Err(malformed("the request holds more than one message")),
        _ => {}
    }
    if !compressed {
        return Ok(message);
    }
    encoding.check()?;
    // Decompressed twice: first to measure, then into reserved memory.
    let worst = message.len().saturating_mul(MAX_EXPANSION);
    let length =
        large_bodies::run(worst, pin!(async { decompress(&message, limit, &mut std::io::sink()) })).await?;
    body::decompressed(length, limits, || {
        let mut unpacked = Vec::with_capacity(length);
        decompress(&message, limit, &mut unpacked)?;
        Ok(unpacked)
    })
    .await
}

/// Takes the first message from the front of `buffer` once it is complete. For small messages.
pub(super) fn next_message(
    buffer: &mut BytesMut,
    encoding: Compression,
    limit: usize,
) -> Result<Option<Bytes>, Fault> {
    let Some(Prefix { compressed, length }) = Prefix::of(buffer, limit)? else { return Ok(None) };
    if buffer.len() < PREFIX_BYTES + length {
        return Ok(None);
    }
    buffer.advance(PREFIX_BYTES);
    let message = buffer.split_to(length).freeze();
    if !compressed {
        return Ok(Some(message));
    }
    encoding.check()?;
    let mut unpacked = Vec::new();
    decompress(&message, limit, &mut unpacked)?;
    Ok(Some(unpacked.into()))
}

struct Prefix {
    compressed: bool,
    length: usize,
}

impl Prefix {
    fn of(buffer: &[u8], limit: usize) -> Result<Option<Self>, Fault> {
        let Some(&[flag, a, b, c, d]) = buffer.first_chunk::<PREFIX_BYTES>() else { return Ok(None) };
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if length > limit {
            return Err(Fault::BodyTooLarge { limit });
        }
        match flag {
            0 | 1 => Ok(Some(Self { compressed: flag == 1, length })),
            _ => Err(malformed("the message's first byte is neither 0 nor 1")),
        }
    }
}

/// Returns the decompressed size, at most `limit`.
fn decompress(message: &[u8], limit: usize, out: &mut impl Write) -> Result<usize, Fault> {
    let most = limit as u64 + 1;
    match std::io::copy(&mut GzDecoder::new(message).take(most), out) {
        Ok(length) => usize::try_from(length).ok().filter(|length| *length <= limit),
        Err(error) => return Err(malformed(&format!("the message cannot be decompressed: {error}"))),
    }
    .ok_or(Fault::BodyTooLarge { limit })
}

fn malformed(what: &str) -> Fault {
    Fault::InvalidRequest { what: what.to_owned() }
}

#[cfg(test)]
mod tests {
    use flate2::write::GzEncoder;

    use super::*;

    fn framed(flag: u8, message: &[u8]) -> Vec<u8> {
        let mut out = vec![flag];
        out.extend_from_slice(&u32::try_from(message.len()).unwrap().to_be_bytes());
        out.extend_from_slice(message);
        out
    }

    fn gzip(message: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(message).unwrap();
        encoder.finish().unwrap()
    }

    async fn check(body: &[u8], encoding: Compression, expected: Result<&[u8], &str>) {
        let limits = Limits { body_bytes: 100, ..Limits::default() };
        let found = single_message(Bytes::copy_from_slice(body), encoding, &limits).await;
        let found = found.map_err(|fault| fault.to_string());
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(found), Err(expected)) => assert!(found.contains(expected), "{found}"),
            (found, expected) => panic!("{found:?} instead of {expected:?}"),
        }
    }

    #[tokio::test]
    async fn a_request_holds_exactly_one_message() {
        use Compression::{Gzip, Identity};
        check(&framed(0, b"abc"), Identity, Ok(b"abc")).await;
        check(&framed(0, b"abc"), Gzip, Ok(b"abc")).await;
        check(&framed(0, b""), Identity, Ok(b"")).await;
        check(&framed(1, &gzip(b"abc")), Gzip, Ok(b"abc")).await;
        check(b"", Identity, Err("holds no message")).await;
        check(b"\0\0\0", Identity, Err("broke off")).await;
        check(&framed(0, b"abc")[..7], Identity, Err("broke off")).await;
        check(&[framed(0, b"a"), framed(0, b"b")].concat(), Identity, Err("more than one")).await;
        check(&framed(1, &gzip(b"abc")), Identity, Err("does not say how")).await;
        check(&framed(1, b"abc"), Gzip, Err("cannot be decompressed")).await;
        check(&framed(7, b"abc"), Identity, Err("neither 0 nor 1")).await;
    }

    #[tokio::test]
    async fn the_limit_counts_before_and_after_decompression() {
        check(&framed(0, &[0; 101]), Compression::Identity, Err("larger than 100 bytes")).await;
        check(&framed(1, &gzip(&[0; 100])), Compression::Gzip, Ok(&[0; 100])).await;
        check(&framed(1, &gzip(&[0; 1 << 20])), Compression::Gzip, Err("larger than 100 bytes")).await;
    }

    #[test]
    fn messages_that_arrive_in_pieces_are_put_together() {
        let frames = [framed(0, b"first"), framed(0, b""), framed(0, b"third")].concat();
        let mut buffer = BytesMut::new();
        let mut found = Vec::new();
        for byte in frames {
            buffer.extend_from_slice(&[byte]);
            while let Some(message) = next_message(&mut buffer, Compression::Identity, 100).unwrap() {
                found.push(message);
            }
        }
        assert_eq!(found, [&b"first"[..], b"", b"third"]);
    }

    #[tokio::test]
    async fn a_closed_frame_is_read_again() {
        check(&super::framed(b"hello"), Compression::Identity, Ok(b"hello")).await;
    }
}
