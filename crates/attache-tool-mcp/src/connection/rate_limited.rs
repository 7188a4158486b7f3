//! A transport with a limit for the rate of messages; its end is reported at once.

use std::future::Future;
use std::io;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use rmcp::RoleClient;
use rmcp::model::JsonRpcMessage;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::time::Instant;

use super::connection_end::ConnectionEnd;

/// The limit of unsolicited messages: a burst and a rate per second. The library spawns a task for each of them,
/// whether or not the server waits for a response.
const MAX_BURST: f64 = 20_000.0;
const MAX_PER_SECOND: f64 = 1_000.0;

pub(super) struct RateLimited {
    /// Boxed: the library's loop is compiled once for every type of transport, and is large.
    inner: Box<dyn BoxedTransport>,
    ending: ConnectionEnd,
    allowance: MessageBudget,
}

/// A transport of any type.
trait BoxedTransport: Send {
    fn send(&mut self, message: TxJsonRpcMessage<RoleClient>) -> BoxFuture<'static, io::Result<()>>;
    fn receive(&mut self) -> BoxFuture<'_, Option<RxJsonRpcMessage<RoleClient>>>;
    fn close(&mut self) -> BoxFuture<'_, io::Result<()>>;
}

impl<T: Transport<RoleClient>> BoxedTransport for T {
    fn send(&mut self, message: TxJsonRpcMessage<RoleClient>) -> BoxFuture<'static, io::Result<()>> {
        Transport::send(self, message).map(|sent| sent.map_err(io::Error::other)).boxed()
    }

    fn receive(&mut self) -> BoxFuture<'_, Option<RxJsonRpcMessage<RoleClient>>> {
        Transport::receive(self).boxed()
    }

    fn close(&mut self) -> BoxFuture<'_, io::Result<()>> {
        Transport::close(self).map(|closed| closed.map_err(io::Error::other)).boxed()
    }
}

impl RateLimited {
    pub(super) fn new(inner: impl Transport<RoleClient> + 'static, ending: ConnectionEnd) -> Self {
        let allowance = MessageBudget { left: MAX_BURST, at: Instant::now() };
        Self { inner: Box::new(inner), ending, allowance }
    }
}

impl Transport<RoleClient> for RateLimited {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.inner.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let Some(message) = self.inner.receive().await else {
            self.ending.end("the server ended the connection");
            return None;
        };
        let unasked = matches!(message, JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_));
        if unasked && !self.allowance.take(Instant::now()) {
            self.ending.end("the server sends too many unsolicited messages");
            return None;
        }
        Some(message)
    }

    async fn close(&mut self) -> io::Result<()> {
        self.inner.close().await
    }
}

struct MessageBudget {
    left: f64,
    at: Instant,
}

impl MessageBudget {
    fn take(&mut self, now: Instant) -> bool {
        let gained = now.duration_since(self.at).as_secs_f64() * MAX_PER_SECOND;
        self.at = now;
        self.left = (self.left + gained).min(MAX_BURST) - 1.0;
        self.left >= 0.0
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn so_many_at_once_and_more_with_time() {
        let now = Instant::now();
        let mut allowance = MessageBudget { left: MAX_BURST, at: now };
        assert!((0..20_000).all(|_| allowance.take(now)));
        assert!(!allowance.take(now));
        let later = now + Duration::from_secs(1);
        assert_eq!((0..2_000).filter(|_| allowance.take(later)).count(), 999);
    }
}
