use attache_domain::Content;
use attache_tool_std::ReadManyFiles;
use serde_json::json;

use super::world::World;

#[tokio::test]
async fn files_come_by_path_with_their_names() {
    let world = World::new(&[("src/b.rs", "b\n"), ("src/a.rs", "a"), ("src/deep/c.rs", "c"), ("d.txt", "d")]);
    let tool = ReadManyFiles::default();
    assert_eq!(
        world.text(&tool, json!({ "include": ["src/*.rs", "d.txt"] })).await,
        "--- d.txt ---\n\nd\n\n--- src/a.rs ---\n\na\n\n--- src/b.rs ---\n\nb\n\n\n--- End of content ---"
    );
    let names = async |include: &str, recursive: bool| {
        let input = json!({ "include": [include], "recursive": recursive });
        world.call(&tool, input).await.unwrap().summary
    };
    assert_eq!(names("src", true).await, "Read 3 files: src/a.rs, src/b.rs, src/deep/c.rs");
    assert_eq!(names("src/", false).await, "Read 2 files: src/a.rs, src/b.rs");
    assert_eq!(names("**/c.rs", true).await, "Read 1 files: src/deep/c.rs");
}

#[tokio::test]
async fn what_is_excluded_or_ignored_is_not_read() {
    let world = World::new(&[
        (".gitignore", "ignored\n"),
        ("a.txt", ""),
        ("b.txt", ""),
        ("ignored", ""),
        ("dist/c.txt", ""),
        ("node_modules/d.txt", ""),
        ("e.zip", ""),
        (".env", ""),
    ]);
    let tool = ReadManyFiles::default();
    let input = json!({ "include": ["**"], "exclude": ["b.*", ".gitignore"] });
    assert_eq!(world.call(&tool, input).await.unwrap().summary, "Read 1 files: a.txt");
    let input = json!({
        "include": ["**"],
        "exclude": [".gitignore"],
        "useDefaultExcludes": false,
        "file_filtering_options": { "respect_git_ignore": false },
    });
    let summary = world.call(&tool, input).await.unwrap().summary;
    assert_eq!(summary, "Read 7 files: .env, a.txt, b.txt, dist/c.txt, e.zip, ignored, node_modules/d.txt");
}

#[tokio::test]
async fn media_are_read_when_they_are_named() {
    let world = World::new(&[("note.txt", "n")]);
    world.write("logo.png", b"\x89PNG\r\n\x1a\n\0");
    world.write("data.raw", b"\0\0\0");
    let tool = ReadManyFiles::default();
    let output = world.call(&tool, json!({ "include": ["**/*.png"] })).await.unwrap();
    assert!(matches!(&output.content[1], Content::Bytes { media_type, .. } if media_type == "image/png"));
    assert_eq!(world.call(&tool, json!({ "include": ["logo*"] })).await.unwrap().content.len(), 3);
    let text = world.text(&tool, json!({ "include": ["**"] })).await;
    assert_eq!(
        text,
        "--- note.txt ---\n\nn\n\n--- End of content ---\nLeft out 2 files:\n- data.raw: it is binary\n\
         - logo.png: it is no text, and no pattern names it or its extension"
    );
}

#[tokio::test]
async fn an_answer_has_an_end() {
    let world = World::new(&[]);
    let text = "x".repeat(999) + "\n";
    (0..6).for_each(|number| world.write(&format!("{number}.txt"), text.repeat(300)));
    let summary = world.call(&ReadManyFiles::default(), json!({ "include": ["*"] })).await.unwrap().summary;
    assert!(summary.starts_with("Read 3 files: 0.txt, 1.txt, 2.txt\nLeft out 3 files:"), "{summary}");
    assert!(summary.contains("- 5.txt: the answer is full"), "{summary}");
}

#[tokio::test]
async fn links_are_not_followed() {
    let world = World::new(&[("../outside/secret.txt", "secret"), ("a.txt", "a")]);
    world.link("out.txt", "../outside/secret.txt");
    world.link("out", "../outside");
    let input = json!({ "include": ["**/*.txt"] });
    assert_eq!(world.call(&ReadManyFiles::default(), input).await.unwrap().summary, "Read 1 files: a.txt");
}

#[tokio::test]
async fn nothing_to_read_is_said() {
    let world = World::new(&[]);
    let text = world.text(&ReadManyFiles::default(), json!({ "include": ["*.none"] })).await;
    assert_eq!(text, "No files were read: nothing matches the patterns that may be read.");
    let error = world.refusal(&ReadManyFiles::default(), json!({ "include": [] })).await;
    assert!(error.message.contains("\"include\" must have at least 1 items"), "{error}");
    let error = world.refusal(&ReadManyFiles::default(), json!({ "include": ["../x"] })).await;
    assert!(error.message.contains("contains \"..\""), "{error}");
    world.context.cancel.cancel();
    let error = world.refusal(&ReadManyFiles::default(), json!({ "include": ["*"] })).await;
    assert_eq!(error.message, "the call was cancelled");
}
