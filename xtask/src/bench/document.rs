//! The table's place in `docs/benchmarks.md`.

use std::fs;
use std::path::Path;

const DOCUMENT: &str = "docs/benchmarks.md";
const BEGIN: &str = "<!-- figures: begin -->";
const END: &str = "<!-- figures: end -->";

/// Replaces what stands between the markers.
pub(super) fn write(root: &Path, table: &str) -> Result<(), String> {
    let path = root.join(DOCUMENT);
    let text = fs::read_to_string(&path).map_err(|error| format!("{DOCUMENT}: {error}"))?;
    let text = replaced(&text, table).ok_or_else(|| format!("{DOCUMENT} has no `{BEGIN}` and `{END}`"))?;
    fs::write(&path, text).map_err(|error| format!("{DOCUMENT}: {error}"))
}

fn replaced(document: &str, table: &str) -> Option<String> {
    let (before, rest) = document.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{table}{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_the_markers_changes() {
        let document = format!("# Head\n{BEGIN}\nold\n{END}\ntail\n");
        let new = replaced(&document, "new\n").unwrap();
        assert_eq!(new, format!("# Head\n{BEGIN}\nnew\n{END}\ntail\n"));
        assert_eq!(replaced(&new, "new\n").unwrap(), new);
    }

    #[test]
    fn a_document_without_markers_is_left_alone() {
        assert!(replaced("# Head\n", "new\n").is_none());
    }
}
