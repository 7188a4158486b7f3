//! Logs go to stderr, as text for people or as JSON for machines; warnings and errors to the live endpoint, too.

mod console;
mod redact;

use std::io::{self, IsTerminal};

use anyhow::Context;
use attache_cli::report::with_hint;
use attache_config::{LogFormat, LogSettings};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer, fmt, registry};

pub(crate) use self::console::open as open_console;

pub(crate) fn start(settings: &LogSettings, colour: bool) -> anyhow::Result<()> {
    // The MCP library logs what servers say, and that is none of the log's business unless somebody asks for it. The
    // HTTP/2 library warns of frames that anybody may send by the thousand before a word of authentication; the server
    // counts such connections itself.
    let filter = EnvFilter::try_new(format!("rmcp=off,h2=error,{}", settings.filter))
        .with_context(|| format!("{:?} is not a log filter", settings.filter))
        .map_err(|error| with_hint(error, "say --log info, or --log attache_server=debug"))?;
    // A log that nobody reads is lost. Telling so would fail as well, and end whatever was about to be logged.
    let lines = fmt::layer().with_writer(io::stderr).log_internal_errors(false);
    let lines = match settings.format {
        LogFormat::Text => lines.with_ansi(colour && io::stderr().is_terminal()).boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    let started = registry().with(filter).with(lines).with(console::ConsoleLayer).try_init();
    started.map_err(|error| anyhow::anyhow!("logging cannot start: {error}"))
}
