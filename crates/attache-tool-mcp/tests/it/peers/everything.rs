//! The official server that shows all there is.

use attache_domain::Content;
use attache_tool_mcp::{McpServerOptions, McpServers, ServerState, Transport};
use serde_json::json;

use super::{Program, http, tools};
use crate::world::{World, names, text, tool};

async fn try_all(options: McpServerOptions) {
    let world = World::new();
    let servers = world.connect(vec![options]).await;
    assert_eq!(servers.statuses()[0].state, ServerState::Connected);
    calls(&world, &servers).await;
    let listed = world.call(&servers, "list_mcp_resources", json!({})).await.unwrap();
    let uri = text(&listed).lines().nth(1).unwrap().split(' ').nth(1).unwrap().to_owned();
    let read = world.call(&servers, "read_mcp_resource", json!({ "uri": uri })).await.unwrap();
    assert!(!read.content.is_empty());
    servers.close().await;
}

async fn calls(world: &World, servers: &McpServers) {
    let call = async |name: &str, input| world.call(servers, &format!("mcp_all_{name}"), input).await;
    let said = text(&call("echo", json!({ "message": "hällo" })).await.unwrap());
    assert!(said.contains("hällo") && said.starts_with("<untrusted_context>"), "{said}");
    let sum = text(&call("get-sum", json!({ "a": 2, "b": 40 })).await.unwrap());
    assert!(sum.contains("42"), "{sum}");
    let image = call("get-tiny-image", json!({})).await.unwrap();
    let is_image =
        |content: &Content| matches!(content, Content::Bytes { media_type, .. } if media_type == "image/png");
    assert!(image.content.iter().any(is_image), "{:?}", text(&image));
    let roots = text(&call("get-roots-list", json!({})).await.unwrap());
    assert!(roots.contains(world.context.directory.to_str().unwrap()), "{roots}");
    let links = text(&call("get-resource-links", json!({ "count": 2 })).await.unwrap());
    assert!(links.contains("Link to"), "{links}");
    let structured = call("get-structured-content", json!({ "location": "New York" })).await.unwrap();
    assert!(text(&structured).contains("temperature"), "{structured:?}");
    call("trigger-long-running-operation", json!({ "duration": 0.6, "steps": 2 })).await.unwrap();
    assert!(world.live.text().contains("50%\n"), "{:?}", world.live.text());
    let error = call("get-sum", json!({ "a": "x", "b": 1 })).await.unwrap_err();
    assert!(error.message.contains("`a` must be of type number"), "{error}");
    let echo = tool(servers, "mcp_all_echo");
    let origin = echo.spec().origin.as_ref().unwrap();
    assert_eq!((origin.server.as_str(), origin.tool.as_str()), ("all", "echo"));
}

#[tokio::test]
async fn over_standard_input_and_output() {
    let Some(tools) = tools() else { return };
    try_all(Program::published(&tools, "server-everything").with("stdio").stdio("all")).await;
}

#[tokio::test]
async fn over_streamable_http() {
    let Some(tools) = tools() else { return };
    let server = Program::published(&tools, "server-everything").with("streamableHttp").listen(0).await;
    try_all(McpServerOptions::new("all", http(server.url("/mcp")))).await;
}

#[tokio::test]
async fn over_the_older_http() {
    let Some(tools) = tools() else { return };
    let server = Program::published(&tools, "server-everything").with("sse").listen(0).await;
    try_all(McpServerOptions::new("all", Transport::Sse { url: server.url("/sse"), headers: vec![] })).await;
}

#[tokio::test]
async fn the_transport_is_found_out() {
    let Some(tools) = tools() else { return };
    let newer = Program::published(&tools, "server-everything").with("streamableHttp").listen(0).await;
    let older = Program::published(&tools, "server-everything").with("sse").listen(0).await;
    let detect = |name: &str, url| McpServerOptions::new(name, Transport::Detect { url, headers: vec![] });
    let world = World::new();
    let both = vec![detect("newer", newer.url("/mcp")), detect("older", older.url("/sse"))];
    let servers = world.connect(both).await;
    for name in ["mcp_newer_echo", "mcp_older_echo"] {
        assert!(names(&servers).iter().any(|known| known == name), "{:?}", servers.statuses());
        world.call(&servers, name, json!({ "message": "x" })).await.unwrap();
    }
}

#[tokio::test]
async fn a_server_that_was_started_anew_is_used_on() {
    let Some(tools) = tools() else { return };
    for (way, path) in [("streamableHttp", "/mcp"), ("sse", "/sse")] {
        let program = Program::published(&tools, "server-everything").with(way);
        let server = program.listen(0).await;
        let (port, url) = (server.port, server.url(path));
        let world = World::new();
        let servers = world
            .connect(vec![McpServerOptions::new("all", Transport::Detect { url, headers: vec![] })])
            .await;
        drop(server);
        let _again = listen_again(&program, port).await;
        // The loss may be noticed by the first call only.
        let _ = world.call(&servers, "mcp_all_echo", json!({ "message": "x" })).await;
        let said = world.call(&servers, "mcp_all_echo", json!({ "message": "back" })).await;
        assert!(text(&said.unwrap()).contains("back"), "{way}");
    }
}

/// The port is free a moment after its last owner was ended.
async fn listen_again(program: &Program, port: u16) -> super::Listening {
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
        tokio::task::yield_now().await;
    }
    program.listen(port).await
}
