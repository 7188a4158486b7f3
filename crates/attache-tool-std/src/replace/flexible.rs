//! Finds the text line by line, ignoring white space around each line.

use super::indentation;
use super::matching::{Edit, lines, span};

pub(super) fn find(text: &str, old: &str, new: &str) -> Vec<Edit> {
    let wanted: Vec<&str> = old.lines().map(str::trim).collect();
    // White space alone would match every empty line.
    if wanted.iter().all(|line| line.is_empty()) {
        return Vec::new();
    }
    let lines = lines(text);
    let mut edits = Vec::new();
    let mut at = 0;
    while let Some(window) = lines.get(at..at + wanted.len()) {
        if !window.iter().zip(&wanted).all(|(line, wanted)| line.content.trim() == *wanted) {
            at += 1;
            continue;
        }
        let first = window.iter().find(|line| !line.content.trim().is_empty());
        let target = first.map_or("", |line| indentation::of(line.content));
        edits.push(Edit { range: span(window, old.ends_with('\n')), with: indentation::shift(new, target) });
        at += wanted.len();
    }
    edits
}
