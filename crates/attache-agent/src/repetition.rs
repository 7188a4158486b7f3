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
/// Of so many stretches in a row one is looked at.
const WINDOW: usize = 16;

#[derive(Default)]
pub(crate) struct Repetition {
    /// The last text, and where it begins in everything that was said.
    text: Vec<u8>,
    start: usize,
    window: Window,
    places: Places,
    hash: u64,
    in_code: bool,
}

/// Of the rolling hash; odd and large is all it has to be.
const BASE: u64 = 0x0100_0000_01b3;

impl Repetition {
    /// Takes the next piece; true when the answer goes round in circles.
    pub(crate) fn hears(&mut self, piece: &str) -> bool {
        let fences = if piece.contains('`') { piece.matches("```").count() } else { 0 };
        if fences > 0 || is_structure(piece) {
            self.in_code ^= fences % 2 == 1;
            self.forget();
            return false;
        }
        !self.in_code && self.hear(piece.as_bytes())
    }

    fn forget(&mut self) {
        self.start += self.text.len();
        self.text.clear();
        self.window = Window::default();
        self.hash = 0;
    }

    fn hear(&mut self, piece: &[u8]) -> bool {
        if self.text.len() > 2 * MEMORY {
            self.shorten();
        }
        let known = self.text.len();
        self.text.extend_from_slice(piece);
        let Self { text, start, window, places, hash, .. } = self;
        for (end, byte) in text.iter().enumerate().skip(known) {
            *hash = hash.wrapping_mul(BASE).wrapping_add(u64::from(*byte));
            let Some(begin) = (end + 1).checked_sub(STRETCH) else { continue };
            if let Some(leaving) = begin.checked_sub(1) {
                *hash = hash.wrapping_sub(u64::from(text[leaving]).wrapping_mul(POWER));
            }
            let Some((place, hash)) = window.add(*start + begin, *hash) else { continue };
            let oldest = (*start).max(place.saturating_sub(REACH));
            if places.add(place, hash, oldest).is_some_and(|places| is_loop(text, *start, &places)) {
                return true;
            }
        }
        false
    }

    fn shorten(&mut self) {
        let surplus = self.text.len() - MEMORY;
        self.text.drain(..surplus);
        self.start += surplus;
    }
}

/// The last stretches, of which the one with the smallest hash is looked at. Text that comes back has its smallest at
/// the same places, so nothing is missed, and looking up what was said before is rare: that is what costs time.
#[derive(Default)]
struct Window {
    hashes: [u64; WINDOW],
    added: usize,
    smallest: (usize, u64),
}

impl Window {
    /// Adds a place, the one after the last; tells a place that is to be looked at, each once.
    fn add(&mut self, place: usize, hash: u64) -> Option<(usize, u64)> {
        // What is alike in text is alike in the lower bits; a multiplication mixes them into the upper ones.
        let mixed = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.hashes[place % WINDOW] = mixed;
        self.added += 1;
        if self.added < WINDOW {
            return None;
        }
        // Of equals the newest, so that a short period is seen every time.
        let known = self.smallest.0 + WINDOW > place && self.added > WINDOW;
        if known && mixed > self.smallest.1 {
            return None;
        }
        self.smallest = (place, mixed);
        if !known {
            for place in (place + 1 - WINDOW..place).rev() {
                let mixed = self.hashes[place % WINDOW];
                if mixed < self.smallest.1 {
                    self.smallest = (place, mixed);
                }
            }
        }
        Some(self.smallest)
    }
}

/// Where stretches begin, by their hash: every place leads to the one before it. What is too far back is overwritten.
#[derive(Default)]
struct Places {
    /// By hash: the newest place, and one more; zero when there is none.
    newest: Vec<u32>,
    /// By place: its hash, and the place before it, and one more, in the same list.
    known: Vec<(u64, u32)>,
}

/// More than [`REACH`], and a power of two.
const RING: usize = 4096;
/// What it has at first.
const FIRST: usize = 512;
/// More than there are places in reach, most often.
const LISTS: usize = 1024;

impl Places {
    /// Adds a place, and tells the last so many with the same hash if there are as many, oldest first.
    fn add(&mut self, place: usize, hash: u64, oldest: usize) -> Option<[usize; TIMES]> {
        let at = place % RING;
        if self.newest.is_empty() {
            self.newest = vec![0; LISTS];
        }
        // Most answers are short: the ring grows with what is said.
        if self.known.len() <= at {
            self.known.resize((at + 1).next_power_of_two().clamp(FIRST, RING), (0, 0));
        }
        let newest = &mut self.newest[(hash >> 32) as usize % LISTS];
        let mut before = std::mem::replace(newest, place as u32 + 1);
        self.known[at] = (hash, before);
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

/// Not a mere coincidence of hashes, nor a rule between different lines. `start` is where the text begins.
fn is_loop(text: &[u8], start: usize, places: &[usize]) -> bool {
    let at = |place: usize| &text[place - start..];
    let same = places.iter().all(|place| at(*place).get(..STRETCH) == at(places[0]).get(..STRETCH));
    let mut between: Vec<_> = places.windows(2).map(|pair| &at(pair[0])[..pair[1] - pair[0]]).collect();
    between.sort_unstable();
    between.dedup();
    same && between.len() <= TIMES / 2
}

/// The weight of the byte that leaves a stretch.
const POWER: u64 = {
    let (mut power, mut times) = (1_u64, 0);
    while times < STRETCH {
        power = power.wrapping_mul(BASE);
        times += 1;
    }
    power
};

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
    fn a_loop_of_any_length_is_noticed() {
        let words: String = (0..40).map(|number| format!("{} ", number * 7919 % 1000)).collect();
        for period in 1..=150 {
            let text = &words[..period];
            let times = (STRETCH + 2 * WINDOW).div_ceil(period) + TIMES + 1;
            assert!(hears([text.repeat(times)]), "{period}");
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
