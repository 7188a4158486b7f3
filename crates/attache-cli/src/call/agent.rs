//! Calls an agent by the name that an agent file gives it.

use anyhow::{anyhow, bail};
use attache_client::{CardSource, Credential};
use attache_config::{Environment, SecretText};
use attache_net::Secret;
use attache_workspace::agent_files::{self, AgentAuth, AgentKind, DynamicValue, HttpCredential, RemoteAgent};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::ProcessContext;
use crate::agents::{find_agent, is_agent_name};

/// The header of an API key, unless the file names another.
const DEFAULT_KEY_HEADER: &str = "X-API-Key";

/// Where an agent is, and what proves to it who calls.
pub(super) struct AgentTarget {
    pub(super) source: CardSource,
    pub(super) credential: Option<Credential>,
}

/// None unless `word` is a name rather than an address.
pub(super) async fn resolve(word: &str, process: ProcessContext<'_>) -> anyhow::Result<Option<AgentTarget>> {
    if !is_agent_name(word) {
        return Ok(None);
    }
    let agent = find_agent(word, process)?;
    let AgentKind::Remote(remote) = &agent.kind else {
        bail!("{word} is a local agent; only remote agents can be called");
    };
    let RemoteAgent { card, auth } = remote.as_ref();
    let source = match card {
        agent_files::CardSource::Url(url) => CardSource::Address(url.clone()),
        agent_files::CardSource::Inline(card) => CardSource::Inline(card.to_string()),
    };
    let credential = match auth {
        Some(auth) => {
            Some(credential(auth, process.environment).await.map_err(|what| anyhow!("{word}: {what}"))?)
        }
        None => None,
    };
    Ok(Some(AgentTarget { source, credential }))
}

async fn credential(auth: &AgentAuth, environment: Environment<'_>) -> Result<Credential, String> {
    let value = async |field: &str, value: &DynamicValue| {
        value.resolve(environment).await.map_err(|what| format!("auth.{field}: {what}"))
    };
    let secret = |value: SecretText| Secret::new(value.expose().to_owned());
    let authorization = |scheme: &str, value: &str| {
        let (header, key) = ("Authorization".to_owned(), Secret::new(format!("{scheme} {value}")));
        Credential::ApiKey { header, key }
    };
    match auth {
        AgentAuth::ApiKey { key, name } => {
            let header = name.clone().unwrap_or_else(|| DEFAULT_KEY_HEADER.to_owned());
            Ok(Credential::ApiKey { header, key: secret(value("key", key).await?) })
        }
        AgentAuth::Http { scheme, credential } => match credential {
            HttpCredential::Bearer { token } => Ok(Credential::Bearer(secret(value("token", token).await?))),
            HttpCredential::Basic { username, password } => {
                let (username, password) =
                    (value("username", username).await?, value("password", password).await?);
                let pair = STANDARD.encode(format!("{}:{}", username.expose(), password.expose()));
                Ok(authorization(scheme, &pair))
            }
            HttpCredential::Raw { value: raw } => {
                Ok(authorization(scheme, value("value", raw).await?.expose()))
            }
        },
        AgentAuth::GoogleCredentials { .. } | AgentAuth::OAuth2 { .. } => Err(format!(
            "auth.type {} cannot be used yet; give a token with --token-file FILE instead",
            auth.name()
        )),
    }
}
