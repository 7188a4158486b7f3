//! A tool of a server.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use attache_domain::{Effect, Preview, Proposal, excerpt_in_bytes};
use attache_tool::{Tool, ToolContext, ToolError, ToolInput, ToolOutput, ToolSpec};
use serde_json::json;

use crate::connection::RequestOptions;
use crate::error::{CallError, ConnectError};
use crate::input;
use crate::server::{Server, ServerRequestError};
use crate::tool_result::{self, ResultSource};
use attache_tool::untrusted;

const MAX_ERROR_LENGTH: usize = 4_000;

/// Weak, because a client can remove its servers.
const TAKEN_AWAY: &str =
    "the server was taken away during the call, so its outcome is unknown; its tools are gone";

pub(crate) struct McpTool {
    spec: ToolSpec,
    /// The tool's name on the server.
    tool: String,
    server: Weak<Server>,
}

impl McpTool {
    pub(crate) fn new(spec: ToolSpec, server: Weak<Server>) -> Self {
        let tool = spec.origin.as_ref().map_or_else(|| spec.name.clone(), |origin| origin.tool.clone());
        Self { spec, tool, server }
    }

    fn server(&self) -> Result<Arc<Server>, ToolError> {
        let source = ResultSource { server: "that offered it", tool: &self.tool };
        let server = self.server.upgrade().filter(|server| !server.is_closed());
        server.ok_or_else(|| tool_result::failure(source, &ConnectError::Closed.to_string()))
    }
}

#[async_trait]
impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn process_mark(&self) -> Option<String> {
        self.server.upgrade()?.process_mark()
    }

    async fn propose(&self, input: &ToolInput, _context: &ToolContext) -> Result<Proposal, ToolError> {
        let server = self.server()?;
        let (address, server) = (server.options.client_address(), server.options.name.clone());
        input::check(&self.spec.parameters, input)?;
        Ok(Proposal {
            input: input.clone(),
            effects: vec![Effect::UseServer { server: server.clone(), tool: self.tool.clone() }],
            shown: Preview::Mcp { server, tool: self.tool.clone(), title: self.spec.title.clone(), address },
        })
    }

    async fn run(&self, proposal: Proposal, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let server = self.server()?;
        let source = ResultSource { server: &server.options.name, tool: &self.tool };
        let params = json!({ "name": self.tool, "arguments": proposal.input });
        let terms = RequestOptions {
            timeout: server.options.timeout,
            cancel: &context.cancel,
            live: Some(context.live.clone()),
        };
        let answer = server.request("tools/call", params, terms).await;
        let result = answer.map_err(|error| match server.is_closed() {
            true => tool_result::failure(source, TAKEN_AWAY),
            false => tool_result::failure(source, &words(&error)),
        })?;
        tool_result::of_call(result, source, &context.workspace.scratch).await
    }
}

/// An error for the model; the server's own text is marked as untrusted.
pub(crate) fn words(error: &ServerRequestError) -> String {
    match error {
        ServerRequestError::Call(CallError::Refused { code, message }) => {
            format!("error {code}: {}", untrusted(&excerpt_in_bytes(message, MAX_ERROR_LENGTH)))
        }
        ServerRequestError::Call(CallError::Lost(why)) => format!(
            "the connection was lost during the call ({}), so it is not known whether it was carried out; the next call \
             connects again",
            excerpt_in_bytes(why, MAX_ERROR_LENGTH)
        ),
        other => other.to_string(),
    }
}
