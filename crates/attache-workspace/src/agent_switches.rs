//! Refuses calls of agents that were switched off since the conversation began.
//!
//! A conversation keeps the agents that it began with until `/agents reload`. The switch counts at once, also when another
//! program writes it into the settings, such as `attache agents disable`.

use std::sync::Arc;

use async_trait::async_trait;
use attache_domain::RequestedSettings;
use attache_tool::{
    CallEnd, CallStart, PeerNotice, Proposal, ResumableTool, Tool, ToolContext, ToolError, ToolErrorKind,
    ToolInput, ToolOutput, ToolSpec,
};
use serde_json::Value;

use crate::setup_builder::SetupBuilder;
use crate::visible;

/// The switches of one conversation's agents, as the settings are now.
#[derive(Clone)]
pub(crate) struct AgentSwitches {
    builder: Arc<SetupBuilder>,
    requested: RequestedSettings,
}

impl AgentSwitches {
    pub(crate) fn new(builder: Arc<SetupBuilder>, requested: RequestedSettings) -> Self {
        Self { builder, requested }
    }

    /// `tool`, which calls agents, without those that are switched off.
    pub(crate) fn guard(&self, tool: Arc<dyn Tool>) -> Arc<dyn Tool> {
        Arc::new(GuardedTool { tool, switches: self.clone() })
    }

    /// Settings that cannot be read switch nothing off.
    async fn check(&self, name: &str) -> Result<(), ToolError> {
        let Ok(snapshot) = self.builder.current_snapshot(&self.requested).await else { return Ok(()) };
        let overrides = &snapshot.settings.agent_overrides;
        let Some(origin) = overrides.disabled_in(name) else { return Ok(()) };
        let message =
            format!("the agent {name} is not asked: it is disabled in {}", visible(&origin.to_string()));
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

/// The agent may have been switched off while a person was asked.
#[async_trait]
impl ResumableTool for GuardedTool {
    async fn run_from(
        &self,
        proposal: Proposal,
        start: CallStart,
        context: &ToolContext,
    ) -> Result<CallEnd, ToolError> {
        // A call that was interrupted sends nothing new, and goes on.
        let refused =
            if start.saved.is_none() || !start.restarted { self.check(&proposal).await.err() } else { None };
        match (self.tool.resumable(), refused) {
            (Some(tool), Some(refused)) => Err(tool.end(&proposal, start, refused, context).await),
            (None, Some(refused)) => Err(refused),
            (Some(tool), None) => tool.run_from(proposal, start, context).await,
            (None, None) => self.tool.run(proposal, context).await.map(CallEnd::Finished),
        }
    }

    async fn cancel(&self, proposal: &Proposal, saved: Option<Value>, context: &ToolContext) -> PeerNotice {
        match self.tool.resumable() {
            Some(tool) => tool.cancel(proposal, saved, context).await,
            None => PeerNotice::Told,
        }
    }
}
