//! Patterns of any shape: every tool that takes one answers or refuses in words, and none panics.

use attache_tool::Tool;
use attache_tool_std::{Glob, GrepSearch, ListDirectory};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::world::World;

/// Each tool with a pattern in each of its members.
fn calls(pattern: &str) -> Vec<(Box<dyn Tool>, Value)> {
    vec![
        (Box::new(Glob::default()), json!({ "pattern": pattern })),
        (Box::new(GrepSearch::default()), json!({ "pattern": "a", "include_pattern": pattern })),
        (Box::new(GrepSearch::default()), json!({ "pattern": pattern })),
        (Box::new(ListDirectory::default()), json!({ "dir_path": ".", "ignore": [pattern] })),
    ]
}

async fn no_call_panics(world: &World, pattern: &str) {
    for (tool, input) in calls(pattern) {
        if let Err(refused) = world.call(tool.as_ref(), input).await {
            assert!(!refused.message.contains("panicked"), "{refused}");
        }
    }
}

fn nested(levels: usize) -> String {
    "{".repeat(levels) + "a" + &"}".repeat(levels)
}

#[tokio::test]
async fn five_hundred_nested_braces_are_refused_in_words() {
    let world = World::new(&[("a.rs", "a\n")]);
    for levels in [17, 300, 500, 100_000] {
        for (tool, input) in calls(&nested(levels)) {
            // A regular expression may have braces of its own; it has its own limits.
            if input["pattern"] == nested(levels) && tool.spec().name == "grep_search" {
                continue;
            }
            let refused = world.refusal(tool.as_ref(), input).await;
            assert!(refused.message.contains("braces") || refused.message.contains("bytes"), "{refused}");
        }
    }
}

#[tokio::test]
async fn a_line_of_an_ignore_file_that_is_too_much_does_not_switch_off_the_others() {
    let rules = format!("secret.txt\n{}\nother.txt\n", nested(500));
    let world = World::new(&[(".gitignore", &rules), ("secret.txt", ""), ("other.txt", ""), ("a.rs", "")]);
    let text = world.text(&Glob::default(), json!({ "pattern": "*" })).await;
    assert!(text.contains("a.rs") && !text.contains("secret.txt") && !text.contains("other.txt"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_pattern_makes_a_tool_panic(
        piece in r"[a-c{}\[\]()*?,!^\\/.+|0-9-]{1,8}",
        times in 1_usize..600,
        tail in r"[a-c{}\[\]*?,/]{0,40}",
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let world = World::new(&[("a.rs", "a\n")]);
        let pattern = piece.repeat(times) + &tail;
        world.write(".gitignore", &pattern);
        runtime.block_on(no_call_panics(&world, &pattern));
    }
}
