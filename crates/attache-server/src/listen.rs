//! Accepts connections within limits, and lets them end in peace.
//!
//! A connection is closed when its client lets it lie, takes nothing of what it asked for, or floods it.

mod answer;
pub(crate) mod frames;
pub(crate) mod heads;
mod linger;
mod places;
mod socket;
mod vigil;

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

use crate::admission::Admission;
use crate::answer_room::AnswerShare;
use crate::app::App;
use crate::arriving::Rest;
use crate::http::Request;
use crate::metrics::{ConnectionEnd, Metrics};
use crate::peer::Peer;
use crate::{Limits, ServerOptions, guard};
use answer::{Answer, Sharing};
use places::{Place, Places};
use socket::Socket;
use vigil::{Patience, Tired, Vigil};

/// How long connections get to write what they were told last.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Headers of one request; more than any client of ours or of the SDKs sends.
const MOST_HEADERS: usize = 100;
/// What is kept of calls that a client took back before they were looked at; and of those that were faulty.
const RESET_STREAMS: usize = 32;
const FAULTY_STREAMS: usize = 256;
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
        let patience = Patience::of(&limits);
        let connections = TaskTracker::new();
        let places = Places::new(&limits);
        loop {
            let accepted = tokio::select! {
                biased;
                () = self.stop.cancelled() => break,
                accepted = accept(&self.listener, &places, &app.metrics) => accepted,
            };
            let Some((stream, place)) = accepted else { continue };
            let patience = match place.origin.admission {
                Admission::Open => patience,
                Admission::Reserve | Admission::OverLimit => patience.brief(),
            };
            let vigil = Vigil::new(patience);
            places.watch(&place, &vigil);
            app.metrics.connected(place.origin.admission);
            let peer = Peer::of(&stream, app.gate.local_user(), place.origin);
            let socket = TokioIo::new(Socket::new(stream, vigil.clone()));
            let service = {
                let (app, vigil) = (app.clone(), vigil.clone());
                // Boxed, so that a connection that only streams does not keep room for the work before.
                service_fn(move |request| Box::pin(watched(app.clone(), vigil.clone(), peer, request)))
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
                    tired = vigil.ends() => {
                        tracing::debug!(?tired, "a connection is closed");
                        app.metrics.connection_ended(match tired {
                            Tired::Idle => ConnectionEnd::Idle,
                            Tired::Stalled => ConnectionEnd::Stalled,
                        });
                        if tired == Tired::Stalled {
                            return;
                        }
                        connection.as_mut().graceful_shutdown();
                        tokio::time::timeout(LAST_WORDS, connection).await.unwrap_or(Ok(()))
                    }
                };
                if let Err(error) = ended {
                    broke(&app.metrics, &vigil, error.as_ref());
                }
                drop(place);
            });
        }
        let ends_at = Instant::now() + limits.shutdown_patience;
        drop(self.listener);
        end_streams.cancel();
        connections.close();
        let mut ending = pin!(connections.wait());
        // The last words are part of the time that there is.
        let last_words_at = ends_at - LAST_WORDS.min(limits.shutdown_patience / 2);
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
fn broke(metrics: &Metrics, vigil: &Vigil, error: &(dyn std::error::Error + 'static)) {
    if vigil.is_flooded() {
        metrics.connection_ended(ConnectionEnd::Flood);
        if let Some(count) = metrics.floods.happened() {
            tracing::warn!(count, "connections were cut off: too many HTTP/2 frames that ask for nothing");
        }
        return;
    }
    metrics.connection_ended(ConnectionEnd::Broken);
    tracing::debug!(%error, "a connection broke");
}

/// Answers one request, which counts as a call until its answer was taken.
async fn watched(
    app: Arc<App>,
    vigil: Arc<Vigil>,
    peer: Peer,
    request: Request,
) -> Result<http::Response<Answer<crate::http::Body>>, Infallible> {
    let call = vigil.call();
    let sharing = match request.version() {
        http::Version::HTTP_2 => Sharing::Shared,
        _ => Sharing::Alone,
    };
    let (mut response, rest) = guard::answer(app, peer, request).await;
    // Others wait for the place. Connections of HTTP/2 are ended by their short patience.
    if peer.origin.admission != Admission::Open && sharing == Sharing::Alone {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    if rest == Rest::StillComing {
        vigil.leaves_request_unread();
    }
    let share = response.extensions_mut().remove::<Arc<AnswerShare>>();
    if let Some(share) = &share {
        share.taking.ends_connection(vigil.taken_away().clone());
    }
    Ok(response.map(|body| Answer::new(body, call, sharing, share)))
}

fn connection_builder(limits: &Limits) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_timeout)
        .max_headers(MOST_HEADERS)
        .max_buf_size(limits.header_bytes)
        .keep_alive(true);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(limits.header_bytes).unwrap_or(u32::MAX))
        .max_concurrent_streams(limits.streams_per_connection)
        .max_pending_accept_reset_streams(RESET_STREAMS)
        .max_local_error_reset_streams(FAULTY_STREAMS)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buf_size(SEND_BUFFER)
        .keep_alive_interval(Duration::from_secs(30))
        .keep_alive_timeout(Duration::from_secs(20));
    builder
}

/// One connection, or `None` when that one failed or was refused. Beyond the limit, clients wait in the system's queue.
async fn accept(listener: &TcpListener, places: &Places, metrics: &Metrics) -> Option<(TcpStream, Place)> {
    let room = places.room().await;
    match listener.accept().await {
        Ok((stream, peer)) => {
            // Small frames must leave at once: without this a second one waits 40 ms for the first's receipt.
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, "a connection cannot be made prompt");
            }
            places.place(room, peer.ip()).map(|place| (stream, place))
        }
        Err(error) => {
            if let Some(count) = metrics.accept_failures.happened() {
                tracing::warn!(%error, count, "connections could not be accepted");
            }
            // Most often there are no file descriptors left; trying again at once would only spin.
            tokio::time::sleep(Duration::from_millis(50)).await;
            None
        }
    }
}
