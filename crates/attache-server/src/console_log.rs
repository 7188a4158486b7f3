//! Warnings and errors of the program's own log, for clients of the live endpoint that may see them.
//!
//! A bounded queue: slow readers lose the oldest lines and receive the number lost. Nothing is kept for later readers.

use std::fmt;
use std::sync::Arc;

use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender, channel};

/// Lines that a slow reader may be behind.
const MAX_LINES: usize = 256;

/// Takes the lines of the program's log.
#[derive(Clone)]
pub struct ConsoleLog(Sender<Arc<ConsoleLine>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsoleLevel {
    Warn,
    Error,
}

/// One line. Its writer has taken out what no client may see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsoleLine {
    pub level: ConsoleLevel,
    pub text: String,
    /// The id of the task that it is about; otherwise it is about the whole process.
    pub task: Option<String>,
}

impl ConsoleLog {
    /// Whether there is a reader. Without one, no line has to be formatted.
    pub fn is_read(&self) -> bool {
        self.0.receiver_count() > 0
    }

    /// Never waits.
    pub fn write(&self, line: ConsoleLine) {
        // Without a reader the line is dropped.
        let _ = self.0.send(Arc::new(line));
    }

    pub(crate) fn reader(&self) -> ConsoleReader {
        ConsoleReader(self.0.subscribe())
    }
}

impl Default for ConsoleLog {
    fn default() -> Self {
        Self(channel(MAX_LINES).0)
    }
}

impl fmt::Debug for ConsoleLog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ConsoleLog")
    }
}

impl ConsoleLevel {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Error => "error",
        }
    }
}

/// Reads the lines that come from now on.
pub(crate) struct ConsoleReader(Receiver<Arc<ConsoleLine>>);

impl ConsoleReader {
    /// The next line, or a notice about lines that were lost. Never ready after the log has ended. Can be dropped and
    /// called again.
    pub(crate) async fn next(&mut self) -> Arc<ConsoleLine> {
        match self.0.recv().await {
            Ok(line) => line,
            Err(RecvError::Lagged(count)) => {
                let text =
                    format!("{count} lines of the log were left out, because this client reads too slowly");
                Arc::new(ConsoleLine { level: ConsoleLevel::Warn, text, task: None })
            }
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_slow_reader_loses_the_oldest_lines_and_is_told() {
        let log = ConsoleLog::default();
        let line = |text: String| ConsoleLine { level: ConsoleLevel::Error, text, task: None };
        log.write(line("before the first reader".into()));
        assert!(!log.is_read());
        let mut reader = log.reader();
        assert!(log.is_read());
        for number in 0..MAX_LINES + 3 {
            log.write(line(number.to_string()));
        }
        let first = reader.next().await;
        assert!(first.text.starts_with("3 lines of the log were left out"), "{first:?}");
        assert_eq!(reader.next().await.text, "3");
    }
}
