//! Normalizes base64 to the stored form.
//!
//! Checks and rewrites the characters in place without decoding.

use attache_domain::Base64;

/// Accepts the standard and the URL-safe alphabet, with or without padding. The error text is for the caller.
pub(super) fn normalise(text: String) -> Result<Base64, String> {
    let mut bytes = text.into_bytes();
    let length = bytes.iter().rposition(|&byte| byte != b'=').map_or(0, |last| last + 1);
    let padding = bytes.len() - length;
    if padding > 2 || (padding > 0 && !bytes.len().is_multiple_of(4)) {
        return Err(format!("{padding} padding characters do not fit {length} others"));
    }
    if length % 4 == 1 {
        return Err(format!("{length} characters without padding are no whole number of bytes"));
    }
    bytes.truncate(length);
    for (position, byte) in bytes.iter_mut().enumerate() {
        match *byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' => {}
            b'-' => *byte = b'+',
            b'_' => *byte = b'/',
            other => return Err(format!("{} at position {position}", describe(other))),
        }
    }
    clear_unused_bits(&mut bytes);
    bytes.resize(length.next_multiple_of(4), b'=');
    String::from_utf8(bytes).map(Base64).map_err(|error| error.to_string())
}

/// The last character of an incomplete group holds unused bits; strict readers want them to be zero.
fn clear_unused_bits(bytes: &mut [u8]) {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let unused = match bytes.len() % 4 {
        2 => 4,
        3 => 2,
        _ => return,
    };
    let Some(last) = bytes.last_mut() else { return };
    if let Some(value) = ALPHABET.iter().position(|letter| letter == last) {
        *last = ALPHABET[value >> unused << unused];
    }
}

fn describe(byte: u8) -> String {
    match byte {
        b'=' => "padding".to_owned(),
        byte if byte.is_ascii_graphic() => format!("the character {:?}", char::from(byte)),
        byte if byte.is_ascii_whitespace() => "white space".to_owned(),
        byte => format!("the byte {byte:#04x}"),
    }
}

#[cfg(test)]
mod tests {
    use ::base64::Engine as _;
    use ::base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn d7_every_alphabet_and_padding_becomes_the_standard_form(bytes: Vec<u8>) {
            for engine in [&STANDARD, &STANDARD_NO_PAD, &URL_SAFE, &URL_SAFE_NO_PAD] {
                prop_assert_eq!(normalise(engine.encode(&bytes)), Ok(Base64(STANDARD.encode(&bytes))));
            }
        }

        #[test]
        fn whatever_is_accepted_is_standard_base64(text in "[A-Za-z0-9+/_=-]{0,12}") {
            if let Ok(Base64(normal)) = normalise(text) {
                prop_assert!(STANDARD.decode(&normal).is_ok(), "{}", normal);
            }
        }
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, expected) in [
            ("QUJD!A==", "the character '!' at position 4"),
            ("QU JD", "5 characters without padding are no whole number of bytes"),
            ("QU J", "white space at position 2"),
            ("QQ=A", "padding at position 2"),
            ("Q===", "3 padding characters do not fit 1 others"),
            ("QUI==", "2 padding characters do not fit 3 others"),
            ("Q", "1 characters without padding are no whole number of bytes"),
            ("ü", "the byte 0xc3 at position 0"),
        ] {
            assert_eq!(normalise(text.to_owned()), Err(expected.to_owned()), "{text}");
        }
    }
}
