//! Text frames of the WebSocket protocol as a server sends them: unmasked, each with its whole message.

use attache_domain::Seq;

use crate::task_stream::Framer;

/// A whole message of text.
const FIRST_BYTE: u8 = 0x81;
/// Says that the length follows in two bytes, or in eight.
const TWO_BYTES: u8 = 126;
const EIGHT_BYTES: u8 = 127;

/// Room for the head of most frames; other heads need less or more.
const HEAD_BYTES: usize = 4;

/// One frame for each event.
pub(super) struct TextFrame;

impl Framer for TextFrame {
    fn open(&self, _: Option<&str>, _: Seq, out: &mut Vec<u8>) -> usize {
        self.open_unnumbered(out)
    }

    fn open_unnumbered(&self, out: &mut Vec<u8>) -> usize {
        out.extend_from_slice(&[0; HEAD_BYTES]);
        out.len()
    }

    fn close(&self, opened: usize, out: &mut Vec<u8>) {
        let start = opened - HEAD_BYTES;
        let length = out.len() - opened;
        match u16::try_from(length) {
            Ok(length) if length < u16::from(TWO_BYTES) => {
                out.drain(start..start + 2);
                out[start] = FIRST_BYTE;
                out[start + 1] = length as u8;
            }
            Ok(length) => {
                let [high, low] = length.to_be_bytes();
                out[start..opened].copy_from_slice(&[FIRST_BYTE, TWO_BYTES, high, low]);
            }
            Err(_) => {
                let mut head = [FIRST_BYTE, EIGHT_BYTES, 0, 0, 0, 0, 0, 0, 0, 0];
                head[2..].copy_from_slice(&(length as u64).to_be_bytes());
                out.splice(start..opened, head);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio_tungstenite::tungstenite::protocol::Role;
    use tokio_tungstenite::tungstenite::{Message, WebSocket};

    use super::*;

    #[test]
    fn a_client_reads_frames_of_every_length() {
        let lengths = [0, 1, 125, 126, 127, 65_535, 65_536, 200_000];
        let texts: Vec<String> = lengths.iter().map(|length| "x".repeat(*length)).collect();
        let mut out = Vec::new();
        for text in &texts {
            let opened = TextFrame.open_unnumbered(&mut out);
            out.extend_from_slice(text.as_bytes());
            TextFrame.close(opened, &mut out);
        }
        let mut client = WebSocket::from_raw_socket(std::io::Cursor::new(out), Role::Client, None);
        for text in &texts {
            assert_eq!(client.read().unwrap(), Message::text(text.as_str()));
        }
    }
}
