//! Runs a built-in model: its stream becomes facts.

use std::sync::Arc;

use attache_domain::{
    Content, Exchange, Fact, Message, ModelAnswer, ModelPart, ModelPartContent, Part, ReplyShape,
    ResponseEnd, Role, TaskView, ToolCall, ToolResult, TurnOutcome, Usage,
};
use attache_model::{
    BuiltInModel, ModelChunk, ModelError, ModelRequest, ModelStream, ModelStreamItem, TurnFinish,
};
use attache_session::{CurrentTask, Journal, TurnStopped};
use futures_util::{FutureExt, StreamExt};

use crate::turn_output::TurnOutput;

/// How the stream of a built-in model ended.
pub(crate) enum RequestEnd {
    /// The model requests calls, which are recorded.
    WithCalls,
    /// The turn ends when this is recorded.
    WithTurn(Fact),
}

/// Runs until the turn ends or the model requests calls.
pub(crate) async fn run_request(
    model: &dyn BuiltInModel,
    task: &CurrentTask,
    journal: &Journal,
) -> Result<RequestEnd, TurnStopped> {
    let view = task.view();
    let turn = view.progress.turn;
    let is_visible = view.progress.reply == ReplyShape::Task;
    let output = TurnOutput::of(&view);
    let request = ModelRequest {
        history: history(&view),
        turn: turn.number,
        emitted: turn.emitted,
        results: results_of_turn(&view),
    };
    // Dropped before facts are recorded, so that the fold does not copy the view.
    drop(view);
    let mut stream = Lookahead { stream: model.stream(request), next: None };
    let mut credentials = turn.emitted;
    while let Some(item) = stream.next().await {
        match item {
            Ok(ModelStreamItem::Chunk(chunk)) => {
                let last = matches!(chunk, ModelChunk::Text(_)) && stream.finish_is_next();
                journal.record(fact_of(chunk, last, &output, &mut credentials)).await?;
            }
            Ok(ModelStreamItem::Finish(TurnFinish::Calls(calls))) => {
                journal.flush().await?;
                let text = task.view().uncertain_text();
                journal.record(answered(model.name(), text, calls)).await?;
                return Ok(RequestEnd::WithCalls);
            }
            Ok(ModelStreamItem::Finish(TurnFinish::Replied { parts })) if is_visible => {
                return Ok(RequestEnd::WithTurn(reply_in_task(parts, &output)));
            }
            Ok(ModelStreamItem::Finish(finish)) => return Ok(RequestEnd::WithTurn(end_of(finish, &output))),
            Err(error) => return Ok(RequestEnd::WithTurn(failed(&error, &output))),
        }
    }
    let silent = ModelError::Interrupted { what: "it ended without saying so".into() };
    Ok(RequestEnd::WithTurn(failed(&silent, &output)))
}

/// The messages of people and of the agent. A command that passes a prompt to the model comes last.
fn history(view: &TaskView) -> Vec<Arc<Message>> {
    let mut history = view.history.clone();
    if view.progress.work.prompted
        && let Some(Exchange::User(contents)) = view.exchanges.last().map(|placed| placed.exchange.as_ref())
    {
        let texts = contents.iter().filter_map(|content| match content {
            Content::Text(text) => Some(Part::text(text)),
            Content::Bytes { .. } | Content::Link { .. } => None,
        });
        let output = TurnOutput::of(view);
        history.push(Arc::new(Message { role: Role::User, ..output.message("prompt", texts.collect()) }));
    }
    history
}

/// The results of this turn's calls, one entry for each answer.
fn results_of_turn(view: &TaskView) -> Vec<Vec<ToolResult>> {
    // The results of a command's calls go to the command.
    let rounds = (view.progress.work.rounds as usize).saturating_sub(view.commanded.len());
    if rounds == 0 {
        return Vec::new();
    }
    let results = view.exchanges.iter().rev().filter_map(|placed| match placed.exchange.as_ref() {
        Exchange::Results(results) => Some(results.clone()),
        Exchange::User(_) | Exchange::Model(_) => None,
    });
    let mut results: Vec<_> = results.take(rounds).collect();
    results.reverse();
    results
}

fn answered(model: &str, text: String, calls: Vec<ToolCall>) -> Fact {
    let text = (!text.is_empty()).then_some(ModelPartContent::Text(text));
    let parts = text.into_iter().chain(calls.into_iter().map(ModelPartContent::Call));
    let parts = parts.map(|what| ModelPart { what, opaque: None }).collect();
    Fact::ModelAnswered(Box::new(ModelAnswer {
        model: model.into(),
        parts,
        usage: Usage::default(),
        end: ResponseEnd::Done,
    }))
}

/// A stream that can tell without waiting whether it is about to finish.
struct Lookahead {
    stream: ModelStream,
    next: Option<Option<Result<ModelStreamItem, ModelError>>>,
}

impl Lookahead {
    async fn next(&mut self) -> Option<Result<ModelStreamItem, ModelError>> {
        match self.next.take() {
            Some(item) => item,
            None => self.stream.next().await,
        }
    }

    /// True only if that is known; a model may need time for its finish.
    fn finish_is_next(&mut self) -> bool {
        if self.next.is_none() {
            self.next = self.stream.next().now_or_never();
        }
        matches!(&self.next, Some(Some(Ok(ModelStreamItem::Finish(finish)))) if !matches!(finish, TurnFinish::Calls(_)))
    }
}

fn fact_of(chunk: ModelChunk, last: bool, output: &TurnOutput, credentials: &mut u32) -> Fact {
    match chunk {
        ModelChunk::Thought(text) => Fact::ThoughtShared { text },
        ModelChunk::Text(text) => Fact::TextSaid { text, last },
        ModelChunk::Artifact { artifact, append, last } => {
            Fact::ArtifactAdded { artifact: Box::new(artifact), append, last }
        }
        ModelChunk::CredentialNeeded(text) => {
            *credentials += 1;
            Fact::CredentialAsked { message: output.text(&format!("credential-{credentials}"), text).into() }
        }
        ModelChunk::Resumed => Fact::WorkResumed,
    }
}

fn end_of(finish: TurnFinish, output: &TurnOutput) -> Fact {
    let ended = |outcome: TurnOutcome, text: Option<String>| Fact::TurnEnded {
        outcome,
        message: text.map(|text| output.text("status", text).into()),
        usage: None,
    };
    match finish {
        TurnFinish::Completed { status } => ended(TurnOutcome::Completed, status),
        TurnFinish::InputRequired { question } => ended(TurnOutcome::InputRequired, question),
        TurnFinish::AuthRequired { explanation } => ended(TurnOutcome::AuthRequired, Some(explanation)),
        TurnFinish::Failed { reason } => ended(TurnOutcome::Failed, Some(reason)),
        TurnFinish::Rejected { reason } => ended(TurnOutcome::Rejected, Some(reason)),
        TurnFinish::Calls(_) => ended(TurnOutcome::Failed, None),
        // A bare reply belongs to no visible task.
        TurnFinish::Replied { parts } => {
            let mut message = output.message("reply", parts);
            message.task = None;
            Fact::Replied { message: message.into() }
        }
    }
}

/// The reply as the end of a turn, for a task whose caller knows it.
fn reply_in_task(parts: Vec<Part>, output: &TurnOutput) -> Fact {
    let message = Some(output.message("reply", parts).into());
    Fact::TurnEnded { outcome: TurnOutcome::Completed, message, usage: None }
}

fn failed(error: &ModelError, output: &TurnOutput) -> Fact {
    let message = output.text("status", format!("The model failed: {error}."));
    Fact::TurnEnded { outcome: TurnOutcome::Failed, message: Some(message.into()), usage: None }
}
