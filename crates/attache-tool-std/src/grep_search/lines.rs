//! Collects the matching lines of one file, and cuts long lines.

use std::io;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};

use crate::text_file::MAX_LINE_CHARACTERS;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MatchLine {
    pub(super) number: u64,
    pub(super) text: String,
    pub(super) role: LineRole,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineRole {
    Match,
    Context,
}

/// The matches in one file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FileMatches {
    pub(super) lines: Vec<MatchLine>,
    pub(super) matches: usize,
    /// There are more matches.
    pub(super) more: bool,
}

impl FileMatches {
    /// Keeps the first `matches` and the context before and between them.
    pub(super) fn truncate(&mut self, matches: usize) {
        let mut seen = 0;
        self.lines.retain(|line| {
            seen += usize::from(line.role == LineRole::Match);
            seen <= matches
        });
        self.more |= matches < self.matches;
        self.matches = self.matches.min(matches);
    }
}

/// What to collect from a file.
pub(super) enum SearchDetail {
    /// Only whether it matches.
    Name,
    /// At most this many matching lines.
    Lines(usize),
}

/// Receives the lines of one file from the searcher.
pub(super) struct MatchSink<'search> {
    pub(super) matcher: &'search RegexMatcher,
    pub(super) unwanted: Option<&'search RegexMatcher>,
    pub(super) wanted: SearchDetail,
    pub(super) found: FileMatches,
}

impl MatchSink<'_> {
    fn push(&mut self, number: Option<u64>, bytes: &[u8], role: LineRole) {
        let at = match role {
            LineRole::Match => self.matcher.find(bytes).ok().flatten().map_or(0, |found| found.start()),
            LineRole::Context => 0,
        };
        let number = number.unwrap_or_default();
        self.found.lines.push(MatchLine { number, text: shorten(bytes, at), role });
    }
}

impl Sink for MatchSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.unwanted.is_some_and(|unwanted| unwanted.is_match(found.bytes()).unwrap_or(false)) {
            return Ok(true);
        }
        match self.wanted {
            SearchDetail::Name => {
                self.found.matches = 1;
                Ok(false)
            }
            // Stops at the match after the last one, so that the context of the last one is complete.
            SearchDetail::Lines(most) if self.found.matches == most => {
                self.found.more = true;
                Ok(false)
            }
            SearchDetail::Lines(_) => {
                self.found.matches += 1;
                self.push(found.line_number(), found.bytes(), LineRole::Match);
                Ok(true)
            }
        }
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        if matches!(self.wanted, SearchDetail::Lines(_)) {
            self.push(context.line_number(), context.bytes(), LineRole::Context);
        }
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> Result<(), io::Error> {
        // The file turned out to be binary after a match.
        if finish.binary_byte_offset().is_some() {
            self.found = FileMatches::default();
        }
        Ok(())
    }
}

/// The line without its line end; for a long line, the part around `at`.
fn shorten(bytes: &[u8], at: usize) -> String {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    if bytes.len() <= MAX_LINE_CHARACTERS {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let mut start = if at < MAX_LINE_CHARACTERS / 2 { 0 } else { at - MAX_LINE_CHARACTERS / 4 };
    while start < at && bytes[start] & 0b1100_0000 == 0b1000_0000 {
        start += 1;
    }
    // A character has at most four bytes.
    let window = &bytes[start..bytes.len().min(start + 4 * MAX_LINE_CHARACTERS)];
    let window = String::from_utf8_lossy(window);
    let mut characters = window.chars();
    let text: String = characters.by_ref().take(MAX_LINE_CHARACTERS).collect();
    let whole = characters.next().is_none() && start + 4 * MAX_LINE_CHARACTERS >= bytes.len();
    let before = if start > 0 { "... " } else { "" };
    let after = if whole { String::new() } else { format!("... [cut: the line has {} bytes]", bytes.len()) };
    format!("{before}{text}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_are_dropped() {
        for line in ["a\n", "a\r\n", "a"] {
            assert_eq!(shorten(line.as_bytes(), 0), "a");
        }
        assert_eq!(shorten(b"a\xFF\n", 0), "a\u{FFFD}");
    }

    #[test]
    fn of_a_long_line_the_part_with_the_match_is_shown() {
        let line = format!("{}needle{}", "é".repeat(50_000), "é".repeat(50_000));
        let text = shorten(line.as_bytes(), line.find("needle").unwrap());
        assert!(text.starts_with("... é") && text.contains("éneedleé"), "{text}");
        assert!(text.ends_with("... [cut: the line has 200006 bytes]"), "{text}");
        assert!(text.chars().count() < MAX_LINE_CHARACTERS + 60);

        let text = shorten(line.as_bytes(), 3);
        assert!(text.starts_with("éé"));
    }

    #[test]
    fn a_long_line_of_few_characters_is_whole() {
        let line = "😀".repeat(MAX_LINE_CHARACTERS);
        assert_eq!(shorten(line.as_bytes(), 0), line);
    }
}
