//! The smallest pieces of JSON: strings, numbers, lists, times and ready-made values.

use std::fmt::Display;
use std::io::Write;

use attache_domain::{Metadata, Timestamp};
use jiff::fmt::temporal::DateTimePrinter;
use serde_json::Value;

/// Writes `text` as a JSON string. Most text needs no escape; the loop checks a chunk at a time, so that the compiler
/// can vectorise it.
pub(crate) fn write_text(text: &str, out: &mut Vec<u8>) {
    const CHUNK: usize = 64;
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    let mut written = 0;
    for (number, chunk) in bytes.chunks(CHUNK).enumerate() {
        if !any_needs_escape(chunk) {
            continue;
        }
        for (offset, &byte) in chunk.iter().enumerate() {
            if needs_escape(byte) {
                let at = number * CHUNK + offset;
                out.extend_from_slice(&bytes[written..at]);
                write_escape(byte, out);
                written = at + 1;
            }
        }
    }
    out.extend_from_slice(&bytes[written..]);
    out.push(b'"');
}

/// Checks all bytes: a loop without an early exit can be vectorised.
fn any_needs_escape(bytes: &[u8]) -> bool {
    bytes.iter().fold(false, |found, &byte| found | needs_escape(byte))
}

fn needs_escape(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

fn write_escape(byte: u8, out: &mut Vec<u8>) {
    let short = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        _ => {
            const DIGITS: &[u8; 16] = b"0123456789abcdef";
            out.extend_from_slice(b"\\u00");
            out.push(DIGITS[usize::from(byte >> 4)]);
            out.push(DIGITS[usize::from(byte & 15)]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Writes `integer` in decimal.
pub fn write_integer(integer: impl Display, out: &mut Vec<u8>) {
    write!(out, "{integer}").expect("memory takes every write");
}

/// Writes `moment` in UTC with exactly three digits after the second.
pub(crate) fn write_time(moment: Timestamp, out: &mut Vec<u8>) {
    const PRINTER: DateTimePrinter = DateTimePrinter::new().precision(Some(3));
    out.push(b'"');
    PRINTER.print_timestamp(&moment, &mut *out).expect("memory takes every write");
    out.push(b'"');
}

pub(crate) fn write_value(value: &Value, out: &mut Vec<u8>) {
    serde_json::to_writer(out, value).expect("a JSON value can always be written to memory");
}

pub(crate) fn write_object(object: &Metadata, out: &mut Vec<u8>) {
    serde_json::to_writer(out, object).expect("a JSON object can always be written to memory");
}

pub(crate) fn write_array<T>(items: &[T], out: &mut Vec<u8>, mut write: impl FnMut(&T, &mut Vec<u8>)) {
    out.push(b'[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(item, out);
    }
    out.push(b']');
}

/// Writes `open` (comma, name, colon) and `text`, or nothing when there is no text.
pub(crate) fn write_optional_text(open: &[u8], text: Option<&str>, out: &mut Vec<u8>) {
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        out.extend_from_slice(open);
        write_text(text, out);
    }
}

pub(crate) fn write_texts<T: AsRef<str>>(open: &[u8], texts: &[T], out: &mut Vec<u8>) {
    if !texts.is_empty() {
        out.extend_from_slice(open);
        write_array(texts, out, |text, out| write_text(text.as_ref(), out));
    }
}

pub(crate) fn write_metadata(metadata: Option<&Metadata>, out: &mut Vec<u8>) {
    if let Some(metadata) = metadata {
        out.extend_from_slice(b",\"metadata\":");
        write_object(metadata, out);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(text: &str) -> String {
        let mut out = Vec::new();
        write_text(text, &mut out);
        String::from_utf8(out).unwrap()
    }

    proptest! {
        #[test]
        fn text_is_written_as_serde_json_writes_it(text in "(?s)([a-z]{0,20}|\\PC|[\\x00-\\x7f\u{80}-\u{ffff}]){0,12}") {
            prop_assert_eq!(written(&text), serde_json::to_string(&text).unwrap());
        }
    }

    #[test]
    fn every_byte_is_found_at_every_place_of_a_chunk() {
        for byte in 0..0x80u8 {
            for offset in [0, 1, 15, 16, 62, 63, 64, 65, 127, 128, 200] {
                let text: String =
                    (0..=200).map(|at| char::from(if at == offset { byte } else { b'a' })).collect();
                assert_eq!(written(&text), serde_json::to_string(&text).unwrap(), "{byte:#x} at {offset}");
            }
        }
    }

    #[test]
    fn d6_a_time_has_three_digits_and_ends_in_z() {
        for (nanosecond, expected) in [
            (0, "\"2025-10-28T10:30:00.000Z\""),
            (7_000_000, "\"2025-10-28T10:30:00.007Z\""),
            (999_999_999, "\"2025-10-28T10:30:00.999Z\""),
        ] {
            let mut out = Vec::new();
            write_time(Timestamp::new(1_761_647_400, nanosecond).unwrap(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}
