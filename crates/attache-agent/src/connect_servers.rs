//! Asks before the first connection to an MCP server that the client named.
//!
//! The agent makes these calls by itself before the model answers. Their approvals are facts like all others. The
//! model sees only the names of missing servers.

use std::sync::Arc;

use attache_domain::{
    AGENT_MODEL, CONNECT_SERVER, CallId, CallRecord, Fact, ModelAnswer, ModelPart, ModelPartContent,
    ResponseEnd, ServerApproval, ToolCall, Usage,
};
use attache_session::TurnStopped;
use attache_tool::{Tool, ToolError, ToolInput};

use crate::conversations::ClientServer;
use crate::turn_runner::TurnRunner;

impl TurnRunner<'_> {
    /// Connects to approved servers, and records calls for servers without an approval request. True if there are such
    /// calls.
    pub(crate) async fn connect_servers(&self) -> Result<bool, TurnStopped> {
        let unapproved = self.setup.tool_source.unapproved_servers();
        let Some(tool) = self.connect_tool().filter(|_| !unapproved.is_empty()) else { return Ok(false) };
        let mut undecided = Vec::new();
        for server in unapproved {
            match self.server_approval(&server) {
                Some(true) => self.reconnect(tool.as_ref(), &server).await?,
                Some(false) => {}
                None => undecided.push(server),
            }
        }
        if undecided.is_empty() {
            return Ok(false);
        }
        let head = self.journal.with_progress(|progress| progress.head);
        let call = |(place, server): (usize, ClientServer)| ModelPart {
            what: ModelPartContent::Call(ToolCall {
                id: CallId(format!("connect-{head}-{place}")),
                name: CONNECT_SERVER.into(),
                input: server.input(),
            }),
            opaque: None,
        };
        let answer = ModelAnswer {
            model: AGENT_MODEL.into(),
            parts: undecided.into_iter().enumerate().map(call).collect(),
            usage: Usage::default(),
            end: ResponseEnd::Done,
        };
        self.journal.record(Fact::ModelAnswered(Box::new(answer))).await?;
        Ok(true)
    }

    /// The tool of a call. Calls of a model never reach the tools of the agent or of commands.
    pub(crate) fn find_tool(&self, name: &str) -> Result<Arc<dyn Tool>, ToolError> {
        if self.journal.with_progress(|progress| progress.work.agents_own)
            && let Some(tool) = self.connect_tool().filter(|_| name == CONNECT_SERVER)
        {
            return Ok(tool);
        }
        if self.active_command().is_some()
            && let Some(tool) = self.setup.tool_source.command_tool(name)
        {
            return Ok(tool);
        }
        self.tools.registry.find(name).cloned()
    }

    /// The tool of a call that may have begun before the server stopped.
    pub(crate) fn tool_of(&self, record: &CallRecord) -> Result<Arc<dyn Tool>, ToolError> {
        let begun = record.state.as_ref().and_then(|_| self.setup.tool_source.begun_tool(&record.call.name));
        begun.map_or_else(|| self.find_tool(&record.call.name), Ok)
    }

    fn connect_tool(&self) -> Option<Arc<dyn Tool>> {
        self.setup.tool_source.connect_tool()
    }

    /// A person's approval or refusal of the server in this conversation.
    fn server_approval(&self, server: &ClientServer) -> Option<bool> {
        let view = self.task.view();
        let known = self.earlier_approvals.iter().chain(&view.server_approvals);
        let same = |known: &&ServerApproval| known.server == server.name && known.address == server.address;
        known.rev().find(same).map(|known| known.allowed)
    }

    /// The approval is from before a restart or from an earlier task.
    async fn reconnect(&self, tool: &dyn Tool, server: &ClientServer) -> Result<(), TurnStopped> {
        let context = self.tool_context(None);
        let connected = async {
            let proposal = tool.propose(&server.input(), &context).await?;
            tool.run(proposal, &context).await
        };
        match connected.await {
            Ok(_) => Ok(()),
            Err(error) => self.record_notice(error.message).await,
        }
    }
}

impl ClientServer {
    fn input(&self) -> ToolInput {
        let entries = [("server", &self.name), ("address", &self.address)];
        entries.into_iter().map(|(key, text)| (key.to_owned(), text.as_str().into())).collect()
    }
}
