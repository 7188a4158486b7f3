//! The question about a call: its lines, and the answer that a typed line gives.

use attache_domain::{
    ANSWER, AnswerLine, CallRecord, MODIFY, Message, MessageId, PROCEED_ALWAYS, Part, PartAnswers, Preview,
    RUN_AGAIN, Role, TextAnswers, visible, visible_line,
};
use attache_wire::devtool::call_display::{self, ConfirmationOption};
use attache_wire::{read_answers, words_for};

use crate::line::{Line, Style, lines_of};
use crate::session_input::TypedAnswer;

/// What would be done, and the answers that there are.
pub(crate) fn question_lines(record: &CallRecord) -> Vec<Line> {
    let name = visible_line(&record.call.name);
    let mut lines = Vec::new();
    if let Some(questions) = call_display::questions(record) {
        let agent = record.proposal.as_ref().and_then(|proposal| proposal.agent());
        let asker = agent.map_or(name, |(agent, _)| format!("the agent {}", visible_line(agent)).into());
        lines.push(Line::styled(Style::Yellow, format!("? {asker} asks:")));
        lines.extend(lines_of(Style::Plain, "    ", &questions));
        let others: Vec<_> = other_choices(record).collect();
        let how = match Options::of(record) {
            Some(Options { multiple: true, .. }) => "with options or their numbers, separated by commas",
            Some(_) => "with one of the options or its number",
            None => "in your own words",
        };
        let how = format!("  Answer {how}, or with {}.", others.join(" or "));
        lines.push(Line::styled(Style::Dim, how));
        return lines;
    }
    lines.push(Line::styled(Style::Yellow, format!("? {name} needs your approval:")));
    if record.lost {
        let lost = "It was running when the program stopped, and it is not known whether it took effect.";
        lines.push(Line::styled(Style::Yellow, format!("    {lost}")));
    }
    if let Some(proposal) = &record.proposal {
        lines.extend(lines_of(Style::Bold, "    ", &proposal.in_words()));
        if let Preview::Edit { diff, .. } = &proposal.shown {
            lines.extend(diff_lines("    ", &visible(diff)));
        }
        if proposal.has_hidden_characters() {
            let warning = r"It has hidden characters; they are written out as \u{…}.";
            lines.push(Line::styled(Style::Red, format!("    {warning}")));
        }
    }
    for (number, option) in offered(record).iter().enumerate() {
        let letter = key_for(option.id).map(|letter| format!(", {letter}")).unwrap_or_default();
        let word = words_for(option.id).first().map(|word| format!(", {word}")).unwrap_or_default();
        let line = Line::styled(Style::Bold, format!("  {}{letter}{word}", number + 1));
        let line = line.and(Style::Plain, format!("  {}", option.name));
        lines.push(match &option.description {
            Some(description) => line.and(Style::Dim, format!("  {description}")),
            None => line,
        });
    }
    lines
}

/// Ends a question about a call. `has_keys`: a single key answers, without Enter.
pub(crate) fn how_to_answer(has_keys: bool) -> Line {
    let how = match has_keys {
        true => "  Press the key of an answer, or type a word and Enter.",
        false => "  Answer with a number or a word, then Enter.",
    };
    Line::styled(Style::Dim, how)
}

/// A key that answers a question at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AnswerKey {
    pub(crate) key: char,
    /// The words that mean the same; typing one of those that begin with the key is one answer.
    pub(crate) words: &'static [&'static str],
}

/// The keys that answer the question; none for one that is answered in words.
pub(crate) fn answer_keys(record: &CallRecord) -> Vec<AnswerKey> {
    if record.choices.iter().any(|choice| choice == ANSWER) {
        return Vec::new();
    }
    let mut keys = Vec::new();
    for (index, option) in offered(record).iter().enumerate() {
        let digit = u32::try_from(index + 1).ok().and_then(|number| char::from_digit(number, 10));
        keys.extend(digit.map(|key| AnswerKey { key, words: &[] }));
        let (letter, words) = (key_for(option.id), words_for(option.id));
        let is_free = |key: &char| keys.iter().all(|known: &AnswerKey| known.key != *key);
        keys.extend(letter.filter(is_free).map(|key| AnswerKey { key, words }));
    }
    keys
}

/// A unified diff with its colours.
pub(crate) fn diff_lines(indent: &str, diff: &str) -> Vec<Line> {
    let style = |line: &str| match line.as_bytes().first() {
        Some(b'+') => Style::Green,
        Some(b'-') => Style::Red,
        Some(b'@') => Style::Cyan,
        _ => Style::Plain,
    };
    diff.lines().map(|line| Line::styled(style(line), format!("{indent}{line}"))).collect()
}

/// What the choice is called.
pub(crate) fn choice_name(record: &CallRecord, choice: &str) -> String {
    let offered = offered(record);
    let name = offered.iter().find(|option| option.id == choice).map_or(choice, |option| option.name);
    name.to_owned()
}

/// What a typed line answers; or why it is no answer.
pub(crate) fn read_answer(record: &CallRecord, line: &str) -> Result<TypedAnswer, String> {
    let line = line.trim();
    if record.choices.iter().any(|choice| choice == ANSWER) {
        if let Some(choice) = other_choices(record).find(|choice| *choice == line) {
            return Ok(TypedAnswer::Choice(choice.to_owned()));
        }
        return match Options::of(record) {
            // The question would close, and the call would fail.
            Some(options) if !options.take(line) => Err(options.refusal()),
            _ => Ok(TypedAnswer::Words(line.to_owned())),
        };
    }
    let offered = offered(record);
    let by_number = line.parse::<usize>().ok().and_then(|number| offered.get(number.checked_sub(1)?));
    let by_letter = || {
        let letter = line.to_lowercase().parse().ok()?;
        offered.iter().find(|option| letter_for(option.id) == Some(letter))
    };
    if let Some(option) = by_number.or_else(by_letter) {
        return Ok(TypedAnswer::Choice(option.id.to_owned()));
    }
    let meant = meanings(line);
    let choice = meant.iter().find(|choice| offered.iter().any(|option| option.id == choice.as_str()));
    choice.map(|choice| TypedAnswer::Choice(choice.clone())).ok_or_else(|| {
        let numbers = format!("1 to {}", offered.len());
        format!("that is no answer: give a number from {numbers}, yes, no, or another of the words above")
    })
}

/// What a tool offers as answers to its only question, which takes no other words.
struct Options<'a> {
    labels: Vec<&'a str>,
    multiple: bool,
}

impl<'a> Options<'a> {
    fn of(record: &'a CallRecord) -> Option<Self> {
        let Some(Preview::Questions { questions }) = record.preview() else { return None };
        let [question] = questions.as_array()?.as_slice() else { return None };
        let options = question["options"].as_array().filter(|_| question["type"] == "choice")?;
        let labels = options.iter().filter_map(|option| option["label"].as_str()).collect();
        Some(Self { labels, multiple: question["multiSelect"] == true })
    }

    /// People count from one.
    fn take(&self, line: &str) -> bool {
        let is_offered = |word: &str| {
            let is_number = word.parse().is_ok_and(|number| (1..=self.labels.len()).contains(&number));
            is_number || self.labels.iter().any(|label| label.trim().eq_ignore_ascii_case(word))
        };
        is_offered(line) || (self.multiple && line.split(',').map(str::trim).all(is_offered))
    }

    fn refusal(&self) -> String {
        let labels: Vec<_> = self.labels.iter().map(|label| visible_line(label)).collect();
        format!("that is none of the options: {}", labels.join(", "))
    }
}

/// The choices beside an answer in words.
fn other_choices(record: &CallRecord) -> impl Iterator<Item = &str> {
    record.choices.iter().map(String::as_str).filter(|choice| *choice != ANSWER)
}

/// Would the line answer a question, if one were open?
pub(crate) fn is_answer_word(line: &str) -> bool {
    as_answer(line).is_some_and(|line| line.is_answer())
}

fn meanings(line: &str) -> Vec<String> {
    let choices = as_answer(line).map(|line| line.whole.choices).unwrap_or_default();
    choices.into_iter().map(|choice| choice.into_owned()).collect()
}

/// Reads a line in the place where the words of all clients are read.
fn as_answer(line: &str) -> Option<AnswerLine> {
    let message = Message {
        id: MessageId::from(""),
        role: Role::User,
        parts: vec![Part::text(line)],
        context: None,
        task: None,
        requested: None,
        command: None,
        sender: None,
        reference_tasks: Vec::new(),
        extensions: Vec::new(),
        metadata: None,
    };
    let answers = read_answers(&message);
    let Some(PartAnswers::Text(TextAnswers { mut lines, .. })) = answers.parts.into_iter().next() else {
        return None;
    };
    lines.pop().filter(|_| lines.is_empty())
}

/// The choices that can be given here: there is no editor to change an edit with.
fn offered(record: &CallRecord) -> Vec<ConfirmationOption<'_>> {
    let mut options = call_display::options(record);
    options.retain(|option| option.id != MODIFY);
    options
}

/// The letter that answers without Enter. An answer for longer has none: its letter may begin a prompt, and it cannot be
/// taken back in this conversation.
fn key_for(choice: &str) -> Option<char> {
    letter_for(choice).filter(|_| !choice.starts_with(PROCEED_ALWAYS))
}

/// The letter with which the word for a choice begins. A call that may have run before is not run again by one letter.
fn letter_for(choice: &str) -> Option<char> {
    words_for(choice).first().filter(|_| choice != RUN_AGAIN)?.chars().next()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use attache_domain::{
        CANCEL, CallId, PROCEED_ALWAYS_SERVER, PROCEED_ALWAYS_TOOL, PROCEED_ONCE, Proposal, SKIP, ToolCall,
    };

    use super::*;

    fn record(choices: &[&str]) -> CallRecord {
        let call = ToolCall { id: CallId("c".into()), name: "run".into(), input: Default::default() };
        let choices = choices.iter().map(|choice| (*choice).to_owned()).collect();
        CallRecord { choices, ..CallRecord::requested(call) }
    }

    #[track_caller]
    fn check(choices: &[&str], line: &str, expected: Option<&str>) {
        let answer = read_answer(&record(choices), line).ok();
        assert_eq!(answer, expected.map(|choice| TypedAnswer::Choice(choice.to_owned())), "{line}");
    }

    #[test]
    fn numbers_words_and_ids_are_answers() {
        let usual = [PROCEED_ONCE, PROCEED_ALWAYS, MODIFY, CANCEL];
        check(&usual, "y", Some(PROCEED_ONCE));
        check(&usual, " YES ", Some(PROCEED_ONCE));
        check(&usual, "1", Some(PROCEED_ONCE));
        check(&usual, "always", Some(PROCEED_ALWAYS));
        check(&usual, "a", Some(PROCEED_ALWAYS));
        check(&usual, "3", Some(CANCEL));
        check(&usual, "no", Some(CANCEL));
        check(&usual, "proceed_always", Some(PROCEED_ALWAYS));
        for other in ["0", "4", "maybe", "yes please", "modify_with_editor", "c: yes", ""] {
            check(&usual, other, None);
        }
        check(&[RUN_AGAIN, SKIP, CANCEL], "yes", None);
        check(&[RUN_AGAIN, SKIP, CANCEL], "again", Some(RUN_AGAIN));
    }

    #[test]
    fn every_choice_has_a_key_and_some_have_a_letter() {
        let keys = |choices: &[&str]| {
            answer_keys(&record(choices)).iter().map(|known| known.key).collect::<String>()
        };
        assert_eq!(keys(&[PROCEED_ONCE, PROCEED_ALWAYS, MODIFY, CANCEL]), "1y23n");
        assert_eq!(keys(&[PROCEED_ONCE, PROCEED_ALWAYS_TOOL, PROCEED_ALWAYS_SERVER, CANCEL]), "1y234n");
        assert_eq!(keys(&[RUN_AGAIN, SKIP, CANCEL]), "123n");
        assert_eq!(keys(&[ANSWER, CANCEL]), "");
    }

    #[test]
    fn a_question_of_a_tool_takes_any_words() {
        let asks = record(&[ANSWER, CANCEL]);
        assert_eq!(read_answer(&asks, "1"), Ok(TypedAnswer::Words("1".into())));
        assert_eq!(read_answer(&asks, "no"), Ok(TypedAnswer::Words("no".into())));
        assert_eq!(read_answer(&asks, "cancel"), Ok(TypedAnswer::Choice(CANCEL.into())));
        assert_eq!(read_answer(&asks, "skip"), Ok(TypedAnswer::Words("skip".into())));
    }

    #[test]
    fn a_question_with_options_takes_one_of_them_and_stays_open_otherwise() {
        let asks = |multiple: bool| {
            let option = |label: &str| serde_json::json!({ "label": label, "description": "" });
            let questions = serde_json::json!([{
                "question": "Which colour?", "header": "Colour", "type": "choice", "multiSelect": multiple,
                "options": [option("Red"), option("Blue")],
            }]);
            let shown = Preview::Questions { questions };
            let proposal = Proposal { input: Default::default(), effects: Vec::new(), shown };
            CallRecord { proposal: Some(Arc::new(proposal)), ..record(&[ANSWER, CANCEL]) }
        };
        let words = |line: &str| Ok(TypedAnswer::Words(line.to_owned()));
        for line in ["red", "Blue", "1", "2"] {
            assert_eq!(read_answer(&asks(false), line), words(line), "{line}");
        }
        for line in ["green", "0", "3", "red, blue", ""] {
            assert_eq!(
                read_answer(&asks(false), line),
                Err("that is none of the options: Red, Blue".to_owned()),
                "{line}"
            );
        }
        assert_eq!(read_answer(&asks(true), "red, 2"), words("red, 2"));
        assert!(read_answer(&asks(true), "red, green").is_err());
        assert_eq!(read_answer(&asks(false), "cancel"), Ok(TypedAnswer::Choice(CANCEL.into())));
        let lines: Vec<_> = question_lines(&asks(false)).iter().map(|line| line.render(false)).collect();
        assert!(lines.iter().any(|line| line.contains("- Red")), "{lines:?}");
        assert_eq!(
            lines.last().unwrap().trim(),
            "Answer with one of the options or its number, or with cancel."
        );
    }

    #[test]
    fn a_question_of_a_tool_may_be_skipped() {
        let asks = record(&[ANSWER, SKIP, CANCEL]);
        assert_eq!(read_answer(&asks, "skip"), Ok(TypedAnswer::Choice(SKIP.into())));
    }
}
