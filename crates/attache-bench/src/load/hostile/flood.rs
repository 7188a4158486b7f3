//! Floods of HTTP/2 frames, written by hand.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

const HEADERS: u8 = 1;
const RESET: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const DATA: u8 = 0;

/// End of headers, and of the stream.
const WHOLE: u8 = 5;
const END_HEADERS: u8 = 4;

/// Frames in one write.
const AT_ONCE: u32 = 200;

#[derive(Debug, Clone, Copy)]
pub(super) enum Flood {
    Pings,
    Settings,
    WindowUpdates,
    EmptyData,
    TakenBack,
    Continuations,
    /// Calls on many streams whose answers are not read.
    Unread,
    /// Requests over HTTP/1.1 whose answers are not read.
    Pipelined,
}

impl Flood {
    pub(super) fn of(number: usize) -> Self {
        [
            Self::Pings,
            Self::Settings,
            Self::WindowUpdates,
            Self::EmptyData,
            Self::TakenBack,
            Self::Continuations,
            Self::Unread,
            Self::Pipelined,
        ][number % 8]
    }

    fn beginning(self) -> Vec<u8> {
        let greeting = [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &frame(SETTINGS, 0, 0, b"")].concat();
        match self {
            Self::EmptyData => [greeting, frame(HEADERS, END_HEADERS, 1, &post())].concat(),
            Self::Continuations => [greeting, frame(HEADERS, 0, 1, &post())].concat(),
            Self::Pipelined => Vec::new(),
            _ => greeting,
        }
    }

    fn frame(self, number: u32) -> Vec<u8> {
        let stream = 2 * number + 1;
        match self {
            Self::Pings => frame(PING, 0, 0, &[0; 8]),
            Self::Settings => frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 100]),
            Self::WindowUpdates => frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]),
            Self::EmptyData => frame(DATA, 0, 1, b""),
            Self::TakenBack => {
                [frame(HEADERS, WHOLE, stream, &get()), frame(RESET, 0, stream, &[0, 0, 0, 8])].concat()
            }
            Self::Continuations => frame(CONTINUATION, 0, 1, b""),
            Self::Unread => frame(HEADERS, WHOLE, stream, &get()),
            Self::Pipelined => {
                b"GET /.well-known/agent-card.json HTTP/1.1\r\nhost: localhost\r\n\r\n".to_vec()
            }
        }
    }
}

/// Floods until the server closes the connection, waits, and repeats.
pub(super) async fn reconnect_forever(address: SocketAddr, flood: Flood, rest: Duration) {
    loop {
        if let Ok(mut stream) = TcpStream::connect(address).await
            && stream.write_all(&flood.beginning()).await.is_ok()
        {
            let mut number = 0;
            loop {
                let frames: Vec<u8> =
                    (number..number + AT_ONCE).flat_map(|number| flood.frame(number)).collect();
                number += AT_ONCE;
                if stream.write_all(&frames).await.is_err() {
                    break;
                }
            }
        }
        tokio::time::sleep(rest).await;
    }
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = payload.len() as u32;
    [&length.to_be_bytes()[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The headers of a GET of the card, in HPACK without its tables.
fn get() -> Vec<u8> {
    [&[0x82, 0x86][..], &literal(4, "/.well-known/agent-card.json"), &literal(1, "localhost")].concat()
}

/// The headers of a POST of JSON to `/`.
fn post() -> Vec<u8> {
    let json = b"application/json";
    [&[0x83, 0x84, 0x86][..], &literal(1, "localhost"), &[0x0f, 31 - 15, json.len() as u8], json].concat()
}

fn literal(name: u8, value: &str) -> Vec<u8> {
    [&[name, value.len() as u8][..], value.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_says_its_length_and_its_stream() {
        assert_eq!(frame(PING, 1, 3, b"ab"), [0, 0, 2, PING, 1, 0, 0, 0, 3, b'a', b'b']);
    }
}
