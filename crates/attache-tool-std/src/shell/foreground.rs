//! Receives the output of a foreground command for the model and for live viewers.

use tokio::time::Instant;

use super::listen::OutputListener;
use super::live::LiveForwarder;
use super::terminal_text::TerminalText;

pub(super) struct ForegroundListener {
    pub(super) terminal_text: TerminalText,
    pub(super) live: LiveForwarder,
}

impl OutputListener for ForegroundListener {
    fn receive(&mut self, bytes: &[u8]) {
        let live = &mut self.live;
        self.terminal_text.take(bytes, |piece| live.apply(piece));
        if let Some(bytes) = self.terminal_text.binary() {
            self.live.binary(bytes);
        }
    }

    fn due(&self) -> Option<Instant> {
        self.live.due()
    }

    fn flush(&mut self) {
        self.live.show();
    }
}
