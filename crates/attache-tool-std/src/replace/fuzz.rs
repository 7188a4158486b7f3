//! Arbitrary texts as edits.

use super::matching::{self, Strategy};

/// Finds `old` in `text`: the ranges are in order, do not overlap, and are inside the text.
pub(crate) fn replaced(text: &str, old: &str, new: &str) {
    if old.is_empty() {
        return;
    }
    let found = matching::find(text, old, new);
    let mut end = 0;
    for edit in &found.edits {
        assert!(edit.range.start >= end && edit.range.end >= edit.range.start, "{:?}", found.edits);
        assert!(text.get(edit.range.clone()).is_some(), "{:?} cuts a letter or the end", edit.range);
        end = edit.range.end;
    }
    let after = found.apply(text);
    if found.strategy == Strategy::Exact {
        assert_eq!(after, text.replace(old, new));
    }
    assert_eq!(text.contains(old), found.strategy == Strategy::Exact && !found.edits.is_empty());
}
