//! Limits HTTP/2 control frames.
//!
//! Pings, settings, window updates, resets, continuations, priorities and tiny data frames cost the sender almost nothing.
//! A client that sends far more of them than its responses explain is disconnected. Only frame headers are parsed, and only
//! after the HTTP/2 preface; the rest of the protocol is hyper's.

#[cfg(feature = "fuzz")]
pub(crate) mod fuzz;

use std::time::Duration;

use tokio::time::Instant;

/// The HTTP/2 preface.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const HEAD_BYTES: usize = 9;

/// Frames allowed at once.
const MAX_BURST: u32 = 2000;
/// Frames allowed continuously.
const FRAMES_PER_SECOND: u32 = 200;
/// Clients acknowledge received bytes, so each so many bytes allow one more frame. It is more than an acknowledged ping
/// has, so that pings do not pay for themselves.
const BYTES_PER_FRAME: usize = 32;

/// A data frame below this size, unless it is the last, counts as a control frame.
const MIN_DATA_BYTES: usize = 16;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const END_STREAM: u8 = 1;

/// The client sent too many control frames.
#[derive(Debug, thiserror::Error)]
#[error("too many HTTP/2 frames that ask for nothing")]
pub(super) struct FrameFlood;

#[derive(Debug)]
pub(super) struct FrameCounter {
    place: State,
    left: u32,
    refilled: Instant,
    /// Bytes sent that do not yet allow a frame.
    written: usize,
}

#[derive(Debug)]
enum State {
    /// So many bytes of the preface were read.
    Preface(usize),
    Head {
        bytes: [u8; HEAD_BYTES],
        seen: usize,
    },
    /// So many bytes until the next frame header.
    Payload(usize),
    /// Another protocol.
    OtherProtocol,
}

impl FrameCounter {
    pub(super) fn new() -> Self {
        Self { place: State::Preface(0), left: MAX_BURST, refilled: Instant::now(), written: 0 }
    }

    /// The connection does not speak HTTP/2.
    pub(super) fn is_another_protocol(&self) -> bool {
        matches!(self.place, State::OtherProtocol)
    }

    /// Counts bytes sent to the client.
    pub(super) fn wrote(&mut self, bytes: usize) {
        if self.is_another_protocol() {
            return;
        }
        self.written += bytes;
        let earned = u32::try_from(self.written / BYTES_PER_FRAME).unwrap_or(u32::MAX);
        self.written %= BYTES_PER_FRAME;
        self.left = self.left.saturating_add(earned).min(MAX_BURST);
    }

    /// Counts the frames in bytes from the client.
    pub(super) fn read(&mut self, mut bytes: &[u8]) -> Result<(), FrameFlood> {
        while !bytes.is_empty() {
            let taken = match &mut self.place {
                State::OtherProtocol => return Ok(()),
                State::Preface(seen) => {
                    let taken = bytes.len().min(PREFACE.len() - *seen);
                    if bytes[..taken] != PREFACE[*seen..*seen + taken] {
                        self.place = State::OtherProtocol;
                        return Ok(());
                    }
                    *seen += taken;
                    if *seen == PREFACE.len() {
                        self.place = State::next_head();
                    }
                    taken
                }
                State::Head { bytes: head, seen } => {
                    let taken = bytes.len().min(HEAD_BYTES - *seen);
                    head[*seen..*seen + taken].copy_from_slice(&bytes[..taken]);
                    *seen += taken;
                    if *seen == HEAD_BYTES {
                        let head = *head;
                        self.head(head)?;
                    }
                    taken
                }
                State::Payload(rest) => {
                    let taken = bytes.len().min(*rest);
                    *rest -= taken;
                    if *rest == 0 {
                        self.place = State::next_head();
                    }
                    taken
                }
            };
            bytes = &bytes[taken..];
        }
        Ok(())
    }

    fn head(&mut self, head: [u8; HEAD_BYTES]) -> Result<(), FrameFlood> {
        let [high, middle, low, kind, flags, ..] = head;
        let length = usize::from(high) << 16 | usize::from(middle) << 8 | usize::from(low);
        self.place = if length == 0 { State::next_head() } else { State::Payload(length) };
        let asks = match kind {
            // Streams are limited elsewhere, and each of them ends once.
            HEADERS => true,
            DATA => length >= MIN_DATA_BYTES || flags & END_STREAM != 0,
            _ => false,
        };
        if asks { Ok(()) } else { self.pay() }
    }

    fn pay(&mut self) -> Result<(), FrameFlood> {
        if self.left == 0 {
            let rested = self.refilled.elapsed().min(Duration::from_secs(60));
            self.refilled = Instant::now();
            let earned = rested.as_secs_f64() * f64::from(FRAMES_PER_SECOND);
            self.left = (earned as u32).min(MAX_BURST);
        }
        self.left = self.left.checked_sub(1).ok_or(FrameFlood)?;
        Ok(())
    }
}

impl State {
    fn next_head() -> Self {
        Self::Head { bytes: [0; HEAD_BYTES], seen: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PING: u8 = 6;

    fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        [&length[1..], &[kind, flags, 0, 0, 0, 1], payload].concat()
    }

    fn begun() -> FrameCounter {
        let mut counter = FrameCounter::new();
        counter.read(PREFACE).unwrap();
        counter
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_is_noticed_however_its_bytes_are_cut() {
        let flood = frame(PING, 0, &[0; 8]).repeat(MAX_BURST as usize + 1);
        for size in [1, 7, 17, 4096, flood.len()] {
            let mut counter = begun();
            let read: Result<(), FrameFlood> = flood.chunks(size).try_for_each(|piece| counter.read(piece));
            assert!(read.is_err(), "in pieces of {size}");
            let mut counter = begun();
            counter.read(&flood[..flood.len() - 17]).unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_steady_pace_is_no_flood() {
        let mut counter = begun();
        let second = frame(PING, 0, &[0; 8]).repeat(FRAMES_PER_SECOND as usize - 1);
        for _ in 0..100 {
            counter.read(&second).unwrap();
            tokio::time::advance(Duration::from_secs(1)).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_takes_answers_may_acknowledge_them_and_pings_do_not_pay_for_themselves() {
        let mut counter = begun();
        let ping = frame(PING, 0, &[0; 8]);
        for _ in 0..10 * MAX_BURST {
            counter.wrote(3 * BYTES_PER_FRAME);
            counter.read(&ping.repeat(3)).unwrap();
        }
        let mut counter = begun();
        let flood = (0..10 * MAX_BURST).try_for_each(|_| {
            counter.wrote(ping.len());
            counter.read(&ping)
        });
        assert!(flood.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn calls_and_their_data_are_free_and_crumbs_are_not() {
        let call =
            [frame(HEADERS, 4, &[0x82; 30]), frame(DATA, 0, &[b'x'; 100]), frame(DATA, END_STREAM, b"")];
        let mut counter = begun();
        for _ in 0..3 * MAX_BURST {
            counter.read(&call.concat()).unwrap();
        }
        for crumb in [&b""[..], b"x"] {
            let crumbs = frame(DATA, 0, crumb).repeat(MAX_BURST as usize + 1);
            assert!(begun().read(&crumbs).is_err(), "{crumb:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn other_protocols_are_not_looked_at() {
        let mut counter = FrameCounter::new();
        counter.read(b"PRI * HTTP/1").unwrap();
        counter.read(&frame(PING, 0, &[0; 8]).repeat(2 * MAX_BURST as usize)).unwrap();
        assert!(matches!(counter.place, State::OtherProtocol));
    }
}
