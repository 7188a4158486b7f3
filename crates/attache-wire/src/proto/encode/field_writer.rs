//! Protobuf fields, appended to bytes.

/// Writes fields by number. What readers take for granted, empty or zero, is left out.
pub(in crate::proto) trait FieldWriter {
    fn bytes_always(&mut self, number: u32, bytes: &[u8]);
    fn number_always(&mut self, number: u32, value: u64);
    fn double_always(&mut self, number: u32, value: f64);

    fn text(&mut self, number: u32, text: &str) {
        if !text.is_empty() {
            self.bytes_always(number, text.as_bytes());
        }
    }

    fn optional_text(&mut self, number: u32, text: Option<&str>) {
        if let Some(text) = text {
            self.text(number, text);
        }
    }

    /// Items of a list are written even when they are empty.
    fn texts<'a>(&mut self, number: u32, texts: impl IntoIterator<Item = &'a str>) {
        for text in texts {
            self.bytes_always(number, text.as_bytes());
        }
    }

    fn number(&mut self, number: u32, value: u64) {
        if value != 0 {
            self.number_always(number, value);
        }
    }

    fn boolean(&mut self, number: u32, value: bool) {
        self.number(number, u64::from(value));
    }
}

const VARINT: u32 = 0;
const SIXTY_FOUR_BITS: u32 = 1;
const LENGTH_DELIMITED: u32 = 2;

impl FieldWriter for Vec<u8> {
    fn bytes_always(&mut self, number: u32, bytes: &[u8]) {
        write_tag(number, LENGTH_DELIMITED, self);
        write_varint(bytes.len() as u64, self);
        self.extend_from_slice(bytes);
    }

    fn number_always(&mut self, number: u32, value: u64) {
        write_tag(number, VARINT, self);
        write_varint(value, self);
    }

    fn double_always(&mut self, number: u32, value: f64) {
        write_tag(number, SIXTY_FOUR_BITS, self);
        self.extend_from_slice(&value.to_le_bytes());
    }
}

/// A message within the message, also when it is empty: that it is there says something.
///
/// Its length comes before it and is known after it. One byte is kept for it; what is longer than that tells
/// moves over.
pub(in crate::proto) fn write_nested(number: u32, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    write_tag(number, LENGTH_DELIMITED, out);
    let start = out.len();
    out.push(0);
    write(out);
    let length = out.len() - start - 1;
    if length < 0x80 {
        #[expect(clippy::cast_possible_truncation, reason = "below 128")]
        return out[start] = length as u8;
    }
    let mut spelled = Vec::with_capacity(5);
    write_varint(length as u64, &mut spelled);
    out.splice(start..=start, spelled);
}

fn write_tag(number: u32, kind: u32, out: &mut Vec<u8>) {
    write_varint(u64::from(number << 3 | kind), out);
}

fn write_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        #[expect(clippy::cast_possible_truncation, reason = "the low seven bits")]
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    #[expect(clippy::cast_possible_truncation, reason = "below 128")]
    out.push(value as u8);
}
