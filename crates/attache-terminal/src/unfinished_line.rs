//! When a line is shown of which more may come: soon after its last piece, and, for the output of calls, not long after its
//! first one. An agent that says a word now and then is seen; the answer of a model is not cut into short lines.

use std::time::Duration;

use tokio::time::Instant;

const AFTER_LAST_PIECE: Duration = Duration::from_secs(1);
const AFTER_FIRST_PIECE: Duration = Duration::from_secs(2);

#[derive(Debug, Default)]
pub(crate) struct UnfinishedLine {
    /// Of the output of calls that no line shows yet, since when.
    output_since: Option<Instant>,
}

impl UnfinishedLine {
    /// Something happened. `is_shown`: as lines. `has_output`: there is output of calls that no line shows yet.
    pub(crate) fn update(&mut self, is_shown: bool, has_output: bool, now: Instant) {
        let before = self.output_since.filter(|_| !is_shown);
        self.output_since = has_output.then(|| before.unwrap_or(now));
    }

    /// When to show an unfinished line, if nothing comes before.
    pub(crate) fn due(&self, now: Instant) -> Instant {
        let quiet = now + AFTER_LAST_PIECE;
        self.output_since.map_or(quiet, |since| quiet.min(since + AFTER_FIRST_PIECE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_that_keep_coming_put_off_the_output_of_calls_for_two_seconds_only() {
        let begun = Instant::now();
        let at = |millis: u64| begun + Duration::from_millis(millis);
        let mut line = UnfinishedLine::default();
        for (now, is_shown, has_output, due) in [
            (0, false, true, 1_000),
            (900, false, true, 1_900),
            (1_800, false, true, 2_000),
            (2_000, true, false, 3_000),
            (2_700, false, true, 3_700),
            (3_400, true, true, 4_400),
            // The answer of a model.
            (9_000, false, false, 10_000),
        ] {
            line.update(is_shown, has_output, at(now));
            assert_eq!(line.due(at(now)), at(due), "at {now} ms");
        }
    }
}
