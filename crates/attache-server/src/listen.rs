//! Accepts connections within limits, and lets them end in peace.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use attache_session::SessionService;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::app::App;
use crate::{Limits, ServerOptions, guard};

/// How long connections get to write what they were told last.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// A listening server; [`run`](Server::run) serves until it is told to stop.
pub struct Server {
    listener: TcpListener,
    session: Arc<SessionService>,
    options: ServerOptions,
    stop: CancellationToken,
}

/// Tells a running server to stop.
#[derive(Clone)]
pub struct ServerHandle {
    stop: CancellationToken,
}

impl ServerHandle {
    pub fn stop(&self) {
        self.stop.cancel();
    }
}

impl Server {
    pub fn new(listener: TcpListener, session: Arc<SessionService>, options: ServerOptions) -> Self {
        Self { listener, session, options, stop: CancellationToken::new() }
    }

    pub fn handle(&self) -> ServerHandle {
        ServerHandle { stop: self.stop.clone() }
    }

    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until stopped; then accepts no more, ends the streams, and waits for calls under way.
    pub async fn run(self) {
        let limits = self.options.limits.clone();
        // Streams end on a token of their own, once no new connection can come in.
        let end_streams = CancellationToken::new();
        let session = self.session.clone();
        let app = App::new(self.session, self.options, end_streams.clone());
        let builder = connection_builder(&limits);
        let graceful = GracefulShutdown::new();
        let connections = TaskTracker::new();
        let places = Arc::new(Semaphore::new(limits.connections));
        loop {
            let accepted = tokio::select! {
                biased;
                () = self.stop.cancelled() => break,
                accepted = accept(&self.listener, &places) => accepted,
            };
            let Some((stream, place)) = accepted else { continue };
            let app = app.clone();
            let service = service_fn(move |request| {
                // Boxed, so that a connection that only streams does not keep room for the work before.
                Box::pin(guard::answer(app.clone(), request))
            });
            let connection = builder.serve_connection(TokioIo::new(stream), service).into_owned();
            let connection = graceful.watch(connection);
            connections.spawn(async move {
                if let Err(error) = connection.await {
                    tracing::debug!(%error, "a connection broke");
                }
                drop(place);
            });
        }
        drop(self.listener);
        end_streams.cancel();
        connections.close();
        let mut ending = std::pin::pin!(async {
            graceful.shutdown().await;
            connections.wait().await;
        });
        if tokio::time::timeout(limits.shutdown_patience, &mut ending).await.is_err() {
            tracing::warn!("some calls are still under way and are told that they cannot be finished");
            session.shutdown().await;
            if tokio::time::timeout(LAST_WORDS, ending).await.is_err() {
                tracing::warn!("some connections were cut off");
            }
        }
    }
}

fn connection_builder(limits: &Limits) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(limits.header_timeout).keep_alive(true);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(256)
        .max_pending_accept_reset_streams(32)
        .keep_alive_interval(Duration::from_secs(30))
        .keep_alive_timeout(Duration::from_secs(20));
    builder
}

/// One connection, or `None` when that one failed. Beyond the limit, clients wait in the system's queue.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> Option<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let place = places.clone().acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => {
            // Small frames must leave at once: without this a second one waits 40 ms for the first's receipt.
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "a connection cannot be made prompt");
            }
            Some((stream, place))
        }
        Err(error) => {
            tracing::warn!(%error, "a connection could not be accepted");
            // Most often there are no file descriptors left; trying again at once would only spin.
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}
