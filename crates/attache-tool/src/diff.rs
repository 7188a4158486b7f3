//! Unified diffs of edits, which other programs can apply.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;
use std::time::{Duration, Instant};

use similar::{Algorithm, ChangeTag, DiffOp, capture_diff_slices_deadline, group_diff_ops};

/// Lines shown around each change.
const CONTEXT: usize = 3;
/// After this the diff may be longer than necessary, but correct.
const DIFF_TIMEOUT: Duration = Duration::from_millis(500);

/// A unified diff, empty when nothing differs, and the numbers of added and removed lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Diff {
    pub text: String,
    pub added: usize,
    pub removed: usize,
}

/// Compares two texts of the file called `name`; there is no `old` when the file is new.
pub fn compare(name: &str, old: Option<&str>, new: &str) -> Diff {
    // Not the crate's own lines: it takes a lone carriage return for a line end, and no program that applies
    // diffs does.
    let old_lines: Vec<&str> = old.unwrap_or_default().split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new.split_inclusive('\n').collect();
    let deadline = Instant::now() + DIFF_TIMEOUT;
    let ops = capture_diff_slices_deadline(Algorithm::Myers, &old_lines, &new_lines, Some(deadline));

    let mut diff = Diff::default();
    for hunk in group_diff_ops(ops, CONTEXT) {
        if diff.text.is_empty() {
            let name = one_line(name);
            diff.text = match old {
                Some(_) => format!("--- a/{name}\n+++ b/{name}\n"),
                None => format!("--- /dev/null\n+++ b/{name}\n"),
            };
        }
        let [old_range, new_range] =
            [DiffOp::old_range, DiffOp::new_range].map(|range| spanned(&hunk, range));
        // Writing to a string does not fail.
        let _ = writeln!(diff.text, "@@ -{old_range} +{new_range} @@");
        for change in hunk.iter().flat_map(|op| op.iter_changes(&old_lines, &new_lines)) {
            diff.push(change.tag(), change.value());
        }
    }
    diff
}

/// The lines of one side that a hunk spans, as its header writes them.
fn spanned(hunk: &[DiffOp], range: fn(&DiffOp) -> Range<usize>) -> String {
    let start = hunk.first().map_or(0, |op| range(op).start);
    let end = hunk.last().map_or(0, |op| range(op).end);
    match end.saturating_sub(start) {
        // Named by the line before it.
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        count => format!("{},{count}", start + 1),
    }
}

/// A line break in a name could look like lines of the diff.
fn one_line(name: &str) -> Cow<'_, str> {
    if name.contains(char::is_control) { Cow::Owned(format!("{name:?}")) } else { Cow::Borrowed(name) }
}

impl Diff {
    fn push(&mut self, tag: ChangeTag, line: &str) {
        let sign = match tag {
            ChangeTag::Equal => ' ',
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        self.added += usize::from(tag == ChangeTag::Insert);
        self.removed += usize::from(tag == ChangeTag::Delete);
        self.text.push(sign);
        self.text.push_str(line);
        if !line.ends_with('\n') {
            self.text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Applies a unified diff, believing nothing: every line it names must be there.
    fn apply(old: &str, diff: &str) -> String {
        let mut old_lines = old.split_inclusive('\n');
        let mut taken = 0;
        let mut new = String::new();
        let mut lines = diff.split_inclusive('\n').skip(2).peekable();
        while let Some(line) = lines.next() {
            if let Some(range) = line.strip_prefix("@@ -") {
                let (start, count) = range.split_once(' ').unwrap().0.split_once(',').map_or_else(
                    || (range.split_once(' ').unwrap().0.parse::<usize>().unwrap(), 1),
                    |(start, count)| (start.parse().unwrap(), count.parse::<usize>().unwrap()),
                );
                // A range of no lines is named by the line before it.
                let before = if count == 0 { start } else { start - 1 };
                old_lines.by_ref().take(before - taken).for_each(|line| new.push_str(line));
                taken = before;
                continue;
            }
            let (sign, mut content) = line.split_at(1);
            if lines.next_if(|next| next.starts_with('\\')).is_some() {
                content = content.strip_suffix('\n').unwrap();
            }
            if sign != "+" {
                assert_eq!(old_lines.next(), Some(content));
                taken += 1;
            }
            if sign != "-" {
                new.push_str(content);
            }
        }
        new.extend(old_lines);
        new
    }

    #[test]
    fn a_new_file_is_compared_with_nothing() {
        let diff = compare("src/new.rs", None, "one\ntwo");
        assert_eq!(
            diff.text,
            "--- /dev/null\n+++ b/src/new.rs\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n"
        );
        assert_eq!((diff.added, diff.removed), (2, 0));
    }

    #[test]
    fn a_name_does_not_pass_for_lines() {
        let diff = compare("a\n@@ -1 +1 @@", None, "one\n");
        assert_eq!(diff.text.lines().filter(|line| line.starts_with("@@")).count(), 1, "{}", diff.text);
    }

    #[test]
    fn equal_texts_have_no_diff() {
        assert_eq!(compare("file", Some("same\n"), "same\n"), Diff::default());
    }

    proptest! {
        #[test]
        fn applying_the_diff_gives_the_new_text(
            old in "([a-c]{0,2}(\n|\r\n|\r)){0,30}[a-c]?",
            new in "([a-c]{0,2}(\n|\r\n|\r)){0,30}[a-c]?",
        ) {
            prop_assert_eq!(apply(&old, &compare("file", Some(&old), &new).text), new);
        }

        #[test]
        fn small_changes_of_long_texts_are_applied_too(at in 0..200_usize, gone in 0..5_usize, put in "[x\n]{0,6}") {
            let lines: Vec<String> = (0..200).map(|number| format!("{number}\n")).collect();
            let after = (at + gone).min(lines.len());
            let (old, new) = (lines.concat(), [&lines[..at].concat(), &put, &lines[after..].concat()].map(String::as_str).concat());
            prop_assert_eq!(apply(&old, &compare("file", Some(&old), &new).text), new);
        }
    }
}
