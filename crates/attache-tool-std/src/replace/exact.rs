//! Finds the exact text.

use super::matching::Edit;

pub(super) fn find(text: &str, old: &str, new: &str) -> Vec<Edit> {
    text.match_indices(old)
        .map(|(start, found)| Edit { range: start..start + found.len(), with: new.to_owned() })
        .collect()
}
