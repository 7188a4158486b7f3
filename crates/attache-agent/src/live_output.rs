//! Passes the live output of running calls to the journal.

use std::sync::{Mutex, MutexGuard};

use attache_domain::IgnorePoison;
use attache_tool::LiveOutput;
use tokio::sync::Notify;

/// The maximum size of the buffer; the oldest output is dropped.
const MAX_BYTES: usize = 100_000;

#[derive(Default)]
pub(crate) struct LiveOutputBuffer {
    text: Mutex<String>,
    shown: Notify,
}

impl LiveOutputBuffer {
    /// Waits for output and takes all of it.
    pub(crate) async fn next(&self) -> String {
        loop {
            let shown = self.shown.notified();
            let text = self.take();
            if !text.is_empty() {
                return text;
            }
            shown.await;
        }
    }

    pub(crate) fn take(&self) -> String {
        std::mem::take(&mut *self.text())
    }

    fn text(&self) -> MutexGuard<'_, String> {
        self.text.lock().ignore_poison()
    }
}

impl LiveOutput for LiveOutputBuffer {
    fn show(&self, text: &str) {
        let mut kept = self.text();
        kept.push_str(text);
        if kept.len() > MAX_BYTES {
            let cut = kept.len() - MAX_BYTES;
            let cut = (cut..=kept.len()).find(|place| kept.is_char_boundary(*place)).unwrap_or(kept.len());
            kept.drain(..cut);
        }
        drop(kept);
        self.shown.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn everything_shown_is_taken_in_one_go() {
        let live = LiveOutputBuffer::default();
        live.show("one ");
        live.show("two");
        assert_eq!(live.next().await, "one two");
        assert_eq!(live.take(), "");
    }

    #[test]
    fn output_that_is_not_taken_stays_bounded_and_whole_characters() {
        let live = LiveOutputBuffer::default();
        for _ in 0..30_000 {
            live.show("äöü");
        }
        let text = live.take();
        assert!(text.len() <= MAX_BYTES && text.len() > MAX_BYTES - 4);
        assert!(text.ends_with('ü'));
    }
}
