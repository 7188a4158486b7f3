//! Asks a person to sign in.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::CredentialError;

/// Shows a person where to sign in, after asking whether they want to.
#[async_trait]
pub trait SignIn: Send + Sync + Debug {
    /// Why no person can sign in here, if so. Asked before anything is prepared.
    fn refusal(&self, _agent: &str) -> Option<CredentialError> {
        None
    }

    /// With a code to type in on another device, and not with a browser on this one.
    fn uses_device(&self) -> bool {
        false
    }

    /// Asks and shows. Comes back without waiting for the person to finish.
    async fn start(&self, request: &SignInRequest) -> Result<SignInStart, CredentialError>;
}

/// What a person is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignInRequest {
    pub agent: String,
    pub method: SignInMethod,
    /// The origin that the token comes from.
    pub token_origin: String,
    /// The agent's card named the server, and its file did not.
    pub is_named_by_card: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignInMethod {
    /// A page that leads back to this machine.
    Browser { url: String },
    /// A page on any device, where a code is typed in.
    Device { url: String, complete_url: Option<String>, code: String },
}

/// What happens after a person was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInStart {
    /// The call waits for the person.
    Wait,
    /// The call ends with [`CredentialError::SignInRequired`]; meanwhile the sign-in goes on, and a later call finds it.
    Later,
}

impl SignInMethod {
    pub fn url(&self) -> &str {
        match self {
            Self::Browser { url } | Self::Device { url, .. } => url,
        }
    }
}

impl SignInRequest {
    /// One sentence for a person.
    pub fn instruction(&self) -> String {
        let Self { agent, token_origin, .. } = self;
        let origin = |url: &str| attache_net::Url::parse(url).map(|url| url.origin().ascii_serialization());
        let place = origin(self.method.url()).unwrap_or_default();
        let at =
            if place == *token_origin { place } else { format!("{place} (tokens come from {token_origin})") };
        let named = if self.is_named_by_card { ", which the agent's card names" } else { "" };
        match &self.method {
            SignInMethod::Browser { url } => format!("{agent} wants you to sign in at {at}{named}: {url}"),
            SignInMethod::Device { url, code, .. } => {
                format!("{agent} wants you to sign in at {at}{named}: open {url} and enter the code {code}")
            }
        }
    }
}

/// For processes without a person: refuses, and says what to do instead.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSignIn;

#[async_trait]
impl SignIn for NoSignIn {
    fn refusal(&self, agent: &str) -> Option<CredentialError> {
        let what = format!("{agent} needs you to sign in first: run `attache agents auth {agent}`");
        Some(CredentialError::SignInRequired { what, url: None })
    }

    async fn start(&self, request: &SignInRequest) -> Result<SignInStart, CredentialError> {
        Err(self.refusal(&request.agent).unwrap_or(CredentialError::Cancelled))
    }
}

/// For calls of a session: the person is asked by whatever runs the call, and the sign-in goes on meanwhile.
#[derive(Debug, Clone, Copy, Default)]
pub struct SignInLater;

#[async_trait]
impl SignIn for SignInLater {
    async fn start(&self, _: &SignInRequest) -> Result<SignInStart, CredentialError> {
        Ok(SignInStart::Later)
    }
}
