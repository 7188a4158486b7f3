//! The three output formats behind one interface.

use std::io;

use clap::ValueEnum;

use crate::failure::RunFailure;
use crate::json::JsonOutput;
use crate::output_event::OutputEvent;
use crate::stats::Stats;
use crate::stream_json::StreamJsonOutput;
use crate::text::TextOutput;

/// An error comes from writing: the reader has gone.
pub trait RunOutput {
    /// The work begins.
    fn begin(&mut self, model: &str, prompt: &str) -> io::Result<()>;

    fn show(&mut self, event: &OutputEvent<'_>) -> io::Result<()>;

    /// The work is over, or never began.
    fn end(&mut self, ending: &RunSummary<'_>) -> io::Result<()>;
}

pub struct RunSummary<'a> {
    pub result: Result<(), &'a RunFailure>,
    /// The whole answer, as it counts.
    pub response: &'a str,
    pub stats: &'a Stats,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// The answer, and nothing else
    Text,
    /// One object at the end
    Json,
    /// An object a line, as things happen
    StreamJson,
}

/// The output in a format. `session` is the id that the JSON formats show.
pub fn output(format: OutputFormat, session: &str) -> Box<dyn RunOutput> {
    match format {
        OutputFormat::Text => Box::new(TextOutput::default()),
        OutputFormat::Json => Box::new(JsonOutput::new(session)),
        OutputFormat::StreamJson => Box::new(StreamJsonOutput::new(session)),
    }
}
