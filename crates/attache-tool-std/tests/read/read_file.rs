use std::sync::Arc;

use attache_domain::{Base64, Content};
use attache_tool::{Preview, Tool, ToolErrorKind, ToolKind};
use attache_tool_std::{ReadDigests, ReadFile};
use proptest::prelude::*;
use serde_json::json;

use super::world::World;

fn tool() -> ReadFile {
    ReadFile::new(Arc::new(ReadDigests::default()))
}

#[test]
fn it_is_declared_as_clients_know_it() {
    let tool = tool();
    let spec = tool.spec();
    assert_eq!(
        (spec.name.as_str(), spec.title.as_str(), spec.kind),
        ("read_file", "ReadFile", ToolKind::Read)
    );
    assert!(spec.repeatable && spec.parallel);
}

#[tokio::test]
async fn a_text_comes_back_as_it_is() {
    let world = World::new(&[("a.txt", "one\r\ntwo\n\nlast")]);
    assert_eq!(world.text(&tool(), json!({ "file_path": "a.txt" })).await, "one\r\ntwo\n\nlast");
    let absolute = world.path("a.txt");
    assert_eq!(world.text(&tool(), json!({ "file_path": absolute })).await, "one\r\ntwo\n\nlast");
}

#[tokio::test]
async fn some_lines_come_with_a_word_about_the_others() {
    let world = World::new(&[("a.txt", "1\n2\n3\n4\n5\n")]);
    let input = |start, end| json!({ "file_path": "a.txt", "start_line": start, "end_line": end });
    assert_eq!(
        world.text(&tool(), input(2, 3)).await,
        "[Lines 2-3 of 5 are shown. To read on, call read_file with start_line 4.]\n2\n3\n"
    );
    assert_eq!(world.text(&tool(), input(4, 99)).await, "[Lines 4-5 of 5 are shown.]\n4\n5\n");
    assert_eq!(world.text(&tool(), input(1, 5)).await, "1\n2\n3\n4\n5\n");
    assert_eq!(world.call(&tool(), input(2, 3)).await.unwrap().summary, "Read lines 2-3 of 5");
    assert_eq!(world.call(&tool(), input(1, 5)).await.unwrap().summary, "");
}

#[tokio::test]
async fn a_long_file_is_cut_after_two_thousand_lines() {
    let world = World::new(&[("a.txt", &"x\n".repeat(2_001))]);
    let text = world.text(&tool(), json!({ "file_path": "a.txt" })).await;
    let expected = "[Lines 1-2000 of 2001 are shown. To read on, call read_file with start_line 2001.]\n";
    assert_eq!(text, expected.to_owned() + &"x\n".repeat(2_000));
}

#[tokio::test]
async fn ranges_that_make_no_sense_are_refused() {
    let world = World::new(&[("a.txt", "1\n2\n"), ("empty", "")]);
    for (input, expected) in [
        (json!({ "file_path": "a.txt", "start_line": 3 }), "beyond the end of a.txt, which has 2 lines"),
        (json!({ "file_path": "empty", "start_line": 2 }), "beyond the end of empty, which has 0 lines"),
        (json!({ "file_path": "a.txt", "start_line": 2, "end_line": 1 }), "must not be below \"start_line\""),
        (json!({ "file_path": "a.txt", "start_line": 0 }), "\"start_line\" must be at least 1"),
        (json!({ "file_path": "a.txt", "limit": 5 }), "there is no member \"limit\""),
        (json!({}), "\"file_path\" is missing"),
    ] {
        let error = world.refusal(&tool(), input).await;
        assert_eq!(error.kind, ToolErrorKind::InvalidToolParams);
        assert!(error.message.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn an_empty_file_is_said_to_be_empty() {
    let world = World::new(&[("empty", "")]);
    assert_eq!(world.text(&tool(), json!({ "file_path": "empty" })).await, "[The file is empty.]");
}

#[tokio::test]
async fn other_encodings_are_read_and_wrong_bytes_are_said() {
    let world = World::new(&[]);
    let wide: Vec<u8> = "\u{FEFF}grün\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    world.write("wide.txt", wide);
    world.write("latin.txt", b"gr\xFCn\n");
    assert_eq!(world.text(&tool(), json!({ "file_path": "wide.txt" })).await, "grün\n");
    let text = world.text(&tool(), json!({ "file_path": "latin.txt" })).await;
    assert!(text.starts_with("[Some bytes of this file are no valid text;"), "{text}");
    assert!(text.ends_with("]\ngr\u{FFFD}n\n"), "{text}");
}

#[tokio::test]
async fn media_are_handed_over_and_other_binaries_are_not() {
    let world = World::new(&[]);
    world.write("image", b"\x89PNG\r\n\x1a\n\0");
    world.write("program", b"\x7FELF\0\0\0");
    let output = world.call(&tool(), json!({ "file_path": "image" })).await.unwrap();
    let expected = Content::Bytes {
        media_type: "image/png".to_owned(),
        bytes: Base64("iVBORw0KGgoA".to_owned()),
        name: Some("image".to_owned()),
    };
    assert_eq!(output.content, [expected]);
    let text = world.text(&tool(), json!({ "file_path": "program" })).await;
    assert_eq!(text, "program is a binary file of 7 bytes and cannot be shown as text.");
}

#[tokio::test]
async fn what_is_not_a_file_of_the_workspace_is_refused() {
    let world = World::new(&[("../outside/secret", "secret"), ("folder/file", ""), ("real", "inside")]);
    world.link("out", "../outside/secret");
    world.link("out-folder", "../outside");
    world.link("in", "real");
    for (path, kind) in [
        ("out", ToolErrorKind::PathNotInWorkspace),
        ("out-folder/secret", ToolErrorKind::PathNotInWorkspace),
        ("../outside/secret", ToolErrorKind::PathNotInWorkspace),
        ("/etc/passwd", ToolErrorKind::PathNotInWorkspace),
        ("missing", ToolErrorKind::FileNotFound),
        ("folder", ToolErrorKind::TargetIsDirectory),
        ("a\0b", ToolErrorKind::InvalidToolParams),
    ] {
        let error = world.refusal(&tool(), json!({ "file_path": path })).await;
        assert_eq!(error.kind, kind, "{path}: {error}");
    }
    assert_eq!(world.text(&tool(), json!({ "file_path": "in" })).await, "inside");
}

#[tokio::test]
async fn ignored_files_are_refused() {
    let world = World::new(&[
        (".gitignore", "*.key\n!public.key\n"),
        (".geminiignore", "private/\n"),
        ("a.key", ""),
        ("public.key", "public"),
        ("private/notes", ""),
    ]);
    for path in ["a.key", "private/notes"] {
        let error = world.refusal(&tool(), json!({ "file_path": path })).await;
        assert!(error.message.contains(&format!("{path} is ignored by the project")), "{error}");
    }
    assert_eq!(world.text(&tool(), json!({ "file_path": "public.key" })).await, "public");
}

#[tokio::test]
async fn files_that_are_too_large_are_refused() {
    let world = World::new(&[("large", "")]);
    let file = std::fs::File::options().write(true).open(world.path("large")).unwrap();
    file.set_len(20 * 1024 * 1024 + 1).unwrap();
    let error = world.refusal(&tool(), json!({ "file_path": "large" })).await;
    assert_eq!(error.kind, ToolErrorKind::FileTooLarge);
    assert!(error.message.contains("larger than 20 MB"), "{error}");
}

#[tokio::test]
async fn scratch_files_can_be_read() {
    let world = World::new(&[("../scratch/output.txt", "long output")]);
    let path = world.context.workspace.scratch.join("output.txt");
    assert_eq!(world.text(&tool(), json!({ "file_path": path })).await, "long output");
}

#[tokio::test]
async fn what_became_a_link_after_the_proposal_is_not_read() {
    let world = World::new(&[("a.txt", "mine"), ("b.txt", "other"), ("../outside/secret", "secret")]);
    let input = json!({ "file_path": "a.txt", "end_line": 3 });
    for target in ["b.txt", "../outside/secret"] {
        let _ = std::fs::remove_file(world.path("a.txt"));
        world.write("a.txt", "mine");
        let proposal = tool().propose(input.as_object().unwrap(), &world.context).await.unwrap();
        assert_eq!(proposal.shown, Preview::Plain { summary: "a.txt (lines 1-3)".to_owned() });
        std::fs::remove_file(world.path("a.txt")).unwrap();
        world.link("a.txt", target);
        let error = tool().run(proposal, &world.context).await.unwrap_err();
        assert_eq!(error.kind, ToolErrorKind::PathNotInWorkspace);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_range_of_any_text_is_exactly_those_lines(
        text in "([a-zß \\[\\]😀\\r]{0,8}\\n){1,10}[a-z]{0,3}", first in 0_usize..10, length in 0_usize..10,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let world = World::new(&[("a.txt", &text)]);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let first = first % lines.len();
        let end = (first + length + 1).min(lines.len());
        let input = json!({ "file_path": "a.txt", "start_line": first + 1, "end_line": first + length + 1 });
        let shown = runtime.block_on(world.text(&tool(), input));
        let expected = lines[first..end].concat();
        if first == 0 && end == lines.len() {
            prop_assert_eq!(shown, expected);
        } else {
            let (header, rest) = shown.split_once('\n').unwrap();
            let start = format!("[Lines {}-{end} of {} are shown.", first + 1, lines.len());
            prop_assert!(header.starts_with(&start));
            prop_assert_eq!(rest, expected);
        }
    }
}
