//! Refuses calls of agents that may not be called any more: switched off since the conversation began, or of a project whose
//! file is not accepted as it is now.
//!
//! A conversation keeps the agents that it began with until `/agents reload`. Both checks look at the files as they are, also
//! when another program has changed them, such as `attache agents disable` or `attache trust --revoke`.

use std::sync::Arc;

use async_trait::async_trait;
use attache_tool::{
    CallEnd, CallStart, PeerNotice, Proposal, ResumableTool, Tool, ToolContext, ToolError, ToolErrorKind,
    ToolInput, ToolOutput, ToolSpec,
};
use serde_json::Value;

use crate::agent_directory::WorkspaceAgents;

/// The agents of one conversation, as settings and files are now.
#[derive(Clone)]
pub(crate) struct AgentSwitches {
    agents: Arc<WorkspaceAgents>,
}

impl AgentSwitches {
    pub(crate) fn new(agents: Arc<WorkspaceAgents>) -> Self {
        Self { agents }
    }

    /// `tool`, which calls agents, without those that may not be called.
    pub(crate) fn guard(&self, tool: Arc<dyn Tool>) -> Arc<dyn Tool> {
        Arc::new(GuardedTool { tool, switches: self.clone() })
    }

    async fn check(&self, name: &str) -> Result<(), ToolError> {
        let Some(why) = self.agents.refuses_calls(name).await else { return Ok(()) };
        let message = format!("the agent {name} is not asked: {why}");
        Err(ToolError::new(ToolErrorKind::PolicyViolation, message))
    }
}

struct GuardedTool {
    tool: Arc<dyn Tool>,
    switches: AgentSwitches,
}

impl GuardedTool {
    async fn check(&self, proposal: &Proposal) -> Result<(), ToolError> {
        let name = proposal.input.get("agent_name").and_then(Value::as_str);
        self.switches.check(name.unwrap_or_default()).await
    }
}

#[async_trait]
impl Tool for GuardedTool {
    fn spec(&self) -> &ToolSpec {
        self.tool.spec()
    }

    async fn propose(&self, input: &ToolInput, context: &ToolContext) -> Result<Proposal, ToolError> {
        let proposal = self.tool.propose(input, context).await?;
        self.check(&proposal).await?;
        Ok(proposal)
    }

    async fn run(&self, proposal: Proposal, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        self.check(&proposal).await?;
        self.tool.run(proposal, context).await
    }

    fn resumable(&self) -> Option<&dyn ResumableTool> {
        self.tool.resumable().map(|_| self as &dyn ResumableTool)
    }
}

/// The agent may have been switched off, or its acceptance revoked, while a person was asked.
#[async_trait]
impl ResumableTool for GuardedTool {
    async fn run_from(
        &self,
        proposal: Proposal,
        start: CallStart,
        context: &ToolContext,
    ) -> Result<CallEnd, ToolError> {
        let refused = self.check(&proposal).await.err();
        match (self.tool.resumable(), refused) {
            (Some(tool), Some(refused)) => Err(tool.end(&proposal, start, refused, context).await),
            (None, Some(refused)) => Err(refused),
            (Some(tool), None) => tool.run_from(proposal, start, context).await,
            (None, None) => self.tool.run(proposal, context).await.map(CallEnd::Finished),
        }
    }

    async fn end(
        &self,
        proposal: &Proposal,
        start: CallStart,
        refused: ToolError,
        context: &ToolContext,
    ) -> ToolError {
        match self.tool.resumable() {
            Some(tool) => tool.end(proposal, start, refused, context).await,
            None => refused,
        }
    }

    async fn cancel(&self, proposal: &Proposal, saved: Option<Value>, context: &ToolContext) -> PeerNotice {
        match self.tool.resumable() {
            Some(tool) => tool.cancel(proposal, saved, context).await,
            None => PeerNotice::Told,
        }
    }
}
