//! An answer that names no call, such as `yes`, counts for the one open question, if that is the one its sender has read.
//!
//! A message of plain A2A does not say which question it answers. So when another client has answered the question before
//! and a new one was put only a moment ago, `yes` may be meant for the old one: it is refused, with the new question.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::answer::{ANSWERING, MODIFYING, SEVERAL_WAIT};
use crate::{
    Answer, Answered, CallId, Fault, Message, MessageId, PartContent, Scope, TaskState, TaskView, Verdict,
    visible_line,
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
    ) -> Result<Vec<(CallId, Answer)>, Fault> {
        let answers = self.progress.answers_in(message).map_err(|fault| self.with_open_calls(fault))?;
        let agrees = |answer: &Answer| answer.verdict == Verdict::Proceed && answer.choice != ANSWERING;
        let mut bare = answers.iter().filter(|(call, answer)| agrees(answer) && !names(message, call));
        if let Some((call, answer)) = bare.next() {
            self.refuse_if_changed(call, answer, by, now)?;
        }
        Ok(answers)
    }

    /// A refusal because several calls are open says what each of them would do.
    fn with_open_calls(&self, fault: Fault) -> Fault {
        let Fault::InvalidParams { mut violations } = fault else { return fault };
        let several = violations.iter_mut().find(|violation| violation.description.contains(SEVERAL_WAIT));
        if let Some(several) = several {
            for record in self.cast.asked() {
                let (tool, words) = self.in_words(&record.call.id);
                let id = visible_line(&record.call.id.0);
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
        answer: &Answer,
        by: &str,
        now: Timestamp,
    ) -> Result<(), Fault> {
        let progress = &self.progress;
        // An edit that somebody changed is asked about under the same id.
        let is_other = |before: &&Answered| before.call != *call || before.choice == MODIFYING;
        let before = progress.answered.back().filter(is_other);
        let before = before.filter(|before| before.by.as_deref().map(client_of) != Some(client_of(by)));
        let age = now.duration_since(progress.status_at);
        let is_new = progress.state == TaskState::InputRequired
            && Duration::try_from(age).unwrap_or_default() < MAX_READING_DELAY;
        let Some(before) = before.filter(|_| is_new) else { return Ok(()) };
        let (tool, words) = self.in_words(call);
        let id = visible_line(&call.0);
        let what = format!(
            "may be about another question: {} has answered the one before ({}, {}), and now it is about {tool} ({id}): \
             {words}\nNothing was approved. If this is what you mean, answer with `{id}: {}`",
            before.by.as_deref().map(client_of).unwrap_or("somebody"),
            visible_line(&before.call.0),
            before.choice,
            answer.choice,
        );
        Err(Fault::invalid("message.parts", what))
    }
}

/// The caller and the client in what [`answerer`] says.
fn client_of(by: &str) -> &str {
    by.rsplit_once(IN_MESSAGE).map_or(by, |(client, _)| client)
}

/// Does the message say that it is about `call`?
fn names(message: &Message, call: &CallId) -> bool {
    let shown = visible_line(&call.0);
    let in_line = |line: &str| {
        let named = line.rsplit_once(':').map(|(named, _)| named.trim());
        named.is_some_and(|named| named == call.0 || named == shown)
    };
    let in_item = |item: &Value| item["call"].as_str() == Some(call.0.as_str());
    message.parts.iter().any(|part| match &part.content {
        PartContent::Text(text) => text.lines().any(in_line),
        PartContent::Data(Value::Array(items)) => items.iter().any(in_item),
        PartContent::Data(item) => in_item(item),
        PartContent::Raw(_) | PartContent::Url(_) => false,
    })
}
