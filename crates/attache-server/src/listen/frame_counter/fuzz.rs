//! Arbitrary bytes of an HTTP/2 client.

use super::*;

/// However the bytes are cut, the same frames are counted; so few are no flood.
pub(crate) fn counted(bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(HEAD_BYTES * (MAX_BURST as usize - 1))];
    for begun in [false, true] {
        let whole = after(begun, bytes.chunks(bytes.len().max(1)));
        for size in [1, 3, 64] {
            assert_eq!(after(begun, bytes.chunks(size)), whole, "in pieces of {size}");
        }
    }
}

/// The state of the counter, and how many frames are still allowed.
fn after<'a>(begun: bool, pieces: impl Iterator<Item = &'a [u8]>) -> (String, u32) {
    let mut counter = FrameCounter::new();
    let preface = if begun { PREFACE } else { &[] };
    for piece in std::iter::once(preface).chain(pieces) {
        counter.read(piece).expect("no flood");
    }
    (format!("{:?}", counter.place), counter.left)
}
