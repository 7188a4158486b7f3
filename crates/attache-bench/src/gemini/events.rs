//! The events of an answer, in the format of Gemini.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

/// Characters of a piece of text: about a line.
const PIECE: usize = 60;
const LAST_PIECE: &str = "Done.";

/// The text of an answer of this many pieces.
pub(crate) fn answer_text(pieces: usize) -> String {
    let mut words = Words(1);
    let mut text: String = (1..pieces.max(1)).map(|_| words.piece()).collect();
    text.push_str(LAST_PIECE);
    text
}

/// Encoded events, cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Events {
    ready: Arc<[Bytes]>,
    last: Option<Bytes>,
    next: usize,
}

impl Events {
    /// An answer of this many pieces; the last one lacks the token usage.
    pub(super) fn text(pieces: usize) -> Self {
        let mut words = Words(1);
        let piece = |_| event(vec![json!({"text": words.piece()})], None);
        Self { ready: (1..pieces.max(1)).map(piece).collect(), ..Self::default() }
    }

    /// The same answer to a prompt of this many tokens.
    pub(super) fn counting(&self, tokens: u64) -> Self {
        Self { last: Some(event(vec![json!({"text": LAST_PIECE})], Some(tokens))), ..self.clone() }
    }

    pub(super) fn calls(calls: &[Value], tokens: u64) -> Self {
        let parts = calls.iter().map(|call| json!({"functionCall": call})).collect();
        Self { last: Some(event(parts, Some(tokens))), ..Self::default() }
    }

    pub(super) fn summary(tokens: u64) -> Self {
        let text = "<state_snapshot>Many lines were read, and more are to be read.</state_snapshot>";
        Self { last: Some(event(vec![json!({"text": text})], Some(tokens))), ..Self::default() }
    }
}

impl Iterator for Events {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        match self.ready.get(self.next) {
            Some(event) => {
                self.next += 1;
                Some(event.clone())
            }
            None => self.last.take(),
        }
    }
}

/// `tokens`: the size of the prompt, reported in the last event of an answer.
fn event(parts: Vec<Value>, tokens: Option<u64>) -> Bytes {
    let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
    if tokens.is_some() {
        candidate["finishReason"] = json!("STOP");
    }
    let prompt = tokens.unwrap_or(1000);
    let event = json!({
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": prompt,
            "candidatesTokenCount": 20,
            "totalTokenCount": prompt + 20,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": prompt}],
        },
        "modelVersion": "gemini-2.5-flash",
        "responseId": "kT0YadD2Cc6UvdIPlJ6WgQk",
    });
    format!("data: {event}\r\n\r\n").into()
}

/// Text without repetitions; repetitions would look like a loop to the agent.
struct Words(u64);

impl Words {
    fn piece(&mut self) -> String {
        let mut piece = String::with_capacity(PIECE);
        while piece.len() < PIECE {
            // A plain linear congruential generator.
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let letter = (self.0 >> 33) % 32;
            piece.push(if letter < 26 { (b'a' + letter as u8) as char } else { ' ' });
        }
        piece
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_as_many_pieces_as_were_asked_for_and_ends() {
        let text = Events::text(2000);
        for _ in 0..2 {
            let events: Vec<Bytes> = text.counting(77).collect();
            assert_eq!(events.len(), 2000);
            let ends = |event: &Bytes| memchr::memmem::find(event, b"\"finishReason\":\"STOP\"").is_some();
            assert_eq!(events.iter().position(ends), Some(1999));
            assert!(memchr::memmem::find(&events[1999], b"\"promptTokenCount\":77").is_some());
        }
    }

    #[test]
    fn what_is_said_is_what_the_pieces_say() {
        let piece = |event: Bytes| {
            let event: Value = serde_json::from_slice(&event["data: ".len()..]).unwrap();
            event["candidates"][0]["content"]["parts"][0]["text"].as_str().unwrap().to_owned()
        };
        let pieces: String = Events::text(20).counting(1).map(piece).collect();
        assert_eq!(pieces, answer_text(20));
    }

    #[test]
    fn text_does_not_come_back() {
        let mut words = Words(1);
        let mut pieces: Vec<String> = (0..2000).map(|_| words.piece()).collect();
        pieces.sort();
        pieces.dedup();
        assert_eq!(pieces.len(), 2000);
    }
}
