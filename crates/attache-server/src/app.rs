//! What all handlers share, and which of them serves which path.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use attache_domain::Fault;
use attache_session::SessionService;
use attache_wire::Version;
use http::Method;
use tokio_util::sync::CancellationToken;

use crate::auth::{Caller, Gate};
use crate::card::CardDocuments;
use crate::http::{Request, Response};
use crate::metrics::Metrics;
use crate::{ServerOptions, card, framing, gemini_routes, grpc, health, jsonrpc, metrics, rest};

pub(crate) struct App {
    pub(crate) session: Arc<SessionService>,
    pub(crate) options: ServerOptions,
    pub(crate) gate: Gate,
    pub(crate) cards: CardDocuments,
    pub(crate) grpc_cards: grpc::Cards,
    pub(crate) metrics: Metrics,
    pub(crate) started: Instant,
    /// Ends the open streams.
    pub(crate) stop: CancellationToken,
    requests: AtomicU64,
}

impl App {
    pub(crate) fn new(
        session: Arc<SessionService>,
        options: ServerOptions,
        stop: CancellationToken,
    ) -> Arc<Self> {
        Arc::new(Self {
            gate: Gate::new(&options),
            cards: CardDocuments::new(&options),
            grpc_cards: grpc::Cards::default(),
            metrics: Metrics::new(),
            started: Instant::now(),
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

/// Where a request came from and under which number it is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Admitted {
    pub(crate) caller: Caller,
    pub(crate) number: u64,
}

/// Few paths, and the busiest first: a comparison or two is all the routing there is.
pub(crate) async fn dispatch(app: &Arc<App>, request: Request, admitted: Admitted) -> Response {
    if grpc::is_for(&request) {
        return grpc::handle(app, request, admitted).await;
    }
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    match request.uri().path() {
        "/" if request.method() == Method::POST => jsonrpc::handle(app, request, admitted).await,
        "/" => verb_not_allowed(&request, "POST"),
        "/.well-known/agent-card.json" | "/.well-known/agent.json" if reads => card::serve(app, &request),
        "/.well-known/jwks.json" if reads && app.cards.are_signed() => card::serve_keys(app),
        "/health" if reads => health::serve(app).await,
        "/metrics" if reads => metrics::serve(app),
        "/.well-known/agent-card.json" | "/.well-known/agent.json" | "/health" | "/metrics" => {
            verb_not_allowed(&request, "GET")
        }
        path => match gemini_routes::find(path) {
            Some(route) => gemini_routes::handle(app, route, request, admitted).await,
            None => rest::handle(app, request, admitted).await,
        },
    }
}

fn verb_not_allowed(request: &Request, allowed: &'static str) -> Response {
    let (path, method) = (request.uri().path().to_owned(), request.method().to_string());
    framing::rest_fault(Version::V1_0, &Fault::VerbNotAllowed { path, method, allowed })
}
