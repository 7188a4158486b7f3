//! Servers written in a few lines of shell, and calls of their tools.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use attache_domain::Content;
use attache_net::Secret;
use attache_tool::{LiveOutput, Tool, ToolContext, ToolError, ToolOutput, Workspace};
use attache_tool_mcp::{ConnectContext, McpServerOptions, McpServers, ServerState, Transport};
use serde_json::Value;
use tempfile::TempDir;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Long enough for a busy machine; a test that waits for it has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// What every script begins with. `id` is the number of the request in `line`.
const PRELUDE: &str = r#"
next() { IFS= read -r line || exit 0; id=${line#*\"id\":}; id=${id%%[!0-9]*}; }
result() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
tell() { printf '{"jsonrpc":"2.0","method":"notifications/%s","params":%s}\n' "$1" "$2"; }
hello() {
    next
    result '{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"fake","version":"1"}}'
    next
}
tool() { printf '{"name":"%s","description":"a tool","inputSchema":{"type":"object"}}' "$1"; }
tools() { next; result "{\"tools\":[$1]}"; }
text() { next; result "{\"content\":[{\"type\":\"text\",\"text\":\"$1\"}]}"; }
"#;

pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) context: ConnectContext,
    pub(crate) cancel: CancellationToken,
    pub(crate) live: Arc<LiveText>,
}

#[derive(Default)]
pub(crate) struct LiveText(Mutex<String>);

impl LiveOutput for LiveText {
    fn show(&self, text: &str) {
        self.0.lock().unwrap().push_str(text);
    }
}

impl LiveText {
    pub(crate) fn text(&self) -> String {
        self.0.lock().unwrap().clone()
    }
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut context = ConnectContext::new(folder.path().canonicalize().unwrap(), environment());
        context.connect_timeout = PATIENCE;
        Self { folder, context, cancel: CancellationToken::new(), live: Arc::default() }
    }

    pub(crate) async fn connect(&self, options: Vec<McpServerOptions>) -> McpServers {
        let connecting = McpServers::connect(options, self.context.clone());
        timeout(PATIENCE * 2, connecting).await.expect("connecting is bounded")
    }

    pub(crate) fn tool_context(&self) -> ToolContext {
        let root = self.folder.path().canonicalize().unwrap();
        let workspace = Workspace {
            scratch: root.join("scratch"),
            roots: vec![root],
            environment: vec![],
            ignore: Default::default(),
        };
        ToolContext {
            workspace: Arc::new(workspace),
            cancel: self.cancel.clone(),
            live: self.live.clone(),
            mark: None,
            call: attache_tool::CallKey::none(),
            state: Arc::new(attache_tool::NoCallState),
            delegation: Arc::default(),
        }
    }

    /// Proposes and runs.
    pub(crate) async fn call(
        &self,
        servers: &McpServers,
        name: &str,
        input: Value,
    ) -> Result<ToolOutput, ToolError> {
        let (tool, context) = (tool(servers, name), self.tool_context());
        let Value::Object(input) = input else { panic!("an input is an object") };
        let proposal = tool.propose(&input, &context).await?;
        timeout(PATIENCE, tool.run(proposal, &context)).await.expect("a call is bounded")
    }
}

fn environment() -> Vec<(String, String)> {
    #[expect(clippy::disallowed_methods, reason = "programs are found where the tests find them")]
    let path = std::env::var("PATH").unwrap();
    vec![("PATH".into(), path)]
}

/// A server that runs this shell script after the functions above.
pub(crate) fn shell(name: &str, script: &str) -> McpServerOptions {
    let transport = Transport::Stdio {
        command: "sh".into(),
        args: vec!["-c".into(), format!("{PRELUDE}\n{script}")],
        env: vec![("TOKEN".into(), Secret::new("s3cret-token"))],
        directory: None,
    };
    McpServerOptions::new(name, transport)
}

pub(crate) fn tool(servers: &McpServers, name: &str) -> Arc<dyn Tool> {
    let tools = servers.tools();
    let names: Vec<_> = tools.iter().map(|tool| tool.spec().name.clone()).collect();
    let found = tools.into_iter().find(|tool| tool.spec().name == name);
    found.unwrap_or_else(|| panic!("no {name} among {names:?}"))
}

pub(crate) fn names(servers: &McpServers) -> Vec<String> {
    servers.tools().iter().map(|tool| tool.spec().name.clone()).collect()
}

/// All texts of an output, joined.
pub(crate) fn text(output: &ToolOutput) -> String {
    let text = |content: &Content| match content {
        Content::Text(text) => Some(text.clone()),
        _ => None,
    };
    output.content.iter().filter_map(text).collect::<Vec<_>>().join("\n")
}

/// Why the only server failed.
#[track_caller]
pub(crate) fn why(servers: &McpServers) -> String {
    match &servers.statuses()[0].state {
        ServerState::Failed { why } => why.clone(),
        other => panic!("{other:?}"),
    }
}

/// Waits until what `servers` show fulfils a condition.
pub(crate) async fn until(servers: &McpServers, condition: impl Fn(&McpServers) -> bool) {
    let mut changes = servers.changes();
    let waiting = async {
        while !condition(servers) {
            changes.changed().await.unwrap();
        }
    };
    timeout(PATIENCE, waiting).await.expect("the servers come to it");
}
