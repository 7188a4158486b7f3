//! Finds where one request of a message can end and the next begin.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// A position between two words or lines that may separate requests.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Separator {
    pub(super) place: Range<usize>,
    pub(super) kind: SeparatorKind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum SeparatorKind {
    /// "then" or a new line: one after the other.
    Then,
    /// "and": may separate requests that run together, or be a word of one request.
    And,
}

/// A message with more separators is a text and not a list of requests.
const MAX_SEPARATORS: usize = 24;

/// All separators outside quotes, blocks and a text after a colon.
pub(super) fn separators(text: &str) -> Vec<Separator> {
    let quoted_ranges = quoted_ranges(text);
    let end = start_of_block(text, &quoted_ranges).unwrap_or(text.len());
    let joints = SEPARATOR.captures_iter(text).filter_map(|found| {
        let place = found.get(0)?.range();
        // `; then` is part of a shell command.
        let of_a_shell = text[..place.start].trim_end().ends_with(';');
        let kind = if found.name("and").is_some() { SeparatorKind::And } else { SeparatorKind::Then };
        let is_free = place.start < end && !covers(&quoted_ranges, place.start) && !of_a_shell;
        is_free.then_some(Separator { place, kind })
    });
    let joints: Vec<Separator> = joints.collect();
    if joints.len() > MAX_SEPARATORS { Vec::new() } else { joints }
}

/// The entries of a list. Empty if the message is no list.
pub(super) fn entries(text: &str) -> Vec<&str> {
    let quoted_ranges = quoted_ranges(text);
    let markers: Vec<Range<usize>> = MARKER
        .find_iter(text)
        .map(|found| found.range())
        .filter(|marker| !covers(&quoted_ranges, marker.start))
        .collect();
    if markers.first().is_none_or(|first| first.start > 0) || markers.len() > MAX_SEPARATORS {
        return Vec::new();
    }
    let ends = markers.iter().skip(1).map(|next| next.start).chain([text.len()]);
    markers.iter().zip(ends).map(|(marker, end)| text[marker.end..end].trim()).collect()
}

static SEPARATOR: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?i)[,.]?\s+(?:and\s+)?then,?\s+|(?<and>,?\s+and\s+)|\s*\n\s*";
    Regex::new(pattern).expect("the pattern is written down, and tests use it")
});

static MARKER: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?m)^[ \t]*(?:[0-9]{1,3}[.)]|[-*•])[ \t]+")
        .expect("the pattern is written down, and tests use it")
});

/// Blocks of code, and quotes that begin and end where words do.
static TAKEN: LazyLock<Regex> = LazyLock::new(|| {
    let pattern =
        r#"(?m)```(?s:.*?)```|`[^`\n]+`|(?:^|[\s(:,])(?<quote>"[^"]+"|'[^'\n]+'|“[^”]+”)(?:$|[\s.,;:!?)])"#;
    Regex::new(pattern).expect("the pattern is written down, and tests use it")
});

/// The first line of the text for a file follows.
static HEADER: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?im)(?:^[ \t]*|\bthen,?[ \t]+)(?:please[ \t,]+)?(?:write|create|make|save|generate|append|add)\b[^\n]*:[ \t]*\n";
    Regex::new(pattern).expect("the pattern is written down, and tests use it")
});

fn quoted_ranges(text: &str) -> Vec<Range<usize>> {
    let range = |found: regex::Captures<'_>| Some(found.name("quote").or(found.get(0))?.range());
    TAKEN.captures_iter(text).filter_map(range).collect()
}

fn covers(quoted_ranges: &[Range<usize>], place: usize) -> bool {
    quoted_ranges.iter().any(|range| range.contains(&place))
}

fn start_of_block(text: &str, quoted_ranges: &[Range<usize>]) -> Option<usize> {
    let header = HEADER.find_iter(text).find(|header| !covers(quoted_ranges, header.start()))?;
    let is_fenced = text[header.end()..].trim_start().starts_with("```");
    // The line break after the colon is part of the text.
    (!is_fenced).then(|| text[..header.end()].trim_end().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut start = 0;
        let mut pieces = Vec::new();
        for joint in separators(text) {
            pieces.push(&text[start..joint.place.start]);
            start = joint.place.end;
        }
        pieces.push(&text[start..]);
        assert_eq!(pieces, expected);
    }

    #[test]
    fn requests_are_joined_by_words_and_lines() {
        check("a", &["a"]);
        check("a then b", &["a", "b"]);
        check("a, then b. Then, c and then d", &["a", "b", "c", "d"]);
        check("a\nb\n\n  then c", &["a", "b", "c"]);
        check("a and b, and c", &["a", "b", "c"]);
        check("thence and\u{e4} android", &["thence and\u{e4} android"]);
    }

    #[test]
    fn what_is_quoted_stays_together() {
        check("run `a then b` then c", &["run `a then b`", "c"]);
        check("w 'a and b' and c", &["w 'a and b'", "c"]);
        check("don't a and b don't", &["don't a", "b don't"]);
        check("w x:\n```\na then\nb\n```\nc", &["w x:", "```\na then\nb\n```", "c"]);
        check("run if true; then echo", &["run if true; then echo"]);
    }

    #[test]
    fn a_text_after_a_colon_stays_together() {
        check("list then write x:\na then b\nc", &["list", "write x:\na then b\nc"]);
        check("create x with: \n  a\nb", &["create x with: \n  a\nb"]);
        check("do this:\na\nb", &["do this:", "a", "b"]);
    }

    #[test]
    fn a_list_has_entries() {
        assert_eq!(entries("1. a\nb\n2) c"), ["a\nb", "c"]);
        assert_eq!(entries("- a\n* b"), ["a", "b"]);
        assert_eq!(entries("write x:\n1. a"), Vec::<&str>::new());
        assert_eq!(entries("12"), Vec::<&str>::new());
    }

    #[test]
    fn a_long_text_is_no_list() {
        assert_eq!(separators(&"a and b\n".repeat(100)), []);
    }
}
