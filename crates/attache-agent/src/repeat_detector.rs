//! Detects an answer that repeats itself during the stream.
//!
//! A piece of text that occurs many times, close together and with the same text in between, is a loop. Code, tables
//! and lists repeat for good reasons and are skipped.

use memchr::memmem::Finder;

/// The length of the compared pieces, in bytes.
const CHUNK_LENGTH: usize = 50;
/// The number of occurrences that make a loop.
const MAX_REPEATS: usize = 10;
/// The maximum average distance between two occurrences.
const MAX_DISTANCE: usize = 5 * CHUNK_LENGTH;
/// The maximum distance of the first occurrence.
const MAX_LOOP_LENGTH: usize = MAX_DISTANCE * (MAX_REPEATS - 1);
/// The minimum of kept text; twice as much at most.
const MEMORY: usize = 2 * MAX_LOOP_LENGTH;
/// Bytes between two checks, used in turn. Checks are rare because each is expensive. The distances differ, so that
/// not all checks meet the varying words in a loop.
const STEPS: [usize; 3] = [257, 211, 233];

#[derive(Default)]
pub(crate) struct TextRepeatDetector {
    /// The latest text.
    text: Vec<u8>,
    /// The position in it at which the previous check ended.
    checked: usize,
    checks: usize,
    in_code: bool,
}

impl TextRepeatDetector {
    /// Adds a piece; true if the answer repeats itself.
    pub(crate) fn push(&mut self, piece: &str) -> bool {
        let fences = if piece.contains('`') { piece.matches("```").count() } else { 0 };
        if fences > 0 || is_structure(piece) {
            self.in_code ^= fences % 2 == 1;
            self.clear();
            return false;
        }
        !self.in_code && self.add_text(piece.as_bytes())
    }

    fn clear(&mut self) {
        self.text.clear();
        self.checked = 0;
    }

    fn add_text(&mut self, piece: &[u8]) -> bool {
        if self.text.len() > 2 * MEMORY {
            self.shorten();
        }
        self.text.extend_from_slice(piece);
        loop {
            let end = self.checked + STEPS[self.checks % STEPS.len()];
            if end > self.text.len() {
                return false;
            }
            (self.checked, self.checks) = (end, self.checks + 1);
            if has_loop(&self.text[..end]) {
                return true;
            }
        }
    }

    fn shorten(&mut self) {
        // The unchecked text is shorter than a step, so `checked` is at least `surplus`.
        let surplus = self.text.len() - MEMORY;
        self.text.drain(..surplus);
        self.checked -= surplus;
    }
}

/// Whether the last piece of `text` occurs often enough.
fn has_loop(text: &[u8]) -> bool {
    let last = text.len() - CHUNK_LENGTH;
    let stretch = Finder::new(&text[last..]);
    let (mut from, mut places) = (last.saturating_sub(MAX_LOOP_LENGTH), Vec::new());
    // Occurrences may overlap; the last one found is the piece itself.
    while let Some(further) = stretch.find(&text[from..]) {
        places.push(from + further);
        from += further + 1;
    }
    places.len() >= MAX_REPEATS && is_loop(text, &places[places.len() - MAX_REPEATS..])
}

/// Whether the text is more than a common phrase between different words.
fn is_loop(text: &[u8], places: &[usize]) -> bool {
    let mut between: Vec<_> = places.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect();
    between.sort_unstable();
    between.dedup();
    between.len() <= MAX_REPEATS / 2
}

/// A line that begins like one of a table, list, heading or quotation.
fn is_structure(piece: &str) -> bool {
    let begins = |line: &str| {
        let line = line.trim_start();
        let numbered = line.trim_start_matches(|character: char| character.is_ascii_digit());
        line.starts_with(['|', '#', '>'])
            || line.starts_with("* ")
            || line.starts_with("- ")
            || line.starts_with("+ ")
            || line.starts_with("---")
            || (numbered.len() < line.len() && numbered.starts_with(". "))
    };
    piece.contains('\n') && piece.lines().any(begins) || piece.starts_with('|')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeats(pieces: impl IntoIterator<Item = String>) -> bool {
        let mut repetition = TextRepeatDetector::default();
        pieces.into_iter().any(|piece| repetition.push(&piece))
    }

    const SENTENCE: &str = "I will now look at the file again to see what is in it. ";

    #[test]
    fn a_sentence_over_and_over_is_a_loop_however_it_is_cut() {
        assert!(repeats([SENTENCE.repeat(16)]));
        for length in [1, 3, 7, 20] {
            let text = SENTENCE.repeat(16);
            let pieces =
                text.as_bytes().chunks(length).map(|piece| String::from_utf8_lossy(piece).into_owned());
            assert!(repeats(pieces), "{length}");
        }
    }

    #[test]
    fn a_loop_of_any_length_is_noticed() {
        let words: String = (0..40).map(|number| format!("{} ", number * 7919 % 1000)).collect();
        for period in 1..=150 {
            let text = &words[..period];
            let times = (CHUNK_LENGTH + STEPS[0]).div_ceil(period) + MAX_REPEATS;
            assert!(repeats([text.repeat(times)]), "{period}");
        }
    }

    #[test]
    fn a_few_times_is_no_loop() {
        assert!(!repeats([SENTENCE.repeat(9)]));
    }

    #[test]
    fn ordinary_text_is_no_loop() {
        let text = (0..2000).map(|number| format!("Sentence number {number} says something of its own. "));
        assert!(!repeats(text));
    }

    #[test]
    fn the_same_phrase_between_different_sentences_is_no_loop() {
        let phrase = "and this phrase is exactly the same every time it comes, ";
        let text =
            (0..40).map(|number| format!("{phrase}but number {} is {}. ", number * 7919, number * number));
        assert!(!repeats(text));
    }

    #[test]
    fn a_loop_that_says_a_few_things_in_turn_is_noticed() {
        let said =
            ["First I look at the list. ", "Then at the table! ", "And then, at last, at the figures, too. "];
        let text = (0..40).map(|number| format!("{SENTENCE}{}", said[number % said.len()]));
        assert!(repeats(text));
    }

    #[test]
    fn a_loop_at_the_end_of_a_long_answer_is_noticed() {
        let long = (0..2000).map(|number| format!("Sentence number {number} says something of its own. "));
        assert!(repeats(long.chain([SENTENCE.repeat(16)])));
    }

    #[test]
    fn code_may_repeat_itself() {
        let lines = "    println!(\"the same line of code, again and again\");\n".repeat(30);
        assert!(!repeats(["Here it is:\n```rust\n".to_owned(), lines.clone(), "```\n".to_owned()]));
        assert!(repeats([lines]));
    }

    #[test]
    fn far_apart_is_no_loop() {
        let text = (0..30).flat_map(|number| {
            let filler = (0..40).map(move |word| format!("word {} of {number} ", word * 31 + number * 1009));
            std::iter::once(SENTENCE.to_owned()).chain(filler)
        });
        assert!(!repeats(text));
    }
}
