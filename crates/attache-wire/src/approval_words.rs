//! The words by which people answer questions about calls. The only place that understands `yes` as an approval: servers,
//! clients and the terminal all ask here. A tool that puts a yes-or-no question of its own (`ask_user`) reads its answers
//! itself; such an answer approves nothing.
//!
//! `yes`, `no`, `always`, `run again`, or the id of a choice. When several calls wait: a line `CALL: answer` for each, or
//! `all: answer`. Which of the choices a question offers, and which question is open, `attache-domain` decides.

use std::borrow::Cow;
use std::ops::Range;

use attache_domain::{
    ANSWER, AnswerLine, CANCEL, GivenChoice, MODIFY, NamedAnswer, NamedWords, PROCEED_ALWAYS,
    PROCEED_ALWAYS_AND_SAVE, PROCEED_ALWAYS_SERVER, PROCEED_ALWAYS_TOOL, PROCEED_ONCE, RUN_AGAIN, SKIP,
    TextAnswers,
};

/// Stands for every call that waits.
const ALL: &str = "all";

/// Longer than every word and every id below.
const MAX_WORD_BYTES: usize = 64;

/// Longer than every id of a call as it is shown.
const MAX_NAME_BYTES: usize = 64 << 10;

/// The first words for yes and for no, which every question takes.
const PLAIN_WORDS: usize = 2;

/// How much of a line that is no answer is kept for the refusal.
const MAX_GIVEN_CHARS: usize = 80;

/// The words, the one that is shown to people first, and the choices each may mean, the best first. `yes` agrees that a call
/// may run; whether a lost call runs a second time is another question, which takes other words.
const WORDS: &[(&[&str], &[&str])] = &[
    (&["yes", "y", "ok", "okay", "proceed", "allow", "go"], &[PROCEED_ONCE]),
    (&["always"], &[PROCEED_ALWAYS, PROCEED_ALWAYS_TOOL]),
    (&["no", "n", "stop", "deny", "refuse"], &[CANCEL]),
    (&["again", "run again", "rerun"], &[RUN_AGAIN]),
];

/// The choices that are answers by their ids alone.
const CHOICES: &[&str] = &[
    PROCEED_ONCE,
    PROCEED_ALWAYS,
    PROCEED_ALWAYS_TOOL,
    PROCEED_ALWAYS_SERVER,
    PROCEED_ALWAYS_AND_SAVE,
    MODIFY,
    CANCEL,
    SKIP,
    RUN_AGAIN,
];

/// For clients that know a fixed list of choices: what each choice means where it is not offered, the best first. None
/// allows more than what the person was shown.
const NEAREST: &[(&str, &[&str])] = &[
    (PROCEED_ONCE, &[RUN_AGAIN, ANSWER]),
    (PROCEED_ALWAYS, &[PROCEED_ALWAYS_TOOL, PROCEED_ONCE, RUN_AGAIN]),
    (PROCEED_ALWAYS_TOOL, &[PROCEED_ALWAYS, PROCEED_ONCE, RUN_AGAIN]),
    (PROCEED_ALWAYS_SERVER, &[PROCEED_ALWAYS_TOOL, PROCEED_ALWAYS, PROCEED_ONCE, RUN_AGAIN]),
    (PROCEED_ALWAYS_AND_SAVE, &[PROCEED_ALWAYS_TOOL, PROCEED_ALWAYS, PROCEED_ONCE, RUN_AGAIN]),
];

/// Reads a text in every way in which it may be an answer.
pub(crate) fn read_text(text: &str) -> TextAnswers {
    let named = text.split_once(':').filter(|(name, _)| name.len() <= MAX_NAME_BYTES);
    let named = named.map(|(name, words)| NamedWords {
        name: name.trim().to_owned(),
        words: trimmed(text, text.len() - words.len()),
    });
    TextAnswers { words: trimmed(text, 0), named, lines: read_lines(text) }
}

/// The bytes of `text` after `start` without the white space around them.
fn trimmed(text: &str, start: usize) -> Range<usize> {
    let end = text.trim_end().len().max(start);
    let words = &text[start..end];
    end - words.trim_start().len()..end
}

/// The lines of `text` that may be answers. A prompt may be long: after a line that is no answer, only answers are kept.
fn read_lines(text: &str) -> Vec<AnswerLine> {
    let mut lines = Vec::new();
    let mut has_other = false;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let read = read_line(line);
        let is_other = !read.is_answer();
        if !is_other || !has_other {
            lines.push(read);
        }
        has_other |= is_other;
    }
    lines
}

fn read_line(line: &str) -> AnswerLine {
    let named = line.rsplit_once(':').map(|(name, word)| {
        let name = name.trim();
        let is_all = name.eq_ignore_ascii_case(ALL);
        NamedAnswer { name: name.to_owned(), is_all, choice: read_choice(word.trim()) }
    });
    let mut line = AnswerLine { whole: read_choice(line), named };
    for choice in [Some(&mut line.whole), line.named.as_mut().map(|named| &mut named.choice)] {
        if let Some(choice) = choice.filter(|choice| !choice.is_answer) {
            choice.given = choice.given.chars().take(MAX_GIVEN_CHARS).collect();
        }
    }
    line
}

/// The choices that `word` may mean.
pub(crate) fn read_choice(word: &str) -> GivenChoice {
    if word.len() > MAX_WORD_BYTES {
        return GivenChoice { given: word.to_owned(), choices: Vec::new(), is_answer: false };
    }
    let normal = normalized(word);
    let meanings = meanings(word);
    let is_answer = !meanings.is_empty() || CHOICES.contains(&normal.as_str());
    let meanings = meanings.iter().map(|choice| Cow::Borrowed(*choice));
    let choices = [Cow::Owned(normal)].into_iter().chain(meanings).collect();
    GivenChoice { given: word.to_owned(), choices, is_answer }
}

/// The same, and where the question does not offer the choice, the nearest that it offers.
pub(crate) fn read_nearest_choice(word: &str) -> GivenChoice {
    let mut given = read_choice(word);
    let nearest = NEAREST.iter().find(|(known, _)| *known == word).map(|(_, nearest)| *nearest);
    given.choices.extend(nearest.unwrap_or_default().iter().map(|choice| Cow::Borrowed(*choice)));
    given
}

/// The choices that a word such as `yes` may mean, the best first; none if it is no such word.
///
/// ```
/// assert_eq!(attache_wire::meanings(" Yes. "), ["proceed_once"]);
/// assert!(attache_wire::meanings("perhaps").is_empty());
/// ```
pub fn meanings(word: &str) -> &'static [&'static str] {
    let normal = normalized(word);
    WORDS.iter().find(|(words, _)| words.contains(&normal.as_str())).map_or(&[], |(_, choices)| choices)
}

/// Whether a line says plainly yes or no, for questions that take no other word. `None` for everything else, which an empty
/// line and the end of input are too.
pub fn yes_or_no(line: &str) -> Option<bool> {
    let word = line.trim().to_lowercase();
    let is_plain = |choice| words_for(choice).iter().take(PLAIN_WORDS).any(|plain| *plain == word);
    match (is_plain(PROCEED_ONCE), is_plain(CANCEL)) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

/// The words for a choice, the one that is shown to people first.
pub fn words_for(choice: &str) -> &'static [&'static str] {
    WORDS.iter().find(|(_, choices)| choices.contains(&choice)).map_or(&[], |(words, _)| words)
}

fn normalized(word: &str) -> String {
    word.trim().trim_end_matches(['.', '!']).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_answer(text: &str) -> bool {
        let lines = read_lines(text);
        !lines.is_empty() && lines.iter().all(AnswerLine::is_answer)
    }

    #[test]
    fn only_an_answer_and_nothing_else_is_an_answer() {
        for text in
            ["yes", " No. ", "ALWAYS", "cancel", "one: yes", "all: yes", "run again", "no\none: yes", "skip!"]
        {
            assert!(is_answer(text), "{text}");
        }
        let long = "yes ".repeat(100);
        for text in
            ["", "yes please", "I say yes", "no idea", "yes?", "okay then", "answer", "note: this", &long]
        {
            assert!(!is_answer(text), "{text}");
        }
    }

    #[track_caller]
    fn check(word: &str, expected: &[&str]) {
        assert_eq!(read_choice(word).choices, expected, "{word}");
    }

    #[test]
    fn words_mean_choices() {
        check("Yes.", &["yes", "proceed_once"]);
        check("always", &["always", "proceed_always", "proceed_always_tool"]);
        check("NO!", &["no", "cancel"]);
        check("again", &["again", "run_again"]);
        check("proceed_once", &["proceed_once"]);
        check("perhaps", &["perhaps"]);
    }

    #[test]
    fn the_nearest_choice_allows_no_more_than_the_one_that_was_given() {
        let nearest = |word: &str| read_nearest_choice(word).choices.join(" ");
        assert_eq!(nearest("proceed_once"), "proceed_once run_again answer");
        assert_eq!(
            nearest("proceed_always_server"),
            "proceed_always_server proceed_always_tool proceed_always proceed_once run_again"
        );
        assert_eq!(nearest("cancel"), "cancel");
        assert_eq!(nearest("modify_with_editor"), "modify_with_editor");
    }

    #[test]
    fn a_line_names_its_question_before_the_last_colon() {
        let lines = read_lines("a:b: yes\n\nALL : no\nyes");
        let named = |line: &AnswerLine| line.named.clone().map(|named| (named.name, named.is_all));
        let named: Vec<_> = lines.iter().map(named).collect();
        assert_eq!(named, [Some(("a:b".into(), false)), Some(("ALL".into(), true)), None]);
    }

    #[test]
    fn a_text_names_its_question_before_the_first_colon() {
        let read = |text: &str| {
            let answers = read_text(text);
            let named = answers.named.map(|named| (named.name, text[named.words].to_owned()));
            (text[answers.words].to_owned(), named)
        };
        let named = |name: &str, words: &str| Some((name.to_owned(), words.to_owned()));
        assert_eq!(
            read(" a b :\n Berlin: Mitte \n"),
            ("a b :\n Berlin: Mitte".into(), named("a b", "Berlin: Mitte"))
        );
        assert_eq!(read("\u{a0}Köln "), ("Köln".into(), None));
        assert_eq!(read("a:"), ("a:".into(), named("a", "")));
        assert_eq!(read("a: \n"), ("a:".into(), named("a", "")));
        assert_eq!(read(" "), (String::new(), None));
        assert_eq!(read(&format!("{}: x", "a".repeat(MAX_NAME_BYTES + 1))).1, None);
    }

    #[test]
    fn plain_yes_and_no_are_the_only_words_of_other_questions() {
        for (line, expected) in
            [("Yes\n", Some(true)), (" y", Some(true)), ("NO\n", Some(false)), ("n", Some(false))]
        {
            assert_eq!(yes_or_no(line), expected, "{line:?}");
        }
        for line in ["perhaps\n", "\n", "", "ok", "stop", "yes."] {
            assert_eq!(yes_or_no(line), None, "{line:?}");
        }
    }

    #[test]
    fn of_a_long_prompt_only_one_line_and_the_answers_are_kept() {
        let lines = read_lines("Please do this:\nand that\none: yes\nand more\nno");
        let given: Vec<_> = lines.iter().map(|line| line.whole.given.as_str()).collect();
        assert_eq!(given, ["Please do this:", "one: yes", "no"]);
    }
}
