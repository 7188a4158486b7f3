//! Runs one turn: choose the next step, run it, record the result, repeat.
//!
//! The next step depends only on the log, so an interrupted turn continues with the same loop.

use std::sync::Arc;

use attache_command::MatchedCommand;
use attache_domain::{
    CallStep, Content, ContextReason, ConversationItem, Exchange, Fact, GivenContext, ServerApproval,
    TaskView, TextPhase, TurnEnd, TurnOutcome, TurnPhase,
};
use attache_model::ToolDeclaration;
use attache_session::{CurrentTask, Journal, TurnStopped};
use attache_tool::ToolRegistry;

use crate::approver::ApprovalRequest;
use crate::built_in::{self, RequestEnd};
use crate::call_state::ConversationState;
use crate::prompt::PromptBuilder;
use crate::reason::StatusReason;
use crate::totals::ConversationTotals;
use crate::turn_output::TurnOutput;
use crate::{AgentModel, ConversationSetup, Conversations, SettingsRefusal, changes};

pub(crate) struct TurnRunner<'a> {
    pub(crate) setup: Arc<ConversationSetup>,
    pub(crate) journal: &'a Journal,
    pub(crate) task: CurrentTask,
    pub(crate) output: TurnOutput,
    pub(crate) prompt_builder: PromptBuilder,
    pub(crate) tools: TurnTools,
    /// A retry in this turn is useless.
    pub(crate) summary_failed: bool,
    pub(crate) conversations: Arc<dyn Conversations>,
    /// Totals of the finished tasks of the conversation.
    pub(crate) earlier_totals: ConversationTotals,
    /// Approvals of clients' MCP servers in those tasks.
    pub(crate) earlier_approvals: Vec<ServerApproval>,
    /// The state that tools saved for later calls.
    earlier_state: ConversationState,
    /// Whether a command began the turn.
    pub(crate) command: Option<MatchedCommand>,
}

/// The tools at the last refresh.
pub(crate) struct TurnTools {
    version: u64,
    pub(crate) registry: ToolRegistry,
    pub(crate) declarations: Arc<[ToolDeclaration]>,
}

/// Whether the turn continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnFlow {
    Continue,
    /// The turn has ended or waits for input.
    Stop,
}

impl<'a> TurnRunner<'a> {
    /// `views` are the finished tasks of the conversation, oldest first.
    pub(crate) fn new(
        conversations: Arc<dyn Conversations>,
        setup: Arc<ConversationSetup>,
        task: CurrentTask,
        journal: &'a Journal,
        views: &[TaskView],
        command: Option<MatchedCommand>,
    ) -> Self {
        let turn_runner = Self {
            output: TurnOutput::of(&task.view()),
            tools: TurnTools::of(&setup),
            prompt_builder: PromptBuilder::of(views),
            earlier_totals: ConversationTotals::of(views),
            setup,
            journal,
            task,
            summary_failed: false,
            conversations,
            earlier_approvals: views.iter().flat_map(|view| &view.server_approvals).cloned().collect(),
            earlier_state: views.iter().flat_map(|view| view.conversation_state.clone()).collect(),
            command,
        };
        turn_runner.restore_grants(views);
        turn_runner.restore_grants([turn_runner.task.view().as_ref()]);
        turn_runner
    }

    pub(crate) async fn run(mut self) -> Result<(), TurnStopped> {
        self.resume().await?;
        loop {
            // Everything is durable before the next step is chosen. If another process has appended in the meantime,
            // the next record conflicts and the runner starts the turn again on the new state.
            self.journal.flush().await?;
            let steps = self.journal.with_progress(|progress| progress.work.steps());
            if self.run_steps(&steps).await? == TurnFlow::Stop {
                return Ok(());
            }
        }
    }

    async fn run_steps(&mut self, steps: &[CallStep]) -> Result<TurnFlow, TurnStopped> {
        match steps.first() {
            None | Some(CallStep::CallModel) => self.continue_turn().await,
            Some(CallStep::AskPerson) => self.ask_person().await,
            Some(CallStep::Propose(_)) => self.propose(steps).await,
            Some(CallStep::Start(_) | CallStep::Await(_) | CallStep::Skip(_)) => self.run_calls(steps).await,
            Some(CallStep::Cancel(_)) => self.cancel(steps).await,
            Some(CallStep::Settle(end)) => self.settle(end.clone()).await,
        }
    }

    async fn settle(&mut self, settlement: TurnEnd) -> Result<TurnFlow, TurnStopped> {
        match (settlement, &self.setup.model) {
            (TurnEnd::Spoken(end), _) => self.after_answer(end).await,
            // Commands and built-in models react to a refusal themselves.
            (TurnEnd::Declined, _) if self.active_command().is_some() => self.continue_turn().await,
            (TurnEnd::Declined, AgentModel::BuiltIn(_)) => self.continue_turn().await,
            (TurnEnd::Declined, AgentModel::Language(_) | AgentModel::WithoutKey(_)) => {
                let text = if self.task.view().progress.work.calls.iter().any(|call| call.lost) {
                    "I leave it at that. What shall I do now?"
                } else {
                    "I did not do that. What shall I do instead?"
                };
                self.end_turn(TurnOutcome::InputRequired, Some((StatusReason::Declined, text.into()))).await
            }
        }
    }

    async fn continue_turn(&mut self) -> Result<TurnFlow, TurnStopped> {
        if let (AgentModel::WithoutKey(refusal), None) = (&self.setup.model, self.active_command()) {
            return self.wait_for_key(refusal).await;
        }
        if self.connect_servers().await? {
            return Ok(TurnFlow::Continue);
        }
        self.tools.refresh(&self.setup);
        if let Some(found) = self.active_command() {
            return self.run_command(&found).await;
        }
        match self.setup.model.clone() {
            AgentModel::Language(model) => self.request_model(model.as_ref()).await,
            AgentModel::BuiltIn(model) => {
                match built_in::run_request(model.as_ref(), &self.task, self.journal).await? {
                    RequestEnd::WithCalls => Ok(TurnFlow::Continue),
                    RequestEnd::WithTurn(end) => {
                        self.publish_changes().await?;
                        self.journal.record(end).await?;
                        Ok(TurnFlow::Stop)
                    }
                }
            }
            AgentModel::WithoutKey(refusal) => self.wait_for_key(&refusal).await,
        }
    }

    /// Ends the turn until the client has given its key again.
    pub(crate) async fn wait_for_key(&self, refusal: &SettingsRefusal) -> Result<TurnFlow, TurnStopped> {
        let text = format!("agentSettings.apiKey {refusal}. Send it with the next message.");
        self.end_turn(TurnOutcome::AuthRequired, Some((StatusReason::Unavailable, text))).await
    }

    /// Restarts interrupted work: withdraws the text of incomplete answers, and sets a waiting task to working.
    async fn resume(&self) -> Result<(), TurnStopped> {
        let view = self.task.view();
        // Answers set the task to working by themselves; answers in logs of older versions do not.
        if self.journal.with_progress(|progress| progress.shows_question()) {
            self.journal.record(Fact::WorkResumed).await?;
        }
        if matches!(self.setup.model, AgentModel::BuiltIn(_)) || self.active_command().is_some() {
            return Ok(());
        }
        let mentioned = match view.conversation_backwards().next() {
            Some(ConversationItem::Message(message)) => Some(message.text()),
            _ => None,
        };
        drop(view);
        self.withdraw_partial_answer().await?;
        let idle = self.journal.with_progress(|progress| progress.work.calls.is_empty());
        if self.prompt_builder.rounds == 0 && self.task.view().rounds == 0 && idle {
            for text in &self.setup.notices {
                self.record_notice(text.clone()).await?;
            }
        }
        if let (Some(context_files), Some(text)) = (&self.setup.context_files, mentioned) {
            let contents = context_files.referenced_by(&text, &self.tool_context(None)).await;
            if !contents.is_empty() {
                self.record_context(ContextReason::Mention, contents).await?;
            }
        }
        Ok(())
    }

    /// The current state that tools save for later calls of the conversation.
    pub(crate) fn conversation_state(&self) -> ConversationState {
        let mut state = self.earlier_state.clone();
        state.extend(self.task.view().conversation_state.clone());
        state
    }

    /// Restores approvals for more than one call, also after a restart.
    fn restore_grants<'v>(&self, views: impl IntoIterator<Item = &'v TaskView>) {
        for grant in views.into_iter().flat_map(|view| &view.granted) {
            if let Ok(tool) = self.tools.registry.find(&grant.tool) {
                let request = ApprovalRequest { tool: tool.spec(), proposal: &grant.proposal };
                self.setup.approver.restore_answer(request, &grant.answer);
            }
        }
    }

    pub(crate) async fn record_context(
        &self,
        reason: ContextReason,
        contents: Vec<Content>,
    ) -> Result<(), TurnStopped> {
        self.journal.record(Fact::ContextGiven(Box::new(GivenContext { reason, contents }))).await
    }

    /// Withdraws the text of an incomplete answer.
    pub(crate) async fn withdraw_partial_answer(&self) -> Result<(), TurnStopped> {
        if self.journal.with_progress(|progress| progress.turn.text) != TextPhase::Speaking {
            return Ok(());
        }
        self.journal.flush().await?;
        let view = self.task.view();
        if view.progress.turn.text != TextPhase::Speaking || !view.is_amid_answer() {
            return Ok(());
        }
        let text = view.certain_text();
        drop(view);
        let fact = if text.is_empty() { Fact::TextWithdrawn } else { Fact::TextReplaced { text } };
        self.journal.record(fact).await
    }

    /// A message for people while the work continues.
    pub(crate) async fn record_notice(&self, text: String) -> Result<(), TurnStopped> {
        // A turn can have several notices; the sequence number makes their ids unique.
        let head = self.journal.with_progress(|progress| progress.head);
        let message = self.output.text(&format!("notice-{head}"), text).into();
        self.journal.record(Fact::Noticed { message }).await
    }

    pub(crate) async fn publish_changes(&self) -> Result<(), TurnStopped> {
        self.journal.flush().await?;
        let view = self.task.view();
        if view.progress.turn.phase != TurnPhase::Running {
            return Ok(());
        }
        let artifact = changes::artifact(&view.changes, self.setup.roots(), view.progress.turn.number);
        drop(view);
        match artifact.map(Box::new) {
            Some(artifact) => {
                self.journal.record(Fact::ArtifactAdded { artifact, append: false, last: true }).await
            }
            None => Ok(()),
        }
    }

    pub(crate) async fn end_turn(
        &self,
        outcome: TurnOutcome,
        reason: Option<(StatusReason, String)>,
    ) -> Result<TurnFlow, TurnStopped> {
        self.publish_changes().await?;
        let usage = self.task.view().usage;
        let message = reason.map(|(reason, text)| self.output.reason(reason, text).into());
        self.journal.record(Fact::TurnEnded { outcome, message, usage: Some(Box::new(usage)) }).await?;
        Ok(TurnFlow::Stop)
    }

    /// The whole conversation as the next prompt has it.
    pub(crate) fn exchanges(&self, view: &TaskView) -> Vec<Arc<Exchange>> {
        self.prompt_builder.exchanges(&self.setup.opening, view)
    }
}

impl TurnTools {
    fn of(setup: &ConversationSetup) -> Self {
        let version = setup.tool_source.version();
        Self { version, registry: setup.tool_source.tools(), declarations: setup.tool_source.declarations() }
    }

    fn refresh(&mut self, setup: &ConversationSetup) {
        if self.version != setup.tool_source.version() {
            *self = Self::of(setup);
        }
    }
}
