//! The text of questions about calls, for clients that only show text.

use serde_json::Value;

use crate::{
    CallProgress, CallRecord, Fact, Facts, Fault, Intent, Message, MessageId, Part, Preview, Proposal,
    TaskState, TaskView, ToolLoop, terminal_safe, visible, visible_line,
};

const BESIDE_CALLS: &str =
    "A call needs an answer while the others go on. Name it in the answer, as in `ID: words`.";

const LOST: &str = "The server stopped while this was running, and it is not known whether it took effect. \
                    run_again does it once more, skip goes on without it, cancel stops here.\n";

impl TaskView {
    /// See [`Progress::decide`](crate::Progress::decide). Questions that stay open after some answers are asked again in full.
    pub fn decide(&self, intent: Intent) -> Result<Facts, Fault> {
        let is_answer = matches!(intent, Intent::Answer { .. } | Intent::CancelCall { .. });
        let mut facts = self.progress.decide(intent)?;
        if is_answer {
            let mut work = self.progress.work.clone();
            for fact in &mut facts {
                work.apply(fact);
                if let Fact::PersonAsked { message, .. } = fact {
                    let text = self.question_text("I still need your answer before I go on:", &work);
                    *message = Message { parts: vec![Part::text(text)], ..message.as_ref().clone() }.into();
                }
            }
        }
        Ok(facts)
    }

    /// The question of calls that ask something while others run. The task works, so its status does not hold it.
    pub fn question_beside_calls(&self) -> Option<Message> {
        let work = &self.progress.work;
        let asking = work.asked().find(|call| call.asks.is_some())?;
        if self.status.state != TaskState::Working || work.waits_for_person() {
            return None;
        }
        let id = MessageId::from(format!("{}-{}", asking.question_id().0, self.task));
        let text = self.question_text(BESIDE_CALLS, work);
        let message = Message::from_agent(id, self.context.clone(), Some(self.task.clone()), text);
        Some(Message { metadata: Some(work.open_calls()), ..message })
    }

    /// Asks about every open call of `work`, after the words of `opening`.
    pub fn question_text(&self, opening: &str, work: &ToolLoop) -> String {
        let mut text = format!("{opening}\n");
        for asked in work.asked() {
            if let Some(record) = self.call_records.find(&asked.id).filter(|_| !asked.choices.is_empty()) {
                text.push_str(&about_call(asked, record));
            }
        }
        if work.asked().count() > 1 {
            let word = match work.asked().all(|asked| !asked.lost && asked.asks.is_none()) {
                true => "yes",
                false => "CHOICE",
            };
            text.push_str(&format!(
                "\nFor one of these say `CALL: {word}`, for all of them `all: {word}`.\n"
            ));
        }
        text
    }
}

fn about_call(asked: &CallProgress, record: &CallRecord) -> String {
    let shown = match (&record.asks, &record.proposal) {
        (Some(asks), _) => own_question(record, &asks.shown),
        (None, Some(proposal)) => describe(proposal),
        (None, None) => String::new(),
    };
    let how = match record.preview() {
        _ if asked.lost => "Answer with one of",
        Some(Preview::Questions { .. }) => "Answer in your own words, or with one of",
        _ => "Answer with yes or no, or with one of",
    };
    let mut text = format!(
        "\n{} ({}): {shown}\n{}{how}: {}\n",
        visible_line(&record.call.name),
        visible_line(&asked.question_id().0),
        if asked.lost { LOST } else { "" },
        asked.choices.join(", "),
    );
    for (choice, sentence) in record.grants.iter().filter(|(choice, _)| asked.choices.contains(choice)) {
        text.push_str(&format!("  {choice}: {sentence}\n"));
    }
    text
}

/// The proposal as text.
fn describe(proposal: &Proposal) -> String {
    match &proposal.shown {
        Preview::Edit { diff, .. } => format!("{}\n{}", proposal.in_words(), visible(diff)),
        // A question needs no approval, so its text only has to be safe for a terminal.
        Preview::Questions { questions } => terminal_safe(&questions_in_words(questions)).into_owned(),
        _ => proposal.in_words(),
    }
}

/// What the call asks, and for which agent. Its lines are quoted, so that they cannot pass for a question about another call.
fn own_question(record: &CallRecord, shown: &Preview) -> String {
    let Preview::Questions { questions } = shown else { return String::new() };
    let agent = record.proposal.as_ref().and_then(|proposal| proposal.agent());
    let asker =
        agent.map(|(agent, _)| format!("the agent {} asks:", visible_line(agent))).unwrap_or_default();
    let words = questions_in_words(questions);
    let lines = words
        .trim_start_matches('\n')
        .split(['\n', '\r', '\u{2028}', '\u{2029}', '\u{b}', '\u{c}', '\u{85}']);
    lines.fold(asker, |text, line| format!("{text}\n> {}", terminal_safe(line)))
}

/// One question a line, each with its suggested answers.
fn questions_in_words(questions: &Value) -> String {
    let mut text = String::new();
    for question in questions.as_array().into_iter().flatten() {
        let member = |name: &str| question[name].as_str().unwrap_or_default();
        text.push_str(&format!("\n{}", member("question")));
        for option in question["options"].as_array().into_iter().flatten() {
            let part = |name: &str| option[name].as_str().unwrap_or_default();
            text.push_str(&format!("\n  - {}: {}", part("label"), part("description")));
        }
    }
    text
}
