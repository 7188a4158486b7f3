//! `matlod/gemini-cli`'s MCP bridge: it shows the card to a person, offers "trust this tool" and "trust this server" for
//! every call, and lists tasks and commands.

use attache_testkit::TestClient;
use attache_testkit::gemini_stream::{StreamSummary, stream};
use attache_testkit::model_server::ModelServer;
use attache_testkit::model_server::gemini::{calls, says};
use serde_json::{Value, json};

use crate::agent_world::{AgentLaunch, start, work};

/// What every message of the bridge has beside its parts.
fn message(launch: &AgentLaunch, id: &str, parts: Value, place: Option<(&str, &str)>) -> Value {
    let settings = json!({
        "kind": "agent-settings", "workspacePath": work(launch).display().to_string(), "autoExecute": false,
    });
    let mut message = json!({
        "kind": "message", "role": "user", "parts": parts, "messageId": id, "metadata": {"coderAgent": settings},
    });
    if let Some((task, context)) = place {
        message["taskId"] = json!(task);
        message["contextId"] = json!(context);
    }
    json!({ "message": message })
}

async fn delegate(client: &TestClient, launch: &AgentLaunch, id: &str, text: &str) -> StreamSummary {
    stream(client, message(launch, id, json!([{"kind": "text", "text": text}]), None)).await
}

async fn decide(
    client: &TestClient,
    launch: &AgentLaunch,
    id: &str,
    asked: &StreamSummary,
    place: &StreamSummary,
    outcome: &str,
) -> StreamSummary {
    let data = json!({"callId": asked.pending()[0].id, "outcome": outcome});
    let place = (place.task.as_deref().expect("a task"), place.context.as_str());
    stream(client, message(launch, id, json!([{"kind": "data", "data": data}]), Some(place))).await
}

fn edit(file: &str) -> Value {
    json!({"file_path": file, "content": "text\n"})
}

#[tokio::test]
async fn the_card_has_what_the_bridge_shows() {
    let model = ModelServer::with_responses([says("never")]);
    let (_launch, server) = start(&model).await;
    let card = server.client().get("/.well-known/agent-card.json").await.json();
    for place in [
        "/name",
        "/version",
        "/description",
        "/provider/organization",
        "/provider/url",
        "/protocolVersion",
        "/url",
        "/skills/0/name",
        "/skills/0/description",
        "/skills/0/inputModes/0",
        "/skills/0/outputModes/0",
    ] {
        let found = card.pointer(place).and_then(Value::as_str);
        assert!(found.is_some_and(|text| !text.is_empty()), "{place} in {card:#}");
    }
    for place in ["streaming", "pushNotifications", "stateTransitionHistory"] {
        assert!(card["capabilities"][place].is_boolean(), "{place} in {card:#}");
    }
}

/// For an edit both mean: edits of this conversation. Never more than an "always" would have shown.
#[tokio::test]
async fn trust_in_the_tool_or_the_server_of_an_edit_is_trust_in_edits() {
    for outcome in ["proceed_always_tool", "proceed_always_server"] {
        let model = ModelServer::with_responses([
            calls("write_file", edit("one.txt")),
            calls("write_file", edit("two.txt")),
            calls("run_shell_command", json!({"command": "touch three.txt"})),
            says("Done."),
        ]);
        let (launch, server) = start(&model).await;
        let client = server.client();
        let asked = delegate(&client, &launch, "m1", "Write.").await;
        assert_eq!(asked.pending()[0].tool, "write_file");
        let next = decide(&client, &launch, "m2", &asked, &asked, outcome).await;
        for file in ["one.txt", "two.txt"] {
            assert!(work(&launch).join(file).exists(), "{outcome}: {file}, {:#?}", next.events);
        }
        let [pending] = next.pending()[..] else {
            panic!("{outcome}: a command is asked about: {:#?}", next.events)
        };
        assert_eq!(pending.tool, "run_shell_command", "{outcome}");
        let done = decide(&client, &launch, "m3", &next, &asked, "proceed_once").await;
        assert_eq!((done.text.as_str(), done.ended), ("Done.", true), "{outcome}");
    }
}

#[tokio::test]
async fn trust_in_the_tool_or_the_server_of_a_command_runs_it() {
    for outcome in ["proceed_always_tool", "proceed_always_server"] {
        let model = ModelServer::with_responses([
            calls("run_shell_command", json!({"command": "touch one.txt"})),
            calls("write_file", edit("two.txt")),
            says("Done."),
        ]);
        let (launch, server) = start(&model).await;
        let client = server.client();
        let asked = delegate(&client, &launch, "m1", "Run.").await;
        let next = decide(&client, &launch, "m2", &asked, &asked, outcome).await;
        assert!(work(&launch).join("one.txt").exists(), "{outcome}: {:#?}", next.events);
        // Trust in a command is none in edits.
        let [pending] = next.pending()[..] else {
            panic!("{outcome}: an edit is asked about: {:#?}", next.events)
        };
        assert_eq!(pending.tool, "write_file", "{outcome}");
        let refused = decide(&client, &launch, "m3", &next, &asked, "cancel").await;
        assert!(refused.ended && !work(&launch).join("two.txt").exists(), "{outcome}");
    }
}

#[tokio::test]
async fn tasks_and_commands_are_listed_as_the_bridge_reads_them() {
    let model = ModelServer::with_responses([says("One."), says("Two.")]);
    let (launch, server) = start(&model).await;
    let client = server.client();
    assert_eq!(client.get("/tasks/metadata").await.status, 204);
    let first = delegate(&client, &launch, "m1", "First.").await.task.expect("a task");
    let second = delegate(&client, &launch, "m2", "Second.").await.task.expect("a task");

    let listed = client.get("/tasks/metadata").await.json();
    let ids: Vec<_> = listed.as_array().expect("a list").iter().map(|task| task["id"].as_str()).collect();
    assert_eq!(ids, [Some(first.as_str()), Some(second.as_str())], "the newest is the last");
    let shown = client.get(&format!("/tasks/{first}/metadata")).await.json()["metadata"].clone();
    assert_eq!((&shown["id"], &shown["taskState"]), (&json!(first), &json!("input-required")));
    assert!(shown["model"].is_string() && shown["mcpServers"].is_array(), "{shown:#}");
    let tools = shown["availableTools"].as_array().expect("tools");
    assert!(
        !tools.is_empty()
            && tools.iter().all(|tool| tool["name"].is_string() && tool["description"].is_string())
    );

    let commands = client.get("/listCommands").await.json();
    let named = |name: &str| {
        commands["commands"].as_array().is_some_and(|all| all.iter().any(|one| one["name"] == name))
    };
    assert!(named("restore") && named("extensions") && named("memory"), "{commands:#}");
    let restored = client.post("/executeCommand", &json!({"command": "restore", "args": ["list"]})).await;
    assert_eq!(restored.status, 200, "{}", restored.text());
    assert!(
        restored.json()["data"].is_object() || restored.json()["data"].is_string(),
        "{}",
        restored.text()
    );
}
