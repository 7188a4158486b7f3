//! What a custom command does with its prompt.

use std::fs;

use attache_command::custom::{CustomSource, load};
use attache_command::{CommandError, CommandRegistry, CommandStep};
use attache_domain::{Content, ToolResult};

use crate::fake_context::{FakeContext, result};

/// A registry with one custom command `do`.
fn registry(prompt: &str) -> CommandRegistry {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("prompt = '''{prompt}'''");
    fs::write(folder.path().join("do.toml"), text).unwrap();
    let (registry, problems) =
        CommandRegistry::standard().with_custom(load(&[CustomSource::user(folder.path())]));
    assert_eq!(problems, []);
    registry
}

async fn prompts(prompt: &str, line: &str, expected: &str) {
    let next = FakeContext::full().go_on(&registry(prompt), line, &[]).await;
    assert_eq!(next, Ok(CommandStep::Prompt(expected.into())), "{prompt:?} {line:?}");
}

async fn runs(prompt: &str, line: &str, expected: &[&str]) {
    let next = FakeContext::full().go_on(&registry(prompt), line, &[]).await;
    let Ok(CommandStep::UseTools(uses)) = next else { panic!("{next:?}") };
    assert!(uses.iter().all(|tool_use| tool_use.tool == "run_shell_command" && tool_use.input.len() == 1));
    let commands: Vec<&str> =
        uses.iter().map(|tool_use| tool_use.input["command"].as_str().unwrap()).collect();
    assert_eq!(commands, expected, "{prompt:?} {line:?}");
}

#[tokio::test]
async fn arguments_have_their_place() {
    prompts("Fix {{args}}.", "/do the bug", "Fix the bug.").await;
    prompts("Fix {{args}} and {{args}}", "/do  a  b ", "Fix a  b and a  b").await;
    prompts("Fix {{args}}.", "/do", "Fix .").await;
    prompts("Fix {args} {{ args }}", "/do", "Fix {args} {{ args }}").await;
    prompts("Now!{{args}} @{{args}}", "/do x", "Now!x @x").await;
}

#[tokio::test]
async fn arguments_without_a_place_come_last_with_the_whole_line() {
    prompts("Fix it.", "/do 1.2  added", "Fix it.\n\n/do 1.2  added").await;
    prompts("Fix it.", "/do", "Fix it.").await;
    prompts("Fix it.", "/do  ", "Fix it.").await;
}

#[tokio::test]
async fn files_are_put_in() {
    prompts("See: @{notes.md}!", "/do", "See: the notes!").await;
    prompts("See: @{ notes.md }@{}", "/do", "See: the notes").await;
    prompts("See @{gone.md}.", "/do", "See [gone.md could not be read: there is no such file].").await;
}

#[tokio::test]
async fn what_is_put_in_is_not_read_for_places() {
    prompts("Do {{args}}", "/do !{evil} @{notes.md} {{args}}", "Do !{evil} @{notes.md} {{args}}").await;
    let mut context = FakeContext::default();
    context.files.insert("evil.md".into(), "!{evil} {{args}} @{evil.md}".into());
    let next = context.go_on(&registry("@{evil.md} {{args}}"), "/do x", &[]).await;
    assert_eq!(next, Ok(CommandStep::Prompt("!{evil} {{args}} @{evil.md} x".into())));
}

#[tokio::test]
async fn commands_go_first_and_together() {
    runs("!{git status} and !{ git diff }", "/do", &["git status", "git diff"]).await;
    runs("!{awk '{print $1}' f}", "/do", &["awk '{print $1}' f"]).await;
    runs("!{}!{ls a\\ }", "/do", &["ls a\\ "]).await;
    runs("!{cat @{notes.md}}", "/do", &["cat @{notes.md}"]).await;
    runs("!{grep {{args}} .}", "/do it's; rm", &["grep 'it'\\''s; rm' ."]).await;
    runs("!{grep {{args}} .}", "/do", &["grep  ."]).await;
}

#[tokio::test]
async fn what_came_of_the_commands_is_put_in_their_places() {
    let (context, registry) = (FakeContext::full(), registry("A !{one} B !{two} @{notes.md} {{args}}"));
    let results = [vec![result("1\n", false), result("!{three}\nExit Code: 2", true)]];
    let next = context.go_on(&registry, "/do it", &results).await;
    assert_eq!(next, Ok(CommandStep::Prompt("A 1 B !{three}\nExit Code: 2 the notes it".into())));
}

#[tokio::test]
async fn what_is_no_text_is_named() {
    let link = Content::Link { media_type: None, url: "https://example.com/".into() };
    let results = [vec![ToolResult { output: vec![Content::Text("see".into()), link], ..result("", false) }]];
    let next = FakeContext::default().go_on(&registry("!{one}"), "/do", &results).await;
    assert_eq!(next, Ok(CommandStep::Prompt("see\n[https://example.com/]".into())));
}

#[tokio::test]
async fn a_file_that_has_changed_while_it_waited_is_noticed() {
    let results = [vec![result("1", false)]];
    let error = FakeContext::default().go_on(&registry("!{one} !{two}"), "/do", &results).await.unwrap_err();
    assert!(error.to_string().contains("has changed in the meantime"), "{error}");
}

#[tokio::test]
async fn a_prompt_that_grows_too_large_is_refused() {
    let mut context = FakeContext::default();
    context.files.insert("big".into(), "x".repeat(600_000));
    let error = context.go_on(&registry("@{big}@{big}"), "/do", &[]).await.unwrap_err();
    assert!(error.to_string().contains("more than 1048576 bytes"), "{error}");
}

#[tokio::test]
async fn a_zero_byte_is_refused() {
    let error =
        FakeContext::default().go_on(&registry("!{echo {{args}}}"), "/do a\0b", &[]).await.unwrap_err();
    assert!(matches!(error, CommandError::BadArguments { .. }), "{error:?}");
}
