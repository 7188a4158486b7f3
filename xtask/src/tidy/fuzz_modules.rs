//! Modules for fuzzing are behind the feature `fuzz`, so that no other build has them.

use crate::tidy::Finding;
use crate::tidy::tree::{File, Tree};

const CHECK: &str = "fuzz-feature";
const ATTRIBUTE: &str = "#[cfg(feature = \"fuzz\")]";

pub(crate) fn check(tree: &Tree) -> Vec<Finding> {
    let is_source = |file: &&File| file.path.starts_with("crates/") && file.path.ends_with(".rs");
    tree.files.iter().filter(is_source).flat_map(check_file).collect()
}

fn check_file(file: &File) -> Vec<Finding> {
    let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
    let declares = |line: &str| ["mod fuzz;", "mod fuzz {"].iter().any(|end| line.ends_with(end));
    let is_open = |index: usize| index == 0 || lines[index - 1] != ATTRIBUTE;
    let message = || format!("put `{ATTRIBUTE}` on the line above `mod fuzz`");
    let open = lines.iter().enumerate().filter(|(index, line)| declares(line) && is_open(*index));
    open.map(|(index, _)| Finding::at(CHECK, &file.path, index + 1, message())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_text(text: &str, lines: &[&str]) {
        let findings = check(&Tree::of(&[("crates/a/src/lib.rs", text), ("fuzz/targets/a.rs", "mod fuzz;")]));
        let places: Vec<&str> = findings.iter().map(|finding| finding.place.as_str()).collect();
        assert_eq!(places, lines);
    }

    #[test]
    fn a_fuzz_module_needs_the_feature() {
        check_text("mod a;\n#[cfg(feature = \"fuzz\")]\npub mod fuzz;\nmod fuzzy;\n", &[]);
        check_text("pub mod fuzz;\n", &["crates/a/src/lib.rs:1"]);
        check_text("#[cfg(test)]\nmod fuzz {\n}\n", &["crates/a/src/lib.rs:2"]);
        check_text("#[cfg(feature = \"fuzz\")]\nmod a;\npub(crate) mod fuzz;\n", &["crates/a/src/lib.rs:3"]);
    }
}
