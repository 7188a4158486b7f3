//! What can be chosen about running commands.

use std::time::Duration;

use crate::truncate::MAX_TEXT;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellOptions {
    /// Commands write to a terminal, as they would for a person; otherwise to a pipe, which is also what happens
    /// when there is no terminal to be had.
    pub terminal: bool,
    /// A command that writes nothing for this long is ended.
    pub inactivity_limit: Option<Duration>,
    /// A command that takes this long is ended, whatever it writes. None by default: builds may take hours, and one
    /// that hangs falls silent.
    pub total_limit: Option<Duration>,
    /// A command that writes more bytes is ended. A quarter of a gigabyte is more than any build writes that a person
    /// looks at, and `yes` reaches it within a second.
    pub max_output_bytes: Option<u64>,
    /// Output of more characters is saved to a file, and the model is given its beginning and its end.
    pub longest_output: usize,
    /// The shortest time between two messages of live output.
    pub live_interval: Duration,
}

impl Default for ShellOptions {
    fn default() -> Self {
        Self {
            terminal: true,
            inactivity_limit: Some(Duration::from_secs(300)),
            total_limit: None,
            max_output_bytes: Some(256 << 20),
            longest_output: MAX_TEXT,
            live_interval: Duration::from_millis(250),
        }
    }
}
