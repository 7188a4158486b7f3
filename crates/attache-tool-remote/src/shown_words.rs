//! Which bytes of the live output of a call are words of the agent's statuses.
//!
//! After a restart, an agent without cursors tells the artifacts of its task again, and not what its statuses said. The log
//! has both as one text. Where one follows the other is saved before the text is shown, so that nothing has to be guessed.

use attache_domain::MAX_LIVE_BYTES;
use serde::{Deserialize, Serialize};

/// Changes between words and artifacts that are saved. Words after that count as texts of artifacts. Even, so that the last
/// change is to artifacts.
const MAX_CHANGES: usize = 1_000;
/// The log drops the beginning of a longer live output, at a boundary between characters.
const MAX_WHOLE: usize = MAX_LIVE_BYTES - char::MAX_LEN_UTF8;

/// Lengths of texts of artifacts and of words in turns. The text after the last length is of the other kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct ShownWords {
    lengths: Vec<usize>,
    /// The length of the text after that.
    #[serde(skip)]
    open: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextKind {
    Words,
    Artifact,
}

impl ShownWords {
    pub(crate) fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Text of this kind is shown next. True if that has to be saved first.
    pub(crate) fn begin(&mut self, kind: TextKind) -> bool {
        if kind == self.kind() || self.lengths.len() == MAX_CHANGES {
            return false;
        }
        self.lengths.push(std::mem::take(&mut self.open));
        true
    }

    pub(crate) fn add(&mut self, text: &str) {
        self.open += text.len();
    }

    /// An earlier run has shown `text`, as far as the log knows. Returns the words in it; none of a text that is not whole.
    pub(crate) fn resume(&mut self, text: &str) -> String {
        let (mut words, mut rest, mut whole) = (String::new(), text, Vec::new());
        for length in std::mem::take(&mut self.lengths) {
            self.lengths = whole;
            let (piece, behind) = rest.split_at(rest.floor_char_boundary(length.min(rest.len())));
            if self.kind() == TextKind::Words {
                words.push_str(piece);
            }
            whole = std::mem::take(&mut self.lengths);
            // What was about to be shown at the end may not be in the log.
            whole.push(piece.len());
            rest = behind;
        }
        (self.lengths, self.open) = (whole, rest.len());
        if self.kind() == TextKind::Words {
            words.push_str(rest);
        }
        if is_whole(text) { words } else { String::new() }
    }

    fn kind(&self) -> TextKind {
        if self.lengths.len() % 2 == 1 { TextKind::Words } else { TextKind::Artifact }
    }
}

/// Whether the log has a live output from its beginning.
pub(crate) fn is_whole(text: &str) -> bool {
    text.len() < MAX_WHOLE
}

#[cfg(test)]
mod tests {
    use TextKind::{Artifact, Words};
    use serde_json::{from_value, to_value};

    use super::*;

    /// What a run that shows `pieces` has saved and shown.
    fn shown(pieces: &[(TextKind, &str)]) -> (ShownWords, String) {
        let (mut words, mut text) = (ShownWords::default(), String::new());
        for (kind, piece) in pieces {
            words.begin(*kind);
            words.add(piece);
            text.push_str(piece);
        }
        (from_value(to_value(words).unwrap()).unwrap(), text)
    }

    #[test]
    fn words_are_told_from_artifacts_however_short_they_are() {
        let pieces = [(Artifact, "a"), (Words, "a"), (Words, "b"), (Artifact, "ab"), (Words, "é")];
        let (mut words, text) = shown(&pieces);
        assert_eq!(words.resume(&text), "abé");
        words.begin(Artifact);
        words.add("more");
        let mut again: ShownWords = from_value(to_value(words).unwrap()).unwrap();
        assert_eq!(again.resume(&format!("{text}more")), "abé", "after another restart");
    }

    #[test]
    fn what_the_log_has_not_got_is_not_counted() {
        let (mut words, text) = shown(&[(Words, "one "), (Artifact, "two "), (Words, "three")]);
        assert_eq!(words.resume(&text[..6]), "one ");
        words.begin(Artifact);
        words.add("four");
        let mut again: ShownWords = from_value(to_value(words).unwrap()).unwrap();
        assert_eq!(again.resume("one twfour"), "one ");
    }

    #[test]
    fn of_a_text_without_its_beginning_nothing_is_taken() {
        let (mut words, _) = shown(&[(Words, &"x".repeat(2 * MAX_LIVE_BYTES))]);
        assert_eq!(words.resume(&"x".repeat(MAX_LIVE_BYTES)), "");
    }

    #[test]
    fn an_agent_that_changes_all_the_time_takes_little_room() {
        let pieces: Vec<_> = (0..5_000).flat_map(|_| [(Words, "w"), (Artifact, "a")]).collect();
        let (mut words, text) = shown(&pieces);
        assert!(to_value(&words).unwrap().to_string().len() < 4_000);
        assert_eq!(words.resume(&text), "w".repeat(MAX_CHANGES / 2));
    }
}
