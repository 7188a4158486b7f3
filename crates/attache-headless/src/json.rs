//! The format `json`: one JSON object at the end.

use std::io::{self, Write};

use attache_domain::terminal_safe;
use serde::Serialize;

use crate::output::{RunOutput, RunSummary};
use crate::output_event::OutputEvent;
use crate::stats::Stats;

#[derive(Debug)]
pub(crate) struct JsonOutput {
    session: String,
    warnings: Vec<String>,
}

/// Of all that is said about the work.
const MAX_WARNINGS: usize = 100;

#[derive(Serialize)]
struct Document<'a> {
    session_id: &'a str,
    response: String,
    stats: &'a Stats,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Error<'a>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
}

#[derive(Serialize)]
struct Error<'a> {
    r#type: &'a str,
    message: &'a str,
    code: u8,
}

impl JsonOutput {
    pub(crate) fn new(session: &str) -> Self {
        Self { session: session.to_owned(), warnings: Vec::new() }
    }
}

impl RunOutput for JsonOutput {
    fn begin(&mut self, _model: &str, _prompt: &str) -> io::Result<()> {
        Ok(())
    }

    fn show(&mut self, event: &OutputEvent<'_>) -> io::Result<()> {
        if let OutputEvent::Warning(text) = event
            && self.warnings.len() < MAX_WARNINGS
        {
            self.warnings.push(text.clone());
        }
        Ok(())
    }

    fn end(&mut self, ending: &RunSummary<'_>) -> io::Result<()> {
        let error = ending.result.err().map(|failure| Error {
            r#type: failure.kind.name(),
            message: &failure.message,
            code: failure.kind.code(),
        });
        let document = Document {
            session_id: &self.session,
            response: terminal_safe(ending.response).into_owned(),
            stats: ending.stats,
            error,
            warnings: &self.warnings,
        };
        let mut out = io::stdout().lock();
        serde_json::to_writer_pretty(&mut out, &document)?;
        writeln!(out)?;
        out.flush()
    }
}
