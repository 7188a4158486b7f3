//! The settings of an agent's authorization server.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use attache_net::{Secret, Url};

use super::callback::RedirectUri;

/// What is missing here is taken from the agent's card.
#[derive(Debug, Clone, Default)]
pub struct OAuthSettings {
    /// The agent's name, under which its token is kept.
    pub agent: String,
    pub client_id: Option<Arc<dyn SecretValue>>,
    pub client_secret: Option<Arc<dyn SecretValue>>,
    pub scopes: Vec<String>,
    pub authorization_url: Option<String>,
    pub device_authorization_url: Option<String>,
    pub token_url: Option<String>,
    /// Where the server says what its addresses are.
    pub issuer: Option<String>,
    /// Otherwise the first that can be used: with a browser, with a device, with client credentials.
    pub flow: Option<SignInFlow>,
    /// The port that the browser comes back to. Otherwise a free one.
    pub callback_port: Option<u16>,
    /// Where the browser comes back to, if the server knows exactly one address. Counts before the port.
    pub redirect_uri: Option<RedirectUri>,
    /// Where the agent is. Its own authorization server may get the client secret unasked.
    pub agent_url: Option<Url>,
    /// The user wrote the agent's file, so tokens that Gemini CLI stored for it count.
    pub is_users_own: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInFlow {
    AuthorizationCode,
    DeviceCode,
    ClientCredentials,
}

/// A value that is got when it is needed.
#[async_trait]
pub trait SecretValue: Send + Sync + Debug {
    /// The error does not hold the value.
    async fn get(&self) -> Result<Secret, String>;
}

#[async_trait]
impl SecretValue for Secret {
    async fn get(&self) -> Result<Secret, String> {
        Ok(self.clone())
    }
}
