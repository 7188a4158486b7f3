//! The table's place in `docs/benchmarks.md`.

use std::fs;
use std::path::Path;

const DOCUMENT: &str = "docs/benchmarks.md";

/// A table with markers around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Figures,
    AgainstGemini,
}

impl Section {
    fn markers(self) -> [String; 2] {
        let name = match self {
            Self::Figures => "figures",
            Self::AgainstGemini => "against Gemini",
        };
        ["begin", "end"].map(|place| format!("<!-- {name}: {place} -->"))
    }
}

/// Replaces what stands between the markers.
pub(super) fn write(root: &Path, section: Section, table: &str) -> Result<(), String> {
    let path = root.join(DOCUMENT);
    let text = fs::read_to_string(&path).map_err(|error| format!("{DOCUMENT}: {error}"))?;
    let [begin, end] = section.markers();
    let text =
        replaced(&text, section, table).ok_or_else(|| format!("{DOCUMENT} has no `{begin}` and `{end}`"))?;
    fs::write(&path, text).map_err(|error| format!("{DOCUMENT}: {error}"))
}

fn replaced(document: &str, section: Section, table: &str) -> Option<String> {
    let [begin, end] = section.markers();
    let (before, rest) = document.split_once(&begin)?;
    let (_, after) = rest.split_once(&end)?;
    Some(format!("{before}{begin}\n{table}{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_the_markers_changes() {
        let section = |name, text| format!("<!-- {name}: begin -->\n{text}\n<!-- {name}: end -->\ntail\n");
        let other = section("figures", "other");
        let document = format!("# Head\n{other}{}", section("against Gemini", "old"));
        let new = replaced(&document, Section::AgainstGemini, "new\n").unwrap();
        assert_eq!(new, format!("# Head\n{other}{}", section("against Gemini", "new")));
        assert_eq!(replaced(&new, Section::AgainstGemini, "new\n").unwrap(), new);
    }

    #[test]
    fn a_document_without_markers_is_left_alone() {
        assert!(replaced("# Head\n", Section::Figures, "new\n").is_none());
    }
}
