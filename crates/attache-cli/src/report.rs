//! Prints errors: `error: …` with its causes, then a blank line and a hint.

use std::io;
use std::process::ExitCode;

use attache_config::ConfigError;

use crate::standard_streams::tell;

/// The exit code of a command line that cannot be used, the same as clap's.
pub const USAGE: u8 = 2;

/// An error with advice.
#[derive(Debug)]
pub struct ErrorWithHint {
    pub error: anyhow::Error,
    pub hint: String,
}

impl std::fmt::Display for ErrorWithHint {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:#}", self.error)
    }
}

impl std::error::Error for ErrorWithHint {}

/// Adds advice to an error.
pub fn with_hint(error: impl Into<anyhow::Error>, hint: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(ErrorWithHint { error: error.into(), hint: hint.into() })
}

/// A mistake in the command line that only the command itself can find.
#[derive(Debug)]
pub struct UsageError(pub &'static str);

impl std::fmt::Display for UsageError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.0)
    }
}

impl std::error::Error for UsageError {}

/// The command line cannot be used, whatever else is there.
fn is_usage(error: &anyhow::Error) -> bool {
    let hinted = error.downcast_ref::<ErrorWithHint>().map(|hinted| &hinted.error);
    hinted.unwrap_or(error).is::<UsageError>() || is_wrong_flag(error)
}

/// The reader of the output is gone, so nothing is left to do.
pub fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let of_io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let of_json = cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        of_io.or(of_json) == Some(io::ErrorKind::BrokenPipe)
    })
}

/// A flag has a value that it does not take.
pub fn is_wrong_flag(error: &anyhow::Error) -> bool {
    error.downcast_ref::<ConfigError>().is_some_and(ConfigError::is_about_flag)
}

/// The exit code of a result; a failure is printed.
pub fn end(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure(&error),
    }
}

/// Prints what is wrong with the command line, and returns the exit code for it.
pub fn usage(mistake: &str) -> ExitCode {
    tell(format_args!(
        "error: {mistake}\n\nhint: `attache --help` lists the commands; a prompt is said with -p, or in several words"
    ));
    ExitCode::from(USAGE)
}

/// Prints the error and returns its exit code. A closed output pipe is no error.
pub fn failure(error: &anyhow::Error) -> ExitCode {
    if is_broken_pipe(error) {
        return ExitCode::SUCCESS;
    }
    tell(format_args!("error: {error:#}"));
    let hint = error.downcast_ref::<ErrorWithHint>().map(|hinted| hinted.hint.clone());
    let hint = hint.or_else(|| error.downcast_ref::<ConfigError>()?.hint().map(str::to_owned));
    if let Some(hint) = hint {
        tell(format_args!("\nhint: {hint}"));
    }
    if is_usage(error) { ExitCode::from(USAGE) } else { ExitCode::FAILURE }
}
