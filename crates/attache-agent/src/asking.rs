//! Puts questions about calls to people, in words that need nothing but text.

use attache_domain::{Fact, Message, Proposal, Shown, terminal_safe, visible, visible_line};
use attache_session::Stopped;
use serde_json::Value;

use crate::performance::{Performance, Turn};

/// The answer that goes on without a call.
pub(crate) const SKIP: &str = "skip";

const LOST: &str = "The server stopped while this was running, and it is not known whether it took effect. \
                    proceed_once does it again, skip goes on without it.\n";

impl Performance<'_> {
    /// Nothing goes on: the questions are put, and the turn rests until somebody answers.
    pub(crate) async fn ask_person(&self) -> Result<Turn, Stopped> {
        let view = self.latest.view();
        let mut text = String::from("I need your answer before I go on:\n");
        for asked in &view.progress.work.calls {
            let Some(record) = view.cast.find(&asked.id).filter(|_| !asked.choices.is_empty()) else {
                continue;
            };
            let shown = record.proposal.as_ref().map(|proposal| describe(proposal));
            let shown = shown.unwrap_or_default();
            let choices = asked.choices.join(", ");
            let how = match record.proposal.as_ref().map(|proposal| &proposal.shown) {
                Some(Shown::Questions { .. }) => "Answer in your own words, or with one of",
                _ => "Answer with yes or no, or with one of",
            };
            let lost = if asked.choices.iter().any(|choice| choice == SKIP) { LOST } else { "" };
            text.push_str(&format!(
                "\n{} ({}): {shown}\n{lost}{how}: {choices}\n",
                visible_line(&record.call.name),
                visible_line(&asked.id.0)
            ));
            for (choice, sentence) in
                record.grants.iter().filter(|(choice, _)| asked.choices.contains(choice))
            {
                text.push_str(&format!("  {choice}: {sentence}\n"));
            }
        }
        if view.cast.asked().count() > 1 {
            text.push_str("\nFor one of these say `CALL: yes`, for all of them `all: yes`.\n");
        }
        let round = view.progress.work.rounds;
        let message = self.voice.text(&format!("ask-{round}-{}", view.progress.head), text);
        let message = Message { metadata: Some(view.progress.work.open_calls()), ..message };
        self.journal.record(Fact::PersonAsked { message: message.into() }).await?;
        Ok(Turn::Rests)
    }
}

/// What a person reads who has nothing but text.
fn describe(proposal: &Proposal) -> String {
    match &proposal.shown {
        Shown::Edit { diff, .. } => format!("{}\n{}", proposal.in_words(), visible(diff)),
        // A question is answered and not approved; its words only must not steer a terminal.
        Shown::Questions { questions } => terminal_safe(&questions_in_words(questions)).into_owned(),
        _ => proposal.in_words(),
    }
}

/// One question a line, each with the answers it suggests.
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
