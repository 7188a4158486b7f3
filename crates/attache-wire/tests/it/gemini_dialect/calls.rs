//! Calls, and what comes of them.

use attache_domain::{Base64, CallOutcome, Content, Fact, MAX_LIVE_BYTES, Preview};
use serde_json::{Value, json};

use super::call_facts::{
    allowed, answered, asked, canceled, diff, edit, edited, exec, failed, finished, head, lost, plain,
    showed, started, succeeded, wanted,
};
use super::world::{World, check_status};

fn read() -> (&'static str, Value) {
    ("read_file", json!({ "file_path": "hello.txt" }))
}

fn request(call: &str, name: &str, arguments: &Value) -> Value {
    json!({
        "callId": call, "name": name, "args": arguments, "isClientInitiated": false, "prompt_id": "T########0"
    })
}

fn reader() -> Value {
    json!({
        "name": "read_file", "displayName": "ReadFile", "description": "Reads a file.", "kind": "read",
        "isOutputMarkdown": true, "canUpdateOutput": false
    })
}

fn response(call: &str, name: &str, member: &str, text: &str, length: usize) -> Value {
    let answer = json!({ "id": call, "name": name, "response": { member: text } });
    json!({ "callId": call, "responseParts": [{ "functionResponse": answer }], "contentLength": length })
}

#[test]
fn a_call_is_told_whole_whenever_it_moves() {
    let mut world = World::new();
    assert_eq!(world.hears(wanted(&[read()])), None);
    let call = |status: &str| json!({ "request": request("k1", "read_file", &read().1), "status": status, "tool": reader() });
    let update = |data: Value| Some(json!({ "kind": "data", "data": data }));
    let heard = world.hears(allowed("k1", plain("hello.txt")));
    check_status(heard, "working", "tool-call-update", update(call("scheduled")));
    check_status(world.hears(started("k1")), "working", "tool-call-update", update(call("executing")));

    let text = "Hello, world.\nSecond line.\n";
    let mut done = call("success");
    done["response"] = response("k1", "read_file", "output", text, 27);
    done["response"]["resultDisplay"] = json!("");
    check_status(world.hears(succeeded("k1", text, "")), "working", "tool-call-update", update(done));
}

#[test]
fn a_failure_says_what_and_of_which_kind() {
    let text = "File not found: /w/none.txt";
    let call = World::new().call_after([wanted(&[read()]), failed("k1", "file_not_found", text)]);
    let mut expected = response("k1", "read_file", "error", text, 27);
    expected["error"] = json!({ "message": text });
    expected["errorType"] = json!("file_not_found");
    expected["resultDisplay"] = json!(text);
    assert_eq!(call["response"], expected);
    assert_eq!((&call["status"], &call["tool"]), (&json!("error"), &reader()));
}

#[test]
fn a_call_with_an_unknown_outcome_is_an_error() {
    let text = vec![Content::Text("nobody knows".into())];
    let facts = [wanted(&[read()]), finished("k1", CallOutcome::Unknown, text, "nobody knows", None)];
    let call = World::new().call_after(facts);
    assert_eq!((&call["status"], &call["response"]["errorType"]), (&json!("error"), &json!("unknown")));
}

#[test]
fn a_tool_that_is_not_there_is_not_described() {
    let facts = [wanted(&[("fly", json!({}))]), failed("k1", "tool_not_registered", "no such tool")];
    let call = World::new().call_after(facts);
    assert_eq!(call.get("tool"), None);
    assert_eq!(call["request"], request("k1", "fly", &json!({})));
}

#[test]
fn a_call_that_was_refused_is_cancelled_without_an_error() {
    let mut world = World::new();
    let facts = [wanted(&[read()]), asked("k1", plain("hello.txt"))];
    world.hears_all(facts);
    assert_eq!(world.hears(answered("k1", "cancel", None)), None, "its end says it");
    let text = "[Operation Cancelled] No.";
    let call = world.call_after([canceled("k1", text)]);
    assert_eq!(call["response"], response("k1", "read_file", "error", text, text.len()));
    assert_eq!((&call["status"], &call["outcome"]), (&json!("cancelled"), &json!("cancel")));
}

#[test]
fn what_was_answered_is_told_from_then_on() {
    let mut world = World::new();
    let shell = ("run_shell_command", json!({ "command": "make" }));
    let question = world.call_after([wanted(&[shell]), asked("k1", exec("make", &["make"]))]);
    assert_eq!(question.get("outcome"), None);
    for (fact, status) in [
        (answered("k1", "proceed_always", None), "scheduled"),
        (started("k1"), "executing"),
        (succeeded("k1", "ok", "exited with code 0"), "success"),
    ] {
        let call = world.call_after([fact]);
        assert_eq!((&call["status"], &call["outcome"]), (&json!(status), &json!("proceed_always")));
        assert_eq!(call.get("confirmationDetails"), None);
    }
}

#[test]
fn a_command_shows_what_it_wrote() {
    let mut world = World::new();
    let shell = ("run_shell_command", json!({ "command": "echo hi && sleep 0.3 && echo there" }));
    world.hears_all([wanted(&[shell]), allowed("k1", exec("echo hi", &["echo"])), started("k1")]);
    let artifact = |text: &str| {
        Some(json!({
            "kind": "artifact-update", "taskId": "T", "contextId": "C",
            "artifact": { "artifactId": "tool-k1-output", "parts": [{ "kind": "text", "text": text }] },
            "append": false, "lastChunk": false
        }))
    };
    assert_eq!(world.hears(showed("k1", "hi\n")), artifact("hi\n"));
    assert_eq!(world.hears(showed("k1", "there\n")), artifact("hi\nthere\n"), "all of it: clients replace");
    let call = world.call_after([succeeded("k1", "Output: hi\nthere", "exited with code 0")]);
    assert_eq!(call["response"]["resultDisplay"], "hi\nthere");
    let tool = json!({
        "name": "run_shell_command", "displayName": "Shell", "description": "Runs a command in a shell.",
        "kind": "execute", "isOutputMarkdown": false, "canUpdateOutput": true
    });
    assert_eq!(call["tool"], tool);
}

#[test]
fn a_call_names_the_answer_that_wants_it() {
    let mut world = World::new();
    world.hears(Fact::ModelResponded { id: "r-1".into() });
    let call = world.call_after([wanted(&[("read_file", json!({}))]), allowed("k1", plain("x"))]);
    assert_eq!(call["request"]["traceId"], "r-1");
}

#[test]
fn of_long_output_the_end_is_shown() {
    let mut world = World::new();
    world.hears_all([wanted(&[("run_shell_command", json!({}))]), started("k1"), showed("k1", "a")]);
    let long = world.hears(showed("k1", &"b".repeat(MAX_LIVE_BYTES))).unwrap();
    let next = world.hears(showed("k1", "c")).unwrap();
    let text = |event: &Value| event["artifact"]["parts"][0]["text"].as_str().unwrap().to_owned();
    assert_eq!(text(&long), "b".repeat(MAX_LIVE_BYTES));
    assert_eq!(text(&next), "b".repeat(MAX_LIVE_BYTES - 1) + "c");
    assert_eq!(next["append"], false);
}

#[test]
fn a_call_that_was_lost_begins_its_output_anew() {
    let mut world = World::new();
    let shell = ("run_shell_command", json!({}));
    world.hears_all([wanted(&[shell]), started("k1"), showed("k1", "one\n"), lost("k1")]);
    world.hears_all([answered("k1", "proceed_once", None), started("k1")]);
    assert_eq!(world.hears(showed("k1", "two\n")).unwrap()["artifact"]["parts"][0]["text"], "two\n");
    let call = world.call_after([succeeded("k1", "two", "exited with code 0")]);
    assert_eq!(call["response"]["resultDisplay"], "two");
}

#[test]
fn a_silent_command_says_how_it_ended() {
    let shell = ("run_shell_command", json!({ "command": "false" }));
    let facts = [wanted(&[shell]), started("k1"), succeeded("k1", "Exit Code: 1", "exited with code 1")];
    assert_eq!(World::new().call_after(facts)["response"]["resultDisplay"], "exited with code 1");
}

#[test]
fn a_written_file_is_shown_as_it_was_written() {
    let mut world = World::new();
    let arguments = json!({ "file_path": "new.txt", "content": "New.\n" });
    let asked = asked("k1", edit("/w/new.txt", None, "New.\n"));
    world.hears_all([wanted(&[("write_file", arguments.clone())]), asked]);
    let running = world.call_after([answered("k1", "proceed_once", Some("Other.\n")), started("k1")]);
    assert_eq!(running["request"]["args"], arguments, "as the model gave them");
    let call = world.call_after([edited("k1", "Created.", &diff("/w/new.txt", None, "Other.\n"))]);
    let expected = json!({
        "fileDiff": format!("{}@@ -0,0 +1,1 @@\n+Other.\n", head("new.txt", "Original", "Written")),
        "fileName": "new.txt", "filePath": "/w/new.txt", "originalContent": "", "newContent": "Other.\n",
        "isNewFile": true
    });
    assert_eq!(call["response"]["resultDisplay"], expected);
}

#[test]
fn an_edit_carries_the_whole_file_it_would_make() {
    let mut world = World::new();
    let arguments = json!({ "file_path": "a.txt", "old_string": "a", "new_string": "b", "instruction": "x" });
    let call = world.call_after([
        wanted(&[("replace", arguments.clone())]),
        allowed("k1", edit("/w/a.txt", Some("a\n"), "b\n")),
    ]);
    let mut with_file = arguments;
    with_file["newContent"] = json!("b\n");
    assert_eq!(call["request"]["args"], with_file);
    let call = world.call_after([edited("k1", "Edited.", &diff("/w/a.txt", Some("a\n"), "b\n"))]);
    let shown = &call["response"]["resultDisplay"];
    let expected = format!("{}@@ -1,1 +1,1 @@\n-a\n+b\n", head("a.txt", "Current", "Proposed"));
    assert_eq!((&shown["fileDiff"], &shown["isNewFile"]), (&json!(expected), &json!(false)));
    assert_eq!((&shown["originalContent"], &shown["newContent"]), (&json!("a\n"), &json!("b\n")));
}

#[test]
fn a_list_of_things_to_do_is_shown_as_one() {
    let todos = json!([{ "description": "read", "status": "completed" }]);
    let facts =
        [wanted(&[("write_todos", json!({ "todos": todos }))]), succeeded("k1", "1. read", "1 of 1 done")];
    assert_eq!(World::new().call_after(facts)["response"]["resultDisplay"], json!({ "todos": todos }));
}

#[test]
fn what_is_not_text_is_named_and_length_counts_as_javascript_does() {
    let image = |name: Option<&str>| Content::Bytes {
        media_type: "image/png".into(),
        bytes: Base64("AAEC".into()),
        name: name.map(Into::into),
    };
    let link = Content::Link { media_type: None, url: "https://example.com/a".into() };
    let output = vec![Content::Text("\u{1f600}".into()), image(Some("a.png")), image(None), link];
    let facts = [wanted(&[read()]), finished("k1", CallOutcome::Succeeded, output, "Read a.png", None)];
    let call = World::new().call_after(facts);
    let told = "\u{1f600}\n[a.png, image/png]\n[image/png]\nhttps://example.com/a";
    assert_eq!(call["response"]["responseParts"][0]["functionResponse"]["response"]["output"], told);
    assert_eq!(call["response"]["contentLength"], told.chars().count() + 1);
    assert_eq!(call["response"]["resultDisplay"], "Read a.png");
}

#[track_caller]
fn check_tool(name: &str, shown: Option<Preview>, tool: &str, display_name: &str, kind: &str) {
    let shown = shown.unwrap_or_else(|| plain("x"));
    let call = World::new().call_after([wanted(&[(name, json!({}))]), allowed("k1", shown)]);
    assert_eq!((&call["tool"]["displayName"], &call["tool"]["kind"]), (&json!(display_name), &json!(kind)));
    assert_eq!((&call["tool"]["name"], &call["request"]["name"]), (&json!(tool), &json!(tool)));
}

#[test]
fn tools_have_the_names_and_kinds_that_clients_know() {
    for (name, display_name, kind) in [
        ("ask_user", "Ask User", "communicate"),
        ("glob", "FindFiles", "search"),
        ("google_web_search", "GoogleSearch", "search"),
        ("grep_search", "SearchText", "search"),
        ("invoke_agent", "Agent", "communicate"),
        ("search_file_content", "SearchText", "search"),
        ("list_directory", "ReadFolder", "search"),
        ("read_file", "ReadFile", "read"),
        ("read_many_files", "ReadManyFiles", "read"),
        ("replace", "Edit", "edit"),
        ("run_shell_command", "Shell", "execute"),
        ("save_memory", "SaveMemory", "think"),
        ("web_fetch", "WebFetch", "fetch"),
        ("write_file", "WriteFile", "edit"),
        ("write_todos", "WriteTodos", "other"),
        ("something_new", "something_new", "other"),
    ] {
        check_tool(name, None, name, display_name, kind);
    }
    let mcp =
        Preview::Mcp { server: "files".into(), tool: "list".into(), title: "List".into(), address: None };
    check_tool("mcp_files_list", Some(mcp), "list", "list (files MCP Server)", "other");
}
