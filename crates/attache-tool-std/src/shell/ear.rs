//! Listens to a command in the foreground: for the model, and for those who watch.

use tokio::time::Instant;

use super::attend::Listener;
use super::live::Live;
use super::transcript::Transcript;

pub(super) struct Ear {
    pub(super) transcript: Transcript,
    pub(super) live: Live,
}

impl Listener for Ear {
    fn hear(&mut self, bytes: &[u8]) {
        let live = &mut self.live;
        self.transcript.take(bytes, |piece| live.put(piece));
        if let Some(bytes) = self.transcript.binary() {
            self.live.binary(bytes);
        }
    }

    fn due(&self) -> Option<Instant> {
        self.live.due()
    }

    fn call(&mut self) {
        self.live.show();
    }
}
