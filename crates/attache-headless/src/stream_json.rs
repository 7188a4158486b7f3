//! The format `stream-json`: one JSON object per line, as events happen.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Instant;

use attache_domain::{CallOutcome, Content, FinishedCall, Timestamp, quoted};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::output::{RunOutput, RunSummary};
use crate::output_event::OutputEvent;
use crate::stats::{Stats, TokenStats};

#[derive(Debug)]
pub(crate) struct StreamJsonOutput {
    session: String,
    began: Instant,
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    what: LineBody<'a>,
    timestamp: String,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum LineBody<'a> {
    Init {
        session_id: &'a str,
        model: &'a str,
    },
    Message {
        role: &'static str,
        content: &'a str,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        delta: bool,
    },
    ToolUse {
        tool_name: &'a str,
        tool_id: &'a str,
        parameters: &'a Map<String, Value>,
    },
    ToolResult {
        tool_id: &'a str,
        status: Status,
        #[serde(skip_serializing_if = "Option::is_none")]
        output: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<Error<'a>>,
    },
    Error {
        severity: &'static str,
        message: &'a str,
    },
    Result {
        status: Status,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<Error<'a>>,
        stats: Totals,
    },
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Success,
    Error,
}

#[derive(Serialize)]
struct Error<'a> {
    r#type: &'a str,
    message: String,
}

#[derive(Serialize, Default)]
struct Totals {
    #[serde(flatten)]
    tokens: Tokens,
    duration_ms: u64,
    tool_calls: u64,
    models: BTreeMap<String, Tokens>,
}

#[derive(Serialize, Default)]
struct Tokens {
    total_tokens: u64,
    input_tokens: u64,
    output_tokens: u64,
    cached: u64,
    input: u64,
}

impl StreamJsonOutput {
    pub(crate) fn new(session: &str) -> Self {
        Self { session: session.to_owned(), began: Instant::now() }
    }
}

impl RunOutput for StreamJsonOutput {
    fn begin(&mut self, model: &str, prompt: &str) -> io::Result<()> {
        print(LineBody::Init { session_id: &self.session, model })?;
        print(LineBody::Message { role: "user", content: prompt, delta: false })
    }

    fn show(&mut self, event: &OutputEvent<'_>) -> io::Result<()> {
        print(match event {
            OutputEvent::Text(text) => LineBody::Message { role: "assistant", content: text, delta: true },
            OutputEvent::Withdrawn => LineBody::Error {
                severity: "warning",
                message: "the answer was cut off; the pieces of it so far do not count",
            },
            OutputEvent::ToolUse(call) => {
                LineBody::ToolUse { tool_name: &call.name, tool_id: &call.id.0, parameters: &call.input }
            }
            OutputEvent::ToolResult(finished, live) => result(finished, live),
            OutputEvent::Warning(text) => LineBody::Error { severity: "warning", message: text },
        })
    }

    fn end(&mut self, ending: &RunSummary<'_>) -> io::Result<()> {
        if let Err(failure) = ending.result {
            print(LineBody::Error { severity: "error", message: &failure.message })?;
        }
        let duration = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        print(LineBody::Result {
            status: if ending.result.is_ok() { Status::Success } else { Status::Error },
            error: ending
                .result
                .err()
                .map(|failure| Error { r#type: failure.kind.name(), message: failure.message.clone() }),
            stats: totals(ending.stats, duration),
        })
    }
}

fn print(what: LineBody<'_>) -> io::Result<()> {
    let mut line = serde_json::to_vec(&Line { what, timestamp: rfc3339(Timestamp::now()) })?;
    line.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}

/// Always to the millisecond, so that times in the order of their letters are in order.
fn rfc3339(time: Timestamp) -> String {
    format!("{time:.3}")
}

/// A command's output is what it has shown; its summary only tells how it ended.
fn result<'a>(finished: &'a FinishedCall, live: &str) -> LineBody<'a> {
    let said = || {
        let texts = finished.output.iter().filter_map(|content| match content {
            Content::Text(text) => Some(quoted(text)),
            _ => None,
        });
        match (live.trim_end(), finished.summary.as_str()) {
            ("", "") => texts.collect::<Vec<_>>().join("\n"),
            ("", summary) => summary.to_owned(),
            (live, summary) if repeats(live, summary) => live.to_owned(),
            (live, summary) => format!("{live}\n\n{summary}").trim_end().to_owned(),
        }
    };
    let tool_id = &finished.call.0;
    let kind = match &finished.outcome {
        CallOutcome::Succeeded => {
            let output = Some(said()).filter(|output| !output.is_empty());
            return LineBody::ToolResult { tool_id, status: Status::Success, output, error: None };
        }
        CallOutcome::Failed { kind } => kind.as_str(),
        CallOutcome::Canceled => "cancelled",
        CallOutcome::Unknown => "unknown",
    };
    let error = Some(Error { r#type: kind, message: said() });
    LineBody::ToolResult { tool_id, status: Status::Error, output: None, error }
}

/// The summary of an agent's call is the beginning of what the agent said.
fn repeats(live: &str, summary: &str) -> bool {
    let mut lines = summary.lines().map(|line| line.trim_end_matches('…').trim());
    lines.all(|line| line.starts_with("Artifact (") || live.contains(line))
}

fn totals(stats: &Stats, duration_ms: u64) -> Totals {
    let mut totals = Totals { duration_ms, tool_calls: stats.tools.total_calls, ..Totals::default() };
    for (name, model) in &stats.models {
        totals.tokens.add(&model.tokens);
        totals.models.entry(name.clone()).or_default().add(&model.tokens);
    }
    totals
}

impl Tokens {
    fn add(&mut self, tokens: &TokenStats) {
        self.total_tokens += tokens.total;
        self.input_tokens += tokens.prompt;
        self.output_tokens += tokens.candidates;
        self.cached += tokens.cached;
        self.input += tokens.input;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(nanoseconds: i128, expected: &str) {
        assert_eq!(rfc3339(Timestamp::from_nanosecond(nanoseconds).unwrap()), expected);
    }

    #[test]
    fn every_time_has_its_milliseconds() {
        check(0, "1970-01-01T00:00:00.000Z");
        check(470_000_000, "1970-01-01T00:00:00.470Z");
        check(471_999_999, "1970-01-01T00:00:00.471Z");
    }
}
