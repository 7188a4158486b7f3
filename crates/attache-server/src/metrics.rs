//! Numbers for Prometheus.

use std::fmt::Write as _;
use std::sync::atomic::AtomicI64;

use attache_domain::{Fault, OperationKind, TaskState};
use attache_wire::Version;
use http::{HeaderValue, header};
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, LabelSetEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::app::App;
use crate::http::{Body, Response};

pub(crate) struct Metrics {
    registry: Registry,
    calls: Family<CallLabels, Counter>,
    streams: Gauge<i64, AtomicI64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct CallLabels {
    binding: &'static str,
    version: Version,
    operation: OperationKind,
    refused: bool,
}

impl EncodeLabelSet for CallLabels {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> Result<(), std::fmt::Error> {
        let outcome = if self.refused { "refused" } else { "ok" };
        let labels = [
            ("binding", self.binding),
            ("version", self.version.as_str()),
            ("operation", self.operation.name()),
            ("outcome", outcome),
        ];
        labels.encode(encoder)
    }
}

/// Counts a stream for as long as it is held.
pub(crate) struct OpenStream(Gauge<i64, AtomicI64>);

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("attache");
        let calls = Family::<CallLabels, Counter>::default();
        registry.register("calls", "Operations asked for, by what became of them", calls.clone());
        let streams = Gauge::default();
        registry.register("open_streams", "Event streams being read", streams.clone());
        Self { registry, calls, streams }
    }

    pub(crate) fn called(
        &self,
        binding: &'static str,
        version: Version,
        operation: OperationKind,
        fault: Option<&Fault>,
    ) {
        let labels = CallLabels { binding, version, operation, refused: fault.is_some() };
        self.calls.get_or_create(&labels).inc();
    }

    pub(crate) fn open_stream(&self) -> OpenStream {
        self.streams.inc();
        OpenStream(self.streams.clone())
    }
}

pub(crate) fn serve(app: &App) -> Response {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = encode(&mut text, &app.metrics.registry);
    let session = session_numbers(app);
    // The end mark comes last, after the session's own numbers.
    let text = match text.strip_suffix("# EOF\n") {
        Some(head) => format!("{head}{session}# EOF\n"),
        None => text + &session,
    };
    let mut response = Response::new(Body::from(text));
    let media_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// The session counts for itself; here its numbers only get names.
fn session_numbers(app: &App) -> String {
    let now = app.session.counters().now();
    let mut text = String::new();
    let mut single = |name: &str, help: &str, kind: &str, value: u64| {
        let total = if kind == "counter" { "_total" } else { "" };
        let _ = writeln!(text, "# HELP attache_{name} {help}.");
        let _ = writeln!(text, "# TYPE attache_{name} {kind}");
        let _ = writeln!(text, "attache_{name}{total} {value}");
    };
    single("tasks_opened", "Tasks opened since the start", "counter", now.tasks_opened);
    single("tasks_running", "Tasks being worked on", "gauge", now.tasks_running);
    single("tasks_recovered", "Tasks taken up again at the start", "counter", now.tasks_recovered);
    single("events_appended", "Events made durable since the start", "counter", now.events_appended);
    single("store_failures", "Writes the store refused for a while", "counter", now.store_failures);
    let _ = writeln!(text, "# HELP attache_tasks_settled How often a task came to rest, by state.");
    let _ = writeln!(text, "# TYPE attache_tasks_settled counter");
    for (state, count) in now.tasks_settled {
        let _ = writeln!(text, "attache_tasks_settled_total{{state=\"{}\"}} {count}", spell(state));
    }
    text
}

fn spell(state: TaskState) -> &'static str {
    match state {
        TaskState::Submitted => "submitted",
        TaskState::Working => "working",
        TaskState::Completed => "completed",
        TaskState::Failed => "failed",
        TaskState::Canceled => "canceled",
        TaskState::InputRequired => "input_required",
        TaskState::Rejected => "rejected",
        TaskState::AuthRequired => "auth_required",
    }
}
