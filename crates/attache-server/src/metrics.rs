//! `/metrics`, in the OpenMetrics text format.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use attache_domain::{Fault, OperationKind, TaskState};
use attache_wire::Version;
use http::{HeaderValue, header};

use crate::app::App;
use crate::connection_origin::Admission;
use crate::framing::BindingName;
use crate::http::{Body, Response};
use crate::log_limit::LogLimit;

const OPERATIONS: usize = OperationKind::ALL.len();
/// Binding, version, operation, outcome.
const CALLS: usize = BindingName::ALL.len() * Version::ALL.len() * OPERATIONS * 2;

pub(crate) struct Metrics {
    /// One counter for every kind of call, so that counting is one addition.
    calls: [AtomicU64; CALLS],
    streams: Arc<AtomicU64>,
    /// By admission.
    connections: [AtomicU64; 3],
    streams_refused: AtomicU64,
    /// By the reason of an abnormal end.
    ended: [AtomicU64; AbnormalEnd::ALL.len()],
    pub(crate) floods: LogLimit,
    pub(crate) accept_failures: LogLimit,
}

/// Why a connection ended abnormally.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AbnormalEnd {
    /// No request for too long.
    Idle,
    /// The client did not read.
    Stalled,
    /// Too many control frames.
    Flood,
    /// The client broke it off, or did not speak HTTP.
    Broken,
}

impl AbnormalEnd {
    const ALL: [(Self, &str); 4] =
        [(Self::Idle, "idle"), (Self::Stalled, "stalled"), (Self::Flood, "flood"), (Self::Broken, "broken")];
}

/// Lines about clients without credentials are logged at most this often.
const LOG_INTERVAL: Duration = Duration::from_secs(10);

/// Counts a stream for as long as it is held.
pub(crate) struct OpenStreamCount(Arc<AtomicU64>);

impl Drop for OpenStreamCount {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Metrics {
    pub(crate) fn new() -> Self {
        Self {
            calls: std::array::from_fn(|_| AtomicU64::new(0)),
            streams: Arc::default(),
            connections: Default::default(),
            streams_refused: AtomicU64::default(),
            ended: Default::default(),
            floods: LogLimit::new(LOG_INTERVAL),
            accept_failures: LogLimit::new(LOG_INTERVAL),
        }
    }

    pub(crate) fn count_call(
        &self,
        binding: BindingName,
        version: Version,
        operation: OperationKind,
        fault: Option<&Fault>,
    ) {
        self.calls[index(binding, version, operation, fault.is_some())].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn open_stream(&self) -> OpenStreamCount {
        self.streams.fetch_add(1, Ordering::Relaxed);
        OpenStreamCount(self.streams.clone())
    }

    pub(crate) fn count_connection(&self, admission: Admission) {
        self.connections[admission as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_refused_stream(&self) {
        self.streams_refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_abnormal_end(&self, why: AbnormalEnd) {
        self.ended[why as usize].fetch_add(1, Ordering::Relaxed);
    }

    fn write_connections(&self, text: &mut Text) {
        text.name("connections", "counter", "Connections accepted, by how much of the server they may use");
        for (count, admission) in self.connections.iter().zip(["open", "reserve", "over_limit"]) {
            text.labelled("connections_total", &[("admission", admission)], count.load(Ordering::Relaxed));
        }
        text.name("connections_ended", "counter", "Connections that did not end in peace, by why");
        for (why, reason) in AbnormalEnd::ALL {
            let count = self.ended[why as usize].load(Ordering::Relaxed);
            text.labelled("connections_ended_total", &[("reason", reason)], count);
        }
        let help = "Streams and waiting calls refused because of a limit";
        text.single("streams_refused", "counter", help, self.streams_refused.load(Ordering::Relaxed));
    }

    fn write_calls(&self, text: &mut Text) {
        text.name("calls", "counter", "Operations, by outcome");
        for binding in BindingName::ALL {
            for version in Version::ALL {
                for operation in OperationKind::ALL {
                    for (refused, outcome) in [(false, "ok"), (true, "refused")] {
                        let count = &self.calls[index(binding, version, operation, refused)];
                        let labels = [
                            ("binding", binding.as_str()),
                            ("version", version.as_str()),
                            ("operation", operation.name()),
                            ("outcome", outcome),
                        ];
                        text.labelled("calls_total", &labels, count.load(Ordering::Relaxed));
                    }
                }
            }
        }
    }
}

fn index(binding: BindingName, version: Version, operation: OperationKind, refused: bool) -> usize {
    let version = usize::from(version == Version::V1_0);
    ((binding as usize * Version::ALL.len() + version) * OPERATIONS + operation as usize) * 2
        + usize::from(refused)
}

pub(crate) async fn serve(app: &App) -> Response {
    let is_writable = app.session.probe_store().await.is_none();
    let mut text = Text::default();
    app.metrics.write_calls(&mut text);
    text.single(
        "open_streams",
        "gauge",
        "Event streams being read",
        app.metrics.streams.load(Ordering::Relaxed),
    );
    app.metrics.write_connections(&mut text);
    write_session(app, is_writable, &mut text);
    text.0.push_str("# EOF\n");
    let mut response = Response::new(Body::from(text.0));
    let media_type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response
}

/// Writes the session's own counters.
fn write_session(app: &App, store_is_writable: bool, text: &mut Text) {
    let now = app.session.counters().snapshot();
    text.single("tasks_opened", "counter", "Tasks opened since the start", now.tasks_opened);
    text.single("tasks_running", "gauge", "Tasks being worked on", now.tasks_running);
    text.single("tasks_recovered", "counter", "Tasks taken up again at the start", now.tasks_recovered);
    text.single("events_appended", "counter", "Events made durable since the start", now.events_appended);
    let help = "Tasks whose work waits because it cannot be recorded";
    text.single("tasks_waiting_for_store", "gauge", help, now.tasks_waiting_for_store);
    text.single("store_failures", "counter", "Writes the store refused for a while", now.store_failures);
    let help =
        "Whether the store can be written (1) or not (0); tried when nothing was written for ten seconds";
    text.single("store_writable", "gauge", help, u64::from(store_is_writable));
    let help = "Tasks found unreadable since the start; they are shown as failed";
    text.single("tasks_unreadable", "gauge", help, now.tasks_unreadable);
    let help = "Reads that met an unreadable task or row";
    text.single("unreadable_reads", "counter", help, now.unreadable_reads);
    let store = app.session.store_status();
    let help = "Rows of the store found unreadable since the start, apart from the logs of tasks";
    text.single("store_unreadable_rows", "gauge", help, store.unreadable_rows);
    let help = "Warnings of the store about its own past; the health page tells them";
    text.single("store_warnings", "gauge", help, store.warnings.len() as u64);
    text.single("push_delivered", "counter", "Push notifications taken", now.push_delivered);
    text.single("push_failed", "counter", "Tries of push notifications that failed", now.push_failed);
    text.single("push_gave_up", "counter", "Push configurations given up", now.push_gave_up);
    let outbox = app.session.outbox_stats();
    text.single("push_active", "gauge", "Push configurations with something to tell", outbox.active);
    text.single("push_waiting", "gauge", "Those of them that wait after a failure", outbox.waiting);
    let lag = "How old the oldest event is that is being told, in milliseconds";
    text.single("push_lag_milliseconds", "gauge", lag, outbox.lag_millis);
    text.name("tasks_settled", "counter", "How often a task came to rest, by state");
    for (state, count) in now.tasks_settled {
        text.labelled("tasks_settled_total", &[("state", state_name(state))], count);
    }
}

/// Lines of the text format. Writing to a string cannot fail.
#[derive(Default)]
struct Text(String);

impl Text {
    fn name(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP attache_{name} {help}.\n# TYPE attache_{name} {kind}");
    }

    fn single(&mut self, name: &str, kind: &str, help: &str, value: u64) {
        self.name(name, kind, help);
        let total = if kind == "counter" { "_total" } else { "" };
        let _ = writeln!(self.0, "attache_{name}{total} {value}");
    }

    fn labelled(&mut self, name: &str, labels: &[(&str, &str)], value: u64) {
        let labels: Vec<_> = labels.iter().map(|(name, value)| format!("{name}=\"{value}\"")).collect();
        let _ = writeln!(self.0, "attache_{name}{{{}}} {value}", labels.join(","));
    }
}

fn state_name(state: TaskState) -> &'static str {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_call_has_a_counter_of_its_own() {
        let mut places = Vec::new();
        for binding in BindingName::ALL {
            for version in Version::ALL {
                for operation in OperationKind::ALL {
                    places.extend([false, true].map(|refused| index(binding, version, operation, refused)));
                }
            }
        }
        places.sort_unstable();
        assert_eq!(places, (0..CALLS).collect::<Vec<_>>());
    }
}
