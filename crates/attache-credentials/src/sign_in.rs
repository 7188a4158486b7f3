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

    /// Asks whether a code for a device may be requested. Nothing has been sent for it yet; an error ends the sign-in.
    async fn agree(&self, offer: &DeviceOffer) -> Result<(), CredentialError>;

    /// Asks and shows. Comes back without waiting for the person to finish.
    async fn start(&self, request: &SignInRequest) -> Result<SignInStart, CredentialError>;
}

/// A sign-in with a code that is entered on any device. A server has to be asked for the code first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceOffer {
    pub agent: String,
    /// Where the code is requested.
    pub origin: String,
    pub token_origin: String,
    pub is_named_by_card: bool,
    /// At least one of the two origins is neither the agent's own nor named in its file.
    pub is_elsewhere: bool,
}

impl DeviceOffer {
    /// One sentence for a person.
    pub fn question(&self) -> String {
        let Self { agent, origin, token_origin, .. } = self;
        let at = place(origin, token_origin);
        let named = if self.is_named_by_card { NAMED_BY_CARD } else { "" };
        format!("{agent} wants you to sign in with a code from {at}{named}")
    }
}

const NAMED_BY_CARD: &str = ", which the agent's card names and its file does not";

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
        let at = self::place(&place, token_origin);
        let named = if self.is_named_by_card { NAMED_BY_CARD } else { "" };
        match &self.method {
            SignInMethod::Browser { url } => format!("{agent} wants you to sign in at {at}{named}: {url}"),
            SignInMethod::Device { url, code, .. } => {
                format!("{agent} wants you to sign in at {at}{named}: open {url} and enter the code {code}")
            }
        }
    }
}

fn place(origin: &str, token_origin: &str) -> String {
    if origin == token_origin {
        return origin.to_owned();
    }
    format!("{origin} (what you get there goes to {token_origin}, where tokens come from)")
}

fn needs_person(agent: &str) -> CredentialError {
    let what = format!("{agent} needs you to sign in first: run `attache agents auth {agent}`");
    CredentialError::SignInRequired { what, url: None }
}

/// For processes without a person: refuses, and says what to do instead.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSignIn;

#[async_trait]
impl SignIn for NoSignIn {
    fn refusal(&self, agent: &str) -> Option<CredentialError> {
        Some(needs_person(agent))
    }

    async fn agree(&self, offer: &DeviceOffer) -> Result<(), CredentialError> {
        Err(needs_person(&offer.agent))
    }

    async fn start(&self, request: &SignInRequest) -> Result<SignInStart, CredentialError> {
        Err(needs_person(&request.agent))
    }
}

/// For calls of a session: the person is asked by whatever runs the call, and the sign-in goes on meanwhile.
#[derive(Debug, Clone, Copy, Default)]
pub struct SignInLater;

#[async_trait]
impl SignIn for SignInLater {
    /// A server that only the card names is asked for a code after a person has agreed, which needs a terminal.
    async fn agree(&self, offer: &DeviceOffer) -> Result<(), CredentialError> {
        if offer.is_elsewhere { Err(needs_person(&offer.agent)) } else { Ok(()) }
    }

    async fn start(&self, _: &SignInRequest) -> Result<SignInStart, CredentialError> {
        Ok(SignInStart::Later)
    }
}
