//! Asks people for approval of calls.

use attache_domain::{Fact, Message};
use attache_session::TurnStopped;

use crate::turn_runner::{TurnFlow, TurnRunner};

impl TurnRunner<'_> {
    /// Asks the open questions. The turn stops until they are answered.
    pub(crate) async fn ask_person(&self) -> Result<TurnFlow, TurnStopped> {
        let view = self.task.view();
        let work = &view.progress.work;
        let text = view.question_text("I need your answer before I go on:", work);
        let message = self.output.text(&format!("ask-{}-{}", work.rounds, view.progress.head), text);
        let message = Message { metadata: Some(work.open_calls()), ..message };
        let auth = work.asks_only_for_credentials();
        self.journal.record(Fact::PersonAsked { message: message.into(), auth }).await?;
        Ok(TurnFlow::Stop)
    }
}
