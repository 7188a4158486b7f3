//! Hands the lines of the log to the screen of a session.

use std::io;

use tokio::sync::mpsc;
use tracing::Metadata;
use tracing_subscriber::fmt::MakeWriter;

/// Lines that wait to be shown. More are lost.
pub(crate) const MAX_SCREEN_LINES: usize = 256;

/// The name under which people look for what the live endpoint does.
const SERVER_PREFIX: &str = "[A2AService]";

#[derive(Clone)]
pub(super) struct ScreenLog(pub(super) mpsc::Sender<String>);

pub(super) struct ScreenLine {
    lines: mpsc::Sender<String>,
    prefix: &'static str,
}

impl<'a> MakeWriter<'a> for ScreenLog {
    type Writer = ScreenLine;

    fn make_writer(&'a self) -> ScreenLine {
        ScreenLine { lines: self.0.clone(), prefix: "" }
    }

    fn make_writer_for(&'a self, metadata: &Metadata<'_>) -> ScreenLine {
        let is_server = metadata.target().starts_with("attache_server");
        ScreenLine { lines: self.0.clone(), prefix: if is_server { SERVER_PREFIX } else { "" } }
    }
}

impl io::Write for ScreenLine {
    /// Receives whole lines.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        // Levels are padded.
        for line in text.lines().map(str::trim_start) {
            let is_marked = self.prefix.is_empty() || line.contains(self.prefix);
            let line = if is_marked { line.to_owned() } else { format!("{} {line}", self.prefix) };
            let _ = self.lines.try_send(line);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
