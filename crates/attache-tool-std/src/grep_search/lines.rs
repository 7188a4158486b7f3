//! Takes the matching lines of one file, each cut to a size that can be shown.

use std::io;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};

use crate::text_file::MOST_LINE_CHARACTERS;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) number: u64,
    pub(super) text: String,
    pub(super) role: Role,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Match,
    Context,
}

/// What was found in one file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct FileMatches {
    pub(super) lines: Vec<Line>,
    pub(super) matches: usize,
    /// There are more matches than were wanted.
    pub(super) more: bool,
}

impl FileMatches {
    /// Keeps the first `matches` and what stands before them and between.
    pub(super) fn truncate(&mut self, matches: usize) {
        let mut seen = 0;
        self.lines.retain(|line| {
            seen += usize::from(line.role == Role::Match);
            seen <= matches
        });
        self.more |= matches < self.matches;
        self.matches = self.matches.min(matches);
    }
}

/// What of a file is wanted.
pub(super) enum Wanted {
    /// Whether it matches at all.
    Name,
    /// So many matching lines.
    Lines(usize),
}

/// Listens to the search of one file.
pub(super) struct Listener<'search> {
    pub(super) matcher: &'search RegexMatcher,
    pub(super) unwanted: Option<&'search RegexMatcher>,
    pub(super) wanted: Wanted,
    pub(super) found: FileMatches,
}

impl Listener<'_> {
    fn push(&mut self, number: Option<u64>, bytes: &[u8], role: Role) {
        let at = match role {
            Role::Match => self.matcher.find(bytes).ok().flatten().map_or(0, |found| found.start()),
            Role::Context => 0,
        };
        let number = number.unwrap_or_default();
        self.found.lines.push(Line { number, text: shorten(bytes, at), role });
    }
}

impl Sink for Listener<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        if self.unwanted.is_some_and(|unwanted| unwanted.is_match(found.bytes()).unwrap_or(false)) {
            return Ok(true);
        }
        match self.wanted {
            Wanted::Name => {
                self.found.matches = 1;
                Ok(false)
            }
            // Ends at the match after the last one that is wanted, so that the context of that one is complete.
            Wanted::Lines(most) if self.found.matches == most => {
                self.found.more = true;
                Ok(false)
            }
            Wanted::Lines(_) => {
                self.found.matches += 1;
                self.push(found.line_number(), found.bytes(), Role::Match);
                Ok(true)
            }
        }
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        if matches!(self.wanted, Wanted::Lines(_)) {
            self.push(context.line_number(), context.bytes(), Role::Context);
        }
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> Result<(), io::Error> {
        // It turned out to be binary only after something was found.
        if finish.binary_byte_offset().is_some() {
            self.found = FileMatches::default();
        }
        Ok(())
    }
}

/// The line without its end; of a long one the part around `at`.
fn shorten(bytes: &[u8], at: usize) -> String {
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    if bytes.len() <= MOST_LINE_CHARACTERS {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let mut start = if at < MOST_LINE_CHARACTERS / 2 { 0 } else { at - MOST_LINE_CHARACTERS / 4 };
    while start < at && bytes[start] & 0b1100_0000 == 0b1000_0000 {
        start += 1;
    }
    // A character has four bytes at most.
    let window = &bytes[start..bytes.len().min(start + 4 * MOST_LINE_CHARACTERS)];
    let window = String::from_utf8_lossy(window);
    let mut characters = window.chars();
    let text: String = characters.by_ref().take(MOST_LINE_CHARACTERS).collect();
    let whole = characters.next().is_none() && start + 4 * MOST_LINE_CHARACTERS >= bytes.len();
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
        assert!(text.chars().count() < MOST_LINE_CHARACTERS + 60);

        let text = shorten(line.as_bytes(), 3);
        assert!(text.starts_with("éé"));
    }

    #[test]
    fn a_long_line_of_few_characters_is_whole() {
        let line = "😀".repeat(MOST_LINE_CHARACTERS);
        assert_eq!(shorten(line.as_bytes(), 0), line);
    }
}
