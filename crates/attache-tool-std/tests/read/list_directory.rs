use attache_tool::ToolErrorKind;
use attache_tool_std::ListDirectory;
use serde_json::json;

use super::world::World;

#[tokio::test]
async fn folders_come_first_and_files_have_sizes() {
    let world =
        World::new(&[("b.txt", "12345"), ("a.txt", ""), ("zoo/x", ""), ("Alpha/x", ""), (".hidden", "1")]);
    world.link("way-out", "../outside");
    let tool = ListDirectory::default();
    assert_eq!(
        world.text(&tool, json!({ "dir_path": "." })).await,
        "In @:\n[DIR] Alpha\n[DIR] zoo\n.hidden (1 bytes)\na.txt (0 bytes)\nb.txt (5 bytes)\n\
         way-out (link to ../outside)"
    );
    assert_eq!(world.call(&tool, json!({ "dir_path": "." })).await.unwrap().summary, "Listed 6 entries");
}

#[tokio::test]
async fn ignored_entries_are_counted() {
    let world = World::new(&[
        (".gitignore", "target/\n"),
        (".geminiignore", "secret\n"),
        ("target/x", ""),
        ("secret", ""),
        ("a.tmp", ""),
        ("a.rs", ""),
    ]);
    let tool = ListDirectory::default();
    let all = "In @:\n.geminiignore (7 bytes)\n.gitignore (8 bytes)\na.rs (0 bytes)";
    let input = json!({ "dir_path": ".", "ignore": ["*.tmp"] });
    assert_eq!(world.text(&tool, input).await, format!("{all}\n\n(3 ignored)"));
    let options = json!({ "respect_git_ignore": false, "respect_gemini_ignore": false });
    let input = json!({ "dir_path": ".", "ignore": [".*", "a.*"], "file_filtering_options": options });
    assert_eq!(world.text(&tool, input).await, "In @:\n[DIR] target\nsecret (0 bytes)\n\n(4 ignored)");
    let error = world.refusal(&tool, json!({ "dir_path": "target" })).await;
    assert!(error.message.contains("target is ignored by the project"), "{error}");
}

#[tokio::test]
async fn a_listing_has_an_end() {
    let world = World::new(&[]);
    (0..1_005).for_each(|number| world.write(&format!("{number:04}"), ""));
    let text = world.text(&ListDirectory::default(), json!({ "dir_path": "." })).await;
    assert_eq!(text.lines().count(), 1 + 1_000 + 1);
    assert!(text.contains("\n0999 (0 bytes)\n(5 more entries are left out;"), "{text}");
}

#[tokio::test]
async fn an_empty_folder_is_said_to_be_empty() {
    let world = World::new(&[("file", "")]);
    std::fs::create_dir(world.path("empty")).unwrap();
    assert_eq!(
        world.text(&ListDirectory::default(), json!({ "dir_path": "empty" })).await,
        "@/empty is empty."
    );
}

#[tokio::test]
async fn what_is_no_folder_of_the_workspace_is_refused() {
    let world = World::new(&[("file", ""), ("../outside/secret", "")]);
    world.link("out", "../outside");
    let tool = ListDirectory::default();
    for (path, kind) in [
        ("file", ToolErrorKind::PathIsNotADirectory),
        ("missing", ToolErrorKind::FileNotFound),
        ("out", ToolErrorKind::PathNotInWorkspace),
        ("..", ToolErrorKind::PathNotInWorkspace),
    ] {
        let error = world.refusal(&tool, json!({ "dir_path": path })).await;
        assert_eq!(error.kind, kind, "{path}: {error}");
    }
    let error = world.refusal(&tool, json!({ "dir_path": ".", "ignore": ["["] })).await;
    assert!(error.message.contains("\"ignore\""), "{error}");
    let options = json!({ "respect_everything": true });
    let error = world.refusal(&tool, json!({ "dir_path": ".", "file_filtering_options": options })).await;
    assert!(
        error.message.contains("there is no member \"file_filtering_options.respect_everything\""),
        "{error}"
    );
}
