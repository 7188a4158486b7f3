//! The options of a server.

use std::sync::Arc;
use std::time::Duration;

use attache_domain::default_limits as limits;
use attache_domain::{AgentCard, AnswerLocation, ApiKeys, Rights, TaskId};
use attache_net::Secret;
use attache_wire::card::CardForm;
use attache_wire::devtool::Dialect;

pub use crate::body::BodyBudget;
use crate::console_log::ConsoleLog;

/// Everything a server needs besides the session it serves.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    pub card: AgentCard,
    /// For authenticated callers.
    pub extended_card: Option<AgentCard>,
    /// The card of the interface `/answers`, which puts answers into status messages; none: there is no such interface.
    pub answers_card: Option<AgentCard>,
    /// The form of the public cards. With the superset, clients that ask for 1.0 get the document of 1.0.
    pub card_form: CardForm,
    /// Where tasks of plain A2A clients put their answers.
    pub answers: AnswerLocation,
    /// The same cards with signatures, served in their place.
    pub signed_card: Option<SignedCard>,
    /// The known tenants; empty: any.
    pub tenants: Vec<String>,
    /// How long clients may cache the card.
    pub card_max_age: Duration,
    /// When set, required on every path that is not public.
    pub bearer_token: Option<String>,
    /// Clients with tokens of their own. With any, every call needs a token.
    pub clients: Vec<ClientToken>,
    /// Without a token, only processes of this user may call.
    pub local_user: Option<u32>,
    /// Host names, besides the loopback ones, under which clients reach the server; `*` for any.
    pub allowed_hosts: Vec<String>,
    /// Web origins, besides the server's own, whose pages may call.
    pub allowed_origins: Vec<String>,
    /// Refuse 1.0 calls that do not name their version.
    pub strict_version: bool,
    /// The dialect for 0.3 clients that show none.
    pub default_dialect: Dialect,
    /// Offers the live endpoint beside A2A.
    pub live: bool,
    /// Where the keys are kept that clients give for their conversations; the agent looks for them there.
    pub api_keys: Arc<ApiKeys>,
    /// The only task that the live endpoint shows; without it, all tasks of the caller.
    pub live_session: Option<TaskId>,
    /// Warnings and errors of the program's own log, shown on the live endpoint to callers with all rights.
    pub console: Option<ConsoleLog>,
    pub limits: Limits,
}

/// A client that is known by its token.
#[derive(Debug, Clone)]
pub struct ClientToken {
    /// Shown to other clients.
    pub name: String,
    pub rights: Rights,
    pub token: Secret,
}

/// Signed documents. Any change would break the signatures.
#[derive(Debug, Clone)]
pub struct SignedCard {
    pub public: SignedDocuments,
    /// Present exactly when there is an extended card.
    pub extended: Option<SignedDocuments>,
    /// Present exactly when there is an answers card.
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
    /// For all bodies being received.
    pub body_budget: BodyBudget,
    /// For all large responses being sent.
    pub response_budget: BodyBudget,
    /// For all headers of a request; at least 8 KiB.
    pub header_bytes: usize,
    /// Levels of nesting in a JSON body.
    pub json_depth: usize,
    /// A few of these are a reserve for health checks, cancels and answers to approvals.
    pub connections: usize,
    /// Connections from this machine are not counted.
    pub connections_per_address: usize,
    /// Streams and waiting sends; at most three quarters of the connections.
    pub streams_per_caller: usize,
    /// The same per address; calls from this machine are not counted.
    pub streams_per_address: usize,
    /// Concurrent calls on one HTTP/2 connection.
    pub streams_per_connection: u32,
    /// A client that sends its headers, or its body, more slowly is disconnected.
    pub header_timeout: Duration,
    pub body_timeout: Duration,
    /// A connection without a call is closed after this; over HTTP/1.1 after `header_timeout` if that is less.
    pub idle_timeout: Duration,
    /// A client that reads nothing for so long is disconnected.
    pub stall_timeout: Duration,
    /// A silent stream sends a comment line after this.
    pub heartbeat: Duration,
    /// A shutdown waits this long for running calls.
    pub shutdown_timeout: Duration,
}

impl Limits {
    /// The memory that a decoded request may take: a list of tiny values takes a hundred times its text.
    pub(crate) fn parsed_bytes(&self) -> usize {
        /// Small bodies may be lists of tiny values too.
        const LEAST: usize = 16 << 20;
        self.body_bytes.saturating_mul(8).max(LEAST)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: limits::MAX_BODY_BYTES,
            body_budget: BodyBudget::new(limits::MAX_BODY_BUDGET_BYTES),
            response_budget: BodyBudget::new(limits::MAX_RESPONSE_BUDGET_BYTES),
            header_bytes: limits::MAX_HEADER_BYTES,
            json_depth: limits::MAX_JSON_DEPTH,
            connections: limits::MAX_CONNECTIONS,
            connections_per_address: limits::MAX_CONNECTIONS_PER_ADDRESS,
            streams_per_caller: limits::MAX_STREAMS_PER_CALLER,
            streams_per_address: limits::MAX_STREAMS_PER_ADDRESS,
            streams_per_connection: limits::MAX_STREAMS_PER_CONNECTION,
            header_timeout: limits::DEFAULT_HEADER_TIMEOUT,
            body_timeout: limits::DEFAULT_BODY_TIMEOUT,
            idle_timeout: limits::DEFAULT_IDLE_TIMEOUT,
            stall_timeout: limits::DEFAULT_STALL_TIMEOUT,
            heartbeat: limits::DEFAULT_HEARTBEAT_INTERVAL,
            shutdown_timeout: limits::DEFAULT_SHUTDOWN_TIMEOUT,
        }
    }
}
