use attache_tool::ToolErrorKind;
use attache_tool_std::Glob;
use serde_json::{Value, json};

use super::world::World;

#[track_caller]
fn lines(text: &str) -> Vec<&str> {
    text.lines().skip(1).collect()
}

async fn found(world: &World, input: Value) -> Vec<String> {
    let text = world.text(&Glob::default(), input).await;
    lines(&text).into_iter().map(str::to_owned).collect()
}

#[tokio::test]
async fn new_files_come_first_and_old_ones_by_name() {
    let world = World::new(&[
        ("old-b.rs", ""),
        ("old-a.rs", ""),
        ("src/newer.rs", ""),
        ("new.rs", ""),
        ("x.txt", ""),
    ]);
    for (name, hours) in [("old-b.rs", 30), ("old-a.rs", 90), ("src/newer.rs", 1), ("new.rs", 5)] {
        world.changed_before(name, hours);
    }
    let text = world.text(&Glob::default(), json!({ "pattern": "**/*.rs" })).await;
    assert_eq!(
        text,
        "Found 4 files matching \"**/*.rs\" in \".\":\n@/src/newer.rs\n@/new.rs\n@/old-a.rs\n@/old-b.rs"
    );
}

#[tokio::test]
async fn patterns_are_relative_to_the_folder_and_may_be_absolute() {
    let world = World::new(&[("src/a.rs", ""), ("src/deep/b.rs", ""), ("c.rs", "")]);
    assert_eq!(found(&world, json!({ "pattern": "*.rs", "dir_path": "src" })).await, ["@/src/a.rs"]);
    assert_eq!(found(&world, json!({ "pattern": "src/**/b.rs" })).await, ["@/src/deep/b.rs"]);
    assert_eq!(found(&world, json!({ "pattern": world.path("src/*.rs") })).await, ["@/src/a.rs"]);
    let error = world.refusal(&Glob::default(), json!({ "pattern": "/elsewhere/*" })).await;
    assert!(error.message.contains("use a relative pattern"), "{error}");
}

#[tokio::test]
async fn case_counts_only_when_asked() {
    let world = World::new(&[("SRC/README.MD", "")]);
    assert_eq!(found(&world, json!({ "pattern": "src/*.md" })).await, ["@/SRC/README.MD"]);
    let input = json!({ "pattern": "src/*.md", "case_sensitive": true });
    assert_eq!(world.text(&Glob::default(), input).await, "No file matches \"src/*.md\" in \".\".");
}

#[tokio::test]
async fn ignored_files_and_dependencies_are_passed_over() {
    let world = World::new(&[
        (".gitignore", "*.log\n!keep.log\n"),
        (".geminiignore", "private\n"),
        ("a.log", ""),
        ("keep.log", ""),
        ("private/b.log", ""),
        ("node_modules/c.log", ""),
        (".git/keep.log", ""),
    ]);
    assert_eq!(found(&world, json!({ "pattern": "**/*.log" })).await, ["@/keep.log"]);
    let input = json!({ "pattern": "**/*.log", "respect_git_ignore": false });
    let mut all = found(&world, input).await;
    all.sort();
    assert_eq!(all, ["@/a.log", "@/keep.log"]);
    let input =
        json!({ "pattern": "private/*", "respect_git_ignore": false, "respect_gemini_ignore": false });
    assert_eq!(found(&world, input).await, ["@/private/b.log"]);
}

#[tokio::test]
async fn links_are_shown_only_when_they_lead_to_a_file_inside() {
    let world = World::new(&[("real.md", ""), ("../outside/secret.md", "")]);
    world.link("in.md", "real.md");
    world.link("out.md", "../outside/secret.md");
    world.link("nowhere.md", "missing");
    world.link("folder", "../outside");
    let mut all = found(&world, json!({ "pattern": "**/*.md" })).await;
    all.sort();
    assert_eq!(all, ["@/in.md", "@/real.md"]);
}

#[tokio::test]
async fn an_answer_has_an_end() {
    let world = World::new(&[]);
    (0..1_002).for_each(|number| world.write(&format!("d/{number}.x"), ""));
    let text = world.text(&Glob::default(), json!({ "pattern": "**/*.x" })).await;
    assert!(text.starts_with("Found 1002 files"), "{text}");
    assert!(text.ends_with("\n(2 more are left out; use a narrower pattern)"), "{text}");
    assert_eq!(text.lines().count(), 1 + 1_000 + 1);
}

#[tokio::test]
async fn every_root_is_searched() {
    let mut world = World::new(&[("a.x", ""), ("../second/b.x", "")]);
    world.add_root("second");
    for name in ["a.x", "../second/b.x"] {
        world.changed_before(name, 48);
    }
    let text = world.text(&Glob::default(), json!({ "pattern": "*.x" })).await;
    assert!(text.contains("@/a.x\n") && text.ends_with("/second/b.x"), "{text}");
}

#[tokio::test]
async fn bad_calls_are_refused() {
    let world = World::new(&[("file", "")]);
    for (input, kind) in [
        (json!({ "pattern": "[" }), ToolErrorKind::InvalidToolParams),
        (json!({ "pattern": "../*" }), ToolErrorKind::InvalidToolParams),
        (json!({ "pattern": "*", "path": "src" }), ToolErrorKind::InvalidToolParams),
        (json!({ "pattern": "*", "dir_path": "missing" }), ToolErrorKind::SearchPathNotFound),
        (json!({ "pattern": "*", "dir_path": "file" }), ToolErrorKind::SearchPathNotADirectory),
        (json!({ "pattern": "*", "dir_path": "../outside" }), ToolErrorKind::PathNotInWorkspace),
    ] {
        let error = world.refusal(&Glob::default(), input.clone()).await;
        assert_eq!(error.kind, kind, "{input}: {error}");
    }
}

#[tokio::test]
async fn a_cancelled_search_ends_with_an_error() {
    let world = World::new(&[("a", "")]);
    world.context.cancel.cancel();
    let error = world.refusal(&Glob::default(), json!({ "pattern": "*" })).await;
    assert_eq!(error.message, "the call was cancelled");
}
