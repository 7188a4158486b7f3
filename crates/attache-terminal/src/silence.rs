//! Tells that the work goes on when nothing was shown for long: of a model that is slow to answer, nothing else is seen.

use std::time::Duration;

use tokio::time::Instant;

/// After how many seconds without output the work is announced; then every hour.
const SIGNS: [u64; 6] = [10, 60, 300, 900, 1800, 3600];
const HOUR: Duration = Duration::from_secs(3600);

#[derive(Debug, Default)]
pub(crate) struct Silence {
    /// Since when nothing was shown. None while nothing is worked on, or a person is waited for.
    since: Option<Instant>,
    notices: usize,
}

impl Silence {
    /// Something was shown, or happened. `is_working`: more is to come without the person.
    pub(crate) fn end(&mut self, is_working: bool, now: Instant) {
        *self = Self { since: is_working.then_some(now), notices: 0 };
    }

    /// When to print the next notice.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.since.map(|since| since + self.next())
    }

    /// The notice that is due.
    pub(crate) fn next_notice(&mut self) -> String {
        let silence = self.next();
        self.notices += 1;
        let seconds = silence.as_secs();
        let time = match seconds {
            0..60 => format!("{seconds} s"),
            60..3600 => format!("{} min", seconds / 60),
            _ => format!("{} h", seconds / 3600),
        };
        format!("(still working; nothing new for {time}. Ctrl-C stops it)")
    }

    fn next(&self) -> Duration {
        match SIGNS.get(self.notices) {
            Some(seconds) => Duration::from_secs(*seconds),
            None => HOUR * u32::try_from(self.notices + 2 - SIGNS.len()).unwrap_or(u32::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_told_of_ever_more_rarely_until_it_ends() {
        let mut silence = Silence::default();
        assert_eq!(silence.due(), None);
        let begun = Instant::now();
        silence.end(true, begun);
        let mut notices = Vec::new();
        for _ in 0..8 {
            let due = silence.due().unwrap();
            notices.push((due.duration_since(begun).as_secs(), silence.next_notice()));
        }
        let times: Vec<_> = notices.iter().map(|(time, _)| *time).collect();
        assert_eq!(times, [10, 60, 300, 900, 1800, 3600, 7200, 10800]);
        assert_eq!(notices[0].1, "(still working; nothing new for 10 s. Ctrl-C stops it)");
        assert!(notices[2].1.contains("5 min") && notices[6].1.contains("2 h"), "{notices:?}");
        silence.end(true, begun);
        assert_eq!(silence.due(), Some(begun + Duration::from_secs(10)));
        silence.end(false, begun);
        assert_eq!(silence.due(), None);
    }
}
