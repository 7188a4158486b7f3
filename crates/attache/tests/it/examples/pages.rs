//! What the pages promise about the examples.

use std::fs;

use super::{buffers, clients, example};

#[test]
fn every_example_has_fewer_than_a_hundred_lines() {
    for path in [
        "clients/rust/develop.rs",
        "clients/python/develop.py",
        "clients/typescript/develop.ts",
        "buffers/editor.py",
    ] {
        let lines = fs::read_to_string(example(path)).unwrap().lines().count();
        assert!(lines < 100, "{path} has {lines} lines");
    }
}

#[test]
fn the_pages_show_what_is_really_printed() {
    let page = fs::read_to_string(example("clients/README.md")).unwrap();
    for expected in [clients::PROMPT, clients::ASKED, clients::WRITTEN] {
        assert!(page.contains(expected), "{expected}");
    }
    let page = fs::read_to_string(example("buffers/README.md")).unwrap();
    // What the person types and where the editor listens stand in between.
    let printed = buffers::ALLOWED.split("ADDRESS\n").flat_map(|text| text.split_inclusive("or n:\n"));
    for expected in printed.chain([buffers::PROMPT]) {
        assert!(page.contains(expected), "{expected}");
    }
}
