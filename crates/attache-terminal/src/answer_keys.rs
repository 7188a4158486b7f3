//! Single keys that answer the open question, while the line editor keeps what is being typed.
//!
//! A key answers only a question that the person has had time to see, and never in the middle of a line that is being
//! typed. A word that begins with such a key still works: its other letters, and the Enter after it, are dropped.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use attache_domain::{CallId, IgnorePoison};
use rustyline::{KeyCode, KeyEvent, Modifiers};

use crate::question::AnswerKey;

/// In a line that is half written, a key is an answer only after a pause: a person who types on means the line.
const DRAFT_PAUSE: Duration = Duration::from_millis(500);
/// Within this time after the key, its word may be finished.
const WORD_PAUSE: Duration = Duration::from_secs(1);

/// The question that keys answer. Shared by the screen and the line editor.
#[derive(Clone, Default)]
pub(crate) struct AnswerKeys(Arc<Mutex<Keys>>);

#[derive(Default)]
struct Keys {
    open: Option<OpenQuestion>,
    last_key_at: Option<Instant>,
    /// The word whose first letter was an answer.
    word: Option<Word>,
}

struct OpenQuestion {
    call: CallId,
    keys: Vec<AnswerKey>,
    /// Another key came since the question opened.
    has_typed: bool,
}

struct Word {
    words: &'static [&'static str],
    typed: String,
}

/// What is to be done with a key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum KeyMeaning {
    /// It is for the line editor.
    Edit,
    /// It is part of an answer that was given already.
    Drop,
    Answer(CallId, char),
}

impl AnswerKeys {
    /// From now on, these keys answer the question about `call`.
    pub(crate) fn open(&self, call: CallId, keys: Vec<AnswerKey>) {
        self.lock().open = Some(OpenQuestion { call, keys, has_typed: false });
    }

    pub(crate) fn close(&self) {
        self.lock().open = None;
    }

    pub(crate) fn read(&self, key: KeyEvent, has_draft: bool) -> KeyMeaning {
        self.lock().read(key, has_draft, Instant::now())
    }

    fn lock(&self) -> MutexGuard<'_, Keys> {
        self.0.lock().ignore_poison()
    }
}

impl Keys {
    /// `has_draft`: the line has text already.
    fn read(&mut self, key: KeyEvent, has_draft: bool, now: Instant) -> KeyMeaning {
        let pause = self.last_key_at.replace(now).map(|before| now.duration_since(before));
        let letter = match key {
            KeyEvent(KeyCode::Char(letter), Modifiers::NONE) => Some(letter.to_ascii_lowercase()),
            _ => None,
        };
        if let Some(mut word) = self.word.take().filter(|_| pause.is_some_and(|pause| pause < WORD_PAUSE)) {
            if key == KeyEvent(KeyCode::Enter, Modifiers::NONE) {
                return KeyMeaning::Drop;
            }
            word.typed.extend(letter);
            if letter.is_some() && word.words.iter().any(|known| known.starts_with(&word.typed)) {
                self.word = Some(word);
                return KeyMeaning::Drop;
            }
        }
        let Some(open) = &mut self.open else { return KeyMeaning::Edit };
        let has_paused = pause.is_none_or(|pause| pause >= DRAFT_PAUSE);
        let may_answer = !has_draft || (has_paused && !open.has_typed);
        open.has_typed = true;
        let meant = open.keys.iter().find(|known| Some(known.key) == letter).filter(|_| may_answer);
        let Some(AnswerKey { key, words }) = meant.cloned() else { return KeyMeaning::Edit };
        self.word = Some(Word { words, typed: key.to_string() });
        match self.open.take() {
            Some(open) => KeyMeaning::Answer(open.call, key),
            None => KeyMeaning::Edit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const YES: AnswerKey = AnswerKey { key: 'y', words: &["y", "yes"] };
    const FIRST: AnswerKey = AnswerKey { key: '1', words: &[] };

    fn key(letter: char) -> KeyEvent {
        match letter {
            '\r' => KeyEvent(KeyCode::Enter, Modifiers::NONE),
            letter => KeyEvent(KeyCode::Char(letter), Modifiers::NONE),
        }
    }

    /// Keys with a pause of so many milliseconds before each, on a line with a draft or without. Returns what is left for
    /// the line editor, and the key that answered.
    #[track_caller]
    fn check(draft: &str, keys: &[(u64, char)], expected: (&str, Option<char>)) {
        let mut state = Keys::default();
        let mut now = Instant::now();
        if !draft.is_empty() {
            state.last_key_at = Some(now);
        }
        state.open =
            Some(OpenQuestion { call: CallId("k".into()), keys: vec![YES, FIRST], has_typed: false });
        let (mut line, mut answered) = (draft.to_owned(), None);
        for (pause, letter) in keys {
            now += Duration::from_millis(*pause);
            match state.read(key(*letter), !line.is_empty(), now) {
                KeyMeaning::Edit => line.push(*letter),
                KeyMeaning::Drop => {}
                KeyMeaning::Answer(call, key) => {
                    assert_eq!((call, answered), (CallId("k".into()), None));
                    answered = Some(key);
                }
            }
        }
        assert_eq!((line.as_str(), answered), expected, "{keys:?}");
    }

    #[test]
    fn a_key_answers_and_the_rest_of_its_word_is_dropped() {
        check("", &[(0, 'y')], ("", Some('y')));
        check("", &[(0, 'Y')], ("", Some('y')));
        check("", &[(0, '1'), (50, '\r')], ("", Some('1')));
        check("", &[(0, 'y'), (50, 'e'), (50, 's'), (50, '\r'), (50, 'h')], ("h", Some('y')));
        check("", &[(0, 'y'), (50, 'o')], ("o", Some('y')));
        check("", &[(0, 'y'), (2000, 'e')], ("e", Some('y')));
        check("", &[(0, 'y'), (50, '\r'), (50, '\r')], ("\r", Some('y')));
    }

    #[test]
    fn a_line_that_is_being_typed_is_no_answer() {
        check("", &[(0, 'p'), (2000, 'y'), (2000, '1')], ("py1", None));
        check("half a li", &[(200, 'y')], ("half a liy", None));
        check("half a li", &[(2000, 'n'), (2000, 'y')], ("half a liny", None));
    }

    #[test]
    fn a_draft_stays_when_a_key_answers_after_a_pause() {
        check("half a li", &[(2000, 'y'), (50, '\r'), (3000, 'n')], ("half a lin", Some('y')));
    }

    #[test]
    fn a_closed_question_takes_no_key() {
        let keys = AnswerKeys::default();
        keys.open(CallId("k".into()), vec![YES]);
        keys.close();
        assert_eq!(keys.read(key('y'), false), KeyMeaning::Edit);
    }
}
