//! Runs a turn that a command started: the command chooses each step, and every step is a fact.

use std::sync::Arc;

use attache_command::{CommandError, CommandStep, MatchedCommand, ToolUse};
use attache_domain::{
    Artifact, COMMAND_MODEL, CallId, CallOutcome, CallRecord, CommandCall, Content, ContextReason, Fact,
    ModelAnswer, ModelPart, ModelPartContent, Part, PartContent, RequestedSettings, ResponseEnd, Role,
    TaskView, TextPhase, ToolCall, ToolResult, TurnOutcome, Usage,
};
use attache_session::TurnStopped;
use attache_tool::{ToolErrorKind, agent_state_key};
use serde_json::{Value, json};

use crate::AgentModel;
use crate::command_context::TurnCommandContext;
use crate::reason::StatusReason;
use crate::turn_runner::{TurnFlow, TurnRunner};

/// The command in the latest message of `view`.
pub(crate) fn command_in(view: &TaskView) -> Option<&CommandCall> {
    let latest = view.history.iter().rev().find(|message| message.role == Role::User)?;
    latest.command.as_deref()
}

impl TurnRunner<'_> {
    /// The command of this turn, unless it has handed over to the model.
    pub(crate) fn active_command(&self) -> Option<MatchedCommand> {
        self.command.clone().filter(|_| !self.journal.with_progress(|progress| progress.work.prompted))
    }

    pub(crate) async fn run_command(&mut self, found: &MatchedCommand) -> Result<TurnFlow, TurnStopped> {
        let results = self.task.view().commanded.clone();
        let next = found.run(&results, &TurnCommandContext::new(self)).await;
        let denied = self.denied(&results);
        match next {
            // A rule refused the call, so the command has failed.
            Ok(CommandStep::Done { text, .. }) if denied.is_some() => {
                self.command_failed(&CommandError::Failed { what: text }).await
            }
            Ok(CommandStep::Done { text, data }) => self.end_with_result(text, data).await,
            Ok(CommandStep::UseTools(uses)) => {
                self.journal.record(tool_request(self.output.turn(), results.len(), uses)).await?;
                Ok(TurnFlow::Continue)
            }
            // If a part of a prompt is refused, the prompt is not sent.
            Ok(CommandStep::Prompt(_))
                if self.journal.with_progress(|progress| progress.work.was_refused()) =>
            {
                self.end_with_result("The command stopped: what it wanted to run was refused.".into(), None)
                    .await
            }
            Ok(CommandStep::Prompt(_)) if denied.is_some() => {
                let what = denied.unwrap_or_default();
                self.command_failed(&CommandError::Failed { what }).await
            }
            Ok(CommandStep::Prompt(text)) => {
                self.record_context(ContextReason::Command, vec![Content::Text(text)]).await?;
                Ok(TurnFlow::Continue)
            }
            Ok(CommandStep::Compress) => self.compress().await,
            Ok(CommandStep::ChooseModel(name)) => self.choose_model(name).await,
            Ok(CommandStep::ForgetAgent(name)) => self.forget_agent(&name).await,
            Err(error) => self.command_failed(&error).await,
        }
    }

    /// The explanation of the latest denied call of the command.
    fn denied(&self, results: &[Vec<ToolResult>]) -> Option<String> {
        results.last()?;
        let view = self.task.view();
        let is_denied = |record: &&Arc<CallRecord>| match &record.outcome {
            Some(CallOutcome::Failed { kind }) => *kind == ToolErrorKind::PolicyViolation.name(),
            _ => false,
        };
        let denied = view.call_records.calls.iter().find(is_denied)?;
        Some(format!("{} is not allowed: {}", denied.call.name, denied.summary))
    }

    /// Ends the turn with the result of a command: text for people, and the same as data for programs.
    async fn end_with_result(&self, text: String, data: Option<Value>) -> Result<TurnFlow, TurnStopped> {
        if let Some(data) = data {
            let mut part = Part::new(PartContent::Data(data));
            part.media_type = Some("application/json".into());
            let artifact = Box::new(Artifact {
                id: Artifact::result_id(self.output.turn()),
                name: Some("Result".into()),
                description: None,
                parts: vec![part],
                metadata: None,
                extensions: Vec::new(),
            });
            self.journal.record(Fact::ArtifactAdded { artifact, append: false, last: true }).await?;
        }
        // After a restart between its text and its end a command runs again; text that is already recorded is not
        // repeated.
        if self.journal.with_progress(|progress| progress.turn.text) != TextPhase::Whole {
            self.journal.record(Fact::TextSaid { text, last: true }).await?;
        }
        self.end_turn(TurnOutcome::Completed, None).await
    }

    async fn compress(&mut self) -> Result<TurnFlow, TurnStopped> {
        let model = match self.setup.model.clone() {
            AgentModel::Language(model) => model,
            AgentModel::WithoutKey(refusal) => return self.wait_for_key(&refusal).await,
            AgentModel::BuiltIn(_) => {
                let text = "There is no language model here whose conversation could be summed up.";
                return self.end_with_result(text.into(), None).await;
            }
        };
        let text = match self.compact_on_request(model.as_ref()).await? {
            Some((before, after)) => {
                format!("Our conversation took about {before} tokens and now takes {after}.")
            }
            None => "Our conversation stays unchanged: there is nothing to sum up, or the summary would not be shorter."
                .into(),
        };
        self.end_with_result(text, None).await
    }

    async fn choose_model(&self, name: String) -> Result<TurnFlow, TurnStopped> {
        let settings = RequestedSettings { model: Some(name.clone()), ..RequestedSettings::default() };
        if let Err(refusal) = self.conversations.model(&settings) {
            return self.command_failed(&CommandError::Failed { what: refusal.what }).await;
        }
        self.journal.record(Fact::ModelChosen { model: name.clone() }).await?;
        self.end_with_result(format!("From now on {name} answers in this conversation."), None).await
    }

    async fn forget_agent(&self, name: &str) -> Result<TurnFlow, TurnStopped> {
        let (key, state) = (agent_state_key(name).into(), Arc::new(Value::Null));
        self.journal.record(Fact::ConversationStateSaved { key, state }).await?;
        let text = format!("The next call to {name} begins a new conversation with it.");
        let data = json!({ "name": name, "message": text });
        self.end_with_result(text, Some(data)).await
    }

    async fn command_failed(&self, error: &CommandError) -> Result<TurnFlow, TurnStopped> {
        self.end_turn(TurnOutcome::Failed, Some((StatusReason::Command, error.to_string()))).await
    }
}

/// Calls of a command are recorded like calls of a model, with ids that no model uses.
fn tool_request(turn: u32, step: usize, uses: Vec<ToolUse>) -> Fact {
    let call = |(place, used): (usize, ToolUse)| ModelPart {
        what: ModelPartContent::Call(ToolCall {
            id: CallId(format!("command-{turn}-{step}-{place}")),
            name: used.tool,
            input: used.input,
        }),
        opaque: None,
    };
    Fact::ModelAnswered(Box::new(ModelAnswer {
        model: COMMAND_MODEL.into(),
        parts: uses.into_iter().enumerate().map(call).collect(),
        usage: Usage::default(),
        end: ResponseEnd::Done,
    }))
}
