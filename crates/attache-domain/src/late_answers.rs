//! Refuses answers that may be about another question than the open one.
//!
//! A message of plain A2A does not say which question it answers. When another client has answered the question before
//! and a new one was asked only a moment ago, `yes` may be meant for the old one: it is refused, and the refusal shows the
//! new question. When no question is open because another client was quicker, `yes` is late and no prompt: it is refused,
//! and the refusal says who answered.

use std::time::Duration;

use jiff::Timestamp;

use crate::choice::{ANSWER, MODIFY};
use crate::match_answers::MatchedAnswer;
use crate::{
    Answerer, CallId, Fault, MessageAnswers, RecordedAnswer, TaskState, TaskView, TurnPhase, Verdict,
    visible_line,
};

/// For so long after a question was asked, another client than the one that answered before may not have read it.
const MAX_READING_DELAY: Duration = Duration::from_secs(10);

impl TaskView {
    /// Refuses words that answer a question about a call although none is open, because another client was quicker. They
    /// would make no sense as a prompt. After the turn, the next `yes` of the client that answered is a prompt.
    pub fn refuse_late_answer(
        &self,
        answers: &MessageAnswers,
        by: &Answerer,
        now: Timestamp,
    ) -> Result<(), Fault> {
        let progress = &self.progress;
        let lines = answers.only_lines().filter(|_| !progress.waits_for_person());
        let Some(lines) = lines else { return Ok(()) };
        if let Some(other) = lines.iter().find_map(|line| progress.closed_question(line)) {
            return Err(progress.not_open(&other));
        }
        if !lines.iter().all(|line| line.whole.is_answer || line.names_all()) {
            return Ok(());
        }
        let Some(latest) = progress.answered.back() else { return Ok(()) };
        let is_at_work = progress.turn.phase == TurnPhase::Running && latest.turn == progress.turn.number;
        let is_another = latest.client() != Some(by.client.as_str());
        let is_fresh = is_recent(latest.at, now) && is_another;
        if is_at_work || is_fresh { Err(latest.already_answered()) } else { Ok(()) }
    }

    /// Refuses words that answer a question, sent to a task that is over because the question was answered. The end of the
    /// task alone would not tell the sender who was quicker.
    pub fn refuse_answer_after_end(&self, answers: &MessageAnswers, now: Timestamp) -> Result<(), Fault> {
        let latest = self.progress.answered.back().filter(|_| self.progress.is_final());
        match latest.filter(|latest| is_recent(latest.at, now) && answers.only_lines().is_some()) {
            Some(latest) => Err(latest.already_answered()),
            None => Ok(()),
        }
    }

    /// Refuses an approval that names no question, when another client answered the question before and the open one is
    /// new.
    pub(crate) fn refuse_if_question_changed(
        &self,
        matched: &[MatchedAnswer],
        by: &Answerer,
        now: Timestamp,
    ) -> Result<(), Fault> {
        let progress = &self.progress;
        let approves = |matched: &&MatchedAnswer| {
            matched.answer.verdict == Verdict::Proceed && matched.answer.choice != ANSWER && !matched.is_named
        };
        let Some(MatchedAnswer { call, answer, .. }) = matched.iter().find(approves) else { return Ok(()) };
        let id = answer.question.as_ref().unwrap_or(call);
        // An edit that a person changed is asked about under the same id.
        let is_other = |before: &&RecordedAnswer| before.question_id() != id || before.choice == MODIFY;
        let before = progress.answered.back().filter(is_other);
        let before = before.filter(|before| before.client() != Some(by.client.as_str()));
        let is_new = progress.state == TaskState::InputRequired && is_recent(progress.status_at, now);
        let Some(before) = before.filter(|_| is_new) else { return Ok(()) };
        let (tool, words) = self.in_words(call);
        let id = visible_line(&id.0);
        let what = format!(
            "may be about another question: {} has answered the one before ({}, {}), and now it is about {tool} ({id}): \
             {words}\nNothing was approved. If this is what you mean, answer with `{id}: {}`",
            before.client().unwrap_or("another client"),
            visible_line(&before.question_id().0),
            before.choice,
            answer.choice,
        );
        Err(Fault::invalid("message.parts", what))
    }

    /// The tool of a call, and what the call would do.
    pub(crate) fn in_words(&self, call: &CallId) -> (String, String) {
        let Some(record) = self.call_records.find(call) else { return Default::default() };
        let words = record.proposal.as_ref().map(|proposal| proposal.in_words());
        (visible_line(&record.call.name).into_owned(), words.unwrap_or_default())
    }
}

fn is_recent(at: Timestamp, now: Timestamp) -> bool {
    Duration::try_from(now.duration_since(at)).unwrap_or_default() < MAX_READING_DELAY
}
