//! Tools of MCP servers: asked about by server and tool, and allowed for either.

use attache_testkit::ServerLaunch;
use attache_testkit::editor::{Editor, Exchange, chosen, options, output};
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use serde_json::{Value, json};

use crate::agent_world::{calls, reply, says, write};
use crate::devtool::world::World;
use crate::support::message;
use attache_testkit::pairs::Pair;

/// The buffers of an editor, offered as an MCP server over HTTP.
fn buffers() -> ModelServer {
    ModelServer::with_handler(|received| {
        let request = received.json();
        let tool =
            |name: &str| json!({"name": name, "description": "A tool.", "inputSchema": {"type": "object"}});
        let result = match request["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": request["params"]["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "buffers", "version": "1"},
            }),
            Some("tools/list") => json!({"tools": [tool("list"), tool("read")]}),
            Some("tools/call") if request["params"]["name"] == "list" => json!({
                "content": [{"type": "text", "text": "{\"open\":[\"a.rs\"]}"}],
                "structuredContent": {"open": ["a.rs"]},
            }),
            Some("tools/call") => json!({"content": [{"type": "text", "text": "fn unsaved() {}"}]}),
            _ => {
                let status = if received.method == "POST" { 202 } else { 405 };
                return PlannedResponse::text(status, "text/plain", "");
            }
        };
        let response = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
        PlannedResponse::text(200, "application/json", &response.to_string())
    })
}

/// The agent's own call before the first connection to a server of the client.
const CONNECT: &str = "connect_mcp_server";

fn uses(tool: &str) -> PlannedResponse {
    calls(&format!("mcp_editor_{tool}"), json!({}))
}

/// A conversation whose client brings its buffers.
async fn asked(answers: Vec<PlannedResponse>) -> (World, ModelServer, Editor, Exchange) {
    let buffers = buffers();
    let world = World::playing(answers).await;
    let editor = world.editor();
    let settings = json!({"mcp_servers": {"editor": {"httpUrl": buffers.url()}}});
    let asked = connected(&editor, &settings).await;
    (world, buffers, editor, asked)
}

/// What follows the question whether to connect to the server.
async fn connected(editor: &Editor, settings: &Value) -> Exchange {
    let asked = editor.exchange(editor.text_with("m1", "Look!", settings)).await;
    let call = asked.only_asked();
    assert_eq!(call["tool_name"], CONNECT);
    assert_eq!(options(&call), ["proceed_once", "cancel"], "{call:#}");
    let url = settings["mcp_servers"]["editor"]["httpUrl"].as_str().unwrap();
    let shown = call["confirmation_request"]["generic_details"]["description"].as_str().unwrap();
    assert!(shown.contains(url), "the address is shown: {shown}");
    editor.answer(asked.task(), "connect", &[chosen(&call, "proceed_once")]).await
}

fn called(buffers: &ModelServer) -> Vec<Value> {
    let requests = buffers.received().into_iter().map(|received| received.json());
    let calls = requests.filter(|request| request["method"] == "tools/call");
    calls.map(|request| request["params"]["name"].clone()).collect()
}

#[tokio::test]
async fn a_tool_of_a_server_is_asked_about_every_time() {
    let (_world, buffers, editor, asked) = asked(vec![uses("list"), uses("read"), says("I see.")]).await;
    let call = asked.only_asked();
    assert_eq!(call["tool_name"], "mcp_editor_list");
    assert_eq!(options(&call), ["proceed_once", "proceed_always_tool", "proceed_always_server", "cancel"]);
    let details = &call["confirmation_request"]["mcp_details"];
    assert_eq!(*details, json!({"server_name": "editor", "tool_name": "list"}));
    assert!(called(&buffers).is_empty());
    let more = editor.answer(asked.task(), "m2", &[chosen(&call, "proceed_once")]).await;
    assert_eq!(more.call("SUCCEEDED")["output"]["structured_data"], json!({"open": ["a.rs"]}));
    let done = editor.answer(asked.task(), "m3", &[chosen(&more.only_asked(), "proceed_once")]).await;
    assert!(output(done.call("SUCCEEDED")).contains("fn unsaved() {}"));
    assert_eq!(called(&buffers), [json!("list"), json!("read")]);
    assert_eq!(done.last().state(), "completed");
}

#[tokio::test]
async fn a_tool_can_be_allowed_and_the_others_are_asked_about() {
    let (_world, buffers, editor, asked) = asked(vec![uses("list"), uses("list"), uses("read")]).await;
    let call = asked.only_asked();
    let more = editor.answer(asked.task(), "m2", &[chosen(&call, "proceed_always_tool")]).await;
    assert_eq!(more.only_asked()["tool_name"], "mcp_editor_read", "{:#?}", more.lines());
    assert_eq!(called(&buffers), [json!("list"), json!("list")]);
}

#[tokio::test]
async fn a_whole_server_can_be_allowed() {
    let (_world, buffers, editor, asked) =
        asked(vec![uses("list"), uses("read"), uses("list"), says("I see.")]).await;
    let call = asked.only_asked();
    let done = editor.answer(asked.task(), "m2", &[chosen(&call, "proceed_always_server")]).await;
    assert_eq!((done.asked().len(), done.last().state()), (0, "completed"));
    assert_eq!(called(&buffers).len(), 3);
}

#[tokio::test]
async fn a_refused_tool_is_not_used() {
    let (_world, buffers, editor, asked) = asked(vec![uses("list")]).await;
    let refused = editor.answer(asked.task(), "m2", &[chosen(&asked.only_asked(), "cancel")]).await;
    refused.check(&["TOOL_CALL_UPDATE working mcp_editor_list CANCELLED", "STATE_CHANGE input-required …"]);
    assert!(called(&buffers).is_empty());
}

#[tokio::test]
async fn a_client_that_knows_text_only_reads_what_a_tool_would_be_given() {
    let hiding = calls("mcp_editor_read", json!({"name": "a\u{202e}b", "deep": {"lines": ["\u{1b}[8m"]}}));
    let (world, _buffers, _editor, asked) = asked(vec![hiding, says("Done.")]).await;
    let call = asked.only_asked();
    assert_eq!(call["input_parameters"]["name"], r"a\u{202e}b");
    assert_eq!(options(&call), ["proceed_once", "cancel"], "{call:#}");
    let plain = world.server.client().with("A2A-Extensions", "https://example.com/x");
    let task = plain.rpc("GetTask", json!({"id": asked.task()})).await["result"].clone();
    let text = task["status"]["message"]["parts"][0]["text"].as_str().unwrap();
    assert!(text.contains("use read of the server editor at http://"), "{text}");
    assert!(text.contains(", named by the client with\n{"), "{text}");
    assert!(text.contains(r#""name": "a\u{202e}b""#) && text.contains(r"\u001b[8m"), "{text}");
    assert!(!text.contains(['\u{202e}', '\u{1b}']), "{text}");
}

/// What a proxy adds to what it passes on.
const PROXY_HEADERS: [(&str, &str); 4] = [
    ("forwarded", "for=192.0.2.7"),
    ("x-forwarded-for", "192.0.2.7"),
    ("x-real-ip", "192.0.2.7"),
    ("via", "1.1 proxy.example"),
];

#[tokio::test]
async fn a_client_behind_a_proxy_cannot_send_the_agent_to_this_machine() {
    for (name, value) in PROXY_HEADERS {
        let buffers = buffers();
        let world = World::playing([says("There is none.")]).await;
        let editor = Editor::of(Pair::Rpc03, &world.server.client().with(name, value));
        let settings = json!({"mcp_servers": {"editor": {"httpUrl": buffers.url()}}});
        let told = editor.exchange(editor.text_with("m1", "Look!", &settings)).await;
        assert!(buffers.received().is_empty(), "{name}: nothing was sent to it");
        let told = format!("{:#?}", told.lines());
        assert!(told.contains("editor cannot be used") && told.contains("this machine"), "{name}: {told}");
    }
}

#[tokio::test]
async fn a_client_on_this_machine_brings_its_server_wherever_the_agent_listens() {
    let token = "correct-horse-battery-staple";
    for (host, reached) in [("localhost", true), ("agent.example", false)] {
        let buffers = buffers();
        let open = |launch: ServerLaunch| {
            let launch = launch.settings("allowed_hosts = [\"agent.example\"]\n");
            launch.argument("--host").argument("0.0.0.0").variable("ATTACHE_TOKEN", token)
        };
        let world = World::with([uses("list"), says("Then not.")], open).await;
        let client = world.server.client().with("host", host);
        let editor = Editor::of(Pair::Rpc03, &client.with("authorization", &format!("Bearer {token}")));
        let settings = json!({"mcp_servers": {"editor": {"httpUrl": buffers.url()}}});
        let asked = editor.exchange(editor.text_with("m1", "Look!", &settings)).await;
        assert!(buffers.received().is_empty(), "nothing is sent before the answer");
        assert_eq!(
            asked.asked().iter().any(|call| call["tool_name"] == CONNECT),
            reached,
            "called as {host}"
        );
    }
}

#[tokio::test]
async fn the_first_use_of_a_server_that_the_client_named_is_asked_about_whatever_rules_allow() {
    let rule = "[[rule]]\ntoolName = \"*\"\nmcpName = \"editor\"\ndecision = \"allow\"\npriority = 500\n";
    let buffers = buffers();
    let with_rule = |launch: ServerLaunch| {
        write(&launch, ".gemini/policies/all.toml", rule);
        launch
    };
    let world = World::with([uses("list"), uses("read"), says("I see.")], with_rule).await;
    let editor = world.editor();
    let settings = json!({"mcp_servers": {"editor": {"httpUrl": buffers.url()}}});
    let asked = connected(&editor, &settings).await;
    let call = asked.only_asked();
    assert_eq!(call["tool_name"], "mcp_editor_list");
    let shown = call.to_string();
    assert!(shown.contains(&buffers.url()), "the address is shown: {shown}");
    assert!(called(&buffers).is_empty());
    let done = editor.answer(asked.task(), "m2", &[chosen(&call, "proceed_once")]).await;
    assert_eq!(
        (done.asked().len(), done.last().state()),
        (0, "completed"),
        "asked once: {:#?}",
        done.lines()
    );
    assert_eq!(called(&buffers).len(), 2);
}

#[tokio::test]
async fn people_who_read_text_see_where_the_server_is() {
    let buffers = buffers();
    let world = World::playing([uses("list")]).await;
    let mut params = message("m1", "Look!");
    params["message"]["metadata"] =
        json!({"attache": {"mcpServers": {"editor": {"httpUrl": buffers.url()}}}});
    let client = world.server.client();
    let task = client.rpc("SendMessage", params).await["result"]["task"].clone();
    let text = task["status"]["message"].to_string();
    assert!(text.contains(&buffers.url()) && text.contains("named by the client"), "{text}");
    let task = reply(&client, "m2", &task, "yes").await;
    let text = task["status"]["message"].to_string();
    assert!(text.contains(&buffers.url()) && text.contains("named by the client"), "{text}");
}
