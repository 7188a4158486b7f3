use attache_domain::Content;
use attache_tool_std::mentions::{Expansion, expand};

use super::world::World;

const FILES: &[(&str, &str)] = &[
    ("src/a.rs", "fn a() {}\n"),
    ("src/deep/b.rs", "fn b() {}\n"),
    ("src/out.log", "noise\n"),
    ("src/GEMINI.md", "known anyway\n"),
    ("my notes.md", "notes\n"),
    ("odd[1]{2}.txt", "odd\n"),
    (".gitignore", "*.log\nbuilt/\n"),
    ("built/x.js", "x\n"),
    ("empty/built/x.js", "x\n"),
];

async fn expanded(world: &World, text: &str) -> Expansion {
    expand(text, &world.context).await.unwrap()
}

fn text(expanded: &Expansion) -> String {
    let texts = expanded.contents.iter().map(|content| match content {
        Content::Text(text) => text.clone(),
        Content::Bytes { media_type, .. } => format!("<{media_type}>\n"),
        other => panic!("{other:?}"),
    });
    texts.collect()
}

#[track_caller]
fn check(expanded: &Expansion, files: &[(&str, &str)], notes: &[&str]) {
    let files: String =
        files.iter().map(|(name, content)| format!("--- {name} ---\n\n{content}\n\n")).collect();
    let expected = match files.is_empty() {
        true => String::new(),
        false => format!("--- Content from referenced files ---\n\n{files}--- End of content ---"),
    };
    assert_eq!(text(expanded), expected);
    assert_eq!(expanded.notes, notes);
}

#[tokio::test]
async fn files_come_in_the_order_they_are_mentioned_and_once() {
    let world = World::new(FILES);
    let text =
        format!(r"@my\ notes.md, @src/a.rs, @./src/a.rs and @{}!", world.path("odd[1]{2}.txt").display());
    let found = expanded(&world, &text).await;
    check(
        &found,
        &[("my notes.md", "notes\n"), ("src/a.rs", "fn a() {}\n"), ("odd[1]{2}.txt", "odd\n")],
        &[],
    );
}

#[tokio::test]
async fn folders_stand_for_their_files() {
    let world = World::new(FILES);
    let found = expanded(&world, "Explain @src/ please").await;
    check(&found, &[("src/a.rs", "fn a() {}\n"), ("src/deep/b.rs", "fn b() {}\n")], &[]);
    check(&expanded(&world, "@empty").await, &[], &["@empty has no files to read"]);
}

#[tokio::test]
async fn what_the_project_ignores_is_left_out_with_a_note() {
    let world = World::new(FILES);
    let note = |path: &str| format!("@{path} was left out: the project ignores it");
    let found = expanded(&world, "@src/out.log @built @built/x.js @src/a.rs").await;
    let notes = ["src/out.log", "built", "built/x.js"].map(note);
    check(&found, &[("src/a.rs", "fn a() {}\n")], &notes.each_ref().map(String::as_str));
}

#[tokio::test]
async fn words_that_are_no_files_are_left_alone() {
    let world = World::new(FILES);
    let found = expanded(&world, "Ask @alice or me@example.com about @scope/pkg").await;
    assert_eq!(found, Expansion::default());
    world.write("alice", "a file after all\n");
    assert!(text(&expanded(&world, "Ask @alice").await).contains("a file after all"));
}

#[tokio::test]
async fn paths_that_lead_nowhere_or_out_stay_words() {
    let world = World::new(FILES);
    world.write("../outside/secret", "secret");
    world.link("way", "../outside/secret");
    let found = expanded(&world, "@src/gone.rs @../outside/secret @/etc/passwd @way").await;
    assert_eq!(found, Expansion::default());
}

#[tokio::test]
async fn what_is_too_much_is_left_out_with_a_note() {
    let world = World::new(&[]);
    let text = "x".repeat(999) + "\n";
    (0..6).for_each(|number| world.write(&format!("{number}.txt"), text.repeat(300)));
    let found = expanded(&world, "@.").await;
    assert_eq!(found.notes, [3, 4, 5].map(|number| format!("{number}.txt was left out: the answer is full")));
}

#[tokio::test]
async fn a_folder_stands_for_no_secret_no_archive_and_no_link() {
    let world =
        World::new(&[("../outside/secret.txt", "secret"), ("a.txt", "a"), ("dist/c.txt", ""), ("e.zip", "")]);
    world.write(".env", "KEY=1");
    world.write("node_modules/d.txt", "");
    world.link("out.txt", "../outside/secret.txt");
    world.link("out", "../outside");
    check(&expanded(&world, "@.").await, &[("a.txt", "a")], &[]);
}

#[tokio::test]
async fn media_in_a_folder_come_only_when_they_are_named() {
    let world = World::new(&[("note.txt", "n\n")]);
    world.write("logo.png", b"\x89PNG\r\n\x1a\n\0");
    let note = "logo.png was left out: it is no text, and only its folder is mentioned";
    check(&expanded(&world, "@.").await, &[("note.txt", "n\n")], &[note]);
}

#[tokio::test]
async fn images_come_when_they_are_named() {
    let world = World::new(&[]);
    world.write("pictures/a.png", b"\x89PNG\r\n\x1a\n\0\0");
    world.write("pictures/data.bin2", b"\0\x01\x02\x03");
    let found = expanded(&world, "@pictures/a.png @pictures/data.bin2").await;
    assert!(text(&found).contains("--- pictures/a.png ---\n\n<image/png>\n"), "{}", text(&found));
    assert_eq!(found.notes, ["pictures/data.bin2 was left out: it is binary"]);
}

#[tokio::test]
async fn a_cancelled_turn_reads_nothing() {
    let world = World::new(FILES);
    world.context.cancel.cancel();
    assert!(expand("@src/a.rs", &world.context).await.is_err());
}
