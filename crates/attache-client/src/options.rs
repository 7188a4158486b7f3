//! How to reach an agent.

use std::sync::Arc;
use std::time::Duration;

use attache_card::KeySet;
use attache_credentials::CredentialSource;
use attache_domain::Binding;
use attache_net::HttpClientOptions;
use attache_wire::Version;
use jiff::Timestamp;

use crate::{CardCache, Origin, SentSecrets};

#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// Used for the origins that the caller names, over https or to this machine; nowhere else, whatever a card or a
    /// redirect says. A credential that is refused is got anew, at most twice for a request.
    pub credential: Option<Arc<dyn CredentialSource>>,
    /// URIs of the extensions to activate with every request. An agent ignores those that it does not know;
    /// [`RemoteCard::extension`](crate::RemoteCard::extension) tells which ones it offers.
    pub extensions: Vec<String>,
    /// Only this binding. Otherwise the agent's favourite.
    pub binding: Option<Binding>,
    /// Only this version. Otherwise the agent's, or another one if the agent refuses that.
    pub version: Option<Version>,
    /// Origins, besides the one that the card comes from, where its interfaces may be. Naming one allows the credential
    /// there too.
    pub allowed_origins: Vec<Origin>,
    pub interface_host: InterfaceHost,
    pub signatures: SignatureCheck,
    /// Taken out of what the agent says. Clients of one agent may share them.
    pub sent_secrets: Arc<SentSecrets>,
    /// Cards that clients with the same cache have read already.
    pub cards: CardCache,
    pub max_response_bytes: usize,
    /// For one event of a stream.
    pub max_event_bytes: usize,
    /// How often in a row a stream reconnects after a cut; the delays grow up to three seconds.
    pub max_retries: u32,
    /// The longest time for a card: a server that sends it slowly, or never to its end, is given up.
    pub card_timeout: Duration,
    /// The longest time for one call and its response. Streams have no such limit.
    pub deadline: Option<Duration>,
    pub net: HttpClientOptions,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            credential: None,
            extensions: Vec::new(),
            binding: None,
            version: None,
            allowed_origins: Vec::new(),
            interface_host: InterfaceHost::FromCard,
            signatures: SignatureCheck::default(),
            sent_secrets: Arc::default(),
            cards: CardCache::default(),
            max_response_bytes: 64 << 20,
            max_event_bytes: 16 << 20,
            max_retries: 40,
            card_timeout: Duration::from_secs(30),
            deadline: None,
            net: HttpClientOptions::default(),
        }
    }
}

/// Which host to call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InterfaceHost {
    /// The one in the card, if that is where the card came from, or an allowed origin.
    FromCard,
    /// The one that the caller gave, with the paths in the card: for an agent that does not know its own address.
    Given,
}

/// What to do about the signatures of a card.
#[derive(Debug, Clone, Default)]
pub struct SignatureCheck {
    /// Whose signatures count.
    pub keys: KeySet,
    pub policy: SignaturePolicy,
    /// When it is, for keys that expire.
    pub now: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SignaturePolicy {
    #[default]
    Ignore,
    /// Says so in [`Client::notices`](crate::Client::notices) when no signature is valid.
    Warn,
    /// Calls no agent whose card has no valid signature.
    Require,
}
