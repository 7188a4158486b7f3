//! The agents of a conversation, for `/agents`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use attache_command::{AgentDirectory, AgentEntry, AgentEntryKind, AgentList, AgentReload, SwitchRefusal};
use attache_domain::{IgnorePoison, RequestedSettings};
use attache_tool::{AgentState, AgentStatus};
use futures_util::StreamExt;
use futures_util::stream;

use crate::agent_files::{
    AgentAuth, AgentDefinition, AgentKind, AgentScope, AgentSwitch, BUILT_IN_AGENTS, BuiltInAgent,
    LoadedAgents, SwitchError,
};
use crate::setup_builder::SetupBuilder;
use crate::{Project, RemoteAgents, WorkspaceSettings, visible};

/// How long a reload waits for cards; agents that have not answered by then are errors.
const RELOAD_TIMEOUT: Duration = Duration::from_secs(5);
/// Cards that a reload asks for at the same time.
const MAX_READS: usize = 16;

/// The agents of one conversation.
pub(crate) struct WorkspaceAgents {
    builder: Arc<SetupBuilder>,
    requested: RequestedSettings,
    remote: Arc<dyn RemoteAgents>,
    known: Mutex<KnownAgents>,
}

/// What was read last.
#[derive(Clone)]
pub(crate) struct KnownAgents {
    pub(crate) settings: Arc<WorkspaceSettings>,
    /// None while the agents of files are switched off.
    pub(crate) agents: Option<Arc<LoadedAgents>>,
    /// That there are agent files nevertheless.
    pub(crate) notice: Option<String>,
}

impl WorkspaceAgents {
    pub(crate) fn new(
        builder: Arc<SetupBuilder>,
        requested: RequestedSettings,
        remote: Arc<dyn RemoteAgents>,
        known: KnownAgents,
    ) -> Self {
        Self { builder, requested, remote, known: Mutex::new(known) }
    }

    fn known(&self) -> KnownAgents {
        self.known.lock().ignore_poison().clone()
    }

    /// Why calls of the agent are refused by now. Settings that cannot be read switch nothing off, and accept nothing.
    pub(crate) async fn refuses_calls(&self, name: &str) -> Option<String> {
        let snapshot = self.builder.current_snapshot(&self.requested).await.ok();
        let settings = snapshot.as_ref().map(|snapshot| &snapshot.settings);
        if let Some(origin) = settings.and_then(|settings| settings.agent_overrides.disabled_in(name)) {
            return Some(format!("it is disabled in {}", visible(&origin.to_string())));
        }
        let known = self.known().agents?;
        let agent = known.find(name).filter(|agent| agent.scope == AgentScope::Project)?;
        let now = snapshot.and_then(|snapshot| snapshot.agents.clone());
        if now.as_ref().and_then(|now| now.find(name)).is_some_and(|now| now.calls_as(agent)) {
            return None;
        }
        let changed = now.is_some_and(|now| now.find(name).is_some_and(|now| now.path == agent.path));
        Some(match changed {
            true => "its file has changed; `/agents reload` reads it again".to_owned(),
            false => {
                "its file in the project is gone or not accepted any more; see `attache trust`".to_owned()
            }
        })
    }

    /// A test and a sign-in send credentials, too.
    async fn check_calls(&self, name: &str) -> Result<(), String> {
        match self.refuses_calls(name).await {
            Some(why) => Err(format!("Agent \"{name}\" is not asked: {why}.")),
            None => Ok(()),
        }
    }

    /// Reads the settings and the agent files again. Changes nothing.
    async fn read(&self) -> Result<Project, String> {
        let (builder, requested) = (self.builder.clone(), self.requested.clone());
        let read = tokio::task::spawn_blocking(move || builder.read_project(&requested)).await;
        read.map_err(|_| "the agent files cannot be read".to_owned())?.map_err(|refusal| refusal.what)
    }

    /// From now on the conversation uses what `project` says. Returns what was known before.
    fn use_agents(&self, project: Project) -> KnownAgents {
        let notice = project.agents_notice();
        let Project { settings, agents, switched_off, .. } = project;
        let known = KnownAgents { settings: Arc::new(settings), agents: agents.map(Arc::new), notice };
        let group = self.builder.agent_group(&known.settings, known.agents.as_deref(), &switched_off);
        self.remote.reload(group);
        std::mem::replace(&mut *self.known.lock().ignore_poison(), known)
    }

    /// Checks that an agent can be switched on or off.
    pub(crate) async fn plan_switch(&self, name: &str, enabled: bool) -> Result<AgentSwitch, SwitchFailure> {
        let project = self.read().await.map_err(SwitchFailure::Unread)?;
        project.switch_agent(name, enabled, None).map_err(SwitchFailure::Refused)
    }

    /// Makes the change. The conversation uses it at once.
    pub(crate) async fn switch(&self, switch: AgentSwitch) -> Result<String, String> {
        let done = tokio::task::spawn_blocking(move || switch.apply()).await;
        let done = done.map_err(|_| "the settings cannot be written".to_owned())?;
        let message = done.map_err(|error| with_causes(&error))?.message();
        self.use_agents(self.read().await?);
        Ok(message)
    }

    fn find(&self, name: &str) -> Result<(), String> {
        let known = self.known();
        let agents = known.agents.as_deref();
        if BUILT_IN_AGENTS.iter().any(|agent| agent.name == name) {
            return Err(format!("Agent \"{name}\" is built in: it needs no connection."));
        }
        let Some(agent) = agents.and_then(|agents| agents.find(name)) else {
            return Err(match agents.and_then(|agents| agents.find_any(name)) {
                Some(_) => format!("Agent \"{name}\" is disabled; `/agents enable {name}` enables it."),
                None => not_found(agents, name),
            });
        };
        match agent.kind {
            AgentKind::Remote(_) => Ok(()),
            AgentKind::Local(_) => {
                Err(format!("Agent \"{name}\" is a local agent, and these cannot be run yet."))
            }
        }
    }

    /// Asks all agents for their cards, and says which ones cannot be used.
    async fn read_cards(&self) -> Vec<String> {
        let names: Vec<String> = self.remote.statuses().into_iter().map(|status| status.name).collect();
        let mut failed: BTreeMap<String, String> =
            names.iter().map(|name| (name.clone(), "it has not answered yet".to_owned())).collect();
        let reads = names.into_iter().map(|name| async move { (self.remote.read_card(&name).await, name) });
        let mut reads = stream::iter(reads).buffer_unordered(MAX_READS);
        let all = async {
            while let Some((status, name)) = reads.next().await {
                match status.map(|status| status.state) {
                    Some(AgentState::Failed { why }) => _ = failed.insert(name, why),
                    _ => _ = failed.remove(&name),
                }
            }
        };
        let _ = tokio::time::timeout(RELOAD_TIMEOUT, all).await;
        failed.into_iter().map(|(name, why)| format!("{name}: {}", visible(&why))).collect()
    }
}

/// Why an agent is not switched on or off.
pub(crate) enum SwitchFailure {
    Unread(String),
    Refused(SwitchError),
}

impl SwitchFailure {
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Unread(why) => why.clone(),
            Self::Refused(error) => with_causes(error),
        }
    }
}

/// An error with its causes.
fn with_causes(error: &SwitchError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

fn not_found(agents: Option<&LoadedAgents>, name: &str) -> String {
    SwitchError::unknown(agents, name).to_string()
}

#[async_trait]
impl AgentDirectory for WorkspaceAgents {
    async fn list(&self) -> AgentList {
        let KnownAgents { settings, agents, notice } = self.known();
        let statuses = self.remote.statuses();
        let built_in = BUILT_IN_AGENTS.iter().map(|agent| built_in_entry(agent, &settings));
        let mut list = AgentList { entries: built_in.collect(), ..AgentList::default() };
        list.notices.extend(notice);
        let Some(agents) = agents else {
            return list;
        };
        for agent in &agents.agents {
            list.entries.push(entry(agent, statuses.iter().find(|status| status.name == agent.name)));
        }
        for disabled in &agents.disabled {
            let status = format!("disabled in {}", visible(&disabled.origin.to_string()));
            list.entries.push(AgentEntry { enabled: false, status, ..entry(&disabled.agent, None) });
        }
        for agent in &agents.unaccepted {
            let status = "not accepted; see `attache trust`".to_owned();
            list.entries.push(AgentEntry { enabled: false, status, ..entry(agent, None) });
        }
        list.errors = agents.errors.iter().map(ToString::to_string).collect();
        list.notices.extend(agents.warnings.iter().cloned());
        list
    }

    async fn reload(&self) -> Result<AgentReload, String> {
        let before = self.use_agents(self.read().await?);
        let after = self.known();
        if let (None, Some(notice)) = (&after.agents, &after.notice) {
            return Err(notice.clone());
        }
        let mut reload = changes(before.agents.as_deref(), after.agents.as_deref());
        reload.errors.extend(self.read_cards().await);
        Ok(reload)
    }

    async fn test(&self, name: &str) -> Result<AgentEntry, String> {
        self.find(name)?;
        self.check_calls(name).await?;
        let status = self.remote.test(name).await;
        let known = self.known();
        let agent = known.agents.as_deref().and_then(|agents| agents.find(name));
        let agent = agent.ok_or_else(|| not_found(known.agents.as_deref(), name))?;
        Ok(entry(agent, status.as_ref()))
    }

    async fn sign_in(&self, name: &str) -> Result<String, String> {
        self.find(name)?;
        self.check_calls(name).await?;
        let known = self.known();
        let agent = known.agents.as_deref().and_then(|agents| agents.find(name));
        let auth = agent.and_then(|agent| match &agent.kind {
            AgentKind::Remote(remote) => remote.auth.as_ref(),
            AgentKind::Local(_) => None,
        });
        Ok(match auth {
            None => format!(
                "Agent \"{name}\" has no authentication in its file, so there is nothing to sign in to."
            ),
            Some(AgentAuth::OAuth2 { .. }) => {
                match self.remote.sign_in(name).await.map_err(|why| visible(&why))? {
                    Some(what) => format!(
                        "{}\n\nA browser on the machine where attache runs can open it. Calls use the sign-in from then on.",
                        visible(&what)
                    ),
                    None => format!(
                        "Agent \"{name}\" needs no person to sign in: this program gets tokens for itself."
                    ),
                }
            }
            Some(auth) => format!(
                "Agent \"{name}\" is called with {} from its file, so there is nothing to sign in to.",
                auth.name()
            ),
        })
    }

    async fn check(&self, name: &str) -> Result<(), String> {
        self.find(name)
    }

    async fn refuses_switch(&self, name: &str, enabled: bool) -> Option<SwitchRefusal> {
        let failure = self.plan_switch(name, enabled).await.err()?;
        let text = failure.text();
        Some(match failure {
            SwitchFailure::Refused(SwitchError::Already { .. }) => SwitchRefusal::Already(text),
            _ => SwitchRefusal::Refused(text),
        })
    }
}

/// Local agents and remote ones, whether they are switched on or not, and what has changed.
fn changes(before: Option<&LoadedAgents>, after: Option<&LoadedAgents>) -> AgentReload {
    let all = |agents: Option<&LoadedAgents>| -> BTreeMap<String, AgentDefinition> {
        let agents = agents.into_iter().flat_map(|agents| {
            agents.agents.iter().chain(agents.disabled.iter().map(|disabled| &disabled.agent))
        });
        agents.map(|agent| (agent.name.clone(), agent.clone())).collect()
    };
    let (before, after_all) = (all(before), all(after));
    let local = after_all.values().filter(|agent| matches!(agent.kind, AgentKind::Local(_))).count();
    let is_changed =
        |name: &&String| before.get(*name).is_some_and(|known| after_all.get(*name) != Some(known));
    let unaccepted = after.into_iter().flat_map(|agents| &agents.unaccepted);
    let unaccepted: Vec<String> = unaccepted.map(|agent| agent.name.clone()).collect();
    AgentReload {
        local,
        remote: after_all.len() - local,
        new: after_all.keys().filter(|name| !before.contains_key(*name)).cloned().collect(),
        updated: after_all.keys().filter(is_changed).cloned().collect(),
        deleted: before
            .keys()
            .filter(|name| !after_all.contains_key(*name) && !unaccepted.contains(name))
            .cloned()
            .collect(),
        unaccepted,
        errors: after.into_iter().flat_map(|agents| &agents.errors).map(ToString::to_string).collect(),
    }
}

fn built_in_entry(agent: &BuiltInAgent, settings: &WorkspaceSettings) -> AgentEntry {
    let disabled_in = settings.agent_overrides.disabled_in(agent.name);
    let status = match disabled_in {
        Some(origin) => format!("disabled in {}", visible(&origin.to_string())),
        None => "ready".to_owned(),
    };
    AgentEntry {
        name: agent.name.to_owned(),
        kind: AgentEntryKind::BuiltIn,
        enabled: disabled_in.is_none(),
        display_name: Some(agent.display_name.to_owned()),
        description: Some(agent.description.to_owned()),
        status,
        source: "built-in".to_owned(),
        ..AgentEntry::default()
    }
}

fn entry(agent: &AgentDefinition, status: Option<&AgentStatus>) -> AgentEntry {
    let auth = match &agent.kind {
        AgentKind::Remote(remote) => remote.auth.as_ref().map(|auth| auth.name().to_owned()),
        AgentKind::Local(_) => None,
    };
    let mut entry = AgentEntry {
        name: agent.name.clone(),
        kind: match agent.kind {
            AgentKind::Remote(_) => AgentEntryKind::Remote,
            AgentKind::Local(_) => AgentEntryKind::Local,
        },
        enabled: true,
        display_name: agent.display_name.as_deref().map(visible),
        description: agent.description.as_deref().map(visible),
        status: match agent.kind {
            AgentKind::Remote(_) => "not connected".to_owned(),
            AgentKind::Local(_) => "cannot be run yet".to_owned(),
        },
        auth,
        source: agent.scope.name().to_owned(),
        file: Some(visible(&format!("{}:{}", agent.path.display(), agent.line))),
        ..AgentEntry::default()
    };
    if let Some(status) = status {
        add_status(&mut entry, status);
    }
    if let AgentKind::Remote(remote) = &agent.kind {
        entry.url = remote.card.shown_url().or(entry.url);
    }
    entry
}

/// Card texts are untrusted: they are shown in one line, with hidden characters written out.
fn add_status(entry: &mut AgentEntry, status: &AgentStatus) {
    entry.url = Some(visible(&status.origin));
    entry.latency_ms = status.latency.map(|latency| u64::try_from(latency.as_millis()).unwrap_or(u64::MAX));
    match &status.state {
        AgentState::NotConnected => {}
        AgentState::Ready => entry.status = "ready".to_owned(),
        AgentState::Failed { why } => {
            entry.status = "failed".to_owned();
            entry.error = Some(visible(why));
        }
    }
    let Some(card) = &status.card else { return };
    let mut detail = |name: &str, value: String| entry.details.push((name.to_owned(), visible(&value)));
    detail("agent", format!("{} {}", card.name, card.version));
    detail("says about itself", card.description.clone());
    detail("protocol", card.protocol.clone());
    for (name, description) in &card.skills {
        detail("skill", format!("{name}: {description}"));
    }
    for notice in &card.notices {
        detail("note", notice.clone());
    }
}
