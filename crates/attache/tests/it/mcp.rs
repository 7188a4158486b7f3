//! Tools of MCP servers through the whole product: from settings, and brought by a client.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use attache_testkit::ServerLaunch;
use attache_testkit::model_server::ModelServer;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::agent_world::{calls, last_output, launch_with, reply, says, send, state, write};
use crate::support::message;

/// The official Python SDK with our server file; none, with a note, when it is not installed.
#[expect(clippy::print_stdout, reason = "people who run the tests should see what was skipped")]
pub(crate) fn notes() -> Option<(PathBuf, PathBuf)> {
    #[expect(clippy::disallowed_methods, reason = "the developer command tells where it has installed them")]
    let Some(tools) = std::env::var_os("ATTACHE_TEST_TOOLS") else {
        println!(
            "skipped: ATTACHE_TEST_TOOLS is not set; `cargo xtask test` installs the servers and sets it"
        );
        return None;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/mcp/notes.py");
    Some((PathBuf::from(tools).join("mcp-py/bin/python"), script))
}

/// The project names the server as a program to start.
fn settings(launch: &ServerLaunch, (python, script): &(PathBuf, PathBuf), more: Value) {
    let mut server = json!({"command": python, "args": [script, "stdio"]});
    server.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    write(launch, "work/.gemini/settings.json", &json!({"mcpServers": {"notes": server}}).to_string());
}

fn declared(model: &ModelServer, request: usize) -> Vec<String> {
    let body = model.received()[request].json();
    let tools = body["tools"][0]["functionDeclarations"].as_array().unwrap().clone();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_server_of_the_settings_is_asked_about_once_for_the_whole_server() {
    let Some(notes) = notes() else { return };
    let add = |a: i64| calls("mcp_notes_add", json!({"a": a, "b": 2}));
    let work = [add(40), add(1), calls("mcp_notes_grow", json!({})), says("Done.")];
    let model = ModelServer::with_responses(work.into_iter().chain((0..2000).map(|_| says("And?"))));
    let launch = launch_with(&model);
    settings(&launch, &notes, json!({}));
    let server = launch.start().await;
    let task = send(&server.client(), "m1", "Add!").await;
    assert_eq!(state(&task), "TASK_STATE_INPUT_REQUIRED", "{task:#}");
    let question = task["status"]["message"]["parts"][0]["text"].as_str().unwrap();
    assert!(question.contains("proceed_always_tool, proceed_always_server"), "{question}");
    let task = reply(&server.client(), "m2", &task, "proceed_always_server").await;
    assert_eq!(state(&task), "TASK_STATE_COMPLETED", "{task:#}");
    let bodies: String = model.received().iter().map(|request| request.json().to_string()).collect();
    assert!(bodies.contains("42"), "the result came back");
    assert!(!declared(&model, 0).contains(&"mcp_notes_grown".to_owned()));
    // Servers are not asked for their tools more than once a second.
    for number in 0.. {
        let mut params = message(&format!("again-{number}"), "What is new?");
        params["message"]["contextId"] = task["contextId"].clone();
        server.client().rpc("SendMessage", params).await;
        if declared(&model, 4 + number).contains(&"mcp_notes_grown".to_owned()) {
            break;
        }
    }
}

#[tokio::test]
async fn trusted_servers_run_unasked_and_only_what_is_included_is_offered() {
    let Some(notes) = notes() else { return };
    let model = ModelServer::with_responses([calls("mcp_notes_add", json!({"a": 40, "b": 2})), says("42.")]);
    let launch = launch_with(&model);
    settings(&launch, &notes, json!({"trust": true, "includeTools": ["add"]}));
    let server = launch.start().await;
    let task = send(&server.client(), "m1", "Add!").await;
    assert_eq!(state(&task), "TASK_STATE_COMPLETED", "{task:#}");
    assert!(last_output(&model).contains("42"), "{}", last_output(&model));
    let offered: Vec<_> = declared(&model, 0).into_iter().filter(|name| name.starts_with("mcp_")).collect();
    assert_eq!(offered, ["mcp_notes_add"]);
}

/// The server as its own process, at an address of this machine.
#[tokio::test]
async fn clients_of_gemini_clis_server_know_tools_by_the_servers_names_for_them() {
    let Some(notes) = notes() else { return };
    let model = ModelServer::with_responses([calls("mcp_notes_add", json!({"a": 40, "b": 2})), says("42.")]);
    let launch = launch_with(&model);
    settings(&launch, &notes, json!({"trust": true, "includeTools": ["add"]}));
    let server = launch.start().await;
    let client = server.client();
    let said = json!({"messageId": "m1", "kind": "message", "role": "user",
        "parts": [{"kind": "text", "text": "Add!"}], "metadata": {"coderAgent": {"kind": "agent-settings"}}});
    let frames = client.rpc_stream("message/stream", json!({ "message": said })).await.rest().await;
    let call = |event: &Value| event["status"]["message"]["parts"][0]["data"].clone();
    let done = frames.iter().map(|frame| call(frame.payload())).find(|call| call["status"] == "success");
    let done = done.expect("the call that was carried out");
    let answer = &done["response"]["responseParts"][0]["functionResponse"]["name"];
    let names = [&done["request"]["name"], &done["tool"]["name"], answer];
    assert_eq!(names, ["add"; 3], "{done:#}");
    let task = frames[0].payload()["id"].as_str().expect("the task comes first").to_owned();
    let metadata = client.get(&format!("/tasks/{task}/metadata")).await.json()["metadata"].clone();
    let servers = metadata["mcpServers"].as_array().expect("a list");
    assert_eq!((servers.len(), &servers[0]["name"]), (1, &json!("notes")), "{metadata:#}");
    let tools = servers[0]["tools"].as_array().expect("a list");
    assert_eq!((tools.len(), &tools[0]["name"]), (1, &json!("add")), "{tools:#?}");
    assert!(!tools[0]["description"].as_str().expect("a text").is_empty(), "{tools:#?}");
    assert!(tools[0]["parameterSchema"].is_object(), "{tools:#?}");
    let available = metadata["availableTools"].as_array().expect("a list");
    assert!(available.contains(&tools[0]), "{available:#?}");
}

pub(crate) async fn listening((python, script): &(PathBuf, PathBuf)) -> (Child, String) {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut child = Command::new(python)
        .arg(script)
        .args(["http", &port.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if line.contains("running on") {
            break;
        }
    }
    (child, format!("http://127.0.0.1:{port}/mcp"))
}

#[tokio::test]
async fn a_client_brings_a_server_for_its_conversation_alone() {
    let Some(notes) = notes() else { return };
    let (_child, url) = listening(&notes).await;
    let model = ModelServer::with_responses([
        calls("mcp_mine_add", json!({"a": 40, "b": 2})),
        says("42."),
        says("Hi."),
    ]);
    let server = launch_with(&model).start().await;
    let mut params = message("m1", "Add!");
    params["message"]["metadata"] = json!({"attache": {"mcpServers": {"mine": {"httpUrl": url}}}});
    let task = server.client().rpc("SendMessage", params).await["result"]["task"].clone();
    assert_eq!(state(&task), "TASK_STATE_INPUT_REQUIRED", "{task:#}");
    let task = reply(&server.client(), "connect", &task, "yes").await;
    assert_eq!(state(&task), "TASK_STATE_INPUT_REQUIRED", "{task:#}");
    let task = reply(&server.client(), "m2", &task, "yes").await;
    assert_eq!(state(&task), "TASK_STATE_COMPLETED", "{task:#}");
    let results = model.received()[1].json()["contents"].to_string();
    assert!(results.contains("42"), "{results}");
    send(&server.client(), "m3", "Hello").await;
    assert!(!declared(&model, 2).iter().any(|name| name.starts_with("mcp_")), "others do not have it");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_and_stops_nothing() {
    let model = ModelServer::with_responses([says("Hello.")]);
    let launch = launch_with(&model);
    let servers = json!({"mcpServers": {"gone": {"command": "no-such-program-at-all"}}});
    write(&launch, "work/.gemini/settings.json", &servers.to_string());
    let server = launch.start().await;
    let mut stream = server.client().rpc_stream("SendStreamingMessage", message("m1", "Hello?")).await;
    let text: String = stream.rest().await.iter().map(|frame| frame.payload().to_string()).collect();
    assert!(text.contains("The MCP server gone cannot be used"), "{text}");
    assert!(text.contains("TASK_STATE_COMPLETED"), "{text}");
}

/// A server of a few lines: its one tool tries to read a file outside and to write one inside.
const PEEKING: &str = r#"
import json, sys
def tried(what):
    try: return what()
    except OSError as error: return "refused: " + str(error)
for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request: continue
    method, params = request["method"], request.get("params", {})
    answer = None
    if method == "initialize":
        answer = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "peeking", "version": "1"}}
    elif method == "tools/list":
        answer = {"tools": [{"name": "peek", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        read = tried(lambda: open(sys.argv[1]).read())
        wrote = tried(lambda: open("made.txt", "w").write("x"))
        answer = {"content": [{"type": "text", "text": f"read {read}, wrote {wrote}"}]}
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    reply.update({"result": answer} if answer else {"error": {"code": -32601, "message": "unknown"}})
    print(json.dumps(reply), flush=True)
"#;

#[tokio::test]
async fn a_server_that_is_to_be_confined_reads_nothing_outside() {
    for (level, read, wrote) in [("look", false, false), ("work", false, true), ("open", true, true)] {
        let model = ModelServer::with_responses([calls("mcp_peeking_peek", json!({})), says("Done.")]);
        let launch = launch_with(&model);
        write(&launch, "secret.txt", "the secret");
        write(&launch, "work/server.py", PEEKING);
        let secret = launch.folder().join("secret.txt");
        let server = json!({"command": "/usr/bin/python3", "args": ["server.py", secret], "trust": true, "confinement": level});
        write(&launch, "work/.gemini/settings.json", &json!({"mcpServers": {"peeking": server}}).to_string());
        let server = launch.start().await;
        let task = send(&server.client(), "m1", "Peek!").await;
        assert_eq!(state(&task), "TASK_STATE_COMPLETED", "{task:#}");
        let output = last_output(&model);
        assert_eq!(output.contains("read the secret"), read, "{level}: {output}");
        assert_eq!(output.contains("wrote 1"), wrote, "{level}: {output}");
    }
}
