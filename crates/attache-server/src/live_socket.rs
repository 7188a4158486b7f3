//! The WebSocket of the live endpoint: all activity of the caller's tasks out, prompts and answers in.
//!
//! There is no queue of events: the socket reads every task with a cursor, and reads no further while its client does not.
//! A client that takes nothing for the stall timeout, or answers no ping, is disconnected.

mod followed_tasks;
mod handshake;

use std::sync::Arc;

use attache_domain::{
    CallId, Fault, ListTasks, MAX_PAGE_SIZE, PartAnswers, Scope, SendMessage, TaskId, TaskState, TaskView,
    TurnPhase,
};
use attache_session::{ActivityFeed, TaskActivity};
use attache_wire::Version;
use attache_wire::devtool::live_routes;
use attache_wire::jsonrpc::{self, RequestId};
use futures_util::{SinkExt, StreamExt};
use http::HeaderMap;
use http::request::Parts;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::time::{Instant, interval_at, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error as SocketError, Message as Frame};

use self::followed_tasks::FollowedTasks;
use crate::app::{App, RequestOrigin};
use crate::console_log::{ConsoleLine, ConsoleLog, ConsoleReader};
use crate::http::Response;
use crate::live_routes::{complete, fault_response, read_request};
use crate::open_calls::OpenCall;

/// A prompt or an answer. Larger messages end the connection.
const MAX_MESSAGE_BYTES: usize = 1 << 20;

/// Switches the connection to the WebSocket protocol.
pub(crate) async fn handle(app: &Arc<App>, head: &Parts, origin: RequestOrigin) -> Response {
    match open(app, head, origin).await {
        Ok(response) => response,
        Err(fault) => handshake::refusal(head, fault_response(&RequestId::Null, &fault)),
    }
}

async fn open(app: &Arc<App>, head: &Parts, origin: RequestOrigin) -> Result<Response, Fault> {
    let (response, upgrade) = handshake::accept(head)?;
    let open_call = app.open_calls.take_stream(origin)?;
    let scope = origin.caller.scope("");
    // Before the tasks are listed, so that none falls between.
    let feed = app.session.activity(&scope);
    let only = live_routes::task_in_query(head.uri.query());
    let mut followed = FollowedTasks::new(app, &scope);
    match &only {
        Some(task) => followed.add(task, None).await?,
        None => follow_active(app, &scope, &mut followed).await?,
    }
    let console = app.options.console.as_ref().filter(|_| origin.caller.sees_log()).map(ConsoleLog::reader);
    let (app, headers) = (app.clone(), head.headers.clone());
    let limit = MAX_MESSAGE_BYTES.min(app.options.limits.body_bytes);
    let config = WebSocketConfig::default().max_message_size(Some(limit)).max_frame_size(Some(limit));
    let sockets = app.sockets.clone();
    sockets.spawn(async move {
        let Ok(upgraded) = upgrade.await else { return };
        let (io, config) = (TokioIo::new(upgraded), Some(config));
        let socket = WebSocketStream::from_raw_socket(io, Role::Server, config).await;
        let current = only.clone();
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
            console,
            _open_call: open_call,
        };
        live.run().await;
    });
    Ok(response)
}

/// Follows the tasks that are worked on or wait for an approval.
async fn follow_active(app: &App, scope: &Scope, followed: &mut FollowedTasks) -> Result<(), Fault> {
    for state in [TaskState::Submitted, TaskState::Working, TaskState::InputRequired, TaskState::AuthRequired]
    {
        let list = ListTasks { state: Some(state), page_size: MAX_PAGE_SIZE, ..ListTasks::default() };
        let page = app.session.list(scope, &list).await?;
        for view in page.tasks.iter().filter(|view| view.progress.turn.phase != TurnPhase::Over) {
            followed.add(&view.task, None).await?;
        }
    }
    Ok(())
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
    socket: WebSocketStream<TokioIo<Upgraded>>,
    feed: ActivityFeed,
    followed: FollowedTasks,
    /// The log of the process, for a caller that may see it.
    console: Option<ConsoleReader>,
    _open_call: OpenCall,
}

/// Why a socket ends.
enum SocketEnd {
    /// The client has gone, or does not read.
    Gone,
    Close(CloseCode, &'static str),
}

impl LiveSocket {
    async fn run(mut self) {
        tracing::debug!(request = self.origin.number, "[A2AService] A2A client connected");
        let end = match self.serve().await {
            Ok(()) => SocketEnd::Gone,
            Err(end) => end,
        };
        if let SocketEnd::Close(code, reason) = end {
            let frame = CloseFrame { code, reason: reason.into() };
            let _ = timeout(self.app.options.limits.stall_timeout, self.socket.close(Some(frame))).await;
        }
        tracing::debug!(request = self.origin.number, "[A2AService] A2A client disconnected");
    }

    async fn serve(&mut self) -> Result<(), SocketEnd> {
        let heartbeat = self.app.options.limits.heartbeat;
        let mut pings = interval_at(Instant::now() + heartbeat, heartbeat);
        let mut is_heard = true;
        let mut out = Vec::new();
        loop {
            tokio::select! {
                () = self.app.stop.cancelled() => {
                    return Err(SocketEnd::Close(CloseCode::Away, "the server stops"));
                }
                frame = self.socket.next() => {
                    is_heard = true;
                    match frame {
                        None | Some(Ok(Frame::Close(_))) => return Ok(()),
                        Some(Ok(frame)) => self.receive(frame).await?,
                        Some(Err(error)) => return Err(end_after(&error)),
                    }
                }
                line = next_line(&mut self.console) => self.send_log_line(&line).await?,
                activity = self.feed.next() => self.follow(activity).await?,
                ended = self.followed.next(&mut out) => {
                    self.send_lines(&mut out).await?;
                    if let Some((task, fault)) = ended {
                        tracing::debug!(%task, %fault, "a task is not shown any more");
                        self.send_fault(&RequestId::Null, &fault).await?;
                    }
                }
                _ = pings.tick() => {
                    if !is_heard {
                        return Err(SocketEnd::Close(CloseCode::Policy, "no answer to a ping"));
                    }
                    is_heard = false;
                    self.send([Frame::Ping(Default::default())]).await?;
                }
            }
        }
    }

    async fn follow(&mut self, activity: TaskActivity) -> Result<(), SocketEnd> {
        let followed = match activity {
            TaskActivity::After { task, .. } if self.only.as_ref().is_some_and(|only| *only != task) => {
                Ok(())
            }
            TaskActivity::After { task, seq } => self.followed.add(&task, Some(seq)).await,
            TaskActivity::Missed => match self.only.clone() {
                Some(only) => self.followed.add(&only, None).await,
                None => follow_active(&self.app, &self.scope, &mut self.followed).await,
            },
            TaskActivity::Over => return Err(SocketEnd::Close(CloseCode::Away, "the server stops")),
        };
        match followed {
            Ok(()) | Err(Fault::TaskNotFound { .. }) => Ok(()),
            Err(fault) => self.send_fault(&RequestId::Null, &fault).await,
        }
    }

    async fn receive(&mut self, frame: Frame) -> Result<(), SocketEnd> {
        let text = match frame {
            Frame::Text(text) => text,
            Frame::Binary(_) => {
                let fault = Fault::InvalidRequest { what: "a message must be a text frame".into() };
                return self.send_fault(&RequestId::Null, &fault).await;
            }
            // Pings are answered by the protocol.
            Frame::Ping(_) | Frame::Pong(_) | Frame::Close(_) | Frame::Frame(_) => return Ok(()),
        };
        let (id, read) = read_request(text.as_bytes(), self.app.options.limits.json_depth);
        let started = match read {
            Ok(send) => self.begin(send).await,
            Err(fault) => Err(fault),
        };
        match started {
            Err(fault) => self.send_fault(&id, &fault).await,
            // A request without an id wants no response.
            Ok(_) if id == RequestId::Null => Ok(()),
            Ok(result) => {
                let mut out = Vec::new();
                jsonrpc::write_result_open(&id, &mut out);
                out.extend_from_slice(result.to_string().as_bytes());
                jsonrpc::write_result_close(&mut out);
                self.send_lines(&mut out).await
            }
        }
    }

    /// Hands a message to its task, and returns the task for the response.
    async fn begin(&mut self, mut send: SendMessage) -> Result<serde_json::Value, Fault> {
        if let Some(only) = &self.only {
            live_routes::address(&mut send, only)?;
        }
        if send.message.task.is_none() {
            send.message.task = match answered_call(&send) {
                Some(call) => asking(&self.app, &self.scope, &call).await?.or_else(|| self.current.clone()),
                None => self.current.clone(),
            };
        }
        complete(&self.app, &self.headers, &mut send, self.origin);
        let started = self.app.session.begin(&self.scope, send).await?;
        self.current = Some(started.view.task.clone());
        Ok(live_routes::created(&started.view))
    }

    /// Shows a line of the log. A socket of one task shows only what is about that.
    async fn send_log_line(&mut self, line: &ConsoleLine) -> Result<(), SocketEnd> {
        let task = line.task.as_deref();
        if self.only.as_ref().is_some_and(|only| task != Some(only.as_str())) {
            return Ok(());
        }
        let mut out = live_routes::console_log(line.level.name(), &line.text, task).to_string().into_bytes();
        self.send_lines(&mut out).await
    }

    async fn send_fault(&mut self, id: &RequestId, fault: &Fault) -> Result<(), SocketEnd> {
        let mut out = Vec::new();
        jsonrpc::write_error(Version::V0_3, id, fault, &mut out);
        self.send_lines(&mut out).await
    }

    /// Sends each line as one frame.
    async fn send_lines(&mut self, out: &mut Vec<u8>) -> Result<(), SocketEnd> {
        let lines = out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let frames: Vec<_> =
            lines.map(|line| Frame::text(String::from_utf8_lossy(line).into_owned())).collect();
        out.clear();
        self.send(frames).await
    }

    async fn send(&mut self, frames: impl IntoIterator<Item = Frame>) -> Result<(), SocketEnd> {
        let sending = async {
            for frame in frames {
                self.socket.feed(frame).await?;
            }
            self.socket.flush().await
        };
        match timeout(self.app.options.limits.stall_timeout, sending).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(SocketEnd::Gone),
        }
    }
}

async fn next_line(console: &mut Option<ConsoleReader>) -> Arc<ConsoleLine> {
    match console {
        Some(console) => console.next().await,
        None => std::future::pending().await,
    }
}

/// The task that asks about the call. Ids of calls are unique within a task only.
async fn asking(app: &App, scope: &Scope, call: &CallId) -> Result<Option<TaskId>, Fault> {
    let state = Some(TaskState::InputRequired);
    let list = ListTasks { state, page_size: MAX_PAGE_SIZE, ..ListTasks::default() };
    let page = app.session.list(scope, &list).await?;
    let asks = |view: &TaskView| view.call_records.asked().any(|asked| asked.shown_id() == call);
    let mut asking = page.tasks.iter().filter(|view| asks(view));
    match (asking.next(), asking.next()) {
        (Some(_), Some(_)) => Err(live_routes::ambiguous_call(call)),
        (first, _) => Ok(first.map(|view| view.task.clone())),
    }
}

/// The call that the message answers about.
fn answered_call(send: &SendMessage) -> Option<CallId> {
    send.answers.parts.iter().find_map(|part| match part {
        PartAnswers::Data(answers) => answers.iter().find_map(|answer| answer.call.clone()),
        _ => None,
    })
}

fn end_after(error: &SocketError) -> SocketEnd {
    match error {
        SocketError::Capacity(_) => SocketEnd::Close(CloseCode::Size, "a message is too large"),
        SocketError::Utf8(_) => SocketEnd::Close(CloseCode::Invalid, "a text frame is not UTF-8"),
        SocketError::Protocol(_) => SocketEnd::Close(CloseCode::Protocol, "not the WebSocket protocol"),
        _ => SocketEnd::Gone,
    }
}
