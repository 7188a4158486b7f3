//! Whole turns of the offline model: calls, their results, and what it says about them.

use std::collections::BTreeSet;

use attache_domain::{Base64, Content, ToolResult};
use attache_model::offline::OfflineModel;
use attache_model::{ModelChunk, ModelStreamItem, TurnFinish};
use proptest::prelude::*;

use crate::world::{check_resumption, conversation, failure, result, rounds, shown};

/// What was said and done: text that belongs together as one entry.
fn transcript(text: &str, results: &[Vec<ToolResult>]) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    let mut goes_on = false;
    for (_, _, item) in rounds(&OfflineModel, &conversation(&[text]), results) {
        match (&item, entries.last_mut()) {
            (ModelStreamItem::Chunk(ModelChunk::Text(more)), Some(said)) if goes_on => said.push_str(more),
            (ModelStreamItem::Chunk(ModelChunk::Text(more)), _) => entries.push(more.clone()),
            (item, _) => entries.push(shown(item)),
        }
        goes_on = matches!(item, ModelStreamItem::Chunk(_));
    }
    entries
}

#[track_caller]
fn check(text: &str, results: &[Vec<ToolResult>], expected: &[&str]) {
    assert_eq!(transcript(text, results), expected);
    check_resumption(&OfflineModel, &conversation(&[text]), results);
}

/// One call and one answer.
#[track_caller]
fn check_answer(text: &str, came: ToolResult, expected: &str) {
    let results = [vec![came]];
    let said = transcript(text, &results);
    assert!(said[0].starts_with("calls: "), "{said:?}");
    assert_eq!(said[1..], [expected, "completed"]);
    check_resumption(&OfflineModel, &conversation(&[text]), &results);
}

fn refusal() -> ToolResult {
    failure("[Operation Cancelled] The user did not agree to this.")
}

#[test]
fn a_listing_is_counted_and_shown() {
    check_answer(
        "list files in src",
        result("In /w/src:\n[DIR] a\nb.rs (12 bytes)\nc.rs (3 bytes)\n\n(2 ignored)"),
        "`src` has 1 folder and 2 files:\n\n```\n[DIR] a\nb.rs (12 bytes)\nc.rs (3 bytes)\n\n(2 ignored)\n```",
    );
    check_answer("list files", result("/w is empty."), "/w is empty.");
    let many: String = (0..60).map(|number| format!("file-{number} (1 bytes)\n")).collect();
    let said = transcript("list files", &[vec![result(&format!("In /w:\n{many}"))]]);
    assert!(said[1].starts_with("The workspace has 0 folders and 60 files:\n\n```\nfile-0 "), "{said:?}");
    assert!(said[1].ends_with("file-39 (1 bytes)\n… 20 more lines …\n```"), "{said:?}");
}

#[test]
fn a_file_is_shown() {
    check_answer("read a.txt", result("one\ntwo\n"), "`a.txt` has 2 lines:\n\n```\none\ntwo\n```");
    check_answer("read a.txt", result("[The file is empty.]"), "`a.txt` is empty.");
    check_answer(
        "read lines 2 to 3 of a.txt",
        result("[Lines 2-3 of 9 are shown. To read on, call read_file with start_line 4.]\ntwo\nthree\n"),
        "`a.txt`, lines 2-3 of 9:\n\n```\ntwo\nthree\n```",
    );
    check_answer(
        "read a.bin",
        result("a.bin is a binary file of 9 bytes and cannot be shown as text."),
        "a.bin is a binary file of 9 bytes and cannot be shown as text.",
    );
    let image = Content::Bytes { media_type: "image/png".into(), bytes: Base64("AA==".into()), name: None };
    check_answer(
        "show a.png",
        ToolResult { output: vec![image], ..result("") },
        "`a.png` is no text but image/png, so I cannot show it.",
    );
}

#[test]
fn what_was_found_is_shown() {
    check_answer(
        "find *.rs",
        result("Found 2 files matching \"**/*.rs\" in \".\":\n/w/a.rs\n/w/b.rs"),
        "Found 2 files matching \"**/*.rs\" in \".\":\n\n```\n/w/a.rs\n/w/b.rs\n```",
    );
    check_answer(
        "find milk",
        result("No file matches \"**/*milk*\" in \".\"."),
        "No file matches \"**/*milk*\" in \".\". That was about names; to look inside of files, say: search for `milk`",
    );
    check_answer(
        "search for milk",
        result("Found 1 match for \"milk\" in \".\":\n---\nFile: a.txt\nL1: milk\n---"),
        "Found 1 match for \"milk\" in \".\":\n\n```\nFile: a.txt\nL1: milk\n---\n```",
    );
    check_answer(
        "search for milk",
        result("No matches for \"milk\" in \".\"."),
        "No matches for \"milk\" in \".\".",
    );
}

#[test]
fn a_change_is_shown_as_a_diff() {
    check_answer(
        "create a.txt with x",
        result("Created /w/a.txt (+1 -0 lines)."),
        "Created /w/a.txt (+1 -0 lines).",
    );
    check_answer(
        "replace x with y in a.txt",
        result("Edited /w/a.txt (+1 -1 lines).\n\n@@ -1 +1 @@\n-x\n+y\n"),
        "Edited /w/a.txt (+1 -1 lines).\n\n```diff\n@@ -1 +1 @@\n-x\n+y\n```",
    );
    check_answer(
        "create a.txt with x",
        result(
            "Created /w/a.txt (+1 -0 lines). A person changed your edit before it was written; this is what the file now has:\n\n+z",
        ),
        "Created /w/a.txt (+1 -0 lines). You changed my edit before it was written; this is what the file now has:\n\n```diff\n+z\n```",
    );
}

#[test]
fn a_command_is_told_with_its_exit_code() {
    check_answer("run make", result("Output: done"), "I ran `make`. It wrote:\n\n```\ndone\n```");
    check_answer(
        "run make",
        result("Output: broken\nExit Code: 2"),
        "I ran `make`. Exit code 2: it did not succeed. It wrote:\n\n```\nbroken\n```",
    );
    let long: String = (0..100).map(|number| format!("{number}\n")).collect();
    let said = transcript("run make", &[vec![result(&format!("Output: {long}"))]]);
    assert!(said[1].contains("\n9\n… 60 more lines …\n70\n"), "{said:?}");
    assert!(said[1].ends_with("\n99\n```"), "{said:?}");
}

#[test]
fn failures_are_told_as_they_are() {
    let missing = "/w/a.txt does not exist; list its folder to see what is there";
    check_answer("read a.txt", failure(missing), &format!("I could not read `a.txt`: {missing}."));
    check_answer(
        "replace x with y in a.txt",
        failure("0 occurrences."),
        "I could not change `a.txt`: 0 occurrences.",
    );
    check_answer(
        "replace x with y in a.txt",
        failure("0 occurrences of `old_string` in /w/a.txt; read the file again"),
        "`a.txt` does not contain `x`, so nothing was changed.",
    );
    check_answer(
        "replace x with y in a.txt",
        failure(
            "3 occurrences of `old_string` in /w/a.txt, at lines 1, 2, 5, where 1 was expected; add lines",
        ),
        "`a.txt` contains `x` 3 times, so nothing was changed. To change all of them, say: replace all …",
    );
    check_answer("list files in x", failure("no folder"), "I could not list `x`: no folder.");
    check_answer(
        "run rm -rf /",
        failure("denied by policy (rule 3)"),
        "I could not run `rm -rf /`: denied by policy (rule 3).",
    );
    check_answer("search for x in y", failure("gone!"), "I could not search for `x`: gone!");
    check_answer("find x", failure(""), "I could not look for `**/*x*`: no reason was given.");
}

#[test]
fn an_agents_answer_is_told_as_it_is() {
    check_answer("@helper what?", result("Line one.\n\n- a list"), "Line one.\n\n- a list");
    check_answer("@helper what?", refusal(), "You declined, so the agent was not asked.");
    let cancelled = failure("[Operation Cancelled] The user cancelled this call while it ran.");
    check_answer("@helper what?", cancelled, "You cancelled that, so it was stopped.");
    let unanswered =
        failure("[Operation Cancelled] The user did not answer the question of this call, so it was ended.");
    check_answer("@helper what?", unanswered, "You did not answer the question, so it was stopped.");
    let said = transcript("@helper what?", &[vec![failure("there is no agent helper")]]);
    assert!(said[1].contains("`helper`") && said[1].contains("there is no agent helper"), "{said:?}");
}

#[test]
fn a_refusal_is_taken_as_one() {
    check_answer("create a.txt with x", refusal(), "You declined, so nothing was changed.");
    check_answer("replace x with y in a.txt", refusal(), "You declined, so nothing was changed.");
    check_answer("run make", refusal(), "You declined, so nothing was run.");
    check_answer("read a.txt", refusal(), "You declined, so I did not look.");
}

const READ: &str = r#"calls: read_file {"file_path":"a.txt"}"#;

#[test]
fn appending_takes_two_rounds() {
    let check_append = |before: &str, content: &str| {
        check(
            "append Call mum to a.txt",
            &[vec![result(before)], vec![result("Edited /w/a.txt (+1 -0 lines).")]],
            &[
                READ,
                &format!(r#"calls: write_file {{"content":{content:?},"file_path":"a.txt"}}"#),
                "Edited /w/a.txt (+1 -0 lines).",
                "completed",
            ],
        );
    };
    check_append("milk\n", "milk\nCall mum\n");
    check_append("milk", "milk\nCall mum\n");
    check_append("[The file is empty.]", "Call mum\n");
    let write = r#"calls: write_file {"content":"x\nCall mum\n","file_path":"a.txt"}"#;
    check(
        "append Call mum to a.txt",
        &[vec![result("x\n")], vec![refusal()]],
        &[READ, write, "You declined, so nothing was changed.", "completed"],
    );
}

#[test]
fn a_file_that_was_not_read_whole_is_not_written_again() {
    for (read, why) in [
        ("[Lines 1-2 of 3 are shown. To read on, …]\na\nb\n", "it is longer than I can read at once"),
        ("[Some bytes of this file are no valid text; …]\na", "some of its bytes are no valid text"),
        ("a\nbbb... [17 more characters in this line]\r\nc\n", "it has longer lines than I can read"),
        ("a.txt is a binary file of 9 bytes and cannot be shown as text.", "it is no text"),
    ] {
        let said = format!("I did not change `a.txt`: {why}.");
        check("append x to a.txt", &[vec![result(read)]], &[READ, &said, "completed"]);
    }
    check(
        "append x to a.txt",
        &[vec![failure("a.txt does not exist")]],
        &[READ, "I could not append to `a.txt`: a.txt does not exist.", "completed"],
    );
}

#[test]
fn requests_are_done_one_after_the_other() {
    let write = r#"calls: write_file {"content":"hello\n","file_path":"a.txt"}"#;
    let results = [vec![result("Created a.txt.")], vec![result("hello\n")]];
    let expected = [write, "Created a.txt.", READ, "\n\n`a.txt` has 1 line:\n\n```\nhello\n```", "completed"];
    for text in [
        "create a.txt with hello then read a.txt",
        "create a.txt with hello, then read it",
        "Create a.txt with hello.txt\n".replace(".txt\n", "\nread a.txt").as_str(),
        "1. create a.txt with hello\n2. read a.txt",
        "- create a.txt:\n  hello\n- read it".replace("  hello", "hello").as_str(),
        "create a.txt with 'hello' and read it",
        "create a.txt with:\n```\nhello\n```\nthen read it",
    ] {
        check(text, &results, &expected);
    }
}

#[test]
fn what_needs_no_tool_is_said_in_between() {
    check(
        "1. what is 6 * 7\n2. read a.txt\n3. echo done",
        &[vec![result("x\n")]],
        &["That is 42.", READ, "\n\n`a.txt` has 1 line:\n\n```\nx\n```\n\ndone", "completed"],
    );
}

#[test]
fn the_first_that_goes_wrong_is_the_last() {
    let write = r#"calls: write_file {"content":"x\n","file_path":"a.txt"}"#;
    let rest = "\n\nSo I left out the request after that.";
    for (came, said) in [
        (refusal(), "You declined, so nothing was changed."),
        (failure("no space"), "I could not write `a.txt`: no space."),
    ] {
        let said = format!("{said}{rest}");
        check("write a.txt with x then list files", &[vec![came]], &[write, &said, "completed"]);
    }
    let said = transcript("run make\nlist files\nread b", &[vec![result("Output: no\nExit Code: 1")]]);
    assert!(said[1].ends_with("\n\nSo I left out the 2 requests after that."), "{said:?}");
    assert_eq!(said.len(), 3);
}

#[test]
fn of_several_calls_together_each_is_told() {
    check(
        "read a.txt and b.txt",
        &[vec![result("a\n"), failure("b.txt does not exist")]],
        &[
            r#"calls: read_file {"file_path":"a.txt"} + read_file {"file_path":"b.txt"}"#,
            "`a.txt` has 1 line:\n\n```\na\n```\n\nI could not read `b.txt`: b.txt does not exist.",
            "completed",
        ],
    );
    let said = transcript("read a.txt and b.txt", &[vec![result("a\n")]]);
    assert!(said[1].ends_with("I was not told the result of `read_file`."), "{said:?}");
}

#[test]
fn calls_are_told_apart_within_a_task() {
    let results = [vec![result("x\n"), result("y\n")], vec![result("z\n")], vec![result("Edited.")]];
    let mut ids = Vec::new();
    for texts in [&["read a.txt and b.txt then append x to c.txt"][..], &["hi", "read a.txt"]] {
        for (_, _, item) in rounds(&OfflineModel, &conversation(texts), &results) {
            if let ModelStreamItem::Finish(TurnFinish::Calls(calls)) = item {
                ids.extend(calls.into_iter().map(|call| call.id));
            }
        }
    }
    assert_eq!(ids.len(), 5);
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 5, "{ids:?}");
}

#[test]
fn a_later_message_is_a_new_request() {
    let request = conversation(&["create a.txt with x", "list files"]);
    let items = crate::world::answer(&OfflineModel, request);
    assert_eq!(items.iter().map(shown).collect::<Vec<_>>(), [r#"calls: list_directory {"dir_path":"."}"#]);
}

fn outcomes() -> impl Strategy<Value = Vec<ToolResult>> {
    let text = prop_oneof![
        any::<String>(),
        Just("Output: x\nExit Code: 1".to_owned()),
        Just("In /w:\n[DIR] a\nb (1 bytes)".to_owned()),
        Just("[Lines 1-2 of 3 are shown.]".to_owned()),
        Just("[Operation Cancelled] no".to_owned()),
        Just("[The file is empty.]".to_owned()),
    ];
    let outcome = (text, any::<bool>()).prop_map(|(text, failed)| ToolResult { failed, ..result(&text) });
    proptest::collection::vec(outcome, 0..3)
}

proptest! {
    #[test]
    fn whatever_comes_back_the_turn_ends_and_goes_on_at_any_point(
        text in proptest::sample::select(TEXTS),
        results in proptest::collection::vec(outcomes(), 0..5),
    ) {
        let request = conversation(&[text]);
        let played = rounds(&OfflineModel, &request, &results);
        prop_assert!(matches!(played.last(), Some((_, _, ModelStreamItem::Finish(_)))));
        check_resumption(&OfflineModel, &request, &results);
    }
}

const TEXTS: &[&str] = &[
    "list files and read a.txt then run make then echo done",
    "append x to a.txt\nread it\nfind *.rs",
    "1. search for x\n2. count to 30\n3. replace x with y in a.txt",
    "create a.txt with x",
];
