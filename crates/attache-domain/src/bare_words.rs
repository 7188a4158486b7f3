//! An answer that names no call, such as `yes`, counts for the one open question, if that is the one its sender has read.
//!
//! A message of plain A2A does not say which question it answers. So when another client has answered the question before
//! and a new one was put only a moment ago, `yes` may be meant for the old one: it is refused, with the new question. And
//! when no question is open because another client was quicker, `yes` is late and no prompt: it is refused with who answered.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::answer::{ANSWERING, MODIFYING, SEVERAL_WAIT, is_answer_word, named_in, names_all};
use crate::{
    CallAnswer, CallId, CallProgress, Fault, Message, MessageId, Part, PartContent, Progress, RecordedAnswer,
    Scope, TaskState, TaskView, TurnPhase, Verdict, visible_line,
};

/// For so long after a question was put, the bare words of another client than the one that answered before it may be
/// about the question before.
const MAX_READING_DELAY: Duration = Duration::from_secs(10);

/// Stands between the client that answered and its message.
const IN_MESSAGE: &str = " in the message ";

/// How others are told who answered.
pub fn answerer(scope: &Scope, client: Option<&str>, message: &MessageId) -> String {
    let client = client.map(|client| format!(" ({client})")).unwrap_or_default();
    format!("{}{client}{IN_MESSAGE}{message}", scope.owner)
}

impl TaskView {
    /// What `message`, sent `by` somebody at `now`, answers about the calls that are open.
    pub fn answers_in(
        &self,
        message: &Message,
        by: &str,
        now: Timestamp,
    ) -> Result<Vec<(CallId, CallAnswer)>, Fault> {
        let answers = self.progress.answers_in(message).map_err(|fault| self.with_open_calls(fault))?;
        let agrees = |answer: &CallAnswer| answer.verdict == Verdict::Proceed && answer.choice != ANSWERING;
        let named =
            |call: &CallId, answer: &CallAnswer| names(message, answer.question.as_ref().unwrap_or(call));
        let mut bare = answers.iter().filter(|(call, answer)| agrees(answer) && !named(call, answer));
        if let Some((call, answer)) = bare.next() {
            self.refuse_if_changed(call, answer, by, now)?;
        }
        Ok(answers)
    }

    /// Refuses words that answer a question about a call although none is open, because another client was quicker. They
    /// would make no sense as a prompt. Once the turn is over the next `yes` of the client that answered is one.
    pub fn refuse_late_answer(&self, message: &Message, by: &str, now: Timestamp) -> Result<(), Fault> {
        let progress = &self.progress;
        let lines = answer_lines(message).filter(|_| !progress.waits_for_person());
        let Some(lines) = lines else { return Ok(()) };
        if let Some(other) = lines.iter().find_map(|line| progress.other_question(line)) {
            return Err(progress.not_open(&other));
        }
        if !lines.iter().all(|line| is_answer_word(line) || names_all(line)) {
            return Ok(());
        }
        let Some(said) = progress.answered.back() else { return Ok(()) };
        let is_at_work = progress.turn.phase == TurnPhase::Running && said.turn == progress.turn.number;
        let age = Duration::try_from(now.duration_since(said.at)).unwrap_or_default();
        let is_another = said.by.as_deref().map(client_of) != Some(client_of(by));
        let is_fresh = age < MAX_READING_DELAY && is_another;
        if is_at_work || is_fresh { Err(said.already_answered()) } else { Ok(()) }
    }

    /// Words that answer a question, sent to a task that is over because the question was answered: its end alone would not
    /// tell their sender who was quicker.
    pub fn refuse_answer_after_end(&self, message: &Message, now: Timestamp) -> Result<(), Fault> {
        let said = self.progress.answered.back().filter(|_| self.progress.is_final());
        let is_fresh = |said: &&RecordedAnswer| {
            Duration::try_from(now.duration_since(said.at)).unwrap_or_default() < MAX_READING_DELAY
        };
        match said.filter(is_fresh).filter(|_| answer_lines(message).is_some()) {
            Some(said) => Err(said.already_answered()),
            None => Ok(()),
        }
    }

    /// A refusal because several calls are open says what each of them would do.
    fn with_open_calls(&self, fault: Fault) -> Fault {
        let Fault::InvalidParams { mut violations } = fault else { return fault };
        let several = violations.iter_mut().find(|violation| violation.description.contains(SEVERAL_WAIT));
        if let Some(several) = several {
            for record in self.cast.asked() {
                let (tool, words) = self.in_words(&record.call.id);
                let id = visible_line(&record.shown_id().0);
                several.description.push_str(&format!("\n{tool} ({id}): {words}"));
            }
        }
        Fault::InvalidParams { violations }
    }

    /// The tool of a call, and what the call would do.
    fn in_words(&self, call: &CallId) -> (String, String) {
        let Some(record) = self.cast.find(call) else { return Default::default() };
        let words = record.proposal.as_ref().map(|proposal| proposal.in_words());
        (visible_line(&record.call.name).into_owned(), words.unwrap_or_default())
    }

    fn refuse_if_changed(
        &self,
        call: &CallId,
        answer: &CallAnswer,
        by: &str,
        now: Timestamp,
    ) -> Result<(), Fault> {
        let progress = &self.progress;
        let id = answer.question.as_ref().unwrap_or(call);
        // An edit that somebody changed is asked about under the same id.
        let is_other = |before: &&RecordedAnswer| before.question_id() != id || before.choice == MODIFYING;
        let before = progress.answered.back().filter(is_other);
        let before = before.filter(|before| before.by.as_deref().map(client_of) != Some(client_of(by)));
        let age = now.duration_since(progress.status_at);
        let is_new = progress.state == TaskState::InputRequired
            && Duration::try_from(age).unwrap_or_default() < MAX_READING_DELAY;
        let Some(before) = before.filter(|_| is_new) else { return Ok(()) };
        let (tool, words) = self.in_words(call);
        let id = visible_line(&id.0);
        let what = format!(
            "may be about another question: {} has answered the one before ({}, {}), and now it is about {tool} ({id}): \
             {words}\nNothing was approved. If this is what you mean, answer with `{id}: {}`",
            before.by.as_deref().map(client_of).unwrap_or("somebody"),
            visible_line(&before.question_id().0),
            before.choice,
            answer.choice,
        );
        Err(Fault::invalid("message.parts", what))
    }
}

impl Progress {
    /// Does `message` clearly answer about calls? It has data that names a call and a choice, or nothing but words such as
    /// `yes` or `CALL: yes`.
    pub fn is_clear_answer(&self, message: &Message) -> bool {
        let is_clear = |line: &&str| is_answer_word(line) || names_all(line) || self.names_question(line);
        Self::answers_apart(message).is_some()
            || answer_lines(message).is_some_and(|lines| lines.iter().all(is_clear))
    }

    /// The one open call is a question of a tool, which any text answers.
    pub fn takes_any_text(&self) -> bool {
        let mut asked = self.work.asked();
        let takes = |call: &CallProgress| call.choices.iter().any(|choice| choice == ANSWERING);
        asked.next().is_some_and(takes) && asked.next().is_none()
    }
}

/// The caller and the client in what [`answerer`] says.
fn client_of(by: &str) -> &str {
    by.rsplit_once(IN_MESSAGE).map_or(by, |(client, _)| client)
}

/// The lines of a message each of which is nothing but an answer about a call, in words: `yes`, the id of a choice, or one
/// of them after a name and a colon. None for every other message.
pub(crate) fn answer_lines(message: &Message) -> Option<Vec<&str>> {
    let texts: Option<Vec<_>> = message.parts.iter().map(Part::as_text).collect();
    let lines = texts?.into_iter().flat_map(str::lines).map(str::trim).filter(|line| !line.is_empty());
    let lines: Vec<_> = lines.collect();
    let answers =
        |line: &&str| is_answer_word(line) || named_in(line).is_some_and(|(_, it)| is_answer_word(it));
    (!lines.is_empty() && message.command.is_none() && lines.iter().all(answers)).then_some(lines)
}

/// Does the message say that it is about `call`?
fn names(message: &Message, call: &CallId) -> bool {
    let shown = visible_line(&call.0);
    let in_line = |line: &str| named_in(line).is_some_and(|(named, _)| named == call.0 || named == shown);
    let in_item = |item: &Value| item["call"].as_str() == Some(call.0.as_str());
    message.parts.iter().any(|part| match &part.content {
        PartContent::Text(text) => text.lines().any(in_line),
        PartContent::Data(Value::Array(items)) => items.iter().any(in_item),
        PartContent::Data(item) => in_item(item),
        PartContent::Raw(_) | PartContent::Url(_) => false,
    })
}
