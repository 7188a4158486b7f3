//! Decodes UTF-8 that arrives in pieces.

/// Keeps the first bytes of a character until the rest of it arrives.
#[derive(Debug, Default)]
pub(super) struct Utf8Decoder {
    started: Vec<u8>,
}

impl Utf8Decoder {
    /// The text of all complete characters. Invalid bytes become replacement characters.
    pub(super) fn decode(&mut self, bytes: &[u8]) -> String {
        let mut all = std::mem::take(&mut self.started);
        all.extend_from_slice(bytes);
        let complete = all.len() - unfinished(&all);
        self.started = all.split_off(complete);
        String::from_utf8_lossy(&all).into_owned()
    }

    /// The incomplete rest.
    pub(super) fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.started)).into_owned()
    }
}

/// The number of bytes at the end that begin an incomplete character.
fn unfinished(bytes: &[u8]) -> usize {
    const MAX_CHARACTER_BYTES: usize = 4;
    let end = &bytes[bytes.len().saturating_sub(MAX_CHARACTER_BYTES - 1)..];
    let Some(first) = end.iter().rposition(|byte| byte & 0xC0 != 0x80) else { return 0 };
    let begun = &end[first..];
    match str::from_utf8(begun) {
        Err(error) if error.error_len().is_none() => begun.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pieces_give_the_text_of_the_whole(text in "\\PC{0,40}", cut in 0usize..200) {
            let bytes = text.as_bytes();
            let (one, other) = bytes.split_at(cut.min(bytes.len()));
            let mut decoder = Utf8Decoder::default();
            prop_assert_eq!(decoder.decode(one) + &decoder.decode(other) + &decoder.finish(), text);
        }

        #[test]
        fn anything_cut_byte_by_byte_is_the_whole(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let mut decoder = Utf8Decoder::default();
            let mut text: String = bytes.iter().map(|byte| decoder.decode(&[*byte])).collect();
            text += &decoder.finish();
            prop_assert_eq!(text, String::from_utf8_lossy(&bytes));
        }
    }
}
