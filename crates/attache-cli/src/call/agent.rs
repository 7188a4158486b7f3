//! Calls an agent by the name that an agent file gives it.

use std::sync::Arc;

use anyhow::{anyhow, bail};
use attache_client::{CardSource, ClientError, CredentialSource, Origin};
use attache_credentials::{NoSignIn, SignIn};
use attache_domain::visible_line;
use attache_net::{HttpClientOptions, Url};
use attache_workspace::agent_files::{
    self, AgentAuth, AgentDefinition, AgentKind, RemoteAgent, SourceContext, credential_source,
};
use attache_workspace::{AgentSignatures, AgentTls};

use crate::ProcessContext;
use crate::agents::{find_agent, is_agent_name};
use crate::printable::printable;
use crate::sign_in::TerminalSignIn;

/// Where an agent is, and what proves to it who calls.
pub(super) struct AgentTarget {
    pub(super) source: CardSource,
    pub(super) credential: Option<Arc<dyn CredentialSource>>,
    /// As the file says.
    pub(super) auth: Option<AgentAuth>,
    pub(super) allowed_origins: Vec<Origin>,
    pub(super) tls: Option<AgentTls>,
    pub(super) signatures: Option<AgentSignatures>,
    pub(super) file: FileOfAgent,
}

/// What advice about an agent has to name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileOfAgent {
    /// For people.
    pub(crate) path: String,
    pub(crate) has_auth: bool,
    /// The origin of `agent_card_url`.
    card_origin: Option<String>,
}

impl FileOfAgent {
    pub(crate) fn of(agent: &AgentDefinition) -> Self {
        let remote = match &agent.kind {
            AgentKind::Remote(remote) => Some(remote),
            AgentKind::Local(_) => None,
        };
        let card_origin = remote.and_then(|remote| match &remote.card {
            agent_files::CardDefinition::Url(url) => {
                Some(Url::parse(url).ok()?.origin().ascii_serialization())
            }
            agent_files::CardDefinition::Inline(_) => None,
        });
        Self {
            path: visible_line(&agent.path.display().to_string()).into_owned(),
            has_auth: remote.is_some_and(|remote| remote.auth.is_some()),
            card_origin,
        }
    }
}

/// None unless `word` is a name rather than an address. With `asks_person`, a person can sign in at the terminal.
pub(super) fn resolve(
    word: &str,
    asks_person: bool,
    net: &HttpClientOptions,
    process: ProcessContext<'_>,
) -> anyhow::Result<Option<AgentTarget>> {
    if !is_agent_name(word) {
        return Ok(None);
    }
    let agent = find_agent(word, process)?;
    let file = FileOfAgent::of(&agent);
    let sign_in: Arc<dyn SignIn> = match asks_person {
        true => Arc::new(TerminalSignIn::at_terminal(process.environment)),
        false => Arc::new(NoSignIn),
    };
    let context = SourceContext { environment: process.environment, net, sign_in: &sign_in };
    let credential = credential_source(&agent, context).map_err(|what| anyhow!("{what}"))?;
    let AgentKind::Remote(remote) = agent.kind else {
        bail!("{word} is a local agent; only remote agents can be called");
    };
    let allowed_origins = allowed_origins(&remote)?;
    let RemoteAgent { card, auth, .. } = *remote;
    let source = card_source(card);
    let (tls, signatures) = (agent.tls, agent.signatures);
    Ok(Some(AgentTarget { source, credential, auth, allowed_origins, tls, signatures, file }))
}

pub(crate) fn card_source(card: agent_files::CardDefinition) -> CardSource {
    match card {
        agent_files::CardDefinition::Url(url) => CardSource::CardUrl(url),
        agent_files::CardDefinition::Inline(card) => CardSource::Inline(card.to_string()),
    }
}

/// The origins that the agent's file allows.
pub(crate) fn allowed_origins(remote: &RemoteAgent) -> anyhow::Result<Vec<Origin>> {
    remote
        .allowed_origins
        .iter()
        .map(|text| Origin::parse(text).map_err(|error| anyhow!("{error}")))
        .collect()
}

/// What to change in the file, if that would help.
pub(crate) fn file_hint(error: &ClientError, file: &FileOfAgent) -> Option<String> {
    let path = &file.path;
    Some(match error {
        ClientError::OtherOrigin { named, .. } | ClientError::UnnamedOrigin { named } => {
            format!("if you trust it, add the line `allowed_origins: [{}]` to {path}", printable(named))
        }
        ClientError::Status { status: 404 | 405 | 410, .. } | ClientError::Malformed { .. } => {
            let origin = file.card_origin.as_ref()?;
            format!(
                "agent_card_url in {path} is fetched as it is; most agents have their card at \
                 {origin}/.well-known/agent-card.json"
            )
        }
        error if error.is_refused_credential() => match file.has_auth {
            true => format!("check the auth block in {path}"),
            false => format!("give the agent a credential in an auth block in {path}"),
        },
        _ => return None,
    })
}
