//! The commands around context files: `memory` and `init`.

use std::fs;

use attache_command::{CommandError, CommandRegistry, CommandStep, LoadedMemory, ToolUse};
use serde_json::{Map, json};

use crate::fake_context::{FakeContext, result};
use crate::standard::done;

#[tokio::test]
async fn memory_is_shown() {
    let context = FakeContext::full();
    for line in ["/memory", "/memory show"] {
        let (text, data) = done(context.give(line).await);
        assert_eq!(text, "The memory, from 1 file:\n\nBe brief.", "{line}");
        let files = json!([{"path": "GEMINI.md", "bytes": 10}]);
        assert_eq!(data, json!({"text": "Be brief.\n", "files": files}), "{line}");
    }
    let (text, data) = done(FakeContext::default().give("/memory").await);
    assert!(text.starts_with("The memory is empty."), "{text}");
    assert_eq!(data, json!({"text": "", "files": []}));
}

#[tokio::test]
async fn memory_is_read_again() {
    let context = FakeContext::full();
    for line in ["/memory refresh", "/memory reload"] {
        let (text, data) = done(context.give(line).await);
        assert_eq!(text, "Read again: 1 file, 8 bytes.", "{line}");
        assert_eq!(data, json!({"files": [{"path": "GEMINI.md", "bytes": 8}], "bytes": 8}));
    }
    assert_eq!(context.progress.lock().unwrap()[0], "Reading the context files again.");
    let context = FakeContext { refreshed: LoadedMemory::default(), ..FakeContext::full() };
    assert_eq!(done(context.give("/memory refresh").await).0, "There are no context files.");
}

#[tokio::test]
async fn context_files_are_listed() {
    let (text, data) = done(FakeContext::full().give("/memory list").await);
    assert_eq!(text, "Context files:\n\n- GEMINI.md (10 bytes)");
    assert_eq!(data, json!({"files": [{"path": "GEMINI.md", "bytes": 10}]}));
    assert_eq!(done(FakeContext::default().give("/memory list").await).0, "There are no context files.");
}

#[tokio::test]
async fn a_fact_is_remembered_by_the_tool() {
    let (context, registry) = (FakeContext::default(), CommandRegistry::standard());
    let line = "/memory add  tabs, not  spaces ";
    let input = Map::from_iter([("fact".to_owned(), json!("tabs, not  spaces"))]);
    let expected = CommandStep::UseTools(vec![ToolUse { tool: "save_memory".into(), input }]);
    assert_eq!(context.go_on(&registry, line, &[]).await, Ok(expected));

    let results = [vec![result("Added to GEMINI.md", false)]];
    let (text, data) = done(context.go_on(&registry, line, &results).await);
    assert_eq!(text, "Remembered: tabs, not  spaces");
    let expected = json!({"fact": "tabs, not  spaces", "saved": true, "message": "Added to GEMINI.md"});
    assert_eq!(data, expected);

    let results = [vec![result("the person said no", true)]];
    let (text, data) = done(context.go_on(&registry, line, &results).await);
    assert_eq!(text, "Nothing was remembered: the person said no");
    assert_eq!(data["saved"], false);

    let error = context.go_on(&registry, line, &[vec![]]).await.unwrap_err();
    assert!(matches!(error, CommandError::Failed { .. }), "{error:?}");
}

#[tokio::test]
async fn a_fact_has_to_be_there() {
    for line in ["/memory add", "/memory add  "] {
        let error = FakeContext::default().give(line).await.unwrap_err();
        let what = "`text` is missing (the fact to remember); usage: /memory add <text>".into();
        assert_eq!(error, CommandError::BadArguments { what });
    }
}

#[tokio::test]
async fn a_project_without_a_context_file_gets_one_from_the_model() {
    let workspace = tempfile::tempdir().unwrap();
    let mut context = FakeContext { workspace: workspace.path().into(), ..FakeContext::default() };
    for content in [None, Some(""), Some(" \n")] {
        if let Some(content) = content {
            context.files.insert("GEMINI.md".into(), content.into());
        }
        let Ok(CommandStep::Prompt(prompt)) = context.give("/init").await else {
            panic!("no prompt for {content:?}")
        };
        assert!(prompt.contains("write_file") && prompt.contains("GEMINI.md"), "{prompt}");
    }
    // One that is empty but cannot be read, too.
    context.files.clear();
    fs::write(workspace.path().join("GEMINI.md"), "").unwrap();
    assert!(matches!(context.give("/init").await, Ok(CommandStep::Prompt(_))));
}

#[tokio::test]
async fn a_context_file_that_is_there_is_left_alone() {
    let workspace = tempfile::tempdir().unwrap();
    let mut context = FakeContext { workspace: workspace.path().into(), ..FakeContext::default() };
    context.files.insert("GEMINI.md".into(), "Be brief.".into());
    let (text, data) = done(context.give("/init").await);
    assert!(text.contains("nothing was changed"), "{text}");
    assert_eq!(data, json!({"file": "GEMINI.md", "changed": false}));

    // It is there, even though it cannot be read.
    context.files.clear();
    fs::write(workspace.path().join("GEMINI.md"), [0xff; 4]).unwrap();
    assert!(done(context.give("/init").await).0.contains("nothing was changed"));
}
