//! Google's tokens as the credential of an agent.

use std::sync::Arc;

use async_trait::async_trait;
use attache_net::{HttpClientOptions, Url};
use tokio::sync::Mutex;

use super::{CLOUD_PLATFORM, GoogleEnvironment, GoogleTokens, TokenPurpose};
use crate::{Credential, CredentialError, CredentialRequest, CredentialSource};

/// Gives tokens to Google's own hosts and to no other: access tokens to `*.googleapis.com`, identity tokens to `*.run.app`.
#[derive(Debug)]
pub struct GoogleSource {
    /// For errors.
    agent: String,
    environment: GoogleEnvironment,
    net: HttpClientOptions,
    scopes: Vec<String>,
    /// Of the credentials that were found last.
    tokens: Mutex<Option<Arc<GoogleTokens>>>,
}

impl GoogleSource {
    /// Without scopes, tokens are for the whole cloud platform. Nothing is read before the first request.
    pub fn new(
        agent: &str,
        environment: GoogleEnvironment,
        scopes: Vec<String>,
        net: HttpClientOptions,
    ) -> Self {
        let scopes = if scopes.is_empty() { vec![CLOUD_PLATFORM.to_owned()] } else { scopes };
        Self { agent: agent.to_owned(), environment, net, scopes, tokens: Mutex::default() }
    }

    /// Whether tokens may go to `target`.
    pub fn check_target(&self, target: &Url) -> Result<(), CredentialError> {
        self.purpose(target).map(|_| ())
    }

    fn purpose(&self, target: &Url) -> Result<TokenPurpose, CredentialError> {
        let refused = |what: String| Err(CredentialError::Target { what: format!("{}: {what}", self.agent) });
        if target.scheme() != "https" {
            return refused("google-credentials are sent over https only".to_owned());
        }
        let host = target.host_str().unwrap_or_default();
        if host.ends_with(".googleapis.com") {
            return Ok(TokenPurpose::Access { scopes: self.scopes.clone() });
        }
        if host == "run.app" || host.ends_with(".run.app") {
            return Ok(TokenPurpose::Identity { audience: host.to_owned() });
        }
        refused(format!(
            "{host} is not an allowed host; google-credentials are sent to *.googleapis.com and *.run.app only"
        ))
    }

    async fn tokens(&self) -> Result<Arc<GoogleTokens>, String> {
        let mut known = self.tokens.lock().await;
        match &*known {
            Some(tokens) => Ok(Arc::clone(tokens)),
            None => Ok(Arc::clone(known.insert(self.found()?))),
        }
    }

    /// Those of the credentials as they are now; `None` if they have not changed. A person may have logged in again.
    async fn changed_tokens(&self, before: &GoogleTokens) -> Result<Option<Arc<GoogleTokens>>, String> {
        let found = self.found()?;
        if found.credentials() == before.credentials() {
            return Ok(None);
        }
        Ok(Some(Arc::clone(self.tokens.lock().await.insert(found))))
    }

    fn found(&self) -> Result<Arc<GoogleTokens>, String> {
        let credentials = self.environment.credentials().map_err(|error| error.to_string())?;
        let tokens = GoogleTokens::new(credentials, &self.net).map_err(|error| error.to_string())?;
        Ok(Arc::new(tokens))
    }

    async fn find(
        &self,
        request: CredentialRequest<'_>,
        purpose: &TokenPurpose,
    ) -> Result<Option<Credential>, String> {
        let tokens = self.tokens().await?;
        match ask(&tokens, request, purpose).await {
            Ok(found) => Ok(found),
            Err(why) => match self.changed_tokens(&tokens).await? {
                Some(tokens) => ask(&tokens, request, purpose).await,
                None => Err(why),
            },
        }
    }
}

/// The token that is kept, or a new one if that was refused.
async fn ask(
    tokens: &GoogleTokens,
    request: CredentialRequest<'_>,
    purpose: &TokenPurpose,
) -> Result<Option<Credential>, String> {
    let token = tokens.token(purpose).await?;
    let credential = Credential::bearer(&token);
    if request.refused != Some(&credential) {
        return Ok(Some(credential));
    }
    let token = tokens.token_after(purpose, &token).await?;
    Ok(Some(Credential::bearer(&token)).filter(|credential| request.refused != Some(credential)))
}

#[async_trait]
impl CredentialSource for GoogleSource {
    async fn credential(
        &self,
        request: CredentialRequest<'_>,
    ) -> Result<Option<Credential>, CredentialError> {
        let purpose = self.purpose(request.target)?;
        let failed = |what: String| CredentialError::unavailable(format!("{}: {what}", self.agent));
        self.find(request, &purpose).await.map_err(failed)
    }
}
