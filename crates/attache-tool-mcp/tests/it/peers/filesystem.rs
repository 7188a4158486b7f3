//! The official server that reads and writes files.

use attache_tool::ToolErrorKind;
use attache_tool_mcp::ServerState;
use serde_json::json;

use super::{Program, tools};
use crate::world::{World, text, tool};

#[tokio::test]
async fn files_are_read_and_written_where_the_server_allows_it() {
    let Some(tools) = tools() else { return };
    let world = World::new();
    let folder = world.context.directory.to_str().unwrap().to_owned();
    std::fs::write(world.context.directory.join("a.txt"), "inside").unwrap();
    let mut options = Program::published(&tools, "server-filesystem").with(folder.as_str()).stdio("fs");
    options.trust = true;
    let servers = world.connect(vec![options]).await;
    assert_eq!(servers.statuses()[0].state, ServerState::Connected);
    let call = async |name: &str, input| world.call(&servers, &format!("mcp_fs_{name}"), input).await;

    let read = call("read_text_file", json!({ "path": format!("{folder}/a.txt") })).await.unwrap();
    assert!(text(&read).contains("inside"), "{read:?}");
    let written = json!({ "path": format!("{folder}/b.txt"), "content": "new" });
    call("write_file", written).await.unwrap();
    assert_eq!(std::fs::read_to_string(world.context.directory.join("b.txt")).unwrap(), "new");

    let error = call("read_text_file", json!({ "path": "/etc/hostname" })).await.unwrap_err();
    assert_eq!(error.kind, ToolErrorKind::McpToolError);
    assert!(error.message.contains("untrusted_context"), "{error}");

    assert!(
        tool(&servers, "mcp_fs_read_text_file").spec().repeatable,
        "it says it only reads, and is trusted"
    );
    assert!(!tool(&servers, "mcp_fs_edit_file").spec().repeatable);
}
