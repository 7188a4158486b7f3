//! What the offline model says and writes about itself is true.

use std::path::Path;

use attache_model::offline::OfflineModel;
use attache_model::{ModelStreamItem, TurnFinish};

use crate::world::{answer, conversation, play};

fn makes_calls(text: &str) -> bool {
    let items = answer(&OfflineModel, conversation(&[text]));
    matches!(items.as_slice(), [ModelStreamItem::Finish(TurnFinish::Calls(_))])
}

/// Each entry with the alternatives in its parentheses.
#[test]
fn every_example_of_the_help_works() {
    let help =
        play(&OfflineModel, &["help"]).iter().map(|item| item.replacen("text ", "", 1)).collect::<String>();
    let (with_tools, _) = help.split_once("With words and numbers:").unwrap();
    let mut tried = 0;
    for entry in with_tools.lines().filter_map(|line| line.strip_prefix("- ")) {
        let (example, more) = entry.split_once(" (").unwrap_or((entry, ""));
        let others = more
            .trim_end_matches(')')
            .split("; ")
            .filter_map(|other| other.strip_prefix("or: ").or_else(|| other.strip_prefix("or just: ")));
        for example in std::iter::once(example).chain(others) {
            assert!(makes_calls(example), "{example}");
            tried += 1;
        }
    }
    assert_eq!(tried, 15);
    assert!(makes_calls("read README.md and LICENSE"));
}

/// The requests in the documentation are blocks that are marked as such.
#[test]
fn every_request_of_the_documentation_works() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/offline-model.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks: Vec<&str> =
        page.split("~~~request\n").skip(1).filter_map(|rest| rest.split("~~~").next()).collect();
    assert!(blocks.len() >= 10, "only {} blocks found", blocks.len());
    for block in blocks {
        assert!(makes_calls(block), "{block}");
    }
}
