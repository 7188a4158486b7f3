//! The three formats, told the same things.

use std::io;

use super::arguments::OutputFormat;
use super::failure::Failure;
use super::json::JsonOutput;
use super::output_event::OutputEvent;
use super::stats::Stats;
use super::stream_json::StreamJsonOutput;
use super::text::TextOutput;

/// An error is one of writing: nobody reads any more.
pub(crate) trait RunOutput {
    /// The work begins.
    fn begin(&mut self, model: &str, prompt: &str) -> io::Result<()>;

    fn show(&mut self, act: &OutputEvent<'_>) -> io::Result<()>;

    /// The work is over, or never began.
    fn end(&mut self, ending: &RunSummary<'_>) -> io::Result<()>;
}

pub(crate) struct RunSummary<'a> {
    pub(crate) result: Result<(), &'a Failure>,
    /// The whole answer, as it counts.
    pub(crate) response: &'a str,
    pub(crate) stats: &'a Stats,
}

pub(crate) fn output(format: OutputFormat, session: &str) -> Box<dyn RunOutput> {
    match format {
        OutputFormat::Text => Box::new(TextOutput::default()),
        OutputFormat::Json => Box::new(JsonOutput::new(session)),
        OutputFormat::StreamJson => Box::new(StreamJsonOutput::new(session)),
    }
}
