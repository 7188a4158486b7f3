//! A unified diff with the header that clients of Gemini CLI's server parse.

use std::borrow::Cow;

use attache_domain::visible;

/// The labels of the two sides, after the file's name.
pub(super) struct Labels {
    old: &'static str,
    new: &'static str,
}

impl Labels {
    pub(super) const PROPOSED: Self = Self { old: "Current", new: "Proposed" };
    pub(super) const WRITTEN: Self = Self { old: "Original", new: "Written" };
}

/// Replaces the header of `diff` by `Index:`, a rule, and both sides under the same name. Escapes hidden characters.
pub(super) fn encode(name: &str, diff: &str, labels: Labels) -> String {
    let (name, rule) = (single_line(name), "=".repeat(67));
    let Labels { old, new } = labels;
    format!("Index: {name}\n{rule}\n--- {name}\t{old}\n+++ {name}\t{new}\n{}", rewrite_hunks(&visible(diff)))
}

/// A name with a line break could look like lines of the diff.
pub(super) fn single_line(name: &str) -> Cow<'_, str> {
    if name.contains(char::is_control) { Cow::Owned(format!("{name:?}")) } else { Cow::Borrowed(name) }
}

/// Drops the two lines that name the sides, and completes the range of each hunk.
fn rewrite_hunks(diff: &str) -> String {
    let headless =
        if diff.starts_with("--- ") { diff.splitn(3, '\n').nth(2).unwrap_or_default() } else { diff };
    headless.split_inclusive('\n').map(with_line_counts).collect()
}

/// A range may omit a count of one, which not all readers handle.
fn with_line_counts(line: &str) -> Cow<'_, str> {
    let ranges = line.strip_prefix("@@ -").and_then(|rest| rest.split_once(" @@"));
    let Some(((old, new), end)) = ranges.and_then(|(ranges, end)| Some((ranges.split_once(" +")?, end)))
    else {
        return line.into();
    };
    let count = |range: &str| if range.contains(',') { "" } else { ",1" };
    format!("@@ -{old}{} +{new}{} @@{end}", count(old), count(new)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, diff: &str, expected: &str) {
        assert_eq!(
            encode(name, diff, Labels::PROPOSED),
            expected.replace("RULE", &"=".repeat(67)),
            "{diff:?}"
        );
    }

    #[test]
    fn the_head_is_another_and_the_hunks_stay() {
        check(
            "a.rs",
            "--- /dev/null\n+++ b/src/a.rs\n@@ -0,0 +1 @@\n+--- x\n",
            "Index: a.rs\nRULE\n--- a.rs\tCurrent\n+++ a.rs\tProposed\n@@ -0,0 +1,1 @@\n+--- x\n",
        );
        check("a.rs", "", "Index: a.rs\nRULE\n--- a.rs\tCurrent\n+++ a.rs\tProposed\n");
        check("a.rs", "--- a/a.rs", "Index: a.rs\nRULE\n--- a.rs\tCurrent\n+++ a.rs\tProposed\n");
    }

    #[test]
    fn only_what_says_where_a_hunk_is_becomes_longer() {
        for (line, expected) in [
            ("@@ -1 +1 @@\n", "@@ -1,1 +1,1 @@\n"),
            ("@@ -3,7 +3,2 @@ fn main\n", "@@ -3,7 +3,2 @@ fn main\n"),
            ("@@ -1 +1,3 @@", "@@ -1,1 +1,3 @@"),
            ("+@@ -1 +1 @@\n", "+@@ -1 +1 @@\n"),
            ("@@ odd @@\n", "@@ odd @@\n"),
            ("", ""),
        ] {
            assert_eq!(with_line_counts(line), expected);
        }
    }

    #[test]
    fn a_name_cannot_add_lines() {
        check(
            "a\n@@ -1 +1 @@",
            "@@ -1 +1 @@\n-a\n+b\n",
            "Index: \"a\\n@@ -1 +1 @@\"\nRULE\n--- \"a\\n@@ -1 +1 @@\"\tCurrent\n+++ \"a\\n@@ -1 +1 @@\"\tProposed\n\
             @@ -1,1 +1,1 @@\n-a\n+b\n",
        );
    }
}
