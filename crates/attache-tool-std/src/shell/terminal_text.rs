//! The output of a command as text, in bounded memory.

use super::bounded_text::BoundedText;
use super::control_parser::{ControlParser, TerminalPiece};
use super::decode::Utf8Decoder;
use super::screen::Screen;

/// Bytes that are checked to detect binary output.
const SNIFF_BYTES: usize = 4 * 1024;
/// In text at most one character in this many is an unknown control character.
const RARE: usize = 10;

/// Converts the output of a command to text.
#[derive(Debug)]
pub(super) struct TerminalText {
    decoder: Utf8Decoder,
    controls: ControlParser,
    page: Screen,
    kept: BoundedText,
    sniffed: Vec<u8>,
    binary: bool,
    bytes: u64,
}

impl TerminalText {
    /// Keeps about `limit` bytes of text, of which the last `rows` lines can change.
    pub(super) fn new(limit: usize, rows: usize) -> Self {
        Self {
            decoder: Utf8Decoder::default(),
            controls: ControlParser::default(),
            page: Screen::new(rows),
            kept: BoundedText::new(limit),
            sniffed: Vec::new(),
            binary: false,
            bytes: 0,
        }
    }

    /// Adds output and passes its parts to `also`, unless it is binary. Returns the text that can no longer change.
    pub(super) fn take(&mut self, bytes: &[u8], mut also: impl FnMut(&TerminalPiece<'_>)) -> String {
        self.bytes += bytes.len() as u64;
        self.sniff(bytes);
        if self.binary {
            return String::new();
        }
        let text = self.decoder.decode(bytes);
        self.apply(&text, &mut also)
    }

    /// Ends the output. Returns the text that had not settled.
    pub(super) fn finish(&mut self) -> String {
        let text = self.decoder.finish();
        self.apply(&text, &mut |_| {}) + &self.page.unsettled()
    }

    /// The number of bytes of binary output.
    pub(super) fn binary(&self) -> Option<u64> {
        self.binary.then_some(self.bytes)
    }

    pub(super) fn text(&self) -> String {
        match self.binary() {
            Some(bytes) => binary_note(bytes),
            None => self.kept.text() + &self.page.unsettled(),
        }
    }

    fn apply(&mut self, text: &str, also: &mut impl FnMut(&TerminalPiece<'_>)) -> String {
        let page = &mut self.page;
        self.controls.read(text, &mut |piece| {
            page.apply(&piece);
            also(&piece);
        });
        let settled = self.page.take_settled();
        self.kept.push(&settled);
        settled
    }

    fn sniff(&mut self, bytes: &[u8]) {
        let room = SNIFF_BYTES - self.sniffed.len();
        if self.binary || room == 0 {
            return;
        }
        self.sniffed.extend_from_slice(&bytes[..room.min(bytes.len())]);
        self.binary = is_binary(&self.sniffed);
    }
}

pub(super) fn binary_note(bytes: u64) -> String {
    format!("[Binary output detected: {bytes} bytes, not shown]")
}

fn is_binary(bytes: &[u8]) -> bool {
    let unknown = |byte: &&u8| matches!(byte, 0..=6 | 14..=26 | 28..=31);
    bytes.contains(&0) || bytes.iter().filter(unknown).count() * RARE > bytes.len()
}
