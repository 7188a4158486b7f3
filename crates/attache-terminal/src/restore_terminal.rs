//! Restores the terminal, however the session ends.

use std::io::{self, Write};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// Switches off what the line editor switches on.
const BRACKETED_PASTE_OFF: &str = "\u{1b}[?2004l";

/// Restores the modes of the terminal when it is dropped.
pub(crate) struct RestoreTerminal {
    modes: Option<Termios>,
    /// Whether the line editor was used. It switches bracketed paste on.
    pub(crate) has_editor: bool,
}

impl RestoreTerminal {
    pub(crate) fn at_end() -> Self {
        Self { modes: tcgetattr(io::stdin()).ok(), has_editor: false }
    }
}

impl Drop for RestoreTerminal {
    fn drop(&mut self) {
        if let Some(modes) = &self.modes {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, modes);
        }
        if !self.has_editor {
            return;
        }
        let mut out = io::stdout().lock();
        let _ = out.write_all(BRACKETED_PASTE_OFF.as_bytes()).and_then(|()| out.flush());
    }
}
