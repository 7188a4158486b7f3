//! The three formats, told the same things.

use std::io;

use super::act::Act;
use super::arguments::OutputFormat;
use super::failure::Failure;
use super::json::JsonOutput;
use super::stream_json::StreamJsonOutput;
use super::tally::Stats;
use super::text::TextOutput;

/// An error is one of writing: nobody reads any more.
pub(crate) trait Output {
    /// The work begins.
    fn begin(&mut self, model: &str, prompt: &str) -> io::Result<()>;

    fn show(&mut self, act: &Act<'_>) -> io::Result<()>;

    /// The work is over, or never began.
    fn end(&mut self, ending: &Ending<'_>) -> io::Result<()>;
}

pub(crate) struct Ending<'a> {
    pub(crate) result: Result<(), &'a Failure>,
    /// The whole answer, as it counts.
    pub(crate) response: &'a str,
    pub(crate) stats: &'a Stats,
}

pub(crate) fn output(format: OutputFormat, session: &str) -> Box<dyn Output> {
    match format {
        OutputFormat::Text => Box::new(TextOutput::default()),
        OutputFormat::Json => Box::new(JsonOutput::new(session)),
        OutputFormat::StreamJson => Box::new(StreamJsonOutput::new(session)),
    }
}
