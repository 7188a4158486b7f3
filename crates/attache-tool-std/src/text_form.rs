//! The form of a text file: encoding, byte order mark and line ends. An edit keeps it.

use std::borrow::Cow;

const BYTE_ORDER_MARK: char = '\u{feff}';

/// The form of one file. A new file is UTF-8 without a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TextForm {
    encoding: Encoding,
    line_ends: LineEnds,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Encoding {
    #[default]
    Utf8,
    Utf8Marked,
    Utf16Little,
    Utf16Big,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum LineEnds {
    #[default]
    Unix,
    /// Every line ends like this.
    Windows,
    /// Both occur, so texts stay unchanged.
    Mixed,
}

impl TextForm {
    /// The form of the file and its text without the mark; none if the encoding is unknown.
    pub(crate) fn decode(bytes: &[u8]) -> Option<(Self, String)> {
        let (encoding, text) =
            if bytes.starts_with(&[0xff, 0xfe, 0, 0]) || bytes.starts_with(&[0, 0, 0xfe, 0xff]) {
                return None; // UTF-32, whose first mark looks like that of UTF-16.
            } else if let Some(rest) = bytes.strip_prefix(&[0xef, 0xbb, 0xbf]) {
                (Encoding::Utf8Marked, String::from_utf8(rest.to_vec()).ok()?)
            } else if let Some(rest) = bytes.strip_prefix(&[0xff, 0xfe]) {
                (Encoding::Utf16Little, from_utf16(rest, u16::from_le_bytes)?)
            } else if let Some(rest) = bytes.strip_prefix(&[0xfe, 0xff]) {
                (Encoding::Utf16Big, from_utf16(rest, u16::from_be_bytes)?)
            } else {
                (Encoding::Utf8, String::from_utf8(bytes.to_vec()).ok()?)
            };
        Some((Self { encoding, line_ends: LineEnds::of(&text) }, text))
    }

    /// The bytes of a file with this text. Line ends stay unchanged.
    pub(crate) fn encode(self, text: &str) -> Vec<u8> {
        // A mark in the text means the mark of the file.
        let text = if self.encoding == Encoding::Utf8 {
            text
        } else {
            text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
        };
        let marked = || std::iter::once(BYTE_ORDER_MARK).chain(text.chars());
        match self.encoding {
            Encoding::Utf8 => text.as_bytes().to_vec(),
            Encoding::Utf8Marked => marked().collect::<String>().into_bytes(),
            Encoding::Utf16Little => to_utf16(marked(), u16::to_le_bytes),
            Encoding::Utf16Big => to_utf16(marked(), u16::to_be_bytes),
        }
    }

    /// The text with the line ends that models write, for comparison.
    pub(crate) fn with_plain_ends<'text>(self, text: &'text str) -> Cow<'text, str> {
        match self.line_ends {
            LineEnds::Mixed => Cow::Borrowed(text),
            LineEnds::Unix | LineEnds::Windows if text.contains("\r\n") => {
                Cow::Owned(text.replace("\r\n", "\n"))
            }
            LineEnds::Unix | LineEnds::Windows => Cow::Borrowed(text),
        }
    }

    /// The text with the line ends of the file. The inverse of [`Self::with_plain_ends`].
    pub(crate) fn with_own_ends(self, text: String) -> String {
        match self.line_ends {
            LineEnds::Windows => text.replace('\n', "\r\n"),
            LineEnds::Unix | LineEnds::Mixed => text,
        }
    }

    pub(crate) fn has_windows_ends(self) -> bool {
        self.line_ends == LineEnds::Windows
    }
}

impl LineEnds {
    fn of(text: &str) -> Self {
        let all = text.matches('\n').count();
        match text.matches("\r\n").count() {
            0 => Self::Unix,
            windows if windows == all => Self::Windows,
            _ => Self::Mixed,
        }
    }
}

fn from_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
    if rest.is_empty() { String::from_utf16(&units).ok() } else { None }
}

fn to_utf16(text: impl Iterator<Item = char>, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    let mut buffer = [0; 2];
    let mut encoded = Vec::new();
    for character in text {
        encoded.extend(character.encode_utf16(&mut buffer).iter().flat_map(|unit| bytes(*unit)));
    }
    encoded
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: Option<&str>) {
        let decoded = TextForm::decode(bytes);
        assert_eq!(decoded.as_ref().map(|(_, text)| text.as_str()), expected);
        if let Some((form, text)) = decoded {
            assert_eq!(form.encode(&text), bytes, "written down as it was");
        }
    }

    #[test]
    fn encodings_are_told_by_their_marks() {
        check(b"", Some(""));
        check("gr\u{fc}n".as_bytes(), Some("grün"));
        check(b"\xef\xbb\xbfa", Some("a"));
        check(b"\xff\xfea\0\xfc\0", Some("aü"));
        check(b"\xfe\xff\0a\0\xfc", Some("aü"));
        check(b"\xff\xfe\x3d\xd8\x00\xde", Some("\u{1f600}"));
        check(b"\xff\xfea", None);
        check(b"\xff\xfe\x3d\xd8", None);
        check(b"\xff\xfe\0\0a\0\0\0", None);
        check(b"gr\xfcn", None);
    }

    #[test]
    fn a_mark_is_not_written_twice() {
        let (form, _) = TextForm::decode(b"\xef\xbb\xbfa").unwrap();
        assert_eq!(form.encode("\u{feff}b"), b"\xef\xbb\xbfb");
    }

    proptest! {
        #[test]
        fn line_ends_come_back_as_they_were(text in "[a\r\n]{0,12}") {
            let (form, decoded) = TextForm::decode(text.as_bytes()).unwrap();
            prop_assert_eq!(&decoded, &text);
            prop_assert_eq!(form.with_own_ends(form.with_plain_ends(&text).into_owned()), text);
        }

        #[test]
        fn every_text_comes_back_from_every_encoding(text in any::<String>()) {
            for start in [&b"\xef\xbb\xbf"[..], b"\xff\xfe", b"\xfe\xff"] {
                let (form, _) = TextForm::decode(start).unwrap();
                let plain = text.trim_start_matches(BYTE_ORDER_MARK);
                // A NUL first would make the UTF-16 mark one of UTF-32.
                prop_assume!(!plain.starts_with('\0'));
                let (again, decoded) = TextForm::decode(&form.encode(plain)).unwrap();
                prop_assert_eq!((again.encoding, decoded.as_str()), (form.encoding, plain));
            }
        }
    }
}
