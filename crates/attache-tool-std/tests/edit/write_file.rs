use attache_tool::{Effect, Preview, Tool as _, ToolErrorKind, ToolKind};
use serde_json::json;

use super::world::{World, refused, told};

#[tokio::test]
async fn a_new_file_and_its_folders_are_made() {
    let world = World::new();
    let proposal = world
        .propose(&world.write_file, json!({ "file_path": "a/b/new.txt", "content": "one\ntwo\n" }))
        .await
        .unwrap();
    assert!(!world.at("a").exists(), "a proposal touches nothing");
    assert_eq!(proposal.effects, [Effect::Write { path: world.at("a/b/new.txt") }]);
    assert_eq!(
        proposal.shown,
        Preview::Edit {
            path: world.at("a/b/new.txt"),
            diff: "--- /dev/null\n+++ b/a/b/new.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n".into(),
            original: None,
            original_digest: None,
            new_content: "one\ntwo\n".into(),
        }
    );
    let output = world.run(&world.write_file, proposal).await.unwrap();
    assert_eq!(world.text("a/b/new.txt"), "one\ntwo\n");
    assert!(told(&output).starts_with("Created "), "{output:?}");
}

#[tokio::test]
async fn an_existing_file_is_replaced_and_the_change_is_told() {
    let world = World::with("one\ntwo\n");
    let output = world.write("file", "one\n2\n").await.unwrap();
    assert_eq!(world.text("file"), "one\n2\n");
    assert!(told(&output).contains("\n-two\n+2\n"), "{output:?}");
    assert!(output.summary.contains("(+1 -1 lines)"), "{output:?}");
    assert!(output.diff.unwrap().ends_with("@@ -1,2 +1,2 @@\n one\n-two\n+2\n"));
}

#[tokio::test]
async fn a_file_may_become_empty_and_be_written_as_it_is() {
    let world = World::with("one");
    world.write("file", "one").await.unwrap();
    assert_eq!(world.text("file"), "one");
    world.write("file", "").await.unwrap();
    assert_eq!(world.text("file"), "");
}

#[tokio::test]
async fn content_that_leaves_out_code_is_refused() {
    let world = World::with("fn a() {}\n");
    let outcome = world.write("file", "fn b() {}\n// ... rest of the code ...\n").await;
    assert!(refused(outcome, ToolErrorKind::InvalidToolParams).contains("rest of the code"));
    assert_eq!(world.text("file"), "fn a() {}\n");
}

#[tokio::test]
async fn bad_input_is_told_apart() {
    let world = World::with("text");
    std::fs::create_dir(world.at("folder")).unwrap();
    std::fs::write(world.at("binary"), b"\xff\x00\x80").unwrap();
    std::fs::write(world.at("huge"), vec![b'a'; 5 * 1024 * 1024]).unwrap();
    for (path, kind) in [
        ("folder", ToolErrorKind::TargetIsDirectory),
        ("folder/", ToolErrorKind::TargetIsDirectory),
        ("new/", ToolErrorKind::TargetIsDirectory),
        (".", ToolErrorKind::TargetIsDirectory),
        ("file/below", ToolErrorKind::PathIsNotADirectory),
        ("binary", ToolErrorKind::ReadContentFailure),
        ("huge", ToolErrorKind::FileTooLarge),
        ("", ToolErrorKind::InvalidToolParams),
        ("../outside/new", ToolErrorKind::PathNotInWorkspace),
    ] {
        let error = world.write(path, "new").await.unwrap_err();
        assert_eq!(error.kind, kind, "{path}: {error}");
    }
    refused(world.call(&world.write_file, json!({ "content": "a" })).await, ToolErrorKind::InvalidToolParams);
    refused(
        world.call(&world.write_file, json!({ "file_path": "a" })).await,
        ToolErrorKind::InvalidToolParams,
    );
    let long = "a".repeat(5 * 1024 * 1024);
    refused(world.write("file", &long).await, ToolErrorKind::FileTooLarge);
}

#[tokio::test]
async fn both_tools_edit_alone_and_never_twice() {
    let world = World::new();
    for spec in [world.write_file.spec(), world.replace.spec()] {
        assert_eq!((spec.kind, spec.repeatable, spec.parallel), (ToolKind::Edit, false, false));
    }
}
