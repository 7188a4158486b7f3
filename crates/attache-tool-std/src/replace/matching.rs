//! Finds the text to replace with four strategies, from strict to lenient.

use std::ops::Range;

use super::{exact, flexible, fuzzy, tokens};

/// How the text was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strategy {
    Exact,
    Flexible,
    Tokens,
    Fuzzy,
}

/// All occurrences in order, without overlap.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Matches {
    pub(super) strategy: Strategy,
    pub(super) edits: Vec<Edit>,
}

/// One occurrence and its replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) range: Range<usize>,
    pub(super) with: String,
}

/// Finds `old`, which is not empty, in `text` with the first strategy that matches.
pub(super) fn find(text: &str, old: &str, new: &str) -> Matches {
    const STRATEGIES: [(Strategy, FindFn); 4] = [
        (Strategy::Exact, exact::find),
        (Strategy::Flexible, flexible::find),
        (Strategy::Tokens, tokens::find),
        (Strategy::Fuzzy, fuzzy::find),
    ];
    let found = |(strategy, find): (Strategy, FindFn)| Matches { strategy, edits: find(text, old, new) };
    STRATEGIES
        .into_iter()
        .map(found)
        .find(|found| !found.edits.is_empty())
        .unwrap_or(Matches { strategy: Strategy::Exact, edits: Vec::new() })
}

/// Finds the second text in the first, to be replaced by the third.
type FindFn = fn(&str, &str, &str) -> Vec<Edit>;

impl Matches {
    pub(super) fn apply(&self, text: &str) -> String {
        let mut after = String::with_capacity(text.len());
        let mut end = 0;
        for edit in &self.edits {
            after.push_str(&text[end..edit.range.start]);
            after.push_str(&edit.with);
            end = edit.range.end;
        }
        after.push_str(&text[end..]);
        after
    }
}

/// A line of a text. The range includes the line end, the content does not.
#[derive(Debug, Clone)]
pub(super) struct Line<'text> {
    pub(super) range: Range<usize>,
    pub(super) content: &'text str,
}

pub(super) fn lines(text: &str) -> Vec<Line<'_>> {
    let mut start = 0;
    text.split_inclusive('\n')
        .map(|line| {
            let range = start..start + line.len();
            start = range.end;
            Line { range, content: line.strip_suffix('\n').unwrap_or(line) }
        })
        .collect()
}

/// The range of the lines, with the last line end only if it is replaced too.
pub(super) fn span(lines: &[Line<'_>], with_line_end: bool) -> Range<usize> {
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return 0..0 };
    let end = if with_line_end { last.range.end } else { last.range.start + last.content.len() };
    first.range.start..end
}

/// Removes line breaks that both texts have at the start and at the end.
pub(super) fn without_equal_edges<'text>(
    mut old: &'text str,
    mut new: &'text str,
) -> (&'text str, &'text str) {
    while let (Some(shorter_old), Some(shorter_new)) = (old.strip_prefix('\n'), new.strip_prefix('\n')) {
        (old, new) = (shorter_old, shorter_new);
    }
    while let (Some(shorter_old), Some(shorter_new)) = (old.strip_suffix('\n'), new.strip_suffix('\n')) {
        (old, new) = (shorter_old, shorter_new);
    }
    (old, new)
}

#[cfg(test)]
mod tests;
