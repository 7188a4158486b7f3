//! A model that costs almost nothing: it sends planned answers in Gemini's format immediately, and does not parse
//! requests.
//!
//! `GET /plan?…` sets the plan for the next answers, `GET /seen` returns the counts of requests since then. Requests are
//! searched for a few words instead of being parsed, so that only attache slows down long conversations.

mod answer_plan;
mod events;
mod request_counts;

use std::io::Write;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::Context;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Query, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use axum::{Json, Router};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use tokio::net::TcpListener;

pub(crate) use events::answer_text;

use answer_plan::{AnswerPlan, PlannedAnswer};
use events::Events;
use request_counts::RequestCounts;

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Port on 127.0.0.1; 0 picks a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
}

pub(crate) fn run(options: Options) -> anyhow::Result<()> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await?;
        let address = listener.local_addr()?;
        writeln!(std::io::stdout(), "the model is listening on http://{address}")?;
        serve(listener).await
    })
}

/// Serves until the process ends.
pub(crate) async fn serve(listener: TcpListener) -> anyhow::Result<()> {
    let router = Router::new()
        .route("/plan", get(new_plan))
        .route("/seen", get(seen))
        .route("/v1beta/models/{model}", post(answer))
        .layer(DefaultBodyLimit::disable())
        .with_state(Model::default());
    let listener = listener.tap_io(|socket| {
        // Without it the second small write of an answer may wait 40 ms; not worth refusing a connection over.
        let _ = socket.set_nodelay(true);
    });
    axum::serve(listener, router).await.context("the model stopped")
}

#[derive(Clone, Default)]
struct Model(Arc<Mutex<ModelState>>);

/// The plan, and the requests since then.
#[derive(Default)]
struct ModelState {
    plan: AnswerPlan,
    text: Events,
    seen: RequestCounts,
}

impl Model {
    fn state(&self) -> MutexGuard<'_, ModelState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ModelState {
    /// The answer to `body`, and the pause between its events.
    fn answer(&mut self, body: &[u8]) -> (Events, Duration) {
        let Self { plan, text, seen } = self;
        let tokens = plan.tokens_of(body.len());
        let events = match plan.answer(seen.take(body, plan)) {
            PlannedAnswer::Text => text.counting(tokens),
            PlannedAnswer::Calls(calls) => {
                seen.answered_with_calls();
                Events::calls(&calls, tokens)
            }
            PlannedAnswer::Summary => Events::summary(tokens),
        };
        (events, Duration::from_millis(plan.interval_ms))
    }
}

async fn new_plan(State(model): State<Model>, Query(plan): Query<AnswerPlan>) -> &'static str {
    let text = Events::text(plan.chunks);
    *model.state() = ModelState { plan, text, seen: RequestCounts::default() };
    "as you wish\n"
}

async fn seen(State(model): State<Model>) -> Json<RequestCounts> {
    Json(model.state().seen.clone())
}

async fn answer(State(model): State<Model>, body: Bytes) -> Response {
    let (events, interval) = model.state().answer(&body);
    let body = if interval.is_zero() { at_once(events) } else { paced(events, interval) };
    ([(CONTENT_TYPE, "text/event-stream")], body).into_response()
}

/// As fast as the reader reads.
fn at_once(events: Events) -> Body {
    Body::from_stream(stream::iter(events).map(Ok::<_, std::io::Error>))
}

/// One event at a time, with pauses.
fn paced(events: Events, interval: Duration) -> Body {
    let events = stream::iter(events).then(move |event| async move {
        tokio::time::sleep(interval).await;
        Ok::<_, std::io::Error>(event)
    });
    Body::from_stream(events)
}
