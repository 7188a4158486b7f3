//! The WebSocket of the live endpoint: all activity of the caller's tasks out, prompts and answers in.
//!
//! There is no queue of events: the socket reads every task with a cursor, and reads no further while its client does not.
//! A client that takes nothing for the stall timeout, or answers no ping, is disconnected, and may come back with its
//! cursors.

mod followed_tasks;
#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;
mod handshake;
mod heartbeat;
mod requests;
mod text_frame;
mod tools;

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use attache_domain::{
    Fault, GetTask, ListTasks, MAX_PAGE_SIZE, Scope, TaskId, TaskState, TaskView, TurnPhase,
};
use attache_session::{ActivityFeed, ActivityReader, TaskActivity};
use attache_wire::Version;
use attache_wire::devtool::{Dialect, live_routes};
use attache_wire::jsonrpc::{self, RequestId};
use futures_util::{SinkExt, StreamExt};
use http::HeaderMap;
use http::request::Parts;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error as SocketError, Message as Frame};

use self::followed_tasks::{BetweenTurns, FollowedTasks, MAX_FOLLOWED};
use self::heartbeat::{Heartbeat, HeartbeatAction};
use self::text_frame::TextFrame;
use crate::app::{App, RequestOrigin};
use crate::http::Response;
use crate::listen::Socket;
use crate::live_routes::{check_session, encoder, fault_response};
use crate::live_tools::BroughtTool;
use crate::live_updates::LiveUpdates;
use crate::metrics::AbnormalEnd;
use crate::open_requests::OpenRequest;
use crate::operations::shape;
use crate::task_stream::Framer;

/// A prompt or an answer. Larger messages end the connection.
const MAX_MESSAGE_BYTES: usize = 1 << 20;

/// Most messages are shorter. The buffer grows for the others.
const READ_BUFFER_BYTES: usize = 4 << 10;

/// A longer buffer is given back when it has been written.
const MAX_KEPT_BYTES: usize = 8 << 10;

/// The client gets this long to read the reason of a close, and to answer it.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// For a client that was so slow that tasks began and ended without being shown to it.
const MISSED: &str = "this connection was too slow to show all sessions: list the tasks, and subscribe with a cursor to read on";

const PING: [u8; 2] = [0x89, 0];

/// Switches the connection to the WebSocket protocol.
pub(crate) async fn handle(app: &Arc<App>, head: &Parts, origin: RequestOrigin) -> Response {
    match open(app, head, origin).await {
        Ok(response) => response,
        Err(fault) => handshake::refusal(head, fault_response(&RequestId::Null, &fault)),
    }
}

async fn open(app: &Arc<App>, head: &Parts, origin: RequestOrigin) -> Result<Response, Fault> {
    let (response, upgrade) = handshake::accept(head)?;
    let open_request = app.open_requests.take_stream(origin)?;
    let scope = origin.caller.scope("");
    let named = live_routes::task_in_query(head.uri.query());
    named.as_ref().map_or(Ok(()), |task| check_session(app, task))?;
    let only = named.or_else(|| app.options.live_session.clone());
    let reader = if only.is_some() { ActivityReader::OneTask } else { ActivityReader::AllTasks };
    // Before the tasks are listed, so that none falls between.
    let feed = app.session.activity(&scope, reader);
    let after = live_routes::cursor_in_query(head.uri.query())?;
    let between_turns = if only.is_some() { BetweenTurns::Keep } else { BetweenTurns::Drop };
    let mut followed = FollowedTasks::new(app, &scope, between_turns);
    let mut out = Vec::new();
    match (&only, &after) {
        (Some(task), after) => followed.restart(task, after.as_ref()).await?,
        (None, None) => follow_active(app, &scope, &mut followed, &mut out).await?,
        (None, Some(_)) => return Err(live_routes::cursor_without_task()),
    }
    let news = LiveUpdates::new(app, origin, only.clone());
    let (app, headers) = (app.clone(), head.headers.clone());
    let sockets = app.sockets.clone();
    sockets.spawn(async move {
        let Ok(upgraded) = upgrade.await else { return };
        let Some(socket) = handshake::socket_of(upgraded) else {
            tracing::debug!(request = origin.number, "a client sent frames before the handshake was over");
            return;
        };
        let limit = MAX_MESSAGE_BYTES.min(app.options.limits.body_bytes);
        let config = WebSocketConfig::default()
            .read_buffer_size(READ_BUFFER_BYTES)
            .max_message_size(Some(limit))
            .max_frame_size(Some(limit));
        let socket = WebSocketStream::from_raw_socket(socket, Role::Server, Some(config)).await;
        let (current, heartbeat) = (only.clone(), app.options.limits.heartbeat);
        let live = LiveSocket {
            app,
            scope,
            origin,
            headers,
            only,
            current,
            socket,
            feed,
            followed,
            out,
            heartbeat: Heartbeat::new(heartbeat),
            news,
            brought: Vec::new(),
            _open_request: open_request,
        };
        live.run().await;
    });
    Ok(response)
}

/// Follows the tasks that are worked on or wait for an approval, the latest of each state first. Reserved ids are shown
/// and not followed: their first message announces them.
async fn follow_active(
    app: &App,
    scope: &Scope,
    followed: &mut FollowedTasks,
    out: &mut Vec<u8>,
) -> Result<(), Fault> {
    for state in [TaskState::Submitted, TaskState::Working, TaskState::InputRequired, TaskState::AuthRequired]
    {
        let mut list = ListTasks { state: Some(state), page_size: MAX_PAGE_SIZE, ..ListTasks::default() };
        let mut listed = 0;
        while listed < MAX_FOLLOWED {
            let page = app.session.list(scope, &list).await?;
            listed += page.tasks.len().max(1);
            for view in page.tasks.iter().filter(|view| view.progress.turn.phase != TurnPhase::Over) {
                if view.progress.awaits_first_message() {
                    write_state(app, view, out);
                    continue;
                }
                match followed.add(&view.task, None).await {
                    Ok(()) | Err(Fault::TaskNotFound { .. }) => {}
                    // The client sees the other tasks, and gets this error once.
                    Err(fault @ Fault::LimitReached { .. }) => {
                        write_fault(&RequestId::Null, &fault, out);
                        return Ok(());
                    }
                    Err(fault) => return Err(fault),
                }
            }
            if page.next_page_token.is_empty() {
                break;
            }
            list.page_token = page.next_page_token;
        }
    }
    Ok(())
}

fn write_state(app: &App, view: &TaskView, out: &mut Vec<u8>) {
    let opened = TextFrame.open_unnumbered(out);
    encoder(app).write_task_item(view, shape(None, Dialect::Live), None, out);
    TextFrame.close(opened, out);
}

fn write_fault(id: &RequestId, fault: &Fault, out: &mut Vec<u8>) {
    let opened = TextFrame.open_unnumbered(out);
    jsonrpc::write_error(Version::V0_3, id, fault, out);
    TextFrame.close(opened, out);
}

struct LiveSocket {
    app: Arc<App>,
    scope: Scope,
    origin: RequestOrigin,
    /// Of the request that opened the socket.
    headers: HeaderMap,
    /// The only task that is shown.
    only: Option<TaskId>,
    /// The task of messages that name none.
    current: Option<TaskId>,
    /// Reads. It writes only what the protocol requires; see [`flush`](LiveSocket::flush).
    socket: WebSocketStream<Socket>,
    feed: ActivityFeed,
    followed: FollowedTasks,
    /// Whole frames.
    out: Vec<u8>,
    heartbeat: Heartbeat,
    news: LiveUpdates,
    /// What this client has brought into sessions; it goes with the socket.
    brought: Vec<BroughtTool>,
    _open_request: OpenRequest,
}

/// Why a socket ends.
enum SocketEnd {
    /// The client has gone.
    Gone,
    /// The client has read nothing for too long. So much of the output was written.
    Stalled {
        written: usize,
    },
    Close(CloseCode, &'static str),
}

impl LiveSocket {
    async fn run(mut self) {
        tracing::debug!(request = self.origin.number, "[A2AService] A2A client connected");
        let reason = match self.serve().await {
            Ok(()) | Err(SocketEnd::Gone) => "the client has gone",
            Err(SocketEnd::Stalled { written }) => {
                self.app.metrics.count_abnormal_end(AbnormalEnd::Stalled);
                self.give_up(written).await
            }
            Err(SocketEnd::Close(code, reason)) => self.close(code, reason).await,
        };
        let brought = std::mem::take(&mut self.brought);
        self.take_tools(brought).await;
        tracing::debug!(request = self.origin.number, reason, "[A2AService] A2A client disconnected");
    }

    async fn serve(&mut self) -> Result<(), SocketEnd> {
        let heartbeat = self.app.options.limits.heartbeat;
        let mut ticks = interval_at(Instant::now() + heartbeat, heartbeat);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let stop = self.app.stop.clone();
        let mut stopped = pin!(stop.cancelled());
        self.add_events(&self.news.first());
        loop {
            self.flush().await?;
            tokio::select! {
                () = &mut stopped => {
                    return Err(SocketEnd::Close(CloseCode::Away, "the server stops"));
                }
                frame = self.socket.next() => {
                    self.heartbeat.record_received();
                    match frame {
                        None => return Ok(()),
                        Some(Ok(Frame::Pong(_))) => self.heartbeat.pong(),
                        Some(Ok(Frame::Close(_))) => {
                            // The reply to it is ready to be written.
                            let _ = timeout(CLOSE_TIMEOUT, self.socket.flush()).await;
                            return Ok(());
                        }
                        Some(Ok(frame)) => self.receive(frame).await,
                        Some(Err(error)) => return Err(end_after(&error)),
                    }
                }
                events = self.news.next() => self.add_events(&events),
                activity = self.feed.next() => self.follow(activity).await?,
                ended = self.followed.next(&mut self.out) => {
                    if let Some((task, fault)) = ended {
                        tracing::debug!(%task, %fault, "a task is not shown any more");
                        self.add_fault(&RequestId::Null, &fault);
                    }
                }
                _ = ticks.tick() => match self.heartbeat.tick() {
                    HeartbeatAction::Ping => self.out.extend_from_slice(&PING),
                    HeartbeatAction::Wait => {}
                    HeartbeatAction::GiveUp => {
                        return Err(SocketEnd::Close(CloseCode::Policy, "no answer to a ping"));
                    }
                },
            }
        }
    }

    async fn follow(&mut self, activity: TaskActivity) -> Result<(), SocketEnd> {
        let followed = match activity {
            TaskActivity::After { task, .. } if self.only.as_ref().is_some_and(|only| *only != task) => {
                Ok(())
            }
            TaskActivity::After { task, seq } => self.followed.add(&task, Some(seq)).await,
            TaskActivity::Reserved(_) if self.only.is_some() => Ok(()),
            TaskActivity::Reserved(task) => self.show_reserved(task).await,
            TaskActivity::Missed => match self.only.clone() {
                Some(only) => self.followed.add(&only, None).await,
                None => {
                    self.add_event(&live_routes::console_log("warn", MISSED, None));
                    follow_active(&self.app, &self.scope, &mut self.followed, &mut self.out).await
                }
            },
            TaskActivity::Over => return Err(SocketEnd::Close(CloseCode::Away, "the server stops")),
        };
        match followed {
            Ok(()) | Err(Fault::TaskNotFound { .. }) => {}
            Err(fault) => self.add_fault(&RequestId::Null, &fault),
        }
        Ok(())
    }

    /// Its first message, if that has come, is announced by itself.
    async fn show_reserved(&mut self, task: TaskId) -> Result<(), Fault> {
        let get = GetTask { task, history_length: None, at: None };
        let seen = self.app.session.get(&self.scope, &get).await?;
        if seen.view.progress.awaits_first_message() {
            write_state(&self.app, &seen.view, &mut self.out);
        }
        Ok(())
    }

    /// Writes the frames of `out`. Nothing is read meanwhile, so that the answer to a ping cannot get between.
    async fn flush(&mut self) -> Result<(), SocketEnd> {
        if self.out.is_empty() {
            return Ok(());
        }
        let stall_timeout = self.app.options.limits.stall_timeout;
        match timeout(stall_timeout, self.socket.flush()).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) => return Err(SocketEnd::Gone),
            Err(_) => return Err(SocketEnd::Stalled { written: 0 }),
        }
        let mut written = 0;
        while let Some(rest) = self.out.get(written..).filter(|rest| !rest.is_empty()) {
            match timeout(stall_timeout, self.socket.get_mut().write(rest)).await {
                Ok(Ok(0) | Err(_)) => return Err(SocketEnd::Gone),
                Ok(Ok(count)) => written += count,
                Err(_) => return Err(SocketEnd::Stalled { written }),
            }
        }
        self.heartbeat.add_sent(written);
        self.out.clear();
        if self.out.capacity() > MAX_KEPT_BYTES {
            self.out = Vec::new();
        }
        Ok(())
    }

    fn add_events(&mut self, events: &[Value]) {
        events.iter().for_each(|event| self.add_event(event));
    }

    fn add_event(&mut self, event: &Value) {
        let opened = TextFrame.open_unnumbered(&mut self.out);
        self.out.extend_from_slice(event.to_string().as_bytes());
        TextFrame.close(opened, &mut self.out);
    }

    /// Closes the connection. Returns the reason, for the log.
    async fn close(&mut self, code: CloseCode, reason: &'static str) -> &'static str {
        let frame = CloseFrame { code, reason: reason.into() };
        let closing = async {
            self.socket.close(Some(frame)).await?;
            while let Some(read) = self.socket.next().await {
                read?;
            }
            Ok::<_, SocketError>(())
        };
        let _ = timeout(CLOSE_TIMEOUT, closing).await;
        // A client that is still sending reads the reason, too.
        let _ = timeout(CLOSE_TIMEOUT, self.socket.get_mut().shutdown()).await;
        reason
    }

    /// Disconnects a client that does not read. It finds the reason if it reads again at once.
    async fn give_up(&mut self, written: usize) -> &'static str {
        const REASON: &str = "too slow: nothing was read for the stall timeout; come back with a cursor";
        let mut rest = self.out.split_off(written);
        rest.extend_from_slice(&[0x88, REASON.len() as u8 + 2]);
        rest.extend_from_slice(&u16::from(CloseCode::Policy).to_be_bytes());
        rest.extend_from_slice(REASON.as_bytes());
        let _ = timeout(CLOSE_TIMEOUT, self.socket.get_mut().write_all(&rest)).await;
        REASON
    }
}

fn end_after(error: &SocketError) -> SocketEnd {
    match error {
        SocketError::Capacity(_) => SocketEnd::Close(CloseCode::Size, "a message is too large"),
        SocketError::Utf8(_) => SocketEnd::Close(CloseCode::Invalid, "a text frame is not UTF-8"),
        // The connection broke off.
        SocketError::Protocol(ProtocolError::ResetWithoutClosingHandshake) => SocketEnd::Gone,
        SocketError::Protocol(_) => SocketEnd::Close(CloseCode::Protocol, "not the WebSocket protocol"),
        _ => SocketEnd::Gone,
    }
}
