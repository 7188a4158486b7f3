//! The state that all handlers share, and the routing of paths.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use attache_domain::{AnswerLocation, Fault, OfferedKey, RequestedSettings, SendMessage};
use attache_session::SessionService;
use attache_wire::Version;
use http::Method;
use http::request::Parts;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use crate::auth::{Caller, RequestGuard};
use crate::card::{CardDocuments, PublicCard};
use crate::connection_origin::ConnectionOrigin;
use crate::handler::TaskForm;
use crate::http::Response;
use crate::live_tools::LiveTools;
use crate::metrics::Metrics;
use crate::open_requests::OpenRequests;
use crate::request_body::RequestBody;
use crate::{
    ServerOptions, card, framing, front_page, gemini_routes, grpc, jsonrpc, live_routes, metrics, rest,
    rest_api,
};

pub(crate) struct App {
    pub(crate) session: Arc<SessionService>,
    pub(crate) options: ServerOptions,
    pub(crate) guard: RequestGuard,
    pub(crate) cards: CardDocuments,
    pub(crate) metrics: Metrics,
    pub(crate) open_requests: OpenRequests,
    pub(crate) started: Instant,
    /// What clients have brought into sessions.
    pub(crate) live_tools: Arc<LiveTools>,
    /// The open WebSockets.
    pub(crate) sockets: TaskTracker,
    /// Ends the open streams.
    pub(crate) stop: CancellationToken,
    requests: AtomicU64,
}

impl App {
    /// The endpoint of one session has no other task: a message that names none goes to the session.
    pub(crate) fn address_to_session(&self, send: &mut SendMessage) {
        if send.message.task.is_none() {
            send.message.task.clone_from(&self.options.live_session);
        }
    }

    /// Prepares settings that a client requests: marks its servers on this machine, and keeps its key in memory only, under a
    /// name. Clients without the right to prompt, and refused requests, must not fill the memory for keys.
    pub(crate) fn take_settings(
        &self,
        requested: Option<&mut RequestedSettings>,
        origin: RequestOrigin,
    ) -> Option<OfferedKey> {
        let requested = requested?;
        if origin.is_local {
            requested.mark_local_client();
        }
        let key = requested.api_key.take().filter(|_| origin.caller.rights().prompt)?;
        let name = Uuid::new_v4().to_string();
        requested.api_key_name = Some(name.clone());
        Some(self.options.api_keys.offer(name, key))
    }

    pub(crate) fn new(
        session: Arc<SessionService>,
        options: ServerOptions,
        stop: CancellationToken,
    ) -> Arc<Self> {
        Arc::new(Self {
            guard: RequestGuard::new(&options),
            cards: CardDocuments::new(&options),
            metrics: Metrics::new(),
            open_requests: OpenRequests::new(&options.limits),
            started: Instant::now(),
            live_tools: LiveTools::new(),
            sockets: TaskTracker::new(),
            stop,
            requests: AtomicU64::new(1),
            session,
            options,
        })
    }

    pub(crate) fn next_request_number(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed)
    }
}

/// `outcome` of the request with `key`, which is forgotten if the request was refused.
pub(crate) fn unless_refused<T>(key: Option<OfferedKey>, outcome: Result<T, Fault>) -> Result<T, Fault> {
    if let (Some(key), Err(_)) = (key, &outcome) {
        key.refuse();
    }
    outcome
}

/// Where a request came from, and its number in the log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestOrigin {
    pub(crate) caller: Caller,
    pub(crate) number: u64,
    /// The client is on this machine, as far as the connection and the headers show.
    pub(crate) is_local: bool,
    pub(crate) connection: ConnectionOrigin,
    /// Where a task that this request opens puts its answers.
    pub(crate) answer_place: AnswerLocation,
}

/// There are few paths, so routing is one `match`, the busiest first.
pub(crate) async fn dispatch(
    app: &Arc<App>,
    head: &Parts,
    body: &mut RequestBody,
    origin: RequestOrigin,
) -> Response {
    if grpc::is_for(head) {
        return grpc::handle(app, head, body, origin).await;
    }
    let reads = matches!(head.method, Method::GET | Method::HEAD);
    match head.uri.path() {
        "/" if head.method == Method::POST => jsonrpc::handle(app, head, body, origin).await,
        "/" if front_page::is_for(head) => front_page::serve(app),
        jsonrpc::A2A_PATH if head.method == Method::POST => jsonrpc::handle(app, head, body, origin).await,
        "/" | jsonrpc::A2A_PATH => verb_not_allowed(head, "POST"),
        "/answers" if app.cards.has_answers() && head.method == Method::POST => {
            let origin = RequestOrigin { answer_place: AnswerLocation::StatusMessage, ..origin };
            jsonrpc::handle(app, head, body, origin).await
        }
        "/answers/.well-known/agent-card.json" | "/answers/.well-known/agent.json"
            if app.cards.has_answers() && reads =>
        {
            card::serve(app, head, PublicCard::Answers)
        }
        "/.well-known/agent-card.json" | "/.well-known/agent.json" if reads => {
            card::serve(app, head, PublicCard::Main)
        }
        "/.well-known/jwks.json" if reads && app.cards.are_signed() => card::serve_keys(app),
        "/metrics" if reads => metrics::serve(app).await,
        "/.well-known/agent-card.json" | "/.well-known/agent.json" | "/metrics" => {
            verb_not_allowed(head, "GET")
        }
        _ => {
            if let Some(route) = live_routes::find(app, head) {
                return live_routes::handle(app, route, head, body, origin).await;
            }
            if let Some(route) = gemini_routes::find(head) {
                return gemini_routes::handle(app, route, head, body, origin).await;
            }
            match rest_api::find(head) {
                Some(route) => rest_api::handle(app, route, head, body, origin).await,
                None => rest::handle(app, head, body, origin, TaskForm::A2a).await,
            }
        }
    }
}

pub(crate) fn verb_not_allowed(head: &Parts, allowed: &'static str) -> Response {
    let (path, method) = (head.uri.path().to_owned(), head.method.to_string());
    framing::rest_fault(Version::V1_0, &Fault::HttpMethodNotAllowed { path, method, allowed })
}
