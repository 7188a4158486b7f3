//! `invoke_agent` for the agent that is part of this program, alone or beside remote agents.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use attache_domain::{Content, IgnorePoison};
use attache_help::Manual;
use attache_tool::{
    AgentState, AgentStatus, CallEnd, CallStart, INVOKE_AGENT, PeerNotice, Preview, Proposal, ResumableTool,
    Tool, ToolContext, ToolError, ToolInput, ToolOutput, ToolSpec, invoke_agent_spec,
};
use serde_json::Value;

use crate::agent_files::{BUILT_IN_AGENTS, BuiltInAgent, CLI_HELP};
use crate::{AgentGroup, RemoteAgents, WorkspaceSettings};

/// Characters of a question. A longer one is no question.
const MAX_QUESTION: usize = 4_000;

/// Answers for `cli_help`. Reads nothing but the documentation that is part of the program, so no approval is needed.
pub(crate) struct CliHelp {
    spec: ToolSpec,
    manual: &'static LazyLock<Manual>,
}

impl CliHelp {
    pub(crate) fn new(manual: &'static LazyLock<Manual>) -> Self {
        Self { spec: spec(), manual }
    }

    /// Whether it can be asked.
    pub(crate) fn is_offered(settings: &WorkspaceSettings) -> bool {
        settings.agent_overrides.is_enabled(CLI_HELP) && settings.tools.offers(INVOKE_AGENT)
    }

    /// Whether the call is for it.
    fn is_asked(input: &ToolInput) -> bool {
        input.get("agent_name").and_then(Value::as_str) == Some(CLI_HELP)
    }

    fn question(input: &ToolInput) -> Result<String, ToolError> {
        if !Self::is_asked(input) {
            let message = format!("`agent_name` must be {CLI_HELP}: there are no other agents here");
            return Err(ToolError::bad_input(message));
        }
        match input.get("prompt").and_then(Value::as_str).map(str::trim) {
            Some(question) if !question.is_empty() => Ok(question.chars().take(MAX_QUESTION).collect()),
            _ => Err(ToolError::bad_input("`prompt` is missing; put the question into it")),
        }
    }
}

#[async_trait]
impl Tool for CliHelp {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn propose(&self, input: &ToolInput, _context: &ToolContext) -> Result<Proposal, ToolError> {
        let summary = format!("{CLI_HELP}: {}", Self::question(input)?);
        Ok(Proposal { input: input.clone(), effects: Vec::new(), shown: Preview::Plain { summary } })
    }

    async fn run(&self, proposal: Proposal, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (manual, question) = (self.manual, Self::question(&proposal.input)?);
        // The first question has the whole documentation indexed.
        let answer = tokio::task::spawn_blocking(move || manual.answer(&question)).await;
        let answer = answer.map_err(|_| ToolError::bad_input("the question cannot be answered"))?;
        Ok(ToolOutput { content: vec![Content::Text(answer)], ..ToolOutput::default() })
    }
}

/// Only documentation is read, so a call may run again.
fn spec() -> ToolSpec {
    let description =
        format!("Gives a task to another agent and returns its answer. The agents:\n{}", catalog());
    let names: Vec<&str> = BUILT_IN_AGENTS.iter().map(|agent| agent.name).collect();
    ToolSpec { repeatable: true, ..invoke_agent_spec(&names, description) }
}

fn catalog() -> String {
    let agents: Vec<String> = BUILT_IN_AGENTS.iter().map(line).collect();
    agents.join("\n")
}

fn line(agent: &BuiltInAgent) -> String {
    format!("- {}: {}", agent.name, agent.description)
}

/// The tool for remote agents, with the built-in agent among them.
struct InvokeAnyAgent {
    spec: ToolSpec,
    remote: Arc<dyn Tool>,
    built_in: Arc<CliHelp>,
}

impl InvokeAnyAgent {
    fn new(remote: Arc<dyn Tool>, remote_names: &[String], built_in: Arc<CliHelp>) -> Self {
        let description = format!("{}\n\nBuilt in:\n{}", remote.spec().description, catalog());
        let remote_names = remote_names.iter().map(String::as_str);
        let all: Vec<&str> = remote_names.chain(BUILT_IN_AGENTS.iter().map(|agent| agent.name)).collect();
        Self { spec: invoke_agent_spec(&all, description), remote, built_in }
    }

    fn tool_for(&self, input: &ToolInput) -> &dyn Tool {
        if CliHelp::is_asked(input) { self.built_in.as_ref() } else { self.remote.as_ref() }
    }
}

#[async_trait]
impl Tool for InvokeAnyAgent {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn propose(&self, input: &ToolInput, context: &ToolContext) -> Result<Proposal, ToolError> {
        self.tool_for(input).propose(input, context).await
    }

    async fn run(&self, proposal: Proposal, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        self.tool_for(&proposal.input).run(proposal, context).await
    }

    fn resumable(&self) -> Option<&dyn ResumableTool> {
        self.remote.resumable().map(|_| self as &dyn ResumableTool)
    }
}

#[async_trait]
impl ResumableTool for InvokeAnyAgent {
    async fn run_from(
        &self,
        proposal: Proposal,
        start: CallStart,
        context: &ToolContext,
    ) -> Result<CallEnd, ToolError> {
        match self.tool_for(&proposal.input).resumable() {
            Some(tool) => tool.run_from(proposal, start, context).await,
            None => self.tool_for(&proposal.input).run(proposal, context).await.map(CallEnd::Finished),
        }
    }

    async fn end(
        &self,
        proposal: &Proposal,
        start: CallStart,
        refused: ToolError,
        context: &ToolContext,
    ) -> ToolError {
        match self.tool_for(&proposal.input).resumable() {
            Some(tool) => tool.end(proposal, start, refused, context).await,
            None => refused,
        }
    }

    async fn cancel(&self, proposal: &Proposal, saved: Option<Value>, context: &ToolContext) -> PeerNotice {
        match self.tool_for(&proposal.input).resumable() {
            Some(tool) => tool.cancel(proposal, saved, context).await,
            None => PeerNotice::Told,
        }
    }
}

/// Remote agents with the built-in one before them.
pub(crate) struct AllAgents {
    remote: Arc<dyn RemoteAgents>,
    built_in: Arc<CliHelp>,
    /// Whether the built-in one can be asked.
    is_asked: AtomicBool,
    /// Counts how often that has changed.
    changes: AtomicU64,
    /// The tool as it was made last.
    tool: Mutex<Option<ToolPair>>,
}

/// A tool for all agents, and the tool for the remote ones that it was made from.
struct ToolPair {
    of: Arc<dyn Tool>,
    tool: Arc<dyn Tool>,
}

impl AllAgents {
    pub(crate) fn new(remote: Arc<dyn RemoteAgents>, built_in: Arc<CliHelp>, is_asked: bool) -> Self {
        Self {
            remote,
            built_in,
            is_asked: is_asked.into(),
            changes: AtomicU64::new(0),
            tool: Mutex::default(),
        }
    }

    fn built_in(&self) -> &'static [BuiltInAgent] {
        if self.is_asked.load(Ordering::Relaxed) { BUILT_IN_AGENTS } else { &[] }
    }

    fn find_built_in(&self, name: &str) -> Option<&'static BuiltInAgent> {
        self.built_in().iter().find(|agent| agent.name == name)
    }
}

#[async_trait]
impl RemoteAgents for AllAgents {
    fn statuses(&self) -> Vec<AgentStatus> {
        self.built_in().iter().map(built_in_status).chain(self.remote.statuses()).collect()
    }

    fn version(&self) -> u64 {
        self.remote.version().wrapping_add(self.changes.load(Ordering::Relaxed))
    }

    fn tool(&self) -> Option<Arc<dyn Tool>> {
        let remote = self.remote.tool();
        if self.built_in().is_empty() {
            return remote;
        }
        let Some(remote) = remote else { return Some(self.built_in.clone()) };
        let mut made = self.tool.lock().ignore_poison();
        if let Some(ToolPair { of, tool }) = made.as_ref()
            && Arc::ptr_eq(of, &remote)
        {
            return Some(tool.clone());
        }
        let names: Vec<String> = self.remote.statuses().into_iter().map(|agent| agent.name).collect();
        let tool: Arc<dyn Tool> =
            Arc::new(InvokeAnyAgent::new(remote.clone(), &names, self.built_in.clone()));
        *made = Some(ToolPair { of: remote, tool: tool.clone() });
        Some(tool)
    }

    /// The built-in agent has no calls that last.
    fn begun_tool(&self) -> Arc<dyn Tool> {
        self.remote.begun_tool()
    }

    fn reload(&self, group: AgentGroup) {
        if self.is_asked.swap(group.built_in, Ordering::Relaxed) != group.built_in {
            self.changes.fetch_add(1, Ordering::Relaxed);
        }
        self.remote.reload(group);
    }

    async fn read_card(&self, name: &str) -> Option<AgentStatus> {
        match self.find_built_in(name) {
            Some(agent) => Some(built_in_status(agent)),
            None => self.remote.read_card(name).await,
        }
    }

    async fn test(&self, name: &str) -> Option<AgentStatus> {
        match self.find_built_in(name) {
            Some(agent) => Some(built_in_status(agent)),
            None => self.remote.test(name).await,
        }
    }

    async fn sign_in(&self, name: &str) -> Result<Option<String>, String> {
        self.remote.sign_in(name).await
    }
}

fn built_in_status(agent: &BuiltInAgent) -> AgentStatus {
    AgentStatus {
        name: agent.name.to_owned(),
        display_name: Some(agent.display_name.to_owned()),
        description: Some(agent.description.to_owned()),
        origin: "built-in".to_owned(),
        state: AgentState::Ready,
        card: None,
        latency: Some(Duration::ZERO),
    }
}
