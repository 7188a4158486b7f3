//! `invoke_agent`: the model gives a task to an agent.

use std::sync::Arc;

use async_trait::async_trait;
use attache_tool::{
    CallEnd, CallStart, Delegation, Effect, INVOKE_AGENT, MAX_DELEGATION_DEPTH, PeerNotice, Preview,
    Proposal, ResumableTool, Tool, ToolContext, ToolError, ToolErrorKind, ToolInput, ToolOutput, ToolSpec,
    untrusted,
};
use serde_json::{Map, Value};

use crate::agent::{Agent, MAX_RUNNING_CALLS};
use crate::agent_call::{AgentCall, not_told};
use crate::agents::AgentConnections;
use crate::call_origins::{CallOrigins, not_approved};
use crate::catalog;
use crate::remote_conversation::{BusyAgents, RemoteConversation};
use crate::saved_call::{Phase, SavedCall};
use crate::shown_words::ShownWords;

/// Bytes of a prompt.
const MAX_PROMPT: usize = 1 << 20;
/// What an agent gets that is called without words.
const EMPTY_PROMPT: &str = "Get Started!";

pub(crate) struct InvokeAgent {
    spec: ToolSpec,
    agents: Arc<AgentConnections>,
    busy: Arc<BusyAgents>,
    attended: bool,
}

impl InvokeAgent {
    pub(crate) fn new(agents: Arc<AgentConnections>, busy: Arc<BusyAgents>, attended: bool) -> Self {
        Self { spec: catalog::spec(&agents.statuses()), agents, busy, attended }
    }

    fn find(&self, name: &str) -> Result<&Arc<Agent>, ToolError> {
        let known = self.agents.agents();
        known.iter().find(|agent| agent.name() == name).ok_or_else(|| {
            let names: Vec<&str> = known.iter().map(|agent| agent.name()).collect();
            let others = if names.is_empty() { "none here".to_owned() } else { names.join(", ") };
            ToolError::bad_input(format!("there is no agent {name:?}; there are: {others}"))
        })
    }

    /// The chain of agents with this one at its end. Refuses chains that are too long or contain a cycle.
    fn chain(
        &self,
        agent: &Agent,
        before: &Delegation,
        own: Option<String>,
    ) -> Result<Delegation, ToolError> {
        let refuse = |why: String| Err(ToolError::new(ToolErrorKind::PolicyViolation, why));
        let origin = agent.origin.clone().map_err(ToolError::bad_input)?;
        let name = agent.name();
        if before.depth >= MAX_DELEGATION_DEPTH {
            return refuse(format!(
                "{name} is not asked: {} agents have delegated this task one after the other, which is the most; do it without \
                 another agent",
                before.depth
            ));
        }
        let target = format!("{origin}#{name}");
        let leads_to = |server: &str| origin_is(server, &origin) || agent.is_called_at(server);
        let is_server = |link: &String| link.strip_suffix('#').is_some_and(leads_to);
        if before.chain.contains(&target) || before.chain.iter().any(is_server) {
            return refuse(format!(
                "{name} is not asked: the task came from there, so it would go round in circles; do it without this agent"
            ));
        }
        if own.as_deref().is_some_and(leads_to) {
            return refuse(format!("{name} is not asked: its card leads back to this server"));
        }
        let mut chain = before.chain.clone();
        chain.extend(own.map(|own| format!("{own}#")));
        chain.push(target);
        Ok(Delegation { depth: before.depth + 1, chain })
    }

    fn prepare<'a>(
        &'a self,
        proposal: &Proposal,
        saved: Option<SavedCall>,
        context: &'a ToolContext,
    ) -> Result<(AgentCall<'a>, String), ToolError> {
        let (agent_name, prompt) = read(&proposal.input)?;
        let agent = match &saved {
            Some(_) => self.agents.find_any(&agent_name).map_or_else(|| self.find(&agent_name), Ok)?,
            None => self.find(&agent_name)?,
        };
        let own_origin = match &saved {
            Some(saved) => saved.own_origin.clone(),
            None => self.agents.own_origin(),
        };
        let chain = self.chain(agent, &context.delegation, own_origin.clone())?;
        let busy = match &saved {
            Some(saved) if !saved.continues => None,
            _ => self.busy.enter(&agent_name),
        };
        let origin = agent.origin_name();
        let approved = CallOrigins::parse(proposal.agent().map_or("", |(_, origins)| origins));
        if saved.is_none() {
            let now = agent.call_origins();
            if !approved.has_any_of(&now) {
                return Err(not_approved(&agent_name, &approved, &now));
            }
        }
        let saved = saved.unwrap_or_else(|| {
            let kept = context.state.kept(&RemoteConversation::key(&agent_name)).filter(|_| busy.is_some());
            let RemoteConversation { origin, context, task } =
                RemoteConversation::read(kept.as_ref(), &origin);
            let continues = busy.is_some();
            SavedCall {
                agent: agent_name.clone(),
                origin,
                own_origin,
                sent: 0,
                phase: Phase::Unsent,
                message: String::new(),
                continues,
                context,
                task,
                cursor: None,
                began_after: None,
                shown: ShownWords::default(),
                question: None,
                asked_in: None,
                may_be_answered: false,
                asks_credential: false,
                answer: None,
                signed_in: false,
            }
        });
        Ok((AgentCall::new(agent, context, chain, approved, self.attended, saved, busy), prompt))
    }
}

fn too_many_calls(proposal: &Proposal) -> ToolError {
    let name = proposal.agent().map(|(name, _)| name).unwrap_or_default();
    let why = format!(
        "{name} is not asked: {MAX_RUNNING_CALLS} calls to it are running, which is the most; agents may be delegating to each \
         other in a circle"
    );
    ToolError::new(ToolErrorKind::PolicyViolation, why)
}

fn origin_is(text: &str, origin: &attache_client::Origin) -> bool {
    attache_client::Origin::parse(text).is_ok_and(|known| known == *origin)
}

fn read(input: &ToolInput) -> Result<(String, String), ToolError> {
    let text = |key: &str| match input.get(key) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(ToolError::bad_input(format!("{key} must be text"))),
        None => Err(ToolError::bad_input(format!("{key} is missing"))),
    };
    let (agent, prompt) = (text("agent_name")?, text("prompt")?);
    if prompt.len() > MAX_PROMPT {
        return Err(ToolError::bad_input(format!("prompt must have at most {MAX_PROMPT} bytes")));
    }
    let prompt = if prompt.trim().is_empty() { EMPTY_PROMPT.to_owned() } else { prompt };
    Ok((agent.trim().trim_start_matches('@').to_owned(), prompt))
}

#[async_trait]
impl Tool for InvokeAgent {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn propose(&self, input: &ToolInput, context: &ToolContext) -> Result<Proposal, ToolError> {
        let (name, prompt) = read(input)?;
        let agent = self.find(&name)?;
        let origin = agent.origins_to_approve().await.to_string();
        self.chain(agent, &context.delegation, self.agents.own_origin())?;
        Ok(Proposal {
            input: Map::from_iter([
                ("agent_name".to_owned(), name.clone().into()),
                ("prompt".to_owned(), prompt.clone().into()),
            ]),
            effects: vec![Effect::Delegate { agent: name.clone(), origin: origin.clone() }],
            shown: Preview::Agent { agent: name, url: origin, prompt, files: Vec::new() },
        })
    }

    async fn run(&self, proposal: Proposal, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        match self.run_from(proposal, CallStart::first(context.call.call.clone()), context).await? {
            CallEnd::Finished(output) => Ok(output),
            CallEnd::Asks(question) => {
                Err(ToolError::new(ToolErrorKind::ExecutionFailed, untrusted(&question.text)))
            }
            CallEnd::Unknown => Err(ToolError::new(
                ToolErrorKind::ExecutionFailed,
                format!("the outcome of {INVOKE_AGENT} is unknown"),
            )),
        }
    }

    fn resumable(&self) -> Option<&dyn ResumableTool> {
        Some(self)
    }
}

#[async_trait]
impl ResumableTool for InvokeAgent {
    async fn run_from(
        &self,
        proposal: Proposal,
        start: CallStart,
        context: &ToolContext,
    ) -> Result<CallEnd, ToolError> {
        let saved = SavedCall::read(start.saved.as_ref());
        let was_sent = saved.is_some();
        let name = read(&proposal.input)?.0;
        if was_sent && self.agents.find(&name).is_none() && self.agents.find_any(&name).is_some() {
            let why = format!("the agent {name} is not asked: it is switched off");
            let refused = ToolError::new(ToolErrorKind::PolicyViolation, why);
            return Err(self.end(&proposal, start, refused, context).await);
        }
        let (call, prompt) = match self.prepare(&proposal, saved, context) {
            // The agent is gone, and what it does for us cannot be known. A person who decides that the call goes on nevertheless
            // reads why it does not.
            Err(_) if was_sent && start.restarted => return Ok(CallEnd::Unknown),
            ready => ready?,
        };
        let permit = self.find(&name)?.call_permits.clone().try_acquire_owned();
        // A call that was running before goes on in any case.
        if permit.is_err() && !was_sent {
            return Err(too_many_calls(&proposal));
        }
        call.run(&prompt, start).await
    }

    async fn end(
        &self,
        proposal: &Proposal,
        start: CallStart,
        refused: ToolError,
        context: &ToolContext,
    ) -> ToolError {
        let Some(saved) = SavedCall::read(start.saved.as_ref()) else { return refused };
        match self.prepare(proposal, Some(saved.clone()), context) {
            Ok((call, _)) => call.end(refused, start).await,
            Err(error) => ToolError::new(
                refused.kind,
                format!("{}\n{}", refused.message, not_told(&saved, &error.message)),
            ),
        }
    }

    async fn cancel(&self, proposal: &Proposal, saved: Option<Value>, context: &ToolContext) -> PeerNotice {
        let Some(saved) = SavedCall::read(saved.as_ref()).filter(SavedCall::has_peer) else {
            return PeerNotice::Told;
        };
        match self.prepare(proposal, Some(saved.clone()), context) {
            Ok((call, _)) => call.abandon().await,
            Err(error) => PeerNotice::Never(not_told(&saved, &error.message)),
        }
    }
}
