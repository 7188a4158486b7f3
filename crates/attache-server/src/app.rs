//! What all handlers share, and which handler serves which path.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use attache_domain::Fault;
use attache_session::SessionService;
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use tokio_util::sync::CancellationToken;

use crate::auth::Gate;
use crate::card::CardDocuments;
use crate::metrics::Metrics;
use crate::{ServerOptions, card, guard, health, jsonrpc, metrics, rest};

pub(crate) struct App {
    pub(crate) session: Arc<SessionService>,
    pub(crate) options: ServerOptions,
    pub(crate) gate: Gate,
    pub(crate) cards: CardDocuments,
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
            cards: CardDocuments::new(&options.card, options.card_max_age),
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

    /// Of the extensions a client asks for, those this agent has; refuses when a required one is not asked for.
    pub(crate) fn activate(&self, requested: &[String]) -> Result<Vec<String>, Fault> {
        let declared = &self.options.card.capabilities.extensions;
        if let Some(missing) =
            declared.iter().find(|extension| extension.required && !requested.contains(&extension.uri))
        {
            return Err(Fault::ExtensionRequired { uri: missing.uri.clone() });
        }
        Ok(requested
            .iter()
            .filter(|uri| declared.iter().any(|extension| extension.uri == **uri))
            .cloned()
            .collect())
    }
}

pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", post(jsonrpc::handle))
        .route("/.well-known/agent-card.json", get(card::serve))
        .route("/.well-known/agent.json", get(card::serve))
        .route("/health", get(health::serve))
        .route("/metrics", get(metrics::serve))
        .fallback(rest::handle)
        .layer(from_fn_with_state(app.clone(), guard::admit))
        .with_state(app)
}
