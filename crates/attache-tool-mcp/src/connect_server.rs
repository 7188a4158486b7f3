//! Connects to a server that a client added, after a person has agreed.
//!
//! Models do not see this tool. The agent calls it by itself before it lists the server's tools.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use attache_domain::{CONNECT_SERVER, Content, Effect, Preview, Proposal};
use attache_tool::{Tool, ToolContext, ToolError, ToolErrorKind, ToolInput, ToolKind, ToolOutput, ToolSpec};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::ServerState;
use crate::resources::WeakServers;
use crate::server::Server;

/// The time to wait for the server's tools before the turn continues without them.
const FIRST_LIST_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) struct ConnectServer {
    spec: ToolSpec,
    servers: WeakServers,
}

impl ConnectServer {
    pub(crate) fn new(servers: WeakServers) -> Self {
        let parameters = json!({
            "type": "object",
            "properties": {
                "server": { "type": "string", "description": "The server's name." },
                "address": { "type": "string", "description": "Where it is." },
            },
            "required": ["server", "address"],
        });
        let spec = ToolSpec {
            name: CONNECT_SERVER.into(),
            title: "Connect to MCP server".into(),
            description: "Connects to an MCP server that the client named.".into(),
            kind: ToolKind::Fetch,
            parameters,
            repeatable: true,
            parallel: true,
            origin: None,
        };
        Self { spec, servers }
    }

    /// The server with the name and the address of `input`.
    fn find(&self, input: &ToolInput) -> Result<(Arc<Server>, String), ToolError> {
        let text = |key: &str| input.get(key).and_then(Value::as_str).unwrap_or_default();
        let servers = self.servers.upgrade();
        let found = servers.iter().flat_map(|servers| servers.iter()).find_map(|server| {
            let address = server.options.approval_address()?;
            (server.options.name == text("server") && address == text("address"))
                .then(|| (server.clone(), address))
        });
        found.ok_or_else(|| {
            ToolError::bad_input(format!(
                "the client names no MCP server {:?} at this address",
                text("server")
            ))
        })
    }
}

#[async_trait]
impl Tool for ConnectServer {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn propose(&self, input: &ToolInput, _context: &ToolContext) -> Result<Proposal, ToolError> {
        let (server, address) = self.find(input)?;
        let prompt = format!("Connect to the MCP server {}, named by the client, at", server.options.name);
        Ok(Proposal {
            input: input.clone(),
            effects: vec![Effect::Fetch { url: address.clone() }],
            shown: Preview::Info { prompt, urls: vec![address] },
        })
    }

    async fn run(&self, proposal: Proposal, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (server, _) = self.find(&proposal.input)?;
        server.approve();
        // A slow server continues to connect. Its tools are available once it has listed them.
        let _ = timeout(FIRST_LIST_TIMEOUT, server.settled()).await;
        let status = server.status();
        let name = &status.name;
        let text = match status.state {
            ServerState::Failed { why } => {
                let message = format!("The MCP server {name} cannot be used: {why}.");
                return Err(ToolError::new(ToolErrorKind::McpToolError, message));
            }
            ServerState::Connected => format!("Connected to the MCP server {name}."),
            ServerState::Unapproved | ServerState::Connecting => format!(
                "The MCP server {name} does not answer yet: I begin without its tools, and use them once it does."
            ),
        };
        Ok(ToolOutput {
            content: vec![Content::Text(text)],
            summary: String::new(),
            diff: None,
            files: Vec::new(),
        })
    }
}
