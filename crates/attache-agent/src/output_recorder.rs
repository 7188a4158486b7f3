//! Limits how much of a call's live output is recorded in the log.
//!
//! The beginning is recorded in full. After that only the size and the latest lines are recorded, less and less often,
//! so that a call that never stops writing adds little to the log and people still see that it is running. The model
//! gets the beginning and the end in the call's result in any case.

use std::time::Duration;

use tokio::time::Instant;

/// The bytes that are recorded in full.
const MAX_FULL_BYTES: usize = 128 << 10;
/// The latest bytes of the omitted output that each piece contains.
const MAX_LATEST_BYTES: usize = 1024;
/// This many pieces are recorded promptly; later ones are less frequent.
const MAX_PROMPT_PIECES: u32 = 240;
/// Every reader gets each piece with the output before it. A few pieces per second are sufficient for people.
pub(crate) const OUTPUT_INTERVAL: Duration = Duration::from_millis(250);
/// Later the delay between two pieces is this share of the duration of the call, so the number of pieces grows with
/// the logarithm of the duration.
const INTERVAL_DIVISOR: u32 = 16;
const MIN_LATER_INTERVAL: Duration = Duration::from_secs(1);

/// The output of one call.
pub(crate) struct OutputRecorder {
    begun: Instant,
    /// When the next piece can be recorded.
    due: Instant,
    pieces: u32,
    /// The bytes that are recorded in full, or wait for it.
    in_full: usize,
    /// Recorded in full with the next piece.
    waiting: String,
    /// The bytes that are not recorded.
    left_out: u64,
    /// The latest of them since the previous piece.
    latest: String,
}

impl OutputRecorder {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            begun: now,
            due: now,
            pieces: 0,
            in_full: 0,
            waiting: String::new(),
            left_out: 0,
            latest: String::new(),
        }
    }

    /// Adds output of the call.
    pub(crate) fn take(&mut self, text: &str) {
        let fits = text.floor_char_boundary(MAX_FULL_BYTES.saturating_sub(self.in_full));
        let (fits, rest) = text.split_at(fits);
        self.waiting.push_str(fits);
        self.in_full += fits.len();
        if rest.is_empty() {
            return;
        }
        // The output is full: nothing is recorded after the first omitted byte.
        self.in_full = MAX_FULL_BYTES;
        self.left_out += rest.len() as u64;
        self.latest.push_str(rest);
        let cut = self.latest.ceil_char_boundary(self.latest.len().saturating_sub(MAX_LATEST_BYTES));
        self.latest.drain(..cut);
    }

    /// When the next piece is due; never if nothing waits.
    pub(crate) fn due(&self) -> Option<Instant> {
        (!self.waiting.is_empty() || !self.latest.is_empty()).then_some(self.due)
    }

    /// The piece that is due.
    pub(crate) fn piece(&mut self, now: Instant) -> Option<String> {
        self.due().filter(|due| *due <= now)?;
        self.pieces += 1;
        let pause = if self.pieces < MAX_PROMPT_PIECES && self.latest.is_empty() {
            OUTPUT_INTERVAL
        } else {
            MIN_LATER_INTERVAL.max((now - self.begun) / INTERVAL_DIVISOR)
        };
        self.due = now + pause;
        self.rest()
    }

    /// The last piece, after the call has ended.
    pub(crate) fn rest(&mut self) -> Option<String> {
        let mut piece = std::mem::take(&mut self.waiting);
        if !self.latest.is_empty() {
            let latest = std::mem::take(&mut self.latest);
            let break_before = if piece.is_empty() || piece.ends_with('\n') { "" } else { "\n" };
            piece.push_str(&format!("{break_before}[... {} bytes left out ...]\n{latest}", self.left_out));
        }
        (!piece.is_empty()).then_some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(times: u32, every: Duration, text: &str) -> Vec<String> {
        let mut now = Instant::now();
        let mut showing = OutputRecorder::new(now);
        let mut pieces = Vec::new();
        for _ in 0..times {
            showing.take(text);
            pieces.extend(showing.piece(now));
            now += every;
        }
        pieces.extend(showing.rest());
        pieces
    }

    #[tokio::test(start_paused = true)]
    async fn little_is_recorded_as_it_is_shown() {
        let pieces = shown(100, OUTPUT_INTERVAL, "a line\n");
        assert_eq!((pieces.len(), pieces.concat()), (100, "a line\n".repeat(100)));
    }

    #[tokio::test(start_paused = true)]
    async fn little_over_a_long_time_is_recorded_whole_in_fewer_pieces() {
        let day = 24 * 3600;
        let pieces = shown(day, Duration::from_secs(1), ".");
        assert_eq!(pieces.concat().len(), day as usize);
        assert!(pieces.len() < 600, "{}", pieces.len());
    }

    #[tokio::test(start_paused = true)]
    async fn of_too_much_the_beginning_the_latest_and_the_size_are_recorded() {
        let week = 7 * 24 * 3600 * 4;
        let pieces = shown(week, OUTPUT_INTERVAL, &"ä\n".repeat(30_000));
        let text = pieces.concat();
        assert!(text.len() < 512 << 10, "{}", text.len());
        assert!(pieces.len() < 400, "{}", pieces.len());
        let left_out = u64::from(week) * 90_000 - MAX_FULL_BYTES as u64;
        assert!(
            text.ends_with("ä\n") && text.contains(&format!("[... {left_out} bytes left out ...]")),
            "{left_out}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn people_see_soon_that_it_goes_on() {
        let pieces = shown(4 * 60, OUTPUT_INTERVAL, &"y\n".repeat(50_000));
        assert!(pieces.len() > 30, "{}", pieces.len());
    }
}
