//! A turn that a command began: the command says what comes next, and every step is a fact.

use std::sync::Arc;

use attache_command::{CommandError, Found, Next, ToolUse};
use attache_domain::{
    AnswerEnd, Artifact, COMMAND, CallId, CallOutcome, CallRecord, CommandCall, Content, ContextReason, Fact,
    ModelAnswer, Outcome, Part, PartContent, Role, Said, TaskView, TextPhase, ToolCall, ToolResult, Usage,
    Utterance, Wishes,
};
use attache_session::Stopped;
use attache_tool::ErrorKind;
use serde_json::Value;

use crate::Mind;
use crate::desk::ConversationDesk;
use crate::performance::{Performance, Turn};
use crate::reason::Reason;

/// The command that the latest message of `view` gives.
pub(crate) fn command_in(view: &TaskView) -> Option<&CommandCall> {
    let latest = view.history.iter().rev().find(|message| message.role == Role::User)?;
    latest.command.as_deref()
}

impl Performance<'_> {
    /// The command of this turn, as long as it has not handed over to the model.
    pub(crate) fn commanding(&self) -> Option<Found> {
        self.command.clone().filter(|_| !self.journal.look(|progress| progress.work.prompted))
    }

    pub(crate) async fn obey(&mut self, found: &Found) -> Result<Turn, Stopped> {
        let results = self.latest.view().commanded.clone();
        let next = found.run(&results, &ConversationDesk::new(self)).await;
        let denied = self.denied(&results);
        match next {
            // A rule stood in the way: the command did not do what it is for.
            Ok(Next::Done { text, .. }) if denied.is_some() => {
                self.command_failed(&CommandError::Failed { what: text }).await
            }
            Ok(Next::Done { text, data }) => self.report(text, data).await,
            Ok(Next::UseTools(uses)) => {
                self.journal.record(wanted(self.voice.turn(), results.len(), uses)).await?;
                Ok(Turn::GoesOn)
            }
            // Whoever refused what a prompt should be made of does not want it to be put.
            Ok(Next::Prompt(_)) if self.journal.look(|progress| progress.work.was_refused()) => {
                self.report(
                    "What the command wanted to run was refused, and nothing came of it.".into(),
                    None,
                )
                .await
            }
            Ok(Next::Prompt(_)) if denied.is_some() => {
                let what = denied.unwrap_or_default();
                self.command_failed(&CommandError::Failed { what }).await
            }
            Ok(Next::Prompt(text)) => {
                self.give(ContextReason::Command, vec![Content::Text(text)]).await?;
                Ok(Turn::GoesOn)
            }
            Ok(Next::Compress) => self.compress().await,
            Ok(Next::ChooseModel(name)) => self.choose_model(name).await,
            Err(error) => self.command_failed(&error).await,
        }
    }

    /// What is said about the latest tool that the command wanted and a rule denies.
    fn denied(&self, results: &[Vec<ToolResult>]) -> Option<String> {
        results.last()?;
        let view = self.latest.view();
        let is_denied = |record: &&Arc<CallRecord>| match &record.outcome {
            Some(CallOutcome::Failed { kind }) => *kind == ErrorKind::PolicyViolation.name(),
            _ => false,
        };
        let denied = view.cast.calls.iter().find(is_denied)?;
        Some(format!("{} is not allowed: {}", denied.call.name, denied.summary))
    }

    /// What came of a command: words for people, and the same as data for programs.
    async fn report(&self, text: String, data: Option<Value>) -> Result<Turn, Stopped> {
        if let Some(data) = data {
            let mut part = Part::new(PartContent::Data(data));
            part.media_type = Some("application/json".into());
            let artifact = Box::new(Artifact {
                id: Artifact::result_id(self.voice.turn()),
                name: Some("Result".into()),
                description: None,
                parts: vec![part],
                metadata: None,
                extensions: Vec::new(),
            });
            self.journal.record(Fact::ArtifactAdded { artifact, append: false, last: true }).await?;
        }
        // After a restart between its words and its end a command runs again: what was said was said.
        if self.journal.look(|progress| progress.turn.text) != TextPhase::Whole {
            self.journal.record(Fact::TextSaid { text, last: true }).await?;
        }
        self.end(Outcome::Completed, None).await
    }

    async fn compress(&mut self) -> Result<Turn, Stopped> {
        let Mind::Language(model) = self.place.mind.clone() else {
            return self
                .report("There is no language model here whose conversation could be summed up.".into(), None)
                .await;
        };
        let text = match self.sum_up(model.as_ref()).await? {
            Some((before, after)) => {
                format!("Our conversation took about {before} tokens and now takes {after}.")
            }
            None => "Our conversation stays as it is: there is nothing to sum up, or no shorter summary to be had."
                .into(),
        };
        self.report(text, None).await
    }

    async fn choose_model(&self, name: String) -> Result<Turn, Stopped> {
        let wishes = Wishes { model: Some(name.clone()), ..Wishes::default() };
        if let Err(refusal) = self.workplaces.mind(&wishes) {
            return self.command_failed(&CommandError::Failed { what: refusal.what }).await;
        }
        self.journal.record(Fact::ModelChosen { model: name.clone() }).await?;
        self.report(format!("From now on {name} answers in this conversation."), None).await
    }

    async fn command_failed(&self, error: &CommandError) -> Result<Turn, Stopped> {
        self.end(Outcome::Failed, Some((Reason::Command, error.to_string()))).await
    }
}

/// Tools that a command uses are asked for as a model would ask for them, under ids that no model gives.
fn wanted(turn: u32, step: usize, uses: Vec<ToolUse>) -> Fact {
    let call = |(place, used): (usize, ToolUse)| Said {
        what: Utterance::Call(ToolCall {
            id: CallId(format!("command-{turn}-{step}-{place}")),
            name: used.tool,
            input: used.input,
        }),
        opaque: None,
    };
    Fact::ModelAnswered(Box::new(ModelAnswer {
        model: COMMAND.into(),
        said: uses.into_iter().enumerate().map(call).collect(),
        usage: Usage::default(),
        end: AnswerEnd::Done,
    }))
}
