//! One run of the load generator, and what the server spent on it.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::Value;

use super::server::Server;
use crate::process;

/// What one run of the generator reported, and the server's CPU meanwhile.
#[derive(Debug, Clone)]
pub(super) struct Measurement {
    pub(super) report: Value,
    pub(super) server_cpu: f64,
}

impl Measurement {
    /// A number of the report by its path, as in `latency/p99_us`; zero when it is not there.
    pub(super) fn number(&self, path: &str) -> f64 {
        self.report.pointer(&format!("/{path}")).and_then(Value::as_f64).unwrap_or_default()
    }

    /// Microseconds of server CPU for each of what `count` counts.
    pub(super) fn cpu_micros_per(&self, count: &str) -> f64 {
        self.server_cpu * 1e6 / self.number(count).max(1.0)
    }

    /// How many of what `count` counts were done each second.
    pub(super) fn per_second(&self, count: &str) -> f64 {
        self.number(count) / self.number("elapsed_seconds").max(1e-9)
    }

    /// The generator's own CPU, as a share of one core.
    pub(super) fn load_share(&self) -> f64 {
        self.number("load_cpu_seconds") / self.number("elapsed_seconds").max(1e-9)
    }

    /// Nothing lost, nothing twice, every stream as long as it had to be.
    pub(super) fn every_event_came_once(&self) -> bool {
        let bad = ["errors", "missing_events", "repeated_events", "events_without_id"];
        bad.iter().all(|kind| self.number(kind) == 0.0) && self.number("events") > 0.0
    }
}

/// Puts the load on `server` and fails if any answer was wrong: a fast error is no figure.
pub(super) fn measure(generator: &Path, server: &Server, arguments: &[&str]) -> Result<Measurement, String> {
    let measured = attempt(generator, server, arguments)?;
    let report = &measured.report;
    if measured.number("errors") > 0.0 {
        return Err(format!("`load {}` met errors: {report}", arguments.join(" ")));
    }
    for done in ["requests", "streams"] {
        if report[done].is_number() && report["requested"].is_number() && report[done] != report["requested"]
        {
            return Err(format!("`load {}` ran out of time: {report}", arguments.join(" ")));
        }
    }
    Ok(measured)
}

/// The same, with errors left in the report.
pub(super) fn attempt(generator: &Path, server: &Server, arguments: &[&str]) -> Result<Measurement, String> {
    let before = server.cpu_seconds()?;
    let text = process::stdout_of(&mut command(generator, server, arguments))?;
    let server_cpu = server.cpu_seconds()? - before;
    Ok(Measurement { report: parse(&text)?, server_cpu })
}

/// A generator that holds its streams until it is dropped.
pub(super) struct HeldLoad {
    child: Child,
    _stdout: BufReader<ChildStdout>,
    pub(super) report: Value,
}

/// Returns once all streams stand.
pub(super) fn hold(generator: &Path, server: &Server, arguments: &[&str]) -> Result<HeldLoad, String> {
    let mut command = command(generator, server, arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = command.spawn().map_err(|error| format!("the load generator: {error}"))?;
    let stdout = child.stdout.take().ok_or("the load generator has no standard output")?;
    let mut stdout = BufReader::new(stdout);
    let mut line = String::new();
    stdout.read_line(&mut line).map_err(|error| format!("the load generator: {error}"))?;
    let mut held = HeldLoad { child, _stdout: stdout, report: Value::Null };
    held.report = parse(&line)?;
    Ok(held)
}

impl Drop for HeldLoad {
    fn drop(&mut self) {
        // A closed input ends it; the kill is for a process that does not end.
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Through a shell, because only a shell can raise the limit of open files without a system call of ours.
fn command(generator: &Path, server: &Server, arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n \"$(ulimit -Hn)\"; exec \"$0\" \"$@\""]).arg(generator);
    command.args(["load", "--url", &server.url]).args(arguments);
    command
}

fn parse(text: &str) -> Result<Value, String> {
    serde_json::from_str(text)
        .map_err(|error| format!("the load generator printed `{}`: {error}", text.trim()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cost_and_rate_follow_from_the_report() {
        let report = json!({
            "requests": 2000, "elapsed_seconds": 0.5, "load_cpu_seconds": 0.25, "latency": { "p99_us": 900 },
        });
        let measured = Measurement { report, server_cpu: 0.1 };
        assert_eq!(measured.cpu_micros_per("requests"), 50.0);
        assert_eq!(measured.per_second("requests"), 4000.0);
        assert_eq!(measured.load_share(), 0.5);
        assert_eq!(measured.number("latency/p99_us"), 900.0);
        assert_eq!(measured.number("latency/absent"), 0.0);
    }

    #[test]
    fn a_hole_a_repeat_or_silence_is_not_every_event_once() {
        for (report, expected) in [
            (json!({ "events": 5, "errors": 0 }), true),
            (json!({ "events": 5, "missing_events": 1 }), false),
            (json!({ "events": 5, "repeated_events": 1 }), false),
            (json!({ "events": 0 }), false),
        ] {
            let measured = Measurement { report: report.clone(), server_cpu: 0.0 };
            assert_eq!(measured.every_event_came_once(), expected, "{report}");
        }
    }
}
