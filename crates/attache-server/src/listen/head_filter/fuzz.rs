//! Arbitrary bytes of an HTTP/1 client.

use super::*;

/// However the bytes are cut, the same bytes are passed on, and only line feeds are changed.
pub(crate) fn watched(bytes: &[u8]) {
    let whole = after(bytes, bytes.len().max(1));
    for size in [1, 3, 64] {
        assert_eq!(after(bytes, size), whole, "in pieces of {size}");
    }
    let changed = bytes.iter().zip(&whole).filter(|(before, after)| before != after);
    assert!(changed.clone().count() <= 1, "one is enough");
    assert!(changed.into_iter().all(|(before, after)| (*before, *after) == (b'\n', NOT_ALLOWED)));
}

fn after(bytes: &[u8], size: usize) -> Vec<u8> {
    let mut watch = HeadFilter::new();
    let mut bytes = bytes.to_vec();
    bytes.chunks_mut(size).for_each(|piece| watch.read(piece));
    bytes
}
