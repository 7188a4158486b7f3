//! Accepts connections within limits and shuts down gracefully.
//!
//! Closes a connection whose client is idle for too long, does not read its responses, or floods it.

mod connection_slots;
mod connection_watch;
pub(crate) mod frame_counter;
pub(crate) mod head_filter;
mod linger;
mod response_body;
mod socket;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use attache_session::SessionService;
use http::{HeaderValue, StatusCode, header};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::app::App;
use crate::connection_origin::Admission;
use crate::http::Request;
use crate::metrics::{AbnormalEnd, Metrics};
use crate::peer::Peer;
use crate::request_body::UnreadBody;
use crate::response_budget::ResponseReservation;
use crate::{Limits, ServerOptions, service};
use connection_slots::{ConnectionSlot, ConnectionSlots};
use connection_watch::{CloseReason, ConnectionTimeouts, ConnectionWatch};
use response_body::{Multiplexing, ResponseBody};
pub(crate) use socket::Socket;

/// Connections get this long to write their last bytes.
const FINAL_FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// Headers of one request; more than any known client sends.
const MAX_HEADERS: usize = 100;
/// State kept for calls that a client reset before they were accepted, and for faulty ones.
const MAX_RESET_STREAMS: usize = 32;
const MAX_FAULTY_STREAMS: usize = 256;
/// Flow-control windows of HTTP/2: for one call and for the connection.
const STREAM_WINDOW: u32 = 256 << 10;
const CONNECTION_WINDOW: u32 = 512 << 10;
/// Buffered for each call of an HTTP/2 client that does not read.
const SEND_BUFFER: usize = 64 << 10;

/// A listening server; [`run`](Server::run) serves until [`ServerHandle::stop`].
pub struct Server {
    listener: TcpListener,
    session: Arc<SessionService>,
    options: ServerOptions,
    stop: CancellationToken,
}

/// Stops a running server.
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

    /// As [`run_until`](Self::run_until), without the deadline.
    pub async fn run(self) {
        self.run_until().await;
    }

    /// Serves until stopped; then accepts no more, ends the streams, and waits for running calls. Returns the deadline for
    /// the rest of the shutdown.
    pub async fn run_until(self) -> Instant {
        let limits = self.options.limits.clone();
        // Streams have their own token, cancelled once no new connection can come in.
        let end_streams = CancellationToken::new();
        let session = self.session.clone();
        let app = App::new(self.session, self.options, end_streams.clone());
        let builder = connection_builder(&limits);
        let timeouts = ConnectionTimeouts::of(&limits);
        let connections = TaskTracker::new();
        let slots = ConnectionSlots::new(&limits);
        loop {
            let accepted = tokio::select! {
                biased;
                () = self.stop.cancelled() => break,
                accepted = accept(&self.listener, &slots, &app.metrics) => accepted,
            };
            let Some((stream, slot)) = accepted else { continue };
            let timeouts = match slot.origin.admission {
                Admission::Open => timeouts,
                Admission::Reserve | Admission::OverLimit => timeouts.shortened(),
            };
            let watch = ConnectionWatch::new(timeouts);
            slots.watch(&slot, &watch);
            let slot = Arc::new(slot);
            app.metrics.count_connection(slot.origin.admission);
            let peer = Peer::of(&stream, app.guard.local_user(), slot.origin);
            let socket = TokioIo::new(Socket::new(stream, watch.clone(), slot.clone()));
            let service = {
                let (app, watch) = (app.clone(), watch.clone());
                // Boxed, so that a connection that only streams does not hold the memory of the setup.
                service_fn(move |request| {
                    Box::pin(respond_watched(app.clone(), watch.clone(), peer, request))
                })
            };
            let connection = builder.serve_connection_with_upgrades(socket, service).into_owned();
            let (stop, app) = (self.stop.clone(), app.clone());
            connections.spawn(async move {
                let mut connection = pin!(connection);
                let ended = tokio::select! {
                    ended = connection.as_mut() => ended,
                    () = stop.cancelled() => {
                        connection.as_mut().graceful_shutdown();
                        connection.await
                    }
                    () = slot.end.cancelled() => return,
                    reason = watch.closed() => {
                        tracing::debug!(?reason, "a connection is closed");
                        app.metrics.count_abnormal_end(match reason {
                            CloseReason::Idle => AbnormalEnd::Idle,
                            CloseReason::Stalled => AbnormalEnd::Stalled,
                        });
                        if reason == CloseReason::Stalled {
                            return;
                        }
                        connection.as_mut().graceful_shutdown();
                        tokio::time::timeout(FINAL_FLUSH_TIMEOUT, connection).await.unwrap_or(Ok(()))
                    }
                };
                if let Err(error) = ended {
                    record_broken(&app.metrics, &watch, error.as_ref());
                }
                drop(slot);
            });
        }
        let ends_at = Instant::now() + limits.shutdown_timeout;
        drop(self.listener);
        end_streams.cancel();
        connections.close();
        app.sockets.close();
        let ended = async { tokio::join!(connections.wait(), app.sockets.wait()) };
        // The final flush counts towards the shutdown timeout.
        let flush_at = ends_at - FINAL_FLUSH_TIMEOUT.min(limits.shutdown_timeout / 2);
        end_calls(&session, ended, flush_at, ends_at).await;
        ends_at
    }
}

/// Waits until the connections have ended. Calls that have not by `flush_at` get an error, until `ends_at`.
async fn end_calls<T>(
    session: &SessionService,
    ended: impl Future<Output = T>,
    flush_at: Instant,
    ends_at: Instant,
) {
    let mut ended = pin!(ended);
    if timeout_at(flush_at, &mut ended).await.is_ok() {
        return;
    }
    tracing::warn!("some calls are still under way and are told that they cannot be finished");
    let flushed = async { tokio::join!(session.shutdown(), ended) };
    if timeout_at(ends_at, flushed).await.is_err() {
        tracing::warn!("some connections were cut off");
    }
}

/// Clients must not fill the log: breaks are counted, and floods share one line per interval.
fn record_broken(metrics: &Metrics, watch: &ConnectionWatch, error: &(dyn std::error::Error + 'static)) {
    if watch.is_flooded() {
        metrics.count_abnormal_end(AbnormalEnd::Flood);
        if let Some(count) = metrics.floods.record() {
            tracing::warn!(count, "connections were cut off: too many HTTP/2 frames that ask for nothing");
        }
        return;
    }
    metrics.count_abnormal_end(AbnormalEnd::Broken);
    tracing::debug!(%error, "a connection broke");
}

/// Responds to one request, which counts as a call until its response was read.
async fn respond_watched(
    app: Arc<App>,
    watch: Arc<ConnectionWatch>,
    peer: Peer,
    request: Request,
) -> Result<http::Response<ResponseBody<crate::http::Body>>, Infallible> {
    let call = watch.call();
    let sharing = match request.version() {
        http::Version::HTTP_2 => Multiplexing::Shared,
        _ => Multiplexing::Alone,
    };
    let (mut response, rest) = service::respond(app, peer, request).await;
    // Other connections wait for the slot. HTTP/2 connections end by their short timeouts.
    if peer.origin.admission != Admission::Open && sharing == Multiplexing::Alone {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        watch.set_upgraded();
    }
    if rest == UnreadBody::Incoming {
        watch.set_request_unread();
    }
    let share = response.extensions_mut().remove::<Arc<ResponseReservation>>();
    if let Some(share) = &share {
        share.taking.set_connection(watch.evicted().clone());
    }
    Ok(response.map(|body| ResponseBody::new(body, call, sharing, share)))
}

fn connection_builder(limits: &Limits) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout)
        .max_headers(MAX_HEADERS)
        .max_buf_size(limits.header_bytes)
        .keep_alive(true);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(limits.header_bytes).unwrap_or(u32::MAX))
        .max_concurrent_streams(limits.streams_per_connection)
        .max_pending_accept_reset_streams(MAX_RESET_STREAMS)
        .max_local_error_reset_streams(MAX_FAULTY_STREAMS)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buf_size(SEND_BUFFER)
        .keep_alive_interval(Duration::from_secs(30))
        .keep_alive_timeout(Duration::from_secs(20));
    builder
}

/// The next connection, or `None` when it failed or was refused. Beyond the limit, clients wait in the system's queue.
async fn accept(
    listener: &TcpListener,
    slots: &ConnectionSlots,
    metrics: &Metrics,
) -> Option<(TcpStream, ConnectionSlot)> {
    let permit = slots.acquire().await;
    match listener.accept().await {
        Ok((stream, peer)) => {
            // Without this a second small frame waits 40 ms for the first one's acknowledgement.
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "a connection cannot be made prompt");
            }
            slots.assign(permit, peer.ip()).map(|slot| (stream, slot))
        }
        Err(error) => {
            if let Some(count) = metrics.accept_failures.record() {
                tracing::warn!(%error, count, "connections could not be accepted");
            }
            // Usually there are no file descriptors left; retrying at once would spin.
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}
