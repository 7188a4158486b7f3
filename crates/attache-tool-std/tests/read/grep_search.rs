use attache_tool::ToolErrorKind;
use attache_tool_std::GrepSearch;
use serde_json::{Value, json};

use super::world::World;

/// Without the lines that are added when there are few matches.
async fn search(world: &World, pattern: &str, more: Value) -> String {
    let mut input = json!({ "pattern": pattern, "context": 0 });
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let text = world.text(&GrepSearch::default(), input).await;
    text.split_once('\n').map(|(_, rest)| rest.to_owned()).unwrap_or(text)
}

#[tokio::test]
async fn matches_are_listed_by_file() {
    let world =
        World::new(&[("b.rs", "fn one() {}\n\nfn two() {}\n"), ("a/x.rs", "// fn\n"), ("c.txt", "nothing")]);
    let text = world.text(&GrepSearch::default(), json!({ "pattern": r"\bfn\b", "context": 0 })).await;
    assert_eq!(
        text,
        "Found 3 matches for \"\\\\bfn\\\\b\" in \".\":\n---\n\
         File: a/x.rs\nL1: // fn\n---\n\
         File: b.rs\nL1: fn one() {}\nL3: fn two() {}\n---"
    );
    let output = world.call(&GrepSearch::default(), json!({ "pattern": "fn" })).await.unwrap();
    assert_eq!(output.summary, "Found 3 matches in 2 files");
}

#[tokio::test]
async fn nothing_found_is_said() {
    let world = World::new(&[("a", "text")]);
    let input = json!({ "pattern": "nothing", "include_pattern": "*.rs" });
    assert_eq!(
        world.text(&GrepSearch::default(), input).await,
        "No matches for \"nothing\" in \".\" (files: *.rs)."
    );
}

#[tokio::test]
async fn case_and_plain_text_are_as_asked() {
    let world = World::new(&[("a", "Key(x)\nkey.x\n")]);
    assert_eq!(search(&world, "KEY.x", json!({})).await, "---\nFile: a\nL1: Key(x)\nL2: key.x\n---");
    assert_eq!(
        search(&world, "key.x", json!({ "case_sensitive": true })).await,
        "---\nFile: a\nL2: key.x\n---"
    );
    assert_eq!(
        search(&world, "KEY(x)", json!({ "fixed_strings": true })).await,
        "---\nFile: a\nL1: Key(x)\n---"
    );
}

#[tokio::test]
async fn files_and_lines_can_be_chosen() {
    let world = World::new(&[
        ("a.ts", "hit\nhit // skip\n"),
        ("deep/b.tsx", "hit\n"),
        ("deep/c.js", "hit\n"),
        ("other/d.ts", "hit\n"),
    ]);
    let names = |more: Value| {
        let mut more = more;
        more["names_only"] = json!(true);
        more
    };
    let world = &world;
    let check = async |more: Value, expected: &str| {
        assert_eq!(search(world, "hit", names(more.clone())).await, expected, "{more}");
    };
    check(json!({}), "a.ts\ndeep/b.tsx\ndeep/c.js\nother/d.ts").await;
    check(json!({ "include_pattern": "*.ts" }), "a.ts\nother/d.ts").await;
    check(json!({ "include_pattern": "*.{ts,tsx}" }), "a.ts\ndeep/b.tsx\nother/d.ts").await;
    check(json!({ "include_pattern": "deep/**/*.tsx" }), "deep/b.tsx").await;
    check(json!({ "include_pattern": "!*.ts" }), "deep/b.tsx\ndeep/c.js").await;
    check(json!({ "dir_path": "deep" }), "deep/b.tsx\ndeep/c.js").await;
    check(json!({ "dir_path": "deep/c.js" }), "deep/c.js").await;
    let text = search(world, "hit", json!({ "exclude_pattern": "SKIP", "dir_path": "a.ts" })).await;
    assert_eq!(text, "---\nFile: a.ts\nL1: hit\n---");
}

#[tokio::test]
async fn context_is_shown_as_asked() {
    let world = World::new(&[("a", "1\n2\nhit\n4\n5\n6\nhit\n8\n")]);
    let check = async |more: Value, expected: &str| {
        assert_eq!(search(&world, "hit", more).await, format!("---\nFile: a\n{expected}\n---"));
    };
    check(json!({ "context": 1 }), "L2- 2\nL3: hit\nL4- 4\nL6- 6\nL7: hit\nL8- 8").await;
    check(json!({ "before": 1 }), "L2- 2\nL3: hit\nL6- 6\nL7: hit").await;
    check(json!({ "after": 2 }), "L3: hit\nL4- 4\nL5- 5\nL7: hit\nL8- 8").await;
    check(json!({ "context": 1, "after": 0 }), "L2- 2\nL3: hit\nL6- 6\nL7: hit").await;
}

#[tokio::test]
async fn few_matches_come_with_the_lines_around_them() {
    let lines: String = (1..=200).map(|number| format!("line {number}\n")).collect();
    let world = World::new(&[("one", &lines)]);
    let count = async |pattern: &str| {
        let text = world.text(&GrepSearch::default(), json!({ "pattern": pattern })).await;
        (text.matches("\nL").count(), text.matches("- line").count())
    };
    assert_eq!(count("line 100$").await, (101, 100), "one match");
    assert_eq!(count("line (50|150)$").await, (62, 60), "two matches");
    assert_eq!(count("line (50|100|150)$").await, (93, 90), "three matches");
    assert_eq!(count("line (50|100|150|200)$").await, (4, 0), "four matches");
}

#[tokio::test]
async fn the_first_matches_by_path_are_shown() {
    let world = World::new(&[]);
    (0..40).for_each(|number| world.write(&format!("d{number:02}/f"), "hit\nhit\nhit\nhit\nhit\n"));
    let text = search(&world, "hit", json!({})).await;
    assert_eq!(text.matches(": hit").count(), 100);
    assert!(text.contains("File: d19/f") && !text.contains("File: d20/f"), "{text}");
    assert!(text.contains("(limited: there may be more matches;"), "{text}");

    let text = search(&world, "hit", json!({ "total_max_matches": 3, "max_matches_per_file": 2 })).await;
    let expected = "---\nFile: d00/f\nL1: hit\nL2: hit\n---\nFile: d01/f\nL1: hit\n---\n(limited:";
    assert!(text.starts_with(expected), "{text}");

    let text = search(&world, "hit", json!({ "names_only": true, "total_max_matches": 2 })).await;
    assert!(text.starts_with("d00/f\nd01/f\n(limited: there may be more files;"), "{text}");
}

#[tokio::test]
async fn ignored_files_are_searched_only_when_asked() {
    let world = World::new(&[
        (".gitignore", "*.log\n!keep.log\n"),
        (".geminiignore", "private\n"),
        (".hidden", "hit"),
        ("a.log", "hit"),
        ("keep.log", "hit"),
        ("private/x", "hit"),
        ("node_modules/x", "hit"),
        (".git/x", "hit"),
    ]);
    let names = |no_ignore: bool| json!({ "names_only": true, "no_ignore": no_ignore });
    assert_eq!(search(&world, "hit", names(false)).await, ".hidden\nkeep.log");
    assert_eq!(search(&world, "hit", names(true)).await, ".hidden\na.log\nkeep.log\nnode_modules/x");
    let error =
        world.refusal(&GrepSearch::default(), json!({ "pattern": "hit", "dir_path": "private" })).await;
    assert!(error.message.contains("private is ignored by the project"), "{error}");
}

#[tokio::test]
async fn links_are_not_followed() {
    let world = World::new(&[("../outside/secret", "hit"), ("real/a", "hit")]);
    world.link("out", "../outside");
    world.link("out-file", "../outside/secret");
    world.link("in", "real");
    assert_eq!(search(&world, "hit", json!({ "names_only": true })).await, "real/a");
    assert_eq!(search(&world, "hit", json!({ "names_only": true, "dir_path": "in" })).await, "real/a");
    let error = world.refusal(&GrepSearch::default(), json!({ "pattern": "hit", "dir_path": "out" })).await;
    assert_eq!(error.kind, ToolErrorKind::PathNotInWorkspace);
}

#[tokio::test]
async fn every_kind_of_text_is_searched_and_binaries_are_not() {
    let world = World::new(&[("crlf", "hit;\r\nmiss\r\n"), ("empty", "")]);
    let wide: Vec<u8> = "\u{FEFF}x\nhit;\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    world.write("wide", wide);
    world.write("latin", b"\xFC hit;\n");
    world.write("binary", b"hit;\n\0\0");
    let expected =
        "---\nFile: crlf\nL1: hit;\n---\nFile: latin\nL1: \u{FFFD} hit;\n---\nFile: wide\nL2: hit;\n---";
    assert_eq!(search(&world, ";$", json!({})).await, expected);
}

#[tokio::test]
async fn a_huge_line_is_shown_around_its_match() {
    let line = "x".repeat(100_000) + "needle" + &"y".repeat(100_000);
    let world = World::new(&[("min.js", &line)]);
    let text = search(&world, "needle", json!({})).await;
    assert!(text.contains("xneedley") && text.contains("[cut: the line has 200006 bytes]"), "{text}");
    assert!(text.len() < 2_500);
}

#[tokio::test]
async fn bad_calls_are_refused() {
    let world = World::new(&[("a", "")]);
    for (input, expected) in [
        (json!({ "pattern": "(" }), "\"pattern\" cannot be used"),
        (json!({ "pattern": "a(?=b)" }), "without look-around"),
        (json!({ "pattern": "a\nb" }), "line by line"),
        (json!({ "pattern": "" }), "\"pattern\" is empty"),
        (json!({ "pattern": "a", "exclude_pattern": "[" }), "\"exclude_pattern\" cannot be used"),
        (json!({ "pattern": "a", "include_pattern": "[" }), "\"include_pattern\""),
        (json!({ "pattern": "a", "context": -1 }), "\"context\" must be at least 0"),
        (
            json!({ "pattern": "a", "total_max_matches": 1_000_000 }),
            "\"total_max_matches\" must be at most 2000",
        ),
        (json!({ "pattern": "a", "path": "x" }), "there is no member \"path\""),
        (json!({ "pattern": "a", "names_only": "yes" }), "\"names_only\" must be of type boolean"),
    ] {
        let error = world.refusal(&GrepSearch::default(), input).await;
        assert_eq!(error.kind, ToolErrorKind::InvalidToolParams);
        assert!(error.message.contains(expected), "{error}");
    }
    let error = world.refusal(&GrepSearch::default(), json!({ "pattern": "a", "dir_path": "none" })).await;
    assert_eq!(error.kind, ToolErrorKind::SearchPathNotFound);
}

#[tokio::test]
async fn a_cancelled_search_ends_with_an_error() {
    let world = World::new(&[("a", "hit")]);
    world.context.cancel.cancel();
    let error = world.refusal(&GrepSearch::default(), json!({ "pattern": "hit" })).await;
    assert_eq!(error.message, "the call was cancelled");
}
