//! Finds the text token by token, ignoring white space between tokens.

use std::ops::Range;

use regex::Regex;

use super::indentation;
use super::matching::{Edit, without_equal_edges};

const DELIMITERS: &[char] = &['(', ')', '[', ']', '{', '}', ':', '<', '>', '='];

pub(super) fn find(text: &str, old: &str, new: &str) -> Vec<Edit> {
    let (old, new) = without_equal_edges(old, new);
    let Some(pattern) = pattern(&tokens(old)) else { return Vec::new() };
    pattern
        .captures_iter(text)
        .filter_map(|captures| {
            let range = captures.get(0)?.range();
            let range = if old.ends_with('\n') { over_line_end(text, range) } else { range };
            Some(Edit { range, with: indentation::shift(new, captures.get(1)?.as_str()) })
        })
        .collect()
}

/// Splits into words and single delimiters.
fn tokens(text: &str) -> Vec<&str> {
    text.split_whitespace()
        .flat_map(|word| word.split_inclusive(DELIMITERS))
        .flat_map(|piece| {
            let end = piece.len()
                - piece
                    .chars()
                    .next_back()
                    .filter(|last| DELIMITERS.contains(last))
                    .map_or(0, char::len_utf8);
            [&piece[..end], &piece[end..]]
        })
        .filter(|token| !token.is_empty())
        .collect()
}

/// Matches the tokens from the start of a line. None if there are no tokens or too many.
fn pattern(tokens: &[&str]) -> Option<Regex> {
    let first = tokens.first()?;
    let mut pattern = format!(r"(?m)^([ \t]*){}", regex::escape(first));
    for pair in tokens.windows(2) {
        // Two words without white space would be one word.
        let touching = pair[0].ends_with(is_word) && pair[1].starts_with(is_word);
        pattern.push_str(if touching { r"\s+" } else { r"\s*" });
        pattern.push_str(&regex::escape(pair[1]));
    }
    if tokens.last()?.ends_with(is_word) {
        pattern.push_str(r"\b");
    }
    Regex::new(&pattern).ok()
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Extends the range over a directly following line end.
fn over_line_end(text: &str, range: Range<usize>) -> Range<usize> {
    let rest = &text[range.end..];
    let after = rest.trim_start_matches([' ', '\t', '\r']);
    match after.strip_prefix('\n') {
        Some(next) => range.start..text.len() - next.len(),
        None => range,
    }
}
