//! A connection to a server. Only this module uses the protocol library.

mod connection_end;
mod event_reader;
#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;
mod host;
mod http_channel;
mod legacy_sse;
mod open;
mod process;
mod rate_limited;
mod redact;
mod stdio;
mod streamable;

use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use attache_domain::{IgnorePoison, excerpt_in_bytes};
use attache_tool::LiveOutput;
use rmcp::model::{ClientRequest, CustomRequest};
use rmcp::service::{Peer, PeerRequestOptions, RequestHandle, RunningService, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use rmcp::{RoleClient, model};
use serde_json::Value;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::error::{CallError, ConnectError};
use crate::{ConnectContext, McpServerOptions};
use connection_end::ConnectionEnd;
use host::{Host, ServerNotifications};
use http_channel::HttpError;
use process::Process;

/// The maximum size of a message. A larger one ends the connection.
const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;
const MAX_ERROR_LENGTH: usize = 4_000;
/// The time to notify the server that a call was cancelled.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);
/// The time for the library to close a connection.
const CLOSE_TIMEOUT: Duration = Duration::from_millis(200);

pub(crate) struct Connection {
    peer: Peer<RoleClient>,
    service: Mutex<Option<RunningService<RoleClient, Host>>>,
    stop: CancellationToken,
    notifications: Arc<ServerNotifications>,
    ending: ConnectionEnd,
    process: Option<Process>,
}

/// The timeout of a request, and the receiver of its progress.
#[derive(Clone)]
pub(crate) struct RequestOptions<'a> {
    pub(crate) timeout: Duration,
    pub(crate) cancel: &'a CancellationToken,
    pub(crate) live: Option<Arc<dyn LiveOutput>>,
}

impl Connection {
    /// Connects and performs the handshake within the timeout of the context.
    pub(crate) async fn open(
        options: &McpServerOptions,
        context: &ConnectContext,
    ) -> Result<Self, ConnectError> {
        open::open(options, context).await
    }

    /// Sends a request and returns the response unchecked.
    pub(crate) async fn request(
        &self,
        method: &str,
        params: Value,
        terms: RequestOptions<'_>,
    ) -> Result<Value, CallError> {
        let request = ClientRequest::CustomRequest(CustomRequest::new(method, Some(params)));
        let sent = self.peer.send_request_with_option(request, PeerRequestOptions::no_options()).await;
        let mut handle = sent.map_err(|error| self.failure(error))?;
        let _listening =
            terms.live.map(|live| self.notifications.listen(handle.progress_token.clone(), live));
        let stopped = tokio::select! {
            biased;
            answer = &mut handle.rx => return match answer {
                Ok(Ok(result)) => serde_json::to_value(result).map_err(|error| CallError::Lost(error.to_string())),
                Ok(Err(error)) => Err(self.failure(error)),
                Err(_) => Err(CallError::Lost(self.ending.why())),
            },
            () = terms.cancel.cancelled() => CallError::Cancelled,
            () = self.ending.over() => return Err(CallError::Lost(self.ending.why())),
            () = sleep(terms.timeout) => CallError::TimedOut { after: terms.timeout },
        };
        send_cancel(handle, &stopped).await;
        Err(stopped)
    }

    /// The server's instructions.
    pub(crate) fn instructions(&self) -> Option<String> {
        self.peer.peer_info()?.instructions.clone()
    }

    /// Whether the server declares this capability.
    pub(crate) fn has_resources(&self) -> bool {
        self.peer.peer_info().is_some_and(|info| info.capabilities.resources.is_some())
    }

    pub(crate) fn is_over(&self) -> bool {
        self.ending.is_over() || self.peer.is_transport_closed()
    }

    /// Returns when the connection has ended, with the reason.
    pub(crate) async fn over(&self) -> String {
        self.ending.over().await;
        let words = self.process.as_ref().map(Process::stderr_tail).filter(|words| !words.is_empty());
        words.map_or_else(|| self.ending.why(), |words| format!("{}; it wrote: {words}", self.ending.why()))
    }

    /// Returns when the server's lists have changed since the previous return.
    pub(crate) async fn lists_changed(&self) {
        self.notifications.lists_changed().await;
    }

    /// Ends the connection and a started program within a second.
    pub(crate) async fn close(&self) {
        self.ending.end("it was closed");
        self.stop.cancel();
        let service = self.service.lock().ignore_poison().take();
        let put_away = async {
            if let Some(mut service) = service {
                let _ = service.close_with_timeout(CLOSE_TIMEOUT).await;
            }
        };
        let stop_process = async {
            if let Some(process) = &self.process {
                process.stop().await;
            }
        };
        tokio::join!(put_away, stop_process);
    }

    /// Ends the connection without waiting.
    pub(crate) fn close_now(&self) {
        self.ending.end("it was closed");
        self.stop.cancel();
        if let Some(process) = &self.process {
            process.kill();
        }
    }

    fn failure(&self, error: ServiceError) -> CallError {
        match error {
            ServiceError::McpError(model::ErrorData { code, message, .. }) => {
                CallError::Refused { code: code.0, message: excerpt_in_bytes(&message, MAX_ERROR_LENGTH) }
            }
            ServiceError::TransportSend(error) => {
                let failure = web_failure(&*error.error);
                let why = failure.map_or_else(|| error.error.to_string(), HttpError::to_string);
                let why = excerpt_in_bytes(&why, MAX_ERROR_LENGTH);
                if !failure.is_some_and(HttpError::may_pass) {
                    self.ending.end(&why);
                }
                if failure.is_some_and(HttpError::never_arrived) {
                    return CallError::Unsent(why);
                }
                CallError::Lost(why)
            }
            other => {
                CallError::Lost(if self.ending.is_over() { self.ending.why() } else { other.to_string() })
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.close_now();
    }
}

/// The HTTP error, if the connection failed because of one.
fn web_failure<'a>(error: &'a (dyn Error + Send + Sync + 'static)) -> Option<&'a HttpError> {
    match error.downcast_ref::<StreamableHttpError<HttpError>>() {
        Some(StreamableHttpError::Client(failure)) => Some(failure),
        Some(_) => None,
        None => error.downcast_ref(),
    }
}

async fn send_cancel(handle: RequestHandle<RoleClient>, why: &CallError) {
    // Does not wait for a server that does not read.
    let _ = timeout(CANCEL_TIMEOUT, handle.cancel(Some(why.to_string()))).await;
}
