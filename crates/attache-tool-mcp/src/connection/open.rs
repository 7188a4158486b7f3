//! Opens a connection and performs the handshake.

#[cfg(feature = "fuzz")]
pub(super) mod fuzz;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use attache_domain::excerpt_in_bytes;
use attache_net::Secret;
use rmcp::RoleClient;
use rmcp::model::ProtocolVersion;
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, RunningService, serve_client_with_lifecycle_and_ct,
};
use tokio::time::{Instant, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use super::connection_end::ConnectionEnd;
use super::host::{Host, ServerNotifications};
use super::http_channel::HttpChannel;
use super::legacy_sse::LegacySse;
use super::process::{Process, Program};
use super::rate_limited::RateLimited;
use super::stdio::StdioTransport;
use super::{Connection, MAX_ERROR_LENGTH, streamable};
use crate::error::ConnectError;
use crate::{ConnectContext, McpServerOptions, Transport};

/// The last output of a program that has just ended may still be in the pipe.
const STDERR_DELAY: Duration = Duration::from_millis(50);

pub(super) async fn open(
    options: &McpServerOptions,
    context: &ConnectContext,
) -> Result<Connection, ConnectError> {
    let attempt = ConnectAttempt::new(context);
    match &options.transport {
        Transport::Stdio { command, args, env, directory } => {
            let access = &options.access;
            let program = Program { command, args, env, directory: directory.as_deref(), access };
            attempt.stdio(&program).await
        }
        Transport::Http { url, headers } => attempt.http(url, headers).await,
        Transport::Sse { url, headers } => attempt.sse(url, headers).await,
        Transport::Detect { url, headers } => match attempt.http(url, headers).await {
            Err(refused) if is_another_way(&refused) => match attempt.sse(url, headers).await {
                // The newer transport was tried first, so people see its refusal.
                Err(ConnectError::Refused { .. } | ConnectError::Unreachable(_)) => Err(refused),
                decided => decided,
            },
            decided => decided,
        },
    }
}

/// Whether a server of the older transport would refuse like this.
fn is_another_way(error: &ConnectError) -> bool {
    matches!(error, ConnectError::Refused { status, .. } if (400..500).contains(status) && ![407, 429].contains(status))
}

struct ConnectAttempt<'a> {
    context: &'a ConnectContext,
    until: Instant,
}

/// The version that the refusal asks for, if another handshake may succeed.
enum HandshakeError {
    OfThisHandshake(ConnectError),
    OfAny(ConnectError),
}

type Service = RunningService<RoleClient, Host>;

impl<'a> ConnectAttempt<'a> {
    fn new(context: &'a ConnectContext) -> Self {
        Self { context, until: Instant::now() + context.connect_timeout }
    }

    async fn stdio(&self, program: &Program<'_>) -> Result<Connection, ConnectError> {
        match self.stdio_with(program, older()).await {
            Err(HandshakeError::OfThisHandshake(_)) => {
                self.stdio_with(program, newer()).await.map_err(HandshakeError::error)
            }
            decided => decided.map_err(HandshakeError::error),
        }
    }

    async fn stdio_with(
        &self,
        program: &Program<'_>,
        mode: ClientLifecycleMode,
    ) -> Result<Connection, HandshakeError> {
        let (process, stdin, stdout) =
            Process::start(program, self.context).map_err(HandshakeError::OfAny)?;
        let parts = ConnectionParts::default();
        let transport = StdioTransport::new(stdout, stdin, parts.ending.clone());
        match self.shake_hands(transport, &parts, mode).await {
            Ok(service) => Ok(parts.connection(service, Some(process))),
            Err(failed) => {
                let until = Instant::now() + STDERR_DELAY;
                parts.stop.cancel();
                tokio::join!(process.stop(), sleep_until(until));
                Err(failed.with(&process.stderr_tail()))
            }
        }
    }

    async fn http(&self, url: &str, headers: &[(String, Secret)]) -> Result<Connection, ConnectError> {
        let web = HttpChannel::new(url, headers, self.context)?;
        let attempt = async |mode| {
            let parts = ConnectionParts::default();
            let service = self.shake_hands(streamable::transport(web.clone()), &parts, mode).await;
            match (service, web.failure()) {
                (Ok(service), _) => Ok(parts.connection(service, None)),
                // The library reports only a failure; this module knows the server's message.
                (Err(_), Some(failure)) => Err(HandshakeError::OfAny(failure.into())),
                (Err(refusal), None) => Err(refusal),
            }
        };
        match attempt(older()).await {
            Err(HandshakeError::OfThisHandshake(_)) => attempt(newer()).await.map_err(HandshakeError::error),
            decided => decided.map_err(HandshakeError::error),
        }
    }

    async fn sse(&self, url: &str, headers: &[(String, Secret)]) -> Result<Connection, ConnectError> {
        let web = HttpChannel::new(url, headers, self.context)?;
        let parts = ConnectionParts::default();
        let opening = timeout_at(self.until, LegacySse::open(web.clone(), parts.ending.clone())).await;
        let transport = opening.map_err(|_| self.silent())??;
        // Servers of this transport are older than the newer handshake.
        match (self.shake_hands(transport, &parts, older()).await, web.failure()) {
            (Ok(service), _) => Ok(parts.connection(service, None)),
            (Err(_), Some(failure)) => Err(failure.into()),
            (Err(refusal), None) => Err(refusal.error()),
        }
    }

    async fn shake_hands(
        &self,
        transport: impl rmcp::transport::Transport<RoleClient> + 'static,
        parts: &ConnectionParts,
        mode: ClientLifecycleMode,
    ) -> Result<Service, HandshakeError> {
        let host = Host::new(self.context, parts.news.clone());
        let transport = RateLimited::new(transport, parts.ending.clone());
        let shaking = serve_client_with_lifecycle_and_ct(host, transport, mode, parts.stop.clone());
        match timeout_at(self.until, shaking).await {
            Ok(Ok(service)) => Ok(service),
            Ok(Err(error)) => Err(refusal(error)),
            Err(_) => Err(HandshakeError::OfAny(self.silent())),
        }
    }

    fn silent(&self) -> ConnectError {
        ConnectError::Silent { after: self.context.connect_timeout }
    }
}

fn older() -> ClientLifecycleMode {
    ClientLifecycleMode::Initialize
}

/// For servers that know only this handshake. Tried second, because most servers know only the older one.
fn newer() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] }
}

fn refusal(error: ClientInitializeError) -> HandshakeError {
    match error {
        ClientInitializeError::JsonRpcError(data) => {
            let message = excerpt_in_bytes(&data.message, MAX_ERROR_LENGTH);
            HandshakeError::OfThisHandshake(ConnectError::NotUnderstood(format!(
                "it refuses to begin: {message}"
            )))
        }
        ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. } => {
            HandshakeError::OfAny(ConnectError::Unreachable("it ended before it had answered".into()))
        }
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => HandshakeError::OfAny(
            ConnectError::NotUnderstood("it knows no version of the protocol that we know".into()),
        ),
        _ => HandshakeError::OfAny(ConnectError::NotUnderstood(
            "it answered something else than it was asked".into(),
        )),
    }
}

impl HandshakeError {
    fn error(self) -> ConnectError {
        match self {
            Self::OfThisHandshake(error) | Self::OfAny(error) => error,
        }
    }

    /// Adds the error output of a started program.
    fn with(self, words: &str) -> Self {
        if words.is_empty() {
            return self;
        }
        let wrote = |what: String| format!("{what}; it wrote: {words}");
        match self {
            Self::OfAny(ConnectError::Unreachable(what)) => {
                Self::OfAny(ConnectError::Unreachable(wrote(what)))
            }
            Self::OfAny(ConnectError::NotUnderstood(what)) => {
                Self::OfAny(ConnectError::NotUnderstood(wrote(what)))
            }
            Self::OfAny(silent @ ConnectError::Silent { .. }) => {
                Self::OfAny(ConnectError::Unreachable(wrote(silent.to_string())))
            }
            other => other,
        }
    }
}

/// The state that a connection and its transport share.
#[derive(Default)]
struct ConnectionParts {
    news: Arc<ServerNotifications>,
    ending: ConnectionEnd,
    stop: CancellationToken,
}

impl ConnectionParts {
    fn connection(self, service: Service, process: Option<Process>) -> Connection {
        Connection {
            peer: service.peer().clone(),
            service: Mutex::new(Some(service)),
            stop: self.stop,
            notifications: self.news,
            ending: self.ending,
            process,
        }
    }
}
