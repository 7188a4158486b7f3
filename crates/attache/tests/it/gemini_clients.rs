//! A client of Gemini CLI's server that brings an MCP server. `attache-server` tests the other public clients.

use attache_testkit::gemini_stream::stream;
use attache_testkit::model_server::ModelServer;
use serde_json::{Value, json};

use crate::agent_world::{says, start, work};
use crate::mcp_connecting::{CountingProxy, notes};

/// Clients of Gemini CLI's server agree to a connection as to any other call.
#[tokio::test]
async fn a_connection_to_a_server_of_the_client_is_a_call_to_confirm() {
    let model = ModelServer::with_responses([says("Done.")]);
    let (launch, server) = start(&model).await;
    let (client, notes) = (server.client(), CountingProxy::before(notes()));
    let settings = json!({"kind": "agent-settings", "workspacePath": work(&launch), "autoExecute": false});
    let message = |id: &str, part: Value| json!({"kind": "message", "role": "user", "parts": [part], "messageId": id, "metadata": {"coderAgent": settings}});
    let mut prompt = message("m1", json!({"kind": "text", "text": "Look."}));
    prompt["metadata"]["coderAgent"]["mcpServers"] = json!({"notes": {"httpUrl": notes.url()}});
    let asked = stream(&client, json!({ "message": prompt })).await;
    let [pending] = asked.pending()[..] else { panic!("it is asked about: {:#?}", asked.events) };
    assert_eq!(pending.tool, "connect_mcp_server");
    assert_eq!(notes.connections(), 0, "nothing is sent before the answer");
    let data = json!({"callId": pending.id, "outcome": "proceed_once"});
    let mut answer = message("m2", json!({"kind": "data", "data": data}));
    (answer["taskId"], answer["contextId"]) = (json!(asked.task), json!(asked.context));
    let done = stream(&client, json!({ "message": answer })).await;
    assert_eq!((done.text.as_str(), done.ended), ("Done.", true), "{:#?}", done.events);
    assert!(notes.connections() > 0);
    assert!(model.received()[0].json()["tools"].to_string().contains("mcp_notes_list"));
}
