//! A server of our own on the official Python SDK.

use attache_tool_mcp::{McpServerOptions, ServerState, Transport};
use serde_json::json;

use super::{Program, http, tools};
use crate::world::{World, names, text, until};

async fn try_all(world: &World, options: McpServerOptions) {
    let servers = world.connect(vec![options]).await;
    let status = &servers.statuses()[0];
    assert_eq!(status.state, ServerState::Connected);
    assert_eq!(status.instructions.as_deref(), Some("Keeps notes."));
    let sum = world.call(&servers, "mcp_notes_add", json!({ "a": 2, "b": 40 })).await.unwrap();
    assert!(text(&sum).contains("42"), "{sum:?}");
    let error = world.call(&servers, "mcp_notes_fail", json!({})).await.unwrap_err();
    assert!(error.message.contains("Error executing tool fail"), "{error}");
    let note = world.call(&servers, "read_mcp_resource", json!({ "uri": "note://first" })).await.unwrap();
    assert!(text(&note).contains("milk"), "{note:?}");
    servers.close().await;
}

#[tokio::test]
async fn over_every_transport() {
    let Some(tools) = tools() else { return };
    let world = World::new();
    try_all(&world, Program::notes(&tools).with("stdio").stdio("notes")).await;
    for way in ["http", "plain"] {
        let server = Program::notes(&tools).with(way).with("PORT").listen(0).await;
        try_all(&world, McpServerOptions::new("notes", http(server.url("/mcp")))).await;
    }
    let server = Program::notes(&tools).with("sse").with("PORT").listen(0).await;
    let transport = Transport::Detect { url: server.url("/sse"), headers: vec![] };
    try_all(&world, McpServerOptions::new("notes", transport)).await;
}

#[tokio::test]
async fn a_tool_that_comes_later_is_offered() {
    let Some(tools) = tools() else { return };
    let server = Program::notes(&tools).with("http").with("PORT").listen(0).await;
    let over_http = McpServerOptions::new("notes", http(server.url("/mcp")));
    for options in [Program::notes(&tools).with("stdio").stdio("notes"), over_http] {
        let world = World::new();
        let servers = world.connect(vec![options]).await;
        world.call(&servers, "mcp_notes_grow", json!({})).await.unwrap();
        until(&servers, |servers| names(servers).iter().any(|name| name == "mcp_notes_grown")).await;
        let said = world.call(&servers, "mcp_notes_grown", json!({})).await.unwrap();
        assert!(text(&said).contains("grown"), "{said:?}");
    }
}

#[tokio::test]
async fn a_call_that_is_called_off_stops_at_the_server() {
    let Some(tools) = tools() else { return };
    let server = Program::notes(&tools).with("http").with("PORT").listen(0).await;
    let over_http = McpServerOptions::new("notes", http(server.url("/mcp")));
    for options in [Program::notes(&tools).with("stdio").stdio("notes"), over_http] {
        let world = World::new();
        let servers = world.connect(vec![options]).await;
        let file = world.context.directory.join("told");
        let exists = async |name: &str| {
            while !world.context.directory.join(name).exists() {
                tokio::task::yield_now().await;
            }
        };
        let waiting = world.call(&servers, "mcp_notes_wait", json!({ "file": file.to_str().unwrap() }));
        let cancelling = async {
            exists("told.begun").await;
            world.cancel.cancel();
        };
        let (result, ()) = tokio::join!(waiting, cancelling);
        assert!(result.unwrap_err().message.contains("cancelled"));
        tokio::time::timeout(crate::world::PATIENCE, exists("told")).await.expect("the server hears of it");
    }
}

#[tokio::test]
async fn a_server_that_crashes_is_started_again() {
    let Some(tools) = tools() else { return };
    let world = World::new();
    let servers = world.connect(vec![Program::notes(&tools).with("stdio").stdio("notes")]).await;
    let error = world.call(&servers, "mcp_notes_crash", json!({})).await.unwrap_err();
    assert!(error.message.contains("not known whether"), "{error}");
    let sum = world.call(&servers, "mcp_notes_add", json!({ "a": 1, "b": 1 })).await.unwrap();
    assert!(text(&sum).contains('2'), "{sum:?}");
}
