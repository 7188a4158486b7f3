use attache_tool::ToolErrorKind;
use proptest::prelude::*;
use serde_json::json;

use super::world::{World, edit_of_file, refused, told};

async fn check(before: &str, (old, new): (&str, &str), after: &str) {
    let world = World::with(before);
    world.edit(old, new).await.unwrap();
    assert_eq!(world.text("file"), after);
}

#[tokio::test]
async fn each_strategy_replaces() {
    check("a $x b\n", ("$x", "$1"), "a $1 b\n").await;
    check("{\n    go();\n    stop();\n}\n", ("go();\nstop();", "run();"), "{\n    run();\n}\n").await;
    check("  call(one,\n    two);\n", ("call( one, two );", "call();"), "  call();\n").await;
    check(
        "\tlet greeting = \"good morning\";\n",
        ("let greting = \"good morning\";", "let a;"),
        "\tlet a;\n",
    )
    .await;
}

#[tokio::test]
async fn a_lenient_match_is_told() {
    let world = World::with("    go();\n    stop();\n");
    let output = world.edit("go();\nstop();", "run();").await.unwrap();
    assert!(told(&output).contains("check the diff"), "{output:?}");
}

#[tokio::test]
async fn several_occurrences_need_to_be_allowed() {
    let world = World::with("a\nb\na\n");
    let message = refused(world.edit("a", "c").await, ToolErrorKind::EditExpectedOccurrenceMismatch);
    assert!(message.contains("2 occurrences") && message.contains("lines 1, 3"), "{message}");
    assert_eq!(world.text("file"), "a\nb\na\n");

    let mut input = edit_of_file("a", "c");
    input["allow_multiple"] = json!(true);
    let output = world.call(&world.replace, input).await.unwrap();
    assert_eq!(world.text("file"), "c\nb\nc\n");
    assert!(told(&output).contains("2 occurrences"), "{output:?}");
}

#[tokio::test]
async fn what_cannot_be_done_is_told_apart() {
    let world = World::with("text\n");
    let message = refused(world.edit("absent", "x").await, ToolErrorKind::EditNoOccurrenceFound);
    assert!(message.contains("0 occurrences"), "{message}");
    refused(world.edit("text", "text").await, ToolErrorKind::EditNoChange);
    refused(world.edit("", "x").await, ToolErrorKind::AttemptToCreateExistingFile);
    refused(world.edit("text", "// rest of code ...").await, ToolErrorKind::InvalidToolParams);
    let missing = json!({ "file_path": "missing", "instruction": "", "old_string": "a", "new_string": "b" });
    refused(world.call(&world.replace, missing).await, ToolErrorKind::FileNotFound);
    assert_eq!(world.text("file"), "text\n");
}

#[tokio::test]
async fn an_empty_old_text_makes_a_file() {
    let world = World::new();
    world.edit("", "new\n").await.unwrap();
    assert_eq!(world.text("file"), "new\n");
}

#[tokio::test]
async fn the_end_of_the_file_keeps_its_form() {
    check("a\nb", ("b", "c\n"), "a\nc").await;
    check("a\nb\n", ("b\n", "c"), "a\nc\n").await;
    check("a\n", ("a\n", ""), "").await;
}

#[tokio::test]
async fn a_second_run_of_the_same_edit_is_refused() {
    let world = World::with("a\n");
    let proposal = world.propose(&world.replace, edit_of_file("a", "aa")).await.unwrap();
    world.run(&world.replace, proposal.clone()).await.unwrap();
    refused(world.run(&world.replace, proposal).await, ToolErrorKind::EditPreparationFailure);
    assert_eq!(world.text("file"), "aa\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn an_edit_to_the_letter_is_that_of_the_standard_library(
        before in "[ab\nü]{0,20}",
        old in "[ab\nü]{1,3}",
        new in "[abc\nß]{0,4}",
    ) {
        prop_assume!(before.contains(&old) && old != new);
        let text = format!("{before}.");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let after = runtime.block_on(async {
            let world = World::with(&text);
            let mut input = edit_of_file(&old, &new);
            input["allow_multiple"] = json!(true);
            world.call(&world.replace, input).await.unwrap();
            world.text("file")
        });
        prop_assert_eq!(after, text.replace(&old, &new));
    }
}

async fn edit_at(
    world: &World,
    path: &str,
    old: &str,
) -> Result<attache_tool::ToolOutput, attache_tool::ToolError> {
    let input = json!({ "file_path": path, "instruction": "test", "old_string": old, "new_string": "new" });
    world.call(&world.replace, input).await
}

#[tokio::test]
async fn a_path_that_only_one_file_ends_with_is_taken_for_that_file() {
    let world = World::new();
    for path in ["app/src/main.rs", "app/src/lib.rs", "other/lib.rs", "node_modules/x/src/main.rs"] {
        std::fs::create_dir_all(world.at(path).parent().unwrap()).unwrap();
        std::fs::write(world.at(path), "old\n").unwrap();
    }
    let output = edit_at(&world, "./src/main.rs", "old").await.unwrap();
    assert!(told(&output).contains(world.at("app/src/main.rs").to_str().unwrap()), "{output:?}");
    assert_eq!(world.text("app/src/main.rs"), "new\n");

    let message = refused(edit_at(&world, "lib.rs", "old").await, ToolErrorKind::FileNotFound);
    assert!(message.contains("app/src/lib.rs, other/lib.rs"), "{message}");
    for path in ["b.rs", "rc/lib.rs", "../lib.rs", "/src/lib.rs", "src/../lib.rs"] {
        assert!(edit_at(&world, path, "old").await.is_err(), "{path}");
    }
    assert_eq!((world.text("app/src/lib.rs"), world.text("other/lib.rs")), ("old\n".into(), "old\n".into()));
}

#[tokio::test]
async fn a_file_that_is_to_be_created_is_created_where_it_was_said() {
    let world = World::new();
    std::fs::create_dir_all(world.at("app/src")).unwrap();
    std::fs::write(world.at("app/src/main.rs"), "old\n").unwrap();
    edit_at(&world, "src/main.rs", "").await.unwrap();
    assert_eq!((world.text("src/main.rs"), world.text("app/src/main.rs")), ("new".into(), "old\n".into()));
}
