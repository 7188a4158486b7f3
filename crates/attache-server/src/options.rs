//! What the server is told by whoever starts it.

use std::time::Duration;

use attache_domain::default_limits as limits;
use attache_domain::{AgentCard, AnswerLocation};
use attache_wire::card::CardForm;
use attache_wire::devtool::Profile;

pub use crate::body::BodyBudget;

/// Everything a server needs to know besides the session it serves.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    pub card: AgentCard,
    /// What callers who have shown the token are told instead.
    pub extended_card: Option<AgentCard>,
    /// The card of the interface whose answers stand in status messages; without it there is no such interface.
    pub answers_card: Option<AgentCard>,
    /// Which document the public cards are. With the superset, clients that ask for 1.0 get the document of 1.0.
    pub card_form: CardForm,
    /// Where clients of plain A2A read the answers of the tasks that they open.
    pub answers: AnswerLocation,
    /// The same cards with signatures, served in their place.
    pub signed_card: Option<SignedCard>,
    /// The tenants there are; any, when none is named.
    pub tenants: Vec<String>,
    /// How long clients may keep the card before they ask again.
    pub card_max_age: Duration,
    /// When set, every call but the public card and the health check must carry it.
    pub bearer_token: Option<String>,
    /// Without a token, the one user of the operating system whose processes may call.
    pub local_user: Option<u32>,
    /// Host names, besides the loopback ones, under which clients reach the server; `*` for any.
    pub allowed_hosts: Vec<String>,
    /// Web origins, besides the server's own, whose pages may call.
    pub allowed_origins: Vec<String>,
    /// Refuse 1.0 calls that do not name their version.
    pub strict_version: bool,
    /// The dialect in which clients of 0.3 are answered that give no sign of knowing one.
    pub default_profile: Profile,
    pub limits: Limits,
}

/// Documents that were signed by whoever has the keys. Nothing in them may be changed any more.
#[derive(Debug, Clone)]
pub struct SignedCard {
    pub public: SignedDocuments,
    /// There exactly when there is an extended card.
    pub extended: Option<SignedDocuments>,
    /// There exactly when there is a card of the interface for status messages.
    pub answers: Option<SignedDocuments>,
    /// The public keys, as a JWK Set.
    pub key_set: Vec<u8>,
}

/// One card in all of its forms.
#[derive(Debug, Clone)]
pub struct SignedDocuments {
    /// Read by clients of both versions.
    pub superset: Vec<u8>,
    /// 1.0 only.
    pub v1_0: Vec<u8>,
    /// 0.3 only.
    pub v0_3: Vec<u8>,
}

#[derive(Debug, Clone)]
pub struct Limits {
    pub body_bytes: usize,
    /// Room for all bodies together that are being received.
    pub body_budget: BodyBudget,
    /// Room for all large answers together that are being sent.
    pub response_budget: BodyBudget,
    /// All headers of a request together; at least 8 KiB.
    pub header_bytes: usize,
    /// Levels of nesting in a JSON body.
    pub json_depth: usize,
    /// A few of them are kept in reserve for health checks, cancels and answers to approvals.
    pub connections: usize,
    /// Of one address; those of this machine are not counted.
    pub connections_per_address: usize,
    /// Streams and sends that wait, of one caller; at most three quarters of the connections.
    pub streams_per_caller: usize,
    /// The same of one address; those of this machine are not counted.
    pub streams_per_address: usize,
    /// Calls under way at once on one HTTP/2 connection.
    pub streams_per_connection: u32,
    /// A client that takes longer to send its headers, or its body, is cut off.
    pub header_timeout: Duration,
    pub body_timeout: Duration,
    /// A connection without a call is closed after this; over HTTP/1.1 after `header_timeout` if that is less.
    pub idle_timeout: Duration,
    /// A client that takes nothing of what it is sent for so long is cut off.
    pub stall_timeout: Duration,
    /// Silence on a stream before a comment line shows that it lives.
    pub heartbeat: Duration,
    /// How long a shutdown waits for calls that are under way.
    pub shutdown_timeout: Duration,
}

impl Limits {
    /// What a request may take in memory once it is read: a list of tiny values takes a hundred times its text.
    pub(crate) fn parsed_bytes(&self) -> usize {
        /// Where bodies may be small only, they may still be lists of tiny values.
        const LEAST: usize = 16 << 20;
        self.body_bytes.saturating_mul(8).max(LEAST)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: limits::BODY_BYTES,
            body_budget: BodyBudget::new(limits::BODY_BUDGET_BYTES),
            response_budget: BodyBudget::new(limits::RESPONSE_BUDGET_BYTES),
            header_bytes: limits::HEADER_BYTES,
            json_depth: limits::JSON_DEPTH,
            connections: limits::CONNECTIONS,
            connections_per_address: limits::CONNECTIONS_PER_ADDRESS,
            streams_per_caller: limits::STREAMS_PER_CALLER,
            streams_per_address: limits::STREAMS_PER_ADDRESS,
            streams_per_connection: limits::STREAMS_PER_CONNECTION,
            header_timeout: limits::HEADER_TIMEOUT,
            body_timeout: limits::BODY_TIMEOUT,
            idle_timeout: limits::IDLE_TIMEOUT,
            stall_timeout: limits::STALL_TIMEOUT,
            heartbeat: limits::HEARTBEAT_INTERVAL,
            shutdown_timeout: limits::SHUTDOWN_TIMEOUT,
        }
    }
}
