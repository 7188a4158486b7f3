//! Logs go to stderr, as text for people or as JSON for machines; during a session at the terminal, to its screen. Warnings
//! and errors go to the live endpoint, too.

mod console;
mod screen;

use std::io::{self, IsTerminal};

use anyhow::Context;
use attache_cli::report::with_hint;
use attache_config::{LogFormat, LogSettings};
use tokio::sync::mpsc;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::{Layered, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, Registry, fmt, registry};

pub(crate) use self::console::open as open_console;
pub(crate) use self::screen::MAX_SCREEN_LINES;

pub(crate) fn start(settings: &LogSettings, colour: bool) -> anyhow::Result<()> {
    let lines = fmt::layer().with_writer(io::stderr);
    start_with(
        settings,
        match settings.format {
            // A log without a reader is lost. An error about that would fail to be written as well.
            LogFormat::Text => {
                lines.log_internal_errors(false).with_ansi(colour && io::stderr().is_terminal()).boxed()
            }
            LogFormat::Json => lines.log_internal_errors(false).json().flatten_event(true).boxed(),
        },
    )
}

/// Logs warnings and errors to stderr in the form that other messages of a run have.
pub(crate) fn start_for_people(settings: &LogSettings) -> anyhow::Result<()> {
    let lines = fmt::layer().with_writer(io::stderr).log_internal_errors(false).with_ansi(false);
    start_with(settings, lines.event_format(PlainLines).boxed())
}

/// `[WARNING] …`
struct PlainLines;

impl<S, N> FormatEvent<S, N> for PlainLines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> std::fmt::Result {
        let level = match *event.metadata().level() {
            Level::WARN => "WARNING",
            level => level.as_str(),
        };
        write!(writer, "[{level}] ")?;
        context.format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}

/// Logs to a screen, which shows the lines that it receives.
pub(crate) fn start_on_screen(settings: &LogSettings, lines: mpsc::Sender<String>) -> anyhow::Result<()> {
    let lines = fmt::layer().with_writer(screen::ScreenLog(lines)).log_internal_errors(false);
    start_with(settings, lines.with_ansi(false).without_time().with_target(false).boxed())
}

fn start_with<L>(settings: &LogSettings, lines: L) -> anyhow::Result<()>
where
    L: Layer<Layered<Targets, Registry>> + Send + Sync,
{
    let started = registry().with(filter(settings)?).with(lines).with(console::ConsoleLayer).try_init();
    started.map_err(|error| anyhow::anyhow!("logging cannot start: {error}"))
}

fn filter(settings: &LogSettings) -> anyhow::Result<Targets> {
    // The MCP library logs what servers send, which the log shows only if the settings ask for it. The
    // HTTP/2 library warns of frames that any client can send by the thousand without authentication; the server
    // counts such connections itself.
    let filter = format!("rmcp=off,h2=error,{}", settings.filter).parse();
    filter
        .with_context(|| format!("{:?} is not a log filter", settings.filter))
        .map_err(|error| with_hint(error, "say --log info, or --log attache_server=debug"))
}
