//! Notices an answer that repeats itself while it is being said.
//!
//! A stretch of text that comes back again and again, close together and with the same in between, is a loop. Code,
//! tables and lists repeat themselves for good reasons: they are not looked at.

/// How long the stretches are that are compared, in bytes.
const STRETCH: usize = 50;
/// How much of the text is kept at least.
const MEMORY: usize = 5000;
/// How often a stretch has to come back.
const TIMES: usize = 10;
/// How close together, on average.
const CLOSE: usize = 5 * STRETCH;
/// How far back the first of so many stretches may be.
const REACH: usize = CLOSE * (TIMES - 1);

#[derive(Default)]
pub(crate) struct Repetition {
    /// The last text, and where it begins in everything that was said.
    text: Vec<u8>,
    start: usize,
    places: Places,
    hash: u64,
    in_code: bool,
}

/// Of the rolling hash; odd and large is all it has to be.
const BASE: u64 = 0x0100_0000_01b3;

impl Repetition {
    /// Takes the next piece; true when the answer goes round in circles.
    pub(crate) fn hears(&mut self, piece: &str) -> bool {
        let fences = piece.matches("```").count();
        if fences > 0 || is_structure(piece) {
            self.in_code ^= fences % 2 == 1;
            self.forget();
            return false;
        }
        !self.in_code && piece.bytes().any(|byte| self.hear(byte))
    }

    fn forget(&mut self) {
        self.start += self.text.len();
        self.text.clear();
        self.hash = 0;
    }

    fn hear(&mut self, byte: u8) -> bool {
        let leaving = self.text.len().checked_sub(STRETCH).map(|place| self.text[place]);
        self.text.push(byte);
        self.hash = self.hash.wrapping_mul(BASE).wrapping_add(u64::from(byte));
        if let Some(leaving) = leaving {
            self.hash = self.hash.wrapping_sub(u64::from(leaving).wrapping_mul(power()));
        }
        if self.text.len() > 2 * MEMORY {
            self.shorten();
        }
        match self.text.len().checked_sub(STRETCH) {
            Some(begin) => self.note(begin),
            None => false,
        }
    }

    /// The stretch at `begin` is known now.
    fn note(&mut self, begin: usize) -> bool {
        let place = self.start + begin;
        let oldest = self.start.max(place.saturating_sub(REACH));
        match self.places.add(place, self.hash, oldest) {
            Some(places) => self.is_loop(&places),
            None => false,
        }
    }

    /// Not a mere coincidence of hashes, nor a rule between different lines.
    fn is_loop(&self, places: &[usize]) -> bool {
        let at = |place: usize| &self.text[place - self.start..];
        let same = places.iter().all(|place| at(*place).get(..STRETCH) == at(places[0]).get(..STRETCH));
        let mut between: Vec<_> = places.windows(2).map(|pair| &at(pair[0])[..pair[1] - pair[0]]).collect();
        between.sort_unstable();
        between.dedup();
        same && between.len() <= TIMES / 2
    }

    fn shorten(&mut self) {
        let surplus = self.text.len() - MEMORY;
        self.text.drain(..surplus);
        self.start += surplus;
    }
}

/// Where stretches begin, by their hash: every place leads to the one before it. Made once for an answer, because this
/// is done for every byte of it; what is too far back is overwritten.
#[derive(Default)]
struct Places {
    /// By hash: the newest place, and one more; zero when there is none.
    newest: Vec<u32>,
    /// By place: its hash, and the place before it, and one more, in the same list.
    known: Vec<(u64, u32)>,
}

/// More than [`REACH`], and a power of two.
const RING: usize = 4096;

impl Places {
    /// Adds a place, and tells the last so many with the same hash if there are as many, oldest first.
    fn add(&mut self, place: usize, hash: u64, oldest: usize) -> Option<[usize; TIMES]> {
        if self.newest.is_empty() {
            self.newest = vec![0; RING];
            self.known = vec![(0, 0); RING];
        }
        // What is alike in text is alike in the lower bits; a multiplication mixes them into the upper ones.
        let list = (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52) as usize % RING;
        let newest = &mut self.newest[list];
        let mut before = std::mem::replace(newest, place as u32 + 1);
        self.known[place % RING] = (hash, before);
        let mut same = [place; TIMES];
        let mut missing = TIMES - 1;
        while missing > 0 {
            let other = before.checked_sub(1).map(|place| place as usize).filter(|place| *place >= oldest)?;
            let (its_hash, its_before) = self.known[other % RING];
            if its_hash == hash {
                missing -= 1;
                same[missing] = other;
            }
            before = its_before;
        }
        Some(same)
    }
}

/// The weight of the byte that leaves a stretch.
fn power() -> u64 {
    const POWER: u64 = {
        let (mut power, mut times) = (1_u64, 0);
        while times < STRETCH {
            power = power.wrapping_mul(BASE);
            times += 1;
        }
        power
    };
    POWER
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

    fn hears(pieces: impl IntoIterator<Item = String>) -> bool {
        let mut repetition = Repetition::default();
        pieces.into_iter().any(|piece| repetition.hears(&piece))
    }

    const SENTENCE: &str = "I will now look at the file again to see what is in it. ";

    #[test]
    fn a_sentence_over_and_over_is_a_loop_however_it_is_cut() {
        assert!(hears([SENTENCE.repeat(12)]));
        for length in [1, 3, 7, 20] {
            let text = SENTENCE.repeat(12);
            let pieces =
                text.as_bytes().chunks(length).map(|piece| String::from_utf8_lossy(piece).into_owned());
            assert!(hears(pieces), "{length}");
        }
    }

    #[test]
    fn a_few_times_is_no_loop() {
        assert!(!hears([SENTENCE.repeat(9)]));
    }

    #[test]
    fn ordinary_text_is_no_loop() {
        let text = (0..2000).map(|number| format!("Sentence number {number} says something of its own. "));
        assert!(!hears(text));
    }

    #[test]
    fn the_same_phrase_between_different_sentences_is_no_loop() {
        let phrase = "and this phrase is exactly the same every time it comes, ";
        let text =
            (0..40).map(|number| format!("{phrase}but number {} is {}. ", number * 7919, number * number));
        assert!(!hears(text));
    }

    #[test]
    fn code_may_repeat_itself() {
        let lines = "    println!(\"the same line of code, again and again\");\n".repeat(30);
        assert!(!hears(["Here it is:\n```rust\n".to_owned(), lines.clone(), "```\n".to_owned()]));
        assert!(hears([lines]));
    }

    #[test]
    fn far_apart_is_no_loop() {
        let text = (0..30).flat_map(|number| {
            let filler = (0..40).map(move |word| format!("word {} of {number} ", word * 31 + number * 1009));
            std::iter::once(SENTENCE.to_owned()).chain(filler)
        });
        assert!(!hears(text));
    }
}
