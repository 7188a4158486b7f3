//! Settings for shell commands.

use std::time::Duration;

use attache_tool::MAX_OUTPUT_CHARACTERS;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellOptions {
    /// Commands write to a terminal; otherwise, or if no terminal is available, to a pipe.
    pub terminal: bool,
    /// A command without output for this long is killed. There is no limit for the whole: builds may take hours, and a
    /// hanging one has no output.
    pub inactivity_limit: Option<Duration>,
    /// A command that writes more bytes is killed. The default is more than any build writes, and `yes` reaches it
    /// within a second.
    pub max_output_bytes: Option<u64>,
    /// Output of more characters is saved to a file, and the model gets its beginning and its end.
    pub max_output_characters: usize,
    /// The shortest time between two messages of live output.
    pub live_interval: Duration,
}

impl Default for ShellOptions {
    fn default() -> Self {
        Self {
            terminal: true,
            inactivity_limit: Some(Duration::from_secs(300)),
            max_output_bytes: Some(256 << 20),
            max_output_characters: MAX_OUTPUT_CHARACTERS,
            live_interval: Duration::from_millis(250),
        }
    }
}
