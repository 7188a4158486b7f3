//! Accepts connections within limits, and lets them end in peace.
//!
//! A connection is closed when its client lets it lie, takes nothing of what it asked for, or floods it.

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
use http::{HeaderValue, header};
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
use crate::metrics::{ConnectionEnd, Metrics};
use crate::peer::Peer;
use crate::request_body::UnreadBody;
use crate::response_budget::ResponseReservation;
use crate::{Limits, ServerOptions, service};
use connection_slots::{ConnectionSlot, ConnectionSlots};
use connection_watch::{CloseReason, ConnectionTimeouts, ConnectionWatch};
use response_body::{Multiplexing, ResponseBody};
use socket::Socket;

/// How long connections get to write what they were told last.
const FINAL_FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// Headers of one request; more than any client of ours or of the SDKs sends.
const MAX_HEADERS: usize = 100;
/// What is kept of calls that a client took back before they were looked at; and of those that were faulty.
const MAX_RESET_STREAMS: usize = 32;
const MAX_FAULTY_STREAMS: usize = 256;
/// What an HTTP/2 client may send ahead on one call and on all of them together.
const STREAM_WINDOW: u32 = 256 << 10;
const CONNECTION_WINDOW: u32 = 512 << 10;
/// What is kept for each call of an HTTP/2 client that does not take it.
const SEND_BUFFER: usize = 64 << 10;

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

    /// As [`run_until`](Self::run_until), for whoever has nothing else to end.
    pub async fn run(self) {
        self.run_until().await;
    }

    /// Serves until stopped; then accepts no more, ends the streams, and waits for calls under way. Returns the time by
    /// which everything else should have ended, too.
    pub async fn run_until(self) -> Instant {
        let limits = self.options.limits.clone();
        // Streams end on a token of their own, once no new connection can come in.
        let end_streams = CancellationToken::new();
        let session = self.session.clone();
        let app = App::new(self.session, self.options, end_streams.clone());
        let builder = connection_builder(&limits);
        let patience = ConnectionTimeouts::of(&limits);
        let connections = TaskTracker::new();
        let places = ConnectionSlots::new(&limits);
        loop {
            let accepted = tokio::select! {
                biased;
                () = self.stop.cancelled() => break,
                accepted = accept(&self.listener, &places, &app.metrics) => accepted,
            };
            let Some((stream, place)) = accepted else { continue };
            let patience = match place.origin.admission {
                Admission::Open => patience,
                Admission::Reserve | Admission::OverLimit => patience.shortened(),
            };
            let vigil = ConnectionWatch::new(patience);
            places.watch(&place, &vigil);
            app.metrics.count_connection(place.origin.admission);
            let peer = Peer::of(&stream, app.guard.local_user(), place.origin);
            let socket = TokioIo::new(Socket::new(stream, vigil.clone()));
            let service = {
                let (app, vigil) = (app.clone(), vigil.clone());
                // Boxed, so that a connection that only streams does not keep room for the work before.
                service_fn(move |request| {
                    Box::pin(respond_watched(app.clone(), vigil.clone(), peer, request))
                })
            };
            let connection = builder.serve_connection(socket, service).into_owned();
            let (stop, app) = (self.stop.clone(), app.clone());
            connections.spawn(async move {
                let mut connection = pin!(connection);
                let ended = tokio::select! {
                    ended = connection.as_mut() => ended,
                    () = stop.cancelled() => {
                        connection.as_mut().graceful_shutdown();
                        connection.await
                    }
                    () = place.end.cancelled() => return,
                    tired = vigil.closed() => {
                        tracing::debug!(?tired, "a connection is closed");
                        app.metrics.count_connection_end(match tired {
                            CloseReason::Idle => ConnectionEnd::Idle,
                            CloseReason::Stalled => ConnectionEnd::Stalled,
                        });
                        if tired == CloseReason::Stalled {
                            return;
                        }
                        connection.as_mut().graceful_shutdown();
                        tokio::time::timeout(FINAL_FLUSH_TIMEOUT, connection).await.unwrap_or(Ok(()))
                    }
                };
                if let Err(error) = ended {
                    record_broken(&app.metrics, &vigil, error.as_ref());
                }
                drop(place);
            });
        }
        let ends_at = Instant::now() + limits.shutdown_timeout;
        drop(self.listener);
        end_streams.cancel();
        connections.close();
        let mut ending = pin!(connections.wait());
        // The last words are part of the time that there is.
        let last_words_at = ends_at - FINAL_FLUSH_TIMEOUT.min(limits.shutdown_timeout / 2);
        if timeout_at(last_words_at, &mut ending).await.is_err() {
            tracing::warn!("some calls are still under way and are told that they cannot be finished");
            let last_words = async { tokio::join!(session.shutdown(), ending) };
            if timeout_at(ends_at, last_words).await.is_err() {
                tracing::warn!("some connections were cut off");
            }
        }
        ends_at
    }
}

/// What strangers send must not fill the log: it is counted, and floods are told of in one line for all.
fn record_broken(metrics: &Metrics, vigil: &ConnectionWatch, error: &(dyn std::error::Error + 'static)) {
    if vigil.is_flooded() {
        metrics.count_connection_end(ConnectionEnd::Flood);
        if let Some(count) = metrics.floods.record() {
            tracing::warn!(count, "connections were cut off: too many HTTP/2 frames that ask for nothing");
        }
        return;
    }
    metrics.count_connection_end(ConnectionEnd::Broken);
    tracing::debug!(%error, "a connection broke");
}

/// Answers one request, which counts as a call until its answer was taken.
async fn respond_watched(
    app: Arc<App>,
    vigil: Arc<ConnectionWatch>,
    peer: Peer,
    request: Request,
) -> Result<http::Response<ResponseBody<crate::http::Body>>, Infallible> {
    let call = vigil.call();
    let sharing = match request.version() {
        http::Version::HTTP_2 => Multiplexing::Shared,
        _ => Multiplexing::Alone,
    };
    let (mut response, rest) = service::respond(app, peer, request).await;
    // Others wait for the place. Connections of HTTP/2 are ended by their short patience.
    if peer.origin.admission != Admission::Open && sharing == Multiplexing::Alone {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    if rest == UnreadBody::Incoming {
        vigil.set_request_unread();
    }
    let share = response.extensions_mut().remove::<Arc<ResponseReservation>>();
    if let Some(share) = &share {
        share.taking.set_connection(vigil.evicted().clone());
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

/// One connection, or `None` when that one failed or was refused. Beyond the limit, clients wait in the system's queue.
async fn accept(
    listener: &TcpListener,
    places: &ConnectionSlots,
    metrics: &Metrics,
) -> Option<(TcpStream, ConnectionSlot)> {
    let room = places.acquire().await;
    match listener.accept().await {
        Ok((stream, peer)) => {
            // Small frames must leave at once: without this a second one waits 40 ms for the first's receipt.
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "a connection cannot be made prompt");
            }
            places.assign(room, peer.ip()).map(|place| (stream, place))
        }
        Err(error) => {
            if let Some(count) = metrics.accept_failures.record() {
                tracing::warn!(%error, count, "connections could not be accepted");
            }
            // Most often there are no file descriptors left; trying again at once would only spin.
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}
