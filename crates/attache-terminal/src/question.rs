//! The question about a call: how it looks, and what a typed line answers.

use attache_domain::{
    ANSWER, AnswerLine, CANCEL, CallRecord, MODIFY, Message, MessageId, PROCEED_ALWAYS, PROCEED_ALWAYS_TOOL,
    PROCEED_ONCE, Part, PartAnswers, Preview, RUN_AGAIN, Role, visible, visible_line,
};
use attache_wire::devtool::call_display::{self, ConfirmationOption};
use attache_wire::read_answers;

use crate::line::{Line, Style, lines_of};
use crate::session_input::QuestionAnswer;

/// What would be done, and the answers that there are.
pub(crate) fn question_lines(record: &CallRecord) -> Vec<Line> {
    let name = visible_line(&record.call.name);
    let mut lines = Vec::new();
    if let Some(questions) = call_display::questions(record) {
        lines.push(Line::styled(Style::Yellow, format!("? {name} asks:")));
        lines.extend(lines_of(Style::Plain, "    ", &questions));
        lines.push(Line::styled(Style::Dim, "  Answer in your own words, or with cancel."));
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
        let words = word_for(option.id).map(|word| format!(", {word}")).unwrap_or_default();
        let line = Line::styled(Style::Bold, format!("  {}{words}", number + 1));
        let line = line.and(Style::Plain, format!("  {}", option.name));
        lines.push(match &option.description {
            Some(description) => line.and(Style::Dim, format!("  {description}")),
            None => line,
        });
    }
    lines.push(Line::styled(Style::Dim, "  Answer with a number or a word, then Enter."));
    lines
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

/// What a typed line answers; or why it is no answer.
pub(crate) fn read_answer(record: &CallRecord, line: &str) -> Result<QuestionAnswer, String> {
    let line = line.trim();
    if record.choices.iter().any(|choice| choice == ANSWER) {
        return Ok(match line {
            CANCEL => QuestionAnswer::Choice(CANCEL.to_owned()),
            words => QuestionAnswer::Words(words.to_owned()),
        });
    }
    let offered = offered(record);
    let by_number = line.parse::<usize>().ok().and_then(|number| offered.get(number.checked_sub(1)?));
    if let Some(option) = by_number {
        return Ok(QuestionAnswer::Choice(option.id.to_owned()));
    }
    let meant = meanings(line);
    let choice = meant.iter().find(|choice| offered.iter().any(|option| option.id == choice.as_str()));
    choice.map(|choice| QuestionAnswer::Choice(choice.clone())).ok_or_else(|| {
        let numbers = format!("1 to {}", offered.len());
        format!("that is no answer: give a number from {numbers}, yes, no, or another of the words above")
    })
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
    let Some(PartAnswers::Text(mut lines)) = answers.parts.into_iter().next() else { return None };
    lines.pop().filter(|_| lines.is_empty())
}

/// The choices that can be given here: there is no editor to change an edit with.
fn offered(record: &CallRecord) -> Vec<ConfirmationOption<'_>> {
    let mut options = call_display::options(record);
    options.retain(|option| option.id != MODIFY);
    options
}

fn word_for(choice: &str) -> Option<&'static str> {
    Some(match choice {
        PROCEED_ONCE => "y, yes",
        PROCEED_ALWAYS | PROCEED_ALWAYS_TOOL => "always",
        CANCEL => "n, no",
        RUN_AGAIN => "again",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use attache_domain::{CallId, SKIP, ToolCall};

    use super::*;

    fn record(choices: &[&str]) -> CallRecord {
        let call = ToolCall { id: CallId("c".into()), name: "run".into(), input: Default::default() };
        let choices = choices.iter().map(|choice| (*choice).to_owned()).collect();
        CallRecord { choices, ..CallRecord::requested(call) }
    }

    #[track_caller]
    fn check(choices: &[&str], line: &str, expected: Option<&str>) {
        let answer = read_answer(&record(choices), line).ok();
        assert_eq!(answer, expected.map(|choice| QuestionAnswer::Choice(choice.to_owned())), "{line}");
    }

    #[test]
    fn numbers_words_and_ids_are_answers() {
        let usual = [PROCEED_ONCE, PROCEED_ALWAYS, MODIFY, CANCEL];
        check(&usual, "y", Some(PROCEED_ONCE));
        check(&usual, " YES ", Some(PROCEED_ONCE));
        check(&usual, "1", Some(PROCEED_ONCE));
        check(&usual, "always", Some(PROCEED_ALWAYS));
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
    fn a_question_of_a_tool_takes_any_words() {
        let asks = record(&[ANSWER, CANCEL]);
        assert_eq!(read_answer(&asks, "1"), Ok(QuestionAnswer::Words("1".into())));
        assert_eq!(read_answer(&asks, "no"), Ok(QuestionAnswer::Words("no".into())));
        assert_eq!(read_answer(&asks, "cancel"), Ok(QuestionAnswer::Choice(CANCEL.into())));
    }
}
