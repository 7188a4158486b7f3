//! How failures are told: `error: …` with its causes, then a blank line and a hint.

use std::process::ExitCode;

use attache_config::ConfigError;

/// An error that comes with advice.
#[derive(Debug)]
pub(crate) struct Hinted {
    pub(crate) error: anyhow::Error,
    pub(crate) hint: String,
}

impl std::fmt::Display for Hinted {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:#}", self.error)
    }
}

impl std::error::Error for Hinted {}

pub(crate) fn hinted(error: impl Into<anyhow::Error>, hint: impl Into<String>) -> anyhow::Error {
    anyhow::Error::new(Hinted { error: error.into(), hint: hint.into() })
}

#[expect(clippy::print_stderr, reason = "stderr is where the binary talks to people")]
pub(crate) fn failure(error: &anyhow::Error) -> ExitCode {
    eprintln!("error: {error:#}");
    let hint = error.downcast_ref::<Hinted>().map(|hinted| hinted.hint.clone());
    let hint = hint.or_else(|| error.downcast_ref::<ConfigError>()?.hint().map(str::to_owned));
    if let Some(hint) = hint {
        eprintln!("\nhint: {hint}");
    }
    ExitCode::FAILURE
}
