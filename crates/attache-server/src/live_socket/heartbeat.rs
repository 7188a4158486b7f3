//! When a client is pinged, and when one that answers no ping is given up.
//!
//! A ping waits behind all that was sent before it and is not yet read: megabytes, in the buffers of both systems. So a
//! client that reads slowly gets the time to read those first. Time in which the server itself did nothing, because it was
//! suspended or waited for the client to read, is not counted: ticks are, and a tick that was missed is none.

use std::time::Duration;

/// What any client reads in a second. One that reads more slowly may be given up before it gets to its ping.
const MIN_BYTES_PER_SECOND: f64 = 16_384.0;

/// Ticks without an answer. With the first, the answer may be there already and not be read.
const MIN_TICKS: u64 = 2;

pub(super) struct Heartbeat {
    /// What a slow client reads between two ticks.
    bytes_per_tick: u64,
    sent: u64,
    /// Of what was sent. A ping behind it was answered.
    read: u64,
    awaited: Option<AwaitedPong>,
}

struct AwaitedPong {
    /// So much was sent before its ping.
    sent: u64,
    ticks: u64,
}

/// What to do at a tick.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum HeartbeatAction {
    Ping,
    Wait,
    GiveUp,
}

impl Heartbeat {
    pub(super) fn new(interval: Duration) -> Self {
        let bytes_per_tick = (interval.as_secs_f64() * MIN_BYTES_PER_SECOND) as u64;
        Self { bytes_per_tick: bytes_per_tick.max(1), sent: 0, read: 0, awaited: None }
    }

    pub(super) fn add_sent(&mut self, bytes: usize) {
        self.sent += bytes as u64;
    }

    /// The client has answered a ping.
    pub(super) fn pong(&mut self) {
        if let Some(awaited) = self.awaited.take() {
            self.read = awaited.sent;
        }
    }

    /// The client has sent something else, so it is there.
    pub(super) fn record_received(&mut self) {
        if let Some(awaited) = &mut self.awaited {
            awaited.ticks = 0;
        }
    }

    pub(super) fn tick(&mut self) -> HeartbeatAction {
        let Some(awaited) = &mut self.awaited else {
            self.awaited = Some(AwaitedPong { sent: self.sent, ticks: 0 });
            return HeartbeatAction::Ping;
        };
        awaited.ticks += 1;
        let unread = awaited.sent - self.read;
        if awaited.ticks < MIN_TICKS + unread / self.bytes_per_tick {
            HeartbeatAction::Wait
        } else {
            HeartbeatAction::GiveUp
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heartbeat() -> Heartbeat {
        Heartbeat::new(Duration::from_secs(1))
    }

    /// Ticks from the ping until the client is given up.
    fn patience(heartbeat: &mut Heartbeat) -> u64 {
        assert_eq!(heartbeat.tick(), HeartbeatAction::Ping);
        (1..).find(|_| heartbeat.tick() == HeartbeatAction::GiveUp).expect("it is given up some time")
    }

    #[test]
    fn a_client_that_was_sent_nothing_is_given_up_soon() {
        assert_eq!(patience(&mut heartbeat()), MIN_TICKS);
    }

    #[test]
    fn a_client_gets_the_time_to_read_what_stands_before_its_ping() {
        let mut heartbeat = heartbeat();
        heartbeat.add_sent(100 * 16_384);
        assert_eq!(patience(&mut heartbeat), MIN_TICKS + 100);
    }

    #[test]
    fn what_stands_before_an_answered_ping_was_read() {
        let mut heartbeat = heartbeat();
        heartbeat.add_sent(100 * 16_384);
        assert_eq!(heartbeat.tick(), HeartbeatAction::Ping);
        // Behind the ping.
        heartbeat.add_sent(3 * 16_384);
        assert_eq!(heartbeat.tick(), HeartbeatAction::Wait);
        heartbeat.pong();
        assert_eq!(patience(&mut heartbeat), MIN_TICKS + 3);
    }

    #[test]
    fn a_client_that_says_something_else_is_there() {
        let mut heartbeat = heartbeat();
        assert_eq!(heartbeat.tick(), HeartbeatAction::Ping);
        for _ in 0..10 {
            assert_eq!(heartbeat.tick(), HeartbeatAction::Wait);
            heartbeat.record_received();
        }
        heartbeat.pong();
        // An answer to no ping counts for nothing.
        heartbeat.pong();
        assert_eq!(heartbeat.tick(), HeartbeatAction::Ping);
    }
}
