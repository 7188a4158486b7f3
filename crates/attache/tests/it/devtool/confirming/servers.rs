//! Tools of MCP servers: asked about by server and tool, and allowed for either.

use attache_testkit::model_server::{ModelServer, Planned};
use serde_json::{Value, json};

use super::{options, output};
use crate::agent_world::{calls, says};
use crate::devtool::editor::{Editor, chosen};
use crate::devtool::exchange::Exchange;
use crate::devtool::world::World;

/// The buffers of an editor, offered as an MCP server over HTTP.
fn buffers() -> ModelServer {
    ModelServer::answering(|received| {
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
                return Planned::text(status, "text/plain", "");
            }
        };
        let response = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
        Planned::text(200, "application/json", &response.to_string())
    })
}

fn uses(tool: &str) -> Planned {
    calls(&format!("mcp_editor_{tool}"), json!({}))
}

/// A conversation whose client brings its buffers.
async fn asked(answers: Vec<Planned>) -> (World, ModelServer, Editor, Exchange) {
    let buffers = buffers();
    let world = World::playing(answers).await;
    let editor = world.editor();
    let settings = json!({"mcp_servers": {"editor": {"httpUrl": buffers.url()}}});
    let asked = editor.exchange(editor.text_with("m1", "Look!", &settings)).await;
    (world, buffers, editor, asked)
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
    assert!(text.contains("use read of the server editor with\n{"), "{text}");
    assert!(text.contains(r#""name": "a\u{202e}b""#) && text.contains(r"\u001b[8m"), "{text}");
    assert!(!text.contains(['\u{202e}', '\u{1b}']), "{text}");
}
