//! One turn of the coding agent: look what is to be done, do it, record, again.
//!
//! What to do follows from the log alone, so a turn that was interrupted goes on by the same loop.

use std::sync::Arc;

use attache_command::Found;
use attache_domain::{
    CallStep, Content, ContextReason, Exchange, Fact, GivenContext, Outcome, Settlement, TaskState, TaskView,
    TextPhase, Told, TurnPhase,
};
use attache_model::ToolDeclaration;
use attache_session::{Journal, Latest, Stopped};
use attache_tool::Registry;

use crate::ahead::Ahead;
use crate::built_in::{self, Ended};
use crate::prompt::Earlier;
use crate::reason::Reason;
use crate::referee::Case;
use crate::tally::Tally;
use crate::voice::Voice;
use crate::{Mind, Workplace, Workplaces, changes};

pub(crate) struct Performance<'a> {
    pub(crate) place: Arc<Workplace>,
    pub(crate) journal: &'a Journal,
    pub(crate) latest: Latest,
    pub(crate) voice: Voice,
    /// What was said in finished tasks of the same conversation.
    pub(crate) earlier: Earlier,
    pub(crate) tools: Tools,
    /// There is no point in trying again in this turn.
    pub(crate) summary_failed: bool,
    pub(crate) workplaces: Arc<dyn Workplaces>,
    /// What the finished tasks of the conversation have come to.
    pub(crate) before: Tally,
    /// The turn was begun by a command.
    pub(crate) command: Option<Found>,
    /// What may not be durable yet, until the next time everything is.
    pub(crate) ahead: Option<Ahead>,
}

/// The tools as they were when they were last looked at.
pub(crate) struct Tools {
    version: u64,
    pub(crate) registry: Registry,
    pub(crate) declared: Arc<[ToolDeclaration]>,
}

/// Whether the turn goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    GoesOn,
    /// It has ended, or waits for somebody.
    Rests,
}

impl<'a> Performance<'a> {
    /// `views` are the finished tasks of the conversation, oldest first.
    pub(crate) fn new(
        workplaces: Arc<dyn Workplaces>,
        place: Arc<Workplace>,
        latest: Latest,
        journal: &'a Journal,
        views: &[TaskView],
        command: Option<Found>,
    ) -> Self {
        let (voice, tools, earlier) = (Voice::of(&latest.view()), Tools::of(&place), Earlier::of(views));
        let before = Tally::of(views);
        let performance = Self {
            place,
            journal,
            latest,
            voice,
            earlier,
            tools,
            summary_failed: false,
            workplaces,
            before,
            command,
            ahead: None,
        };
        performance.recall(views);
        performance.recall([performance.latest.view().as_ref()]);
        performance
    }

    pub(crate) async fn run(mut self) -> Result<(), Stopped> {
        self.take_up().await?;
        loop {
            let mut steps = self.journal.look(|progress| progress.work.steps());
            if !self.may_go_ahead(&steps) {
                // Everything is durable before the next step is chosen. Should others have acted unseen, what is recorded
                // next does not fit any more, and the turn is taken up again with what they did.
                self.be_durable().await?;
                steps = self.journal.look(|progress| progress.work.steps());
            }
            if self.act(steps).await? == Turn::Rests {
                return Ok(());
            }
        }
    }

    /// Some steps need nothing but what is known already, and change nothing outside: what comes of them is written
    /// together with what led to them.
    fn may_go_ahead(&self, steps: &[CallStep]) -> bool {
        match steps.first() {
            None | Some(CallStep::CallModel) => {
                let asks_model = matches!(self.place.mind, Mind::Language(_)) && self.commanding().is_none();
                let is_short = self.ahead.as_ref().is_some_and(Ahead::is_short);
                asks_model && (is_short || self.journal.lacks_at_most_the_start())
            }
            Some(CallStep::Propose(_) | CallStep::Settle(Settlement::Spoken(_))) => self.ahead.is_some(),
            Some(_) => false,
        }
    }

    /// Waits until the task shows everything.
    pub(crate) async fn be_durable(&mut self) -> Result<(), Stopped> {
        self.journal.flush().await?;
        self.ahead = None;
        Ok(())
    }

    async fn act(&mut self, steps: Vec<CallStep>) -> Result<Turn, Stopped> {
        match steps.first() {
            None | Some(CallStep::CallModel) => self.think().await,
            Some(CallStep::AskPerson) => self.ask_person().await,
            Some(CallStep::Propose(_)) => {
                let ahead = self.ahead.take();
                let known = ahead.as_ref().map(|ahead| ahead.cast.clone());
                let cast = known.unwrap_or_else(|| self.latest.view().cast.clone());
                let results = self.propose(&steps, &cast).await?;
                self.ahead = ahead.zip(results).map(|(ahead, results)| ahead.with(results));
                Ok(Turn::GoesOn)
            }
            Some(CallStep::Start(_) | CallStep::Await(_) | CallStep::Skip(_)) => self.run_calls(&steps).await,
            Some(CallStep::Cancel(_)) => self.cancel(&steps).await,
            Some(CallStep::Settle(settlement)) => self.settle(settlement.clone()).await,
        }
    }

    async fn settle(&mut self, settlement: Settlement) -> Result<Turn, Stopped> {
        match (settlement, &self.place.mind) {
            (Settlement::Spoken(end), _) => self.after_answer(end).await,
            // They say themselves what that means.
            (Settlement::Declined, _) if self.commanding().is_some() => self.think().await,
            (Settlement::Declined, Mind::BuiltIn(_)) => self.think().await,
            (Settlement::Declined, Mind::Language(_)) => {
                let text = if self.latest.view().progress.work.calls.iter().any(|call| call.lost) {
                    "I leave it at that. What shall I do now?"
                } else {
                    "I did not do that. What shall I do instead?"
                };
                self.end(Outcome::InputRequired, Some((Reason::Declined, text.into()))).await
            }
        }
    }

    async fn think(&mut self) -> Result<Turn, Stopped> {
        if let Some(found) = self.commanding() {
            self.tools.refresh(&self.place);
            return self.obey(&found).await;
        }
        match self.place.mind.clone() {
            Mind::Language(model) => {
                self.tools.refresh(&self.place);
                self.round(model.as_ref()).await
            }
            Mind::BuiltIn(model) => {
                match built_in::round(model.as_ref(), &self.latest, self.journal).await? {
                    Ended::WithCalls => Ok(Turn::GoesOn),
                    Ended::WithTurn(end) => {
                        self.publish_changes().await?;
                        self.journal.record(end).await?;
                        Ok(Turn::Rests)
                    }
                }
            }
        }
    }

    /// What was under way when everything stopped begins again: text of an answer that never became whole is
    /// taken back, and a task that was waiting works again.
    async fn take_up(&self) -> Result<(), Stopped> {
        let view = self.latest.view();
        // Answers resume the work themselves; those in logs of older versions did not.
        if self.journal.look(|progress| progress.state) == TaskState::InputRequired {
            self.journal.record(Fact::WorkResumed).await?;
        }
        if matches!(self.place.mind, Mind::BuiltIn(_)) || self.commanding().is_some() {
            return Ok(());
        }
        let mentioned = match view.told_backwards().next() {
            Some(Told::Message(message)) => Some(message.text()),
            _ => None,
        };
        drop(view);
        self.withdraw().await?;
        if self.earlier.rounds == 0 && self.latest.view().rounds == 0 {
            for text in &self.place.notices {
                self.notice(text.clone()).await?;
            }
        }
        if let (Some(surroundings), Some(text)) = (&self.place.surroundings, mentioned) {
            let contents = surroundings.mentioned(&text, &self.tool_context(Arc::default(), None)).await;
            if !contents.is_empty() {
                self.give(ContextReason::Mention, contents).await?;
            }
        }
        Ok(())
    }

    /// What people agreed to for longer holds again, also after a restart.
    fn recall<'v>(&self, views: impl IntoIterator<Item = &'v TaskView>) {
        for grant in views.into_iter().flat_map(|view| &view.granted) {
            if let Ok(tool) = self.tools.registry.find(&grant.tool) {
                let case = Case { tool: tool.spec(), proposal: &grant.proposal };
                self.place.referee.recall(case, &grant.answer);
            }
        }
    }

    pub(crate) async fn give(&self, reason: ContextReason, contents: Vec<Content>) -> Result<(), Stopped> {
        self.journal.record(Fact::ContextGiven(Box::new(GivenContext { reason, contents }))).await
    }

    /// Takes back what was said in an answer that did not become whole.
    pub(crate) async fn withdraw(&self) -> Result<(), Stopped> {
        if self.journal.look(|progress| progress.turn.text) != TextPhase::Speaking {
            return Ok(());
        }
        self.journal.flush().await?;
        let view = self.latest.view();
        if view.progress.turn.text != TextPhase::Speaking || !view.is_amid_answer() {
            return Ok(());
        }
        let text = view.certain_text();
        drop(view);
        let fact = if text.is_empty() { Fact::TextWithdrawn } else { Fact::TextReplaced { text } };
        self.journal.record(fact).await
    }

    /// Something people should know while the work goes on.
    pub(crate) async fn notice(&self, text: String) -> Result<(), Stopped> {
        // A turn may have more than one; the place in the log tells them apart.
        let place = self.journal.look(|progress| progress.head);
        let message = self.voice.text(&format!("notice-{place}"), text).into();
        self.journal.record(Fact::Noticed { message }).await
    }

    pub(crate) async fn publish_changes(&self) -> Result<(), Stopped> {
        // Calls are over before an answer is given, so their changes are durable; a turn that is not has none.
        if self.ahead.is_none() {
            self.journal.flush().await?;
        }
        let view = self.latest.view();
        if view.progress.turn.phase != TurnPhase::Running {
            return Ok(());
        }
        let artifact = changes::artifact(&view.changes, self.place.roots(), view.progress.turn.number);
        drop(view);
        match artifact.map(Box::new) {
            Some(artifact) => {
                self.journal.record(Fact::ArtifactAdded { artifact, append: false, last: true }).await
            }
            None => Ok(()),
        }
    }

    pub(crate) async fn end(
        &self,
        outcome: Outcome,
        told: Option<(Reason, String)>,
    ) -> Result<Turn, Stopped> {
        self.publish_changes().await?;
        let usage = self.ahead.as_ref().map_or_else(|| self.latest.view().usage, |ahead| ahead.usage);
        let message = told.map(|(reason, text)| self.voice.reason(reason, text).into());
        self.journal.record(Fact::TurnEnded { outcome, message, usage: Some(Box::new(usage)) }).await?;
        Ok(Turn::Rests)
    }

    /// Everything the model was told, whoever said it.
    pub(crate) fn exchanges(&mut self, view: &TaskView) -> Arc<Vec<Arc<Exchange>>> {
        let ahead = self.ahead.as_ref().map_or(&[][..], |ahead| ahead.beyond(view));
        self.earlier.exchanges(&self.place.opening, view, ahead)
    }
}

impl Tools {
    fn of(place: &Workplace) -> Self {
        let version = place.toolbox.version();
        Self { version, registry: place.toolbox.tools(), declared: place.toolbox.declared() }
    }

    fn refresh(&mut self, place: &Workplace) {
        if self.version != place.toolbox.version() {
            *self = Self::of(place);
        }
    }
}
