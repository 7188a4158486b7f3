//! What a person looks at before they decide.

use attache_domain::Preview;
use serde_json::{Value, json};

use super::call_facts::{answered, asked, asks, edit, exec, head, lost, plain, started, wanted};
use super::world::{World, check_status};

#[track_caller]
fn check(tool: &str, shown: Preview, expected: &Value) {
    let mut world = World::new();
    world.hears(wanted(&[(tool, json!({}))]));
    let heard = world.hears(asked("k1", shown)).unwrap();
    let call = &heard["status"]["message"]["parts"][0]["data"];
    assert_eq!(call["confirmationDetails"], *expected, "{tool}");
    assert_eq!(call["status"], "awaiting_approval");
    let part = json!({ "kind": "data", "data": call });
    check_status(Some(heard.clone()), "working", "tool-call-confirmation", Some(part));
}

#[test]
fn a_command_is_shown_with_the_programs_it_starts() {
    let command = "echo hi && sleep 0.3";
    let expected = json!({
        "type": "exec", "title": "Confirm Shell Command", "command": command, "rootCommand": "echo, sleep",
        "rootCommands": ["echo", "sleep"]
    });
    check("run_shell_command", exec(command, &["echo", "sleep"]), &expected);
}

#[test]
fn an_edit_is_shown_with_both_contents_and_the_difference() {
    let new = json!({
        "type": "edit", "title": "Confirm Write: new.txt", "fileName": "new.txt", "filePath": "/w/new.txt",
        "fileDiff": format!("{}@@ -0,0 +1,1 @@\n+New.\n", head("new.txt", "Current", "Proposed")),
        "originalContent": "", "newContent": "New.\n"
    });
    check("write_file", edit("/w/new.txt", None, "New.\n"), &new);
    let changed = |title: &str| {
        json!({
            "type": "edit", "title": title, "fileName": "a.md", "filePath": "/w/b/a.md",
            "fileDiff": format!("{}@@ -1,1 +1,1 @@\n-a\n+b\n", head("a.md", "Current", "Proposed")),
            "originalContent": "a\n", "newContent": "b\n"
        })
    };
    check("replace", edit("/w/b/a.md", Some("a\n"), "b\n"), &changed("Confirm Edit: a.md"));
    check("save_memory", edit("/w/b/a.md", Some("a\n"), "b\n"), &changed("Confirm Memory Save: a.md"));
}

#[test]
fn a_tool_of_a_server_is_shown_with_its_server() {
    let expected = json!({
        "type": "mcp", "title": "Confirm MCP Tool Execution", "serverName": "files", "toolName": "list",
        "toolDisplayName": "list (files MCP Server)"
    });
    let shown =
        Preview::Mcp { server: "files".into(), tool: "list".into(), title: "List".into(), address: None };
    check("mcp_files_list", shown, &expected);
}

#[test]
fn other_things_are_shown_in_words() {
    let expected = json!({ "type": "info", "title": "Confirm: ReadFile", "prompt": "hello.txt" });
    check("read_file", plain("hello.txt"), &expected);
    let (prompt, url) = ("see http://example.com/", "http://example.com/");
    let expected = json!({ "type": "info", "title": "Confirm Web Fetch", "prompt": prompt, "urls": [url] });
    check("web_fetch", Preview::Info { prompt: prompt.into(), urls: vec![url.into()] }, &expected);
    let expected = json!({ "type": "info", "title": "Confirm: GoogleSearch", "prompt": "q" });
    check("google_web_search", Preview::Info { prompt: "q".into(), urls: Vec::new() }, &expected);
}

#[test]
fn questions_of_the_agent_are_shown_as_they_are() {
    let questions = json!([{ "question": "Which?", "header": "Which", "type": "text" }]);
    let expected = json!({ "type": "ask_user", "title": "Ask User", "questions": questions });
    check("ask_user", Preview::Questions { questions }, &expected);
}

#[test]
fn a_remote_agent_is_shown_with_what_is_sent_and_where() {
    let shown = Preview::Agent {
        agent: "weather".into(),
        url: "https://agents.example/a2a".into(),
        prompt: "Will it rain?".into(),
        files: Vec::new(),
    };
    let expected = json!({
        "type": "info", "title": "Call Remote Agent: weather", "prompt": "Will it rain?",
        "urls": ["https://agents.example/a2a"]
    });
    check("invoke_agent", shown, &expected);
}

#[test]
fn a_question_of_a_running_call_is_one_of_the_same_call() {
    let mut world = World::new();
    world.hears_all([wanted(&[("invoke_agent", json!({}))]), asked("k1", plain("x"))]);
    world.hears_all([answered("k1", "proceed_once", None), started("k1")]);
    let call = world.call_after([asks("k1", "Where?")]);
    assert_eq!((&call["status"], &call["request"]["callId"]), (&json!("awaiting_approval"), &json!("k1")));
    let questions = json!([{ "question": "Where?", "header": "invoke_agent", "type": "text" }]);
    assert_eq!(call["confirmationDetails"]["questions"], questions);
    assert_eq!(call["confirmationDetails"]["type"], "ask_user");
    let call = world.call_after([answered("k1", "answer", None), started("k1")]);
    assert_eq!(call["status"], "executing");
    assert_eq!(call.get("confirmationDetails"), None);
}

#[test]
fn an_edit_that_shall_hold_something_else_is_asked_about_again() {
    let mut world = World::new();
    world.hears_all([wanted(&[("replace", json!({}))]), asked("k1", edit("/w/a", Some("a\n"), "b\n"))]);
    assert_eq!(world.hears(answered("k1", "modify_with_editor", Some("c\n"))), None);
    let call = world.call_after([asked("k1", edit("/w/a", Some("a\n"), "c\n"))]);
    assert_eq!(call["status"], "awaiting_approval");
    assert_eq!(call["confirmationDetails"]["newContent"], "c\n");
    assert_eq!(call["request"]["args"]["newContent"], "c\n");
    assert_eq!(call.get("outcome"), None, "the question is new");
}

#[test]
fn a_call_that_was_cut_off_is_asked_about_again_and_says_so() {
    let mut world = World::new();
    world.hears_all([wanted(&[("run_shell_command", json!({}))]), asked("k1", exec("make", &["make"]))]);
    world.hears_all([answered("k1", "proceed_once", None), started("k1")]);
    let call = world.call_after([lost("k1")]);
    assert_eq!(call["status"], "awaiting_approval");
    let title = call["confirmationDetails"]["title"].as_str().unwrap();
    assert!(title.contains("cut off") && title.ends_with("Confirm Shell Command"), "{title}");
    assert_eq!(call["confirmationDetails"]["command"], "make");
}

#[test]
fn a_file_name_cannot_add_lines_to_what_is_shown() {
    let mut world = World::new();
    let facts = [wanted(&[("write_file", json!({}))]), asked("k1", edit("/w/a\n+++ b", None, "x\n"))];
    let details = world.call_after(facts)["confirmationDetails"].take();
    let title = details["title"].as_str().unwrap();
    assert!(title.starts_with(r"Confirm Write: a\u{a}+++ b (has hidden characters"), "{title}");
    let diff = details["fileDiff"].as_str().unwrap();
    assert_eq!(diff.lines().filter(|line| line.starts_with("+++ ")).count(), 1, "{diff}");
    assert_eq!(details["filePath"], r"/w/a\u{a}+++ b", "the arguments say where it really is");
}
