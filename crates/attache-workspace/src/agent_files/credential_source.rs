//! Builds the credential source of a remote agent from the `auth` block of its file.

use std::sync::Arc;

use attache_config::{Environment, variable};
use attache_credentials::google::{GoogleEnvironment, GoogleSource};
use attache_credentials::oauth::{OAuthSettings, OAuthSource, RedirectUri, SecretValue, TokenFile};
use attache_credentials::{CardSecurity, CredentialError, CredentialSource, SignIn};
use attache_net::{HttpClientOptions, Url};

use super::auth::AgentAuth;
use super::definition::{AgentDefinition, AgentKind, AgentScope, CardDefinition};
use super::dynamic_value::DynamicValue;
use super::static_credential::StaticCredential;
use super::variables::Variables;
use crate::HomeFolders;

/// The name is Gemini CLI's, which reads it too.
const TOKEN_FILE: &str = "a2a-oauth-tokens.json";

/// What a source needs besides the agent's file.
#[derive(Clone, Copy)]
pub struct SourceContext<'a> {
    /// Read now; a source keeps no environment.
    pub environment: Environment<'a>,
    /// For token endpoints.
    pub net: &'a HttpClientOptions,
    pub sign_in: &'a Arc<dyn SignIn>,
}

/// The source of an agent's credentials, and what a person can sign in to.
#[derive(Debug, Clone)]
pub struct AgentSource {
    pub credential: Arc<dyn CredentialSource>,
    /// The same, if it is OAuth 2.0.
    oauth: Option<Arc<OAuthSource>>,
}

impl AgentSource {
    /// As [`credential_source`].
    pub fn of(agent: &AgentDefinition, context: SourceContext<'_>) -> Result<Option<Self>, String> {
        if let Some(oauth) = oauth_source(agent, context)?.map(Arc::new) {
            return Ok(Some(Self { credential: oauth.clone(), oauth: Some(oauth) }));
        }
        let credential = credential_source(agent, context)?;
        Ok(credential.map(|credential| Self { credential, oauth: None }))
    }

    /// Begins a sign-in, and returns what the person is to do; `None` if a program gets its tokens itself.
    pub async fn sign_in(source: Option<&Self>, security: &CardSecurity) -> Result<Option<String>, String> {
        let oauth = source.and_then(|source| source.oauth.as_deref()).ok_or("only oauth2 has a sign-in")?;
        match oauth.sign_in(Some(security)).await {
            Ok(()) => Ok(None),
            Err(CredentialError::SignInRequired { what, url: Some(_) }) => Ok(Some(what)),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// The source of an agent's credentials; `None` if its file has no `auth`. Nothing is asked for or run before the first
/// request. The error says why there can be none.
pub fn credential_source(
    agent: &AgentDefinition,
    context: SourceContext<'_>,
) -> Result<Option<Arc<dyn CredentialSource>>, String> {
    let AgentKind::Remote(remote) = &agent.kind else { return Ok(None) };
    let (name, variables) = (&agent.name, Variables::of(agent, context.environment));
    Ok(Some(match &remote.auth {
        None => return Ok(None),
        Some(AgentAuth::ApiKey { key, name: header }) => {
            Arc::new(StaticCredential::api_key(name, key, header.clone(), variables))
        }
        Some(AgentAuth::Http { scheme, credential }) => {
            Arc::new(StaticCredential::http(name, scheme, credential, variables))
        }
        Some(AgentAuth::GoogleCredentials { scopes }) => {
            let google = GoogleEnvironment::read(context.environment);
            let source = GoogleSource::new(name, google, scopes.clone(), context.net.clone());
            if let Some(url) = agent_url(&remote.card) {
                source.check_target(&url).map_err(|error| error.to_string())?;
            }
            Arc::new(source)
        }
        Some(AgentAuth::OAuth2 { .. }) => match oauth_source(agent, context)? {
            Some(source) => Arc::new(source),
            None => return Ok(None),
        },
    }))
}

/// The source of an agent with OAuth 2.0, which a person can sign in to; `None` for other agents.
pub fn oauth_source(
    agent: &AgentDefinition,
    context: SourceContext<'_>,
) -> Result<Option<OAuthSource>, String> {
    let AgentKind::Remote(remote) = &agent.kind else { return Ok(None) };
    let Some(AgentAuth::OAuth2 {
        client_id,
        client_secret,
        scopes,
        authorization_url,
        device_authorization_url,
        token_url,
        issuer,
        flow,
        redirect_uri,
    }) = &remote.auth
    else {
        return Ok(None);
    };
    let variables = Variables::of(agent, context.environment);
    let prepared = |value: &Option<DynamicValue>| {
        value.as_ref().map(|value| Arc::new(value.prepare(variables)) as Arc<dyn SecretValue>)
    };
    let settings = OAuthSettings {
        agent: agent.name.clone(),
        client_id: prepared(client_id),
        client_secret: prepared(client_secret),
        scopes: scopes.clone(),
        authorization_url: authorization_url.clone(),
        device_authorization_url: device_authorization_url.clone(),
        token_url: token_url.clone(),
        issuer: issuer.clone(),
        flow: *flow,
        redirect_uri: redirect_uri.as_deref().and_then(RedirectUri::parse),
        callback_port: callback_port(context.environment)?,
        agent_url: agent_url(&remote.card),
        is_users_own: is_users_own(agent),
    };
    let file = token_file(context.environment).ok_or("there is no home folder to keep tokens in")?;
    let source = OAuthSource::new(settings, file, Arc::clone(context.sign_in), context.net);
    source.map(Some).map_err(|error| error.to_string())
}

/// Removes the tokens of the agent from this machine; false if there were none.
pub async fn sign_out(agent: &AgentDefinition, environment: Environment<'_>) -> Result<bool, String> {
    let AgentKind::Remote(remote) = &agent.kind else { return Ok(false) };
    let file = token_file(environment).ok_or("there is no home folder, so there are no tokens")?;
    let origin = agent_url(&remote.card).map(|url| url.origin().ascii_serialization());
    let removed = file.remove(&agent.name, origin.as_deref(), is_users_own(agent)).await;
    removed.map_err(|error| error.to_string())
}

/// Not the file of an extension either, whose author is another.
fn is_users_own(agent: &AgentDefinition) -> bool {
    agent.scope == AgentScope::User
}

/// Where the tokens of agents are kept; `None` without a home folder.
fn token_file(environment: Environment<'_>) -> Option<TokenFile> {
    HomeFolders::of(environment).gemini().map(|folder| TokenFile::new(folder.join(TOKEN_FILE)))
}

fn callback_port(environment: Environment<'_>) -> Result<Option<u16>, String> {
    let Some(text) = variable(environment, "OAUTH_CALLBACK_PORT") else { return Ok(None) };
    match text.parse() {
        Ok(port) if port > 0 => Ok(Some(port)),
        _ => Err("OAUTH_CALLBACK_PORT must be a port, for example 8912".to_owned()),
    }
}

/// Where the agent is: at the URL of its card, or where an inline card says.
fn agent_url(card: &CardDefinition) -> Option<Url> {
    card.addresses().first().and_then(|text| Url::parse(text.trim()).ok())
}

#[cfg(test)]
mod tests {
    use attache_credentials::NoSignIn;
    use serde_json::json;

    use super::super::definition::RemoteAgent;
    use super::*;

    fn source(card: CardDefinition, auth: AgentAuth, variables: &[(&str, &str)]) -> Result<(), String> {
        let environment = |name: &str| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let (net, sign_in) = (HttpClientOptions::default(), Arc::new(NoSignIn) as Arc<dyn SignIn>);
        let context = SourceContext { environment: &environment, net: &net, sign_in: &sign_in };
        let remote = RemoteAgent { card, auth: Some(auth), allowed_origins: Vec::new() };
        let agent = AgentDefinition {
            name: "helper".to_owned(),
            display_name: None,
            description: None,
            kind: AgentKind::Remote(Box::new(remote)),
            scope: AgentScope::User,
            path: "helper.md".into(),
            line: 1,
            tls: None,
            signatures: None,
        };
        credential_source(&agent, context).map(|_| ())
    }

    fn google(card: CardDefinition) -> Result<(), String> {
        source(card, AgentAuth::GoogleCredentials { scopes: Vec::new() }, &[("HOME", "/nowhere")])
    }

    #[test]
    fn googles_tokens_are_for_agents_at_google_only() {
        let at = |url: &str| CardDefinition::Url(url.to_owned());
        google(at("https://my-agent-xyz.run.app/.well-known/agent.json")).unwrap();
        google(at("https://us-central1-aiplatform.googleapis.com/card")).unwrap();
        google(CardDefinition::Inline(json!({"url": "https://a.run.app/"}))).unwrap();
        for (card, what) in [
            (at("https://agent.example/card"), "agent.example is not an allowed host"),
            (at("http://a.run.app/card"), "over https only"),
            (CardDefinition::Inline(json!({"url": "https://agent.example/"})), "not an allowed host"),
            (
                CardDefinition::Inline(json!({"supportedInterfaces": [{"url": "https://evil.example/"}]})),
                "evil.example is not an allowed host",
            ),
        ] {
            let error = google(card).unwrap_err();
            assert!(error.contains(what), "{error}");
        }
    }

    #[test]
    fn a_port_to_come_back_to_is_a_number() {
        let auth = || AgentAuth::OAuth2 {
            client_id: None,
            client_secret: None,
            scopes: Vec::new(),
            authorization_url: None,
            device_authorization_url: None,
            token_url: None,
            issuer: None,
            flow: None,
            redirect_uri: None,
        };
        let card = || CardDefinition::Url("https://agent.example/card".to_owned());
        let home = ("HOME", "/nowhere");
        source(card(), auth(), &[home, ("OAUTH_CALLBACK_PORT", "8912")]).unwrap();
        for wrong in ["0", "x", "70000"] {
            let error = source(card(), auth(), &[home, ("OAUTH_CALLBACK_PORT", wrong)]).unwrap_err();
            assert!(error.contains("OAUTH_CALLBACK_PORT"), "{error}");
        }
        let error = source(card(), auth(), &[]).unwrap_err();
        assert!(error.contains("home folder"), "{error}");
    }
}
