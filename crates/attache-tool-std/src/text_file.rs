//! Decodes the bytes of a file to text, and selects lines.
//!
//! Text is UTF-8, or UTF-16 or UTF-32 with a byte order mark. Everything else is binary, or UTF-8 with a few invalid
//! bytes. Line ends stay unchanged, so that an edit finds the text that was read.

/// Lines in one result.
pub(crate) const MAX_LINES: usize = 2_000;
/// Characters of one line.
pub(crate) const MAX_LINE_CHARACTERS: usize = 2_000;
/// Bytes in one result, which is cut between lines.
const MAX_BYTES: usize = 512 * 1024;
/// Bytes that are checked to detect binary files.
const SNIFF_BYTES: usize = 8 * 1024;

/// The decoded content of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum DecodedText {
    Text(String),
    /// Text in which some invalid characters were replaced.
    Damaged(String),
    Binary,
}

pub(crate) fn decode(bytes: Vec<u8>) -> DecodedText {
    // The mark of UTF-32 begins with that of UTF-16, so it comes first.
    if let Some(rest) = bytes.strip_prefix(&[0xFF, 0xFE, 0, 0]) {
        return utf32(rest, u32::from_le_bytes);
    }
    if let Some(rest) = bytes.strip_prefix(&[0, 0, 0xFE, 0xFF]) {
        return utf32(rest, u32::from_be_bytes);
    }
    if let Some(rest) = bytes.strip_prefix(&[0xFF, 0xFE]) {
        return utf16(rest, u16::from_le_bytes);
    }
    if let Some(rest) = bytes.strip_prefix(&[0xFE, 0xFF]) {
        return utf16(rest, u16::from_be_bytes);
    }
    let bytes = match bytes.strip_prefix(&[0xEF, 0xBB, 0xBF]) {
        Some(rest) => rest.to_vec(),
        None if looks_binary(&bytes) => return DecodedText::Binary,
        None => bytes,
    };
    match String::from_utf8(bytes) {
        Ok(text) => DecodedText::Text(text),
        Err(wrong) => DecodedText::Damaged(String::from_utf8_lossy(wrong.as_bytes()).into_owned()),
    }
}

/// Whether there is a NUL, or many control characters and invalid bytes.
pub(crate) fn looks_binary(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(SNIFF_BYTES)];
    if head.contains(&0) {
        return true;
    }
    let (mut strange, mut seen) = (0, 0);
    for chunk in head.utf8_chunks() {
        for character in chunk.valid().chars() {
            seen += 1;
            let usual = !character.is_control() || matches!(character, '\t'..='\r' | '\u{8}' | '\u{1b}');
            strange += usize::from(!usual);
        }
        // The head may end inside a character, which adds at most three bytes.
        seen += chunk.invalid().len();
        strange += chunk.invalid().len();
    }
    strange > 3 && strange * 10 > seen * 3
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> DecodedText {
    let (units, rest) = bytes.as_chunks::<2>();
    let characters = char::decode_utf16(units.iter().copied().map(unit)).map(Result::ok);
    gather(characters, rest)
}

fn utf32(bytes: &[u8], unit: fn([u8; 4]) -> u32) -> DecodedText {
    let (units, rest) = bytes.as_chunks::<4>();
    gather(units.iter().copied().map(|bytes| char::from_u32(unit(bytes))), rest)
}

fn gather(characters: impl Iterator<Item = Option<char>>, rest: &[u8]) -> DecodedText {
    let mut damaged = !rest.is_empty();
    let text = characters
        .map(|character| {
            damaged |= character.is_none();
            character.unwrap_or(char::REPLACEMENT_CHARACTER)
        })
        .collect();
    if damaged { DecodedText::Damaged(text) } else { DecodedText::Text(text) }
}

/// Some lines of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    pub(crate) text: String,
    /// The first line shown, counted from 1; 0 when the text has no lines.
    pub(crate) first: usize,
    /// The last line shown.
    pub(crate) last: usize,
    /// How many lines the text has.
    pub(crate) total: usize,
    /// The number of cut lines.
    pub(crate) cut_lines: usize,
}

impl Excerpt {
    /// Whether the text has more lines.
    pub(crate) fn is_partial(&self) -> bool {
        self.first > 1 || self.last < self.total
    }
}

/// The lines from `first` (counted from 1) to `last`, up to the limits. `None` if the text ends before `first`.
pub(crate) fn excerpt(text: &str, first: usize, last: Option<usize>) -> Option<Excerpt> {
    let wanted = last.map_or(usize::MAX, |last| last.saturating_add(1).saturating_sub(first)).min(MAX_LINES);
    let mut lines = text.split_inclusive('\n');
    let before = lines.by_ref().take(first - 1).count();
    let mut shown = Excerpt { text: String::new(), first, last: before, total: 0, cut_lines: 0 };
    for line in lines.by_ref().take(wanted) {
        let kept = shown.text.len();
        shown.cut_lines += usize::from(push_line(&mut shown.text, line));
        if shown.text.len() > MAX_BYTES && shown.last > before {
            shown.text.truncate(kept);
            shown.total = 1;
            break;
        }
        shown.last += 1;
    }
    shown.total += shown.last + lines.count();
    if shown.last >= first {
        Some(shown)
    } else if shown.total == 0 && first == 1 {
        Some(Excerpt { first: 0, ..shown })
    } else {
        None
    }
}

/// Appends a line, cut if it is too long. Returns whether it was cut.
fn push_line(text: &mut String, line: &str) -> bool {
    // Counts bytes first, which is enough for nearly every line.
    let end = (line.len() > MAX_LINE_CHARACTERS)
        .then(|| line.char_indices().nth(MAX_LINE_CHARACTERS))
        .flatten()
        .map(|(end, _)| end)
        .filter(|end| !line[*end..].trim_end_matches(['\n', '\r']).is_empty());
    let Some(end) = end else {
        text.push_str(line);
        return false;
    };
    text.push_str(&line[..end]);
    let body = line.trim_end_matches('\n').trim_end_matches('\r');
    text.push_str(&format!("... [{} more characters in this line]", body[end..].chars().count()));
    text.push_str(&line[body.len()..]);
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], expected: DecodedText) {
        assert_eq!(decode(bytes.to_vec()), expected);
    }

    #[test]
    fn a_mark_says_how_the_text_is_encoded() {
        let text = || DecodedText::Text("aß\n😀".to_owned());
        let units: Vec<u16> = "aß\n😀".encode_utf16().collect();
        let points: Vec<u32> = "aß\n😀".chars().map(u32::from).collect();
        let with = |mark: &[u8], rest: Vec<u8>| [mark, &rest].concat();
        check("aß\n😀".as_bytes(), text());
        check(&with(&[0xEF, 0xBB, 0xBF], "aß\n😀".into()), text());
        check(&with(&[0xFF, 0xFE], units.iter().flat_map(|unit| unit.to_le_bytes()).collect()), text());
        check(&with(&[0xFE, 0xFF], units.iter().flat_map(|unit| unit.to_be_bytes()).collect()), text());
        check(
            &with(&[0xFF, 0xFE, 0, 0], points.iter().flat_map(|point| point.to_le_bytes()).collect()),
            text(),
        );
        check(
            &with(&[0, 0, 0xFE, 0xFF], points.iter().flat_map(|point| point.to_be_bytes()).collect()),
            text(),
        );
    }

    #[test]
    fn what_cannot_be_read_is_replaced_and_said() {
        check(b"caf\xE9 au lait", DecodedText::Damaged("caf\u{FFFD} au lait".to_owned()));
        check(b"\xFF\xFEa\0\x00\xD8b\0", DecodedText::Damaged("a\u{FFFD}b".to_owned()));
        check(b"\xFF\xFEa\0b", DecodedText::Damaged("a".to_owned()));
    }

    #[test]
    fn nuls_and_noise_are_binary() {
        check(b"\x7FELF\x02\x01\x01\0", DecodedText::Binary);
        check(&[0x01, 0x02, 0x03, 0x04, 0x05, b'a'], DecodedText::Binary);
        check(&[0x80; 64], DecodedText::Binary);
        check(b"", DecodedText::Text(String::new()));
        check(b"\x1b[1mbold\x1b[0m", DecodedText::Text("\x1b[1mbold\x1b[0m".to_owned()));
    }

    #[test]
    fn a_text_without_lines_can_be_read_from_its_start_only() {
        let empty = Excerpt { text: String::new(), first: 0, last: 0, total: 0, cut_lines: 0 };
        assert_eq!(excerpt("", 1, None), Some(empty));
        assert_eq!(excerpt("", 2, None), None);
        assert_eq!(excerpt("a\n", 2, Some(5)), None);
    }

    #[test]
    fn a_huge_line_is_cut_and_keeps_its_end() {
        let text = format!("{}\r\nnext", "é".repeat(MAX_LINE_CHARACTERS + 7));
        let shown = excerpt(&text, 1, None).unwrap();
        assert_eq!(shown.cut_lines, 1);
        let start = "é".repeat(MAX_LINE_CHARACTERS);
        assert_eq!(shown.text, format!("{start}... [7 more characters in this line]\r\nnext"));
    }

    #[test]
    fn a_line_of_just_the_most_characters_is_whole() {
        let text = format!("{}\r\n", "a".repeat(MAX_LINE_CHARACTERS));
        assert_eq!(excerpt(&text, 1, None).unwrap().text, text);
    }

    #[test]
    fn an_answer_holds_so_many_lines_and_bytes() {
        let shown = excerpt(&"x\n".repeat(MAX_LINES + 1), 1, Some(usize::MAX - 1)).unwrap();
        assert_eq!((shown.last, shown.total, shown.is_partial()), (MAX_LINES, MAX_LINES + 1, true));

        let line = "y".repeat(MAX_LINE_CHARACTERS - 1) + "\n";
        let shown = excerpt(&line.repeat(1_000), 1, None).unwrap();
        assert_eq!((shown.last, shown.total), (MAX_BYTES / MAX_LINE_CHARACTERS, 1_000));
        assert_eq!(shown.text, line.repeat(shown.last));
    }

    proptest! {
        #[test]
        fn an_excerpt_is_exactly_the_lines_asked_for(
            text in "([a-zß😀\\r]{0,6}\\n?){0,12}", first in 1_usize..15, length in 0_usize..15, open: bool,
        ) {
            let last = (!open).then_some(first + length);
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            let end = last.unwrap_or(lines.len()).min(lines.len());
            match excerpt(&text, first, last) {
                Some(shown) if shown.total > 0 => {
                    prop_assert_eq!(shown.text, lines[first - 1..end].concat());
                    prop_assert_eq!((shown.first, shown.last, shown.total), (first, end, lines.len()));
                }
                Some(shown) => prop_assert!(text.is_empty() && first == 1 && shown.text.is_empty()),
                None => prop_assert!(first > lines.len()),
            }
        }
    }
}
