//! A client that lends its open texts to the agent, as tools of an MCP server.

use std::fs;

use tokio::process::Command;

use super::{example, installed, output, start};

const SCRIPT: &str = "buffers/script.yaml";
pub(super) const PROMPT: &str = "Sort the shopping list in my buffers";

/// What is printed when the person allows all tools of the editor.
pub(super) const ALLOWED: &str = r#"connect_mcp_server: PENDING
Connect to the MCP server editor, named by the client, at
ADDRESS
Allow connect_mcp_server? y, always, or n:
connect_mcp_server: EXECUTING
connect_mcp_server: SUCCEEDED
mcp_editor_list_buffers: PENDING
Allow mcp_editor_list_buffers? y, always, or n:
mcp_editor_list_buffers: EXECUTING
mcp_editor_list_buffers: SUCCEEDED
mcp_editor_read_buffer: PENDING
mcp_editor_read_buffer: EXECUTING
mcp_editor_read_buffer: SUCCEEDED
mcp_editor_write_buffer: PENDING
mcp_editor_write_buffer: EXECUTING
mcp_editor_write_buffer: SUCCEEDED
Your shopping list is in order, and nothing was saved.
{"shopping.txt": "apples\nbread\nmilk\n", "letter.txt": "Dear Ann,\n"}
"#;

const REFUSED: &str = r#"connect_mcp_server: PENDING
Connect to the MCP server editor, named by the client, at
ADDRESS
Allow connect_mcp_server? y, always, or n:
connect_mcp_server: EXECUTING
connect_mcp_server: SUCCEEDED
mcp_editor_list_buffers: PENDING
Allow mcp_editor_list_buffers? y, always, or n:
mcp_editor_list_buffers: EXECUTING
mcp_editor_list_buffers: SUCCEEDED
mcp_editor_read_buffer: PENDING
Allow mcp_editor_read_buffer? y, always, or n:
mcp_editor_read_buffer: EXECUTING
mcp_editor_read_buffer: SUCCEEDED
mcp_editor_write_buffer: PENDING
Allow mcp_editor_write_buffer? y, always, or n:
mcp_editor_write_buffer: CANCELLED
I could not change the list: [Operation Cancelled] The user did not agree to this.
{"shopping.txt": "milk\nbread\napples\n", "letter.txt": "Dear Ann,\n"}
"#;

const NOT_CONNECTED: &str = r#"connect_mcp_server: PENDING
Connect to the MCP server editor, named by the client, at
ADDRESS
Allow connect_mcp_server? y, always, or n:
connect_mcp_server: CANCELLED
mcp_editor_list_buffers: FAILED
I cannot see your buffers: there is no tool "mcp_editor_list_buffers"
{"shopping.txt": "milk\nbread\napples\n", "letter.txt": "Dear Ann,\n"}
"#;

/// The editor listens at another address every time.
fn without_address(printed: &str) -> String {
    let line = |line: &str| if line.starts_with("http://127.0.0.1:") { "ADDRESS\n" } else { line }.to_owned();
    printed.split_inclusive('\n').map(line).collect()
}

#[tokio::test]
async fn the_agent_uses_the_buffers_of_its_client_as_far_as_the_person_lets_it() {
    let Some(python) = installed("examples-py") else { return };
    for (typed, expected) in [("y\nalways\n", ALLOWED), ("y\ny\ny\nn\n", REFUSED), ("n\n", NOT_CONNECTED)] {
        let (launch, server) = start(SCRIPT).await;
        let mut program = Command::new(python.join("bin/python"));
        program.arg(fs::canonicalize(example("buffers/editor.py")).unwrap());
        program.args([server.url(), "work", PROMPT]);
        let printed = output(&mut program, launch.folder(), typed).await;
        assert_eq!(without_address(&printed), expected, "after {typed:?}");
    }
}
