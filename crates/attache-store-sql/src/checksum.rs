//! Checksums of rows: CRC-32 over the content and the key, so that a misplaced row is detected too.
//!
//! They detect accidental damage of disks and memory, not deliberate changes.

use attache_store::StoreError;

use crate::error::corrupt;

/// The checksum of a batch or snapshot before its position is known.
pub(crate) fn of_body(body: &[u8]) -> u32 {
    crc32fast::hash(body)
}

/// The checksum of a batch or snapshot at its position.
pub(crate) fn at_place(of_body: u32, place: i64) -> i64 {
    let mut hasher = crc32fast::Hasher::new_with_initial(of_body);
    hasher.update(&place.to_le_bytes());
    hasher.finalize().into()
}

pub(crate) fn of_record(space: &str, key: &str, value: &[u8]) -> i64 {
    let mut hasher = crc32fast::Hasher::new();
    for piece in [space.as_bytes(), &[0], key.as_bytes(), &[0], value] {
        hasher.update(piece);
    }
    hasher.finalize().into()
}

/// A row without a checksum is accepted.
pub(crate) fn verify(kept: Option<i64>, found: i64) -> Result<(), StoreError> {
    match kept {
        Some(kept) if kept != found => {
            Err(corrupt(format!("its checksum should be {kept:08x} and is {found:08x}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_of_a_row_never_changes() {
        // Stored: another checksum would make every row unreadable.
        assert_eq!(of_body(b"123456789"), 0xcbf4_3926);
        assert_eq!(
            (at_place(of_body(b"[]"), 1), of_record("space", "key", b"value")),
            (0xedc9_b376, 0x632f_0c59)
        );
    }

    #[test]
    fn every_flipped_bit_and_every_other_place_is_noticed() {
        let body = *b"[{\"seq\":1,\"at\":0,\"fact\":\"cancel_requested\"}]";
        let kept = at_place(of_body(&body), 7);
        for bit in 0..body.len() * 8 {
            let mut flipped = body;
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(verify(Some(kept), at_place(of_body(&flipped), 7)).is_err(), "bit {bit}");
        }
        assert!(verify(Some(kept), at_place(of_body(&body), 8)).is_err());
        assert!(verify(Some(kept), at_place(of_body(&body), 7)).is_ok());
        assert!(verify(None, 5).is_ok());
    }
}
