//! Keeps the beginning and the end of a text in bounded memory.

use std::collections::VecDeque;

/// The end is stored in small pieces, which are dropped as a whole.
pub(super) const PIECE: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct BoundedText {
    head: String,
    head_limit: usize,
    tail: VecDeque<String>,
    tail_length: usize,
    tail_limit: usize,
    dropped: usize,
}

impl BoundedText {
    /// Keeps at most about `limit` bytes, a fifth of them from the beginning.
    pub(super) fn new(limit: usize) -> Self {
        let head_limit = limit / 5;
        Self {
            head: String::new(),
            head_limit,
            tail: VecDeque::new(),
            tail_length: 0,
            tail_limit: limit - head_limit,
            dropped: 0,
        }
    }

    pub(super) fn push(&mut self, text: &str) {
        let into_head = if self.tail.is_empty() {
            text.floor_char_boundary(self.head_limit.saturating_sub(self.head.len()))
        } else {
            0
        };
        self.head.push_str(&text[..into_head]);
        let mut rest = &text[into_head..];
        while !rest.is_empty() {
            let room = self.tail.back().map_or(0, |piece| PIECE.saturating_sub(piece.len()));
            let part = rest.floor_char_boundary(room);
            match self.tail.back_mut() {
                Some(piece) if part > 0 => piece.push_str(&rest[..part]),
                _ => {
                    self.tail.push_back(String::new());
                    continue;
                }
            }
            self.tail_length += part;
            rest = &rest[part..];
            self.drop_oldest();
        }
    }

    /// The text, with a line that says how much is missing in the middle.
    pub(super) fn text(&self) -> String {
        let tail: String = self.tail.iter().map(String::as_str).collect();
        if self.dropped == 0 {
            return format!("{}{tail}", self.head);
        }
        format!("{}\n[... {} bytes were not kept ...]\n{tail}", self.head, self.dropped)
    }

    fn drop_oldest(&mut self) {
        while self.tail_length > self.tail_limit && self.tail.len() > 1 {
            if let Some(piece) = self.tail.pop_front() {
                self.tail_length -= piece.len();
                self.dropped += piece.len();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_fits_is_whole(pieces in proptest::collection::vec("[a-zäß€]{0,30}", 0..50)) {
            let mut bounded = BoundedText::new(10 * PIECE);
            pieces.iter().for_each(|piece| bounded.push(piece));
            prop_assert_eq!(bounded.text(), pieces.concat());
        }
    }

    #[test]
    fn of_too_much_the_beginning_and_the_end_are_kept() {
        let limit = 10 * PIECE;
        let mut bounded = BoundedText::new(limit);
        bounded.push("begin€");
        for _ in 0..300 {
            bounded.push(&"ä".repeat(PIECE / 16));
        }
        bounded.push("€end");
        let text = bounded.text();
        assert!(text.starts_with("begin€ä") && text.ends_with("ä€end"));
        assert!(text.contains("bytes were not kept"));
        assert!(text.len() < limit + PIECE);
    }
}
