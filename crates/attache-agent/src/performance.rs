//! One turn of the coding agent: look what is to be done, do it, record, again.
//!
//! What to do follows from the log alone, so a turn that was interrupted goes on by the same loop.

use std::sync::Arc;

use attache_domain::{CallStep, ContextId, Exchange, Fact, Outcome, Scope, TaskState, TextPhase};
use attache_session::{Journal, Latest, Stopped, TurnRequest};
use attache_tool::Registry;

use crate::changes;
use crate::coding_agent::CodingAgent;
use crate::prompt::{conversation, text_of_turn};
use crate::voice::Voice;

pub(crate) struct Performance<'a> {
    pub(crate) agent: &'a CodingAgent,
    pub(crate) journal: &'a Journal,
    pub(crate) latest: Latest,
    pub(crate) voice: Voice,
    pub(crate) scope: Scope,
    pub(crate) context: ContextId,
    pub(crate) tools: Registry,
    /// What was said in finished tasks of the same conversation.
    pub(crate) earlier: Vec<Arc<Exchange>>,
}

/// Whether the turn goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    GoesOn,
    /// It has ended, or waits for somebody.
    Rests,
}

impl<'a> Performance<'a> {
    pub(crate) fn new(agent: &'a CodingAgent, request: TurnRequest, journal: &'a Journal) -> Self {
        let view = &request.view;
        let (voice, scope, context) = (Voice::of(view), view.progress.scope.clone(), view.context.clone());
        let tools = agent.toolbox.open(&scope, &context);
        let (latest, earlier) = (request.into_latest(), Vec::new());
        Self { agent, journal, latest, voice, scope, context, tools, earlier }
    }

    pub(crate) async fn run(mut self) -> Result<(), Stopped> {
        match self.latest.earlier().await {
            Ok(views) => self.earlier = views.iter().flat_map(conversation).collect(),
            Err(error) => {
                tracing::error!(%error, "the conversation cannot be read");
                let text = "I cannot read our earlier conversation now. Send any message to try again.";
                return self.end(Outcome::InputRequired, Some(text.into())).await.map(drop);
            }
        }
        self.take_up().await?;
        loop {
            // Everything is durable before the next step is chosen. Should others have acted unseen, what is recorded next
            // does not fit any more, and the turn is taken up again with what they did.
            self.journal.flush().await?;
            let steps = self.journal.look(|progress| progress.work.steps());
            if self.act(steps).await? == Turn::Rests {
                return Ok(());
            }
        }
    }

    async fn act(&self, steps: Vec<CallStep>) -> Result<Turn, Stopped> {
        match steps.first() {
            None | Some(CallStep::CallModel) => self.round().await,
            Some(CallStep::AskPerson) => self.ask_person().await,
            Some(CallStep::Propose(_)) => self.propose(&steps).await,
            Some(CallStep::Start(_) | CallStep::Await(_)) => self.run_calls(&steps).await,
            Some(CallStep::Cancel(_)) => self.cancel(&steps).await,
        }
    }

    /// What was under way when everything stopped begins again: text of an answer that never became whole is
    /// taken back, and a task that was waiting works again.
    async fn take_up(&self) -> Result<(), Stopped> {
        let view = self.latest.view();
        if view.status.state == TaskState::InputRequired {
            self.journal.record(Fact::WorkResumed).await?;
        }
        if view.progress.turn.text == TextPhase::Speaking && view.answer_text() != text_of_turn(&view) {
            self.withdraw(&text_of_turn(&view)).await?;
        }
        Ok(())
    }

    /// Takes back what was said since `kept`.
    pub(crate) async fn withdraw(&self, kept: &str) -> Result<(), Stopped> {
        if self.journal.look(|progress| progress.turn.text) != TextPhase::Speaking {
            return Ok(());
        }
        self.journal.record(Fact::TextWithdrawn).await?;
        if !kept.is_empty() {
            self.journal.record(Fact::TextSaid { text: kept.to_owned(), last: false }).await?;
        }
        Ok(())
    }

    pub(crate) async fn end(&self, outcome: Outcome, text: Option<String>) -> Result<Turn, Stopped> {
        self.journal.flush().await?;
        let view = self.latest.view();
        let roots = &self.agent.workspace.roots;
        if let Some(artifact) = changes::artifact(&view.changes, roots, view.progress.turn.number) {
            let artifact = Box::new(artifact);
            self.journal.record(Fact::ArtifactAdded { artifact, append: false, last: true }).await?;
        }
        drop(view);
        let message = text.map(|text| self.voice.text("status", text).into());
        self.journal.record(Fact::TurnEnded { outcome, message }).await?;
        Ok(Turn::Rests)
    }
}
