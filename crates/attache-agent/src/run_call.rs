//! Runs one call: its live output, its result, and its leftover processes after a crash.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use attache_domain::{
    Artifact, CallId, CallOutcome, CallRecord, Content, Fact, FinishedCall, Message, Part, PartContent,
    Proposal, QUESTION_CHOICES, ToolQuestion, visible_again,
};
use attache_session::TurnStopped;
use attache_tool::{
    CANCEL_TIMEOUT, CallEnd, CallQuestion, CallStart, CallState, OutputFile, QuestionKind, ToolContext,
    ToolError, ToolErrorKind, ToolOutput, failpoint, untrusted,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::abandon_calls::notify_peer;
use crate::call_state::{self, SaveRequest, StateReceiver};
use crate::calls::{CallContext, call_context, failed, finished, touched};
use crate::live_output::LiveOutputBuffer;
use crate::output_recorder::{OUTPUT_INTERVAL, OutputRecorder};
use crate::turn_runner::TurnRunner;

/// One run of a call.
pub(crate) struct CallRun {
    pub(crate) record: Arc<CallRecord>,
    pub(crate) proposal: Proposal,
    pub(crate) mark: Option<String>,
    pub(crate) start: CallStart,
    /// Cancelled when a client cancels this call.
    pub(crate) cancel: CancellationToken,
}

/// A cancelled call without a peer is dropped after this time if it does not end by itself.
const DROP_DELAY: Duration = Duration::from_secs(1);

/// The maximum length of a call's question.
const MAX_QUESTION_BYTES: usize = 8 << 10;

impl TurnRunner<'_> {
    /// Runs one call, records its live output and its saved state, and records how the run ended.
    pub(crate) async fn run_call(&self, run: CallRun) -> Result<(), TurnStopped> {
        let CallRun { record, proposal, mark, start, cancel } = run;
        let id = &record.call.id;
        let live = Arc::new(LiveOutputBuffer::default());
        let tool = self.tool_of(&record);
        let base = call_context(&self.setup, &self.task.view(), Some(id));
        let is_resumable = tool.as_ref().is_ok_and(|tool| tool.resumable().is_some());
        let (state, mut saves): (Arc<dyn CallState>, _) = if is_resumable {
            let (sender, receiver) = call_state::channel(self.conversation_state());
            (Arc::new(sender), receiver)
        } else {
            (base.state.clone(), StateReceiver::none())
        };
        let context = ToolContext { cancel: cancel.clone(), live: live.clone(), mark, state, ..base };
        let context = CallContext::new(context);
        let touched = touched(&proposal);
        let run = async {
            let tool = tool.as_ref().map_err(ToolError::clone)?;
            match tool.resumable() {
                Some(resumable) => resumable.run_from(proposal, start, &context).await,
                None => tool.run(proposal, &context).await.map(CallEnd::Finished),
            }
        };
        let mut run = std::pin::pin!(run);
        let mut recorder = OutputRecorder::new(Instant::now());
        let mut quiet_until = Instant::now();
        let mut canceled_until = None;
        let result = loop {
            let shown = async {
                tokio::time::sleep_until(quiet_until).await;
                live.next().await
            };
            tokio::select! {
                biased;
                result = &mut run => break Some(result),
                request = saves.next() => self.save_state(id, request).await?,
                () = cancel.cancelled(), if canceled_until.is_none() => {
                    let timeout = if is_resumable { CANCEL_TIMEOUT } else { DROP_DELAY };
                    canceled_until = Some(Instant::now() + timeout);
                }
                () = sleep_until(canceled_until) => break None,
                text = shown => {
                    quiet_until = Instant::now() + OUTPUT_INTERVAL;
                    recorder.take(&text);
                }
                () = sleep_until(recorder.due()) => {}
            }
            self.record_output(id, recorder.piece(Instant::now())).await?;
        };
        recorder.take(&live.take());
        self.record_output(id, recorder.rest()).await?;
        failpoint::reach("call-ended");
        match result {
            result if cancel.is_cancelled() => self.record_canceled(id, result).await?,
            Some(Ok(CallEnd::Asks(question))) if self.setup.attended => {
                return self.record_question(id, question).await;
            }
            Some(Ok(CallEnd::Asks(question))) => self.refuse_question(&record, &context, &question).await?,
            Some(Ok(CallEnd::Unknown)) => return self.record_lost(id).await,
            Some(Ok(CallEnd::Finished(output))) => self.record_result(id, Ok(output), &touched).await?,
            Some(Err(error)) => self.record_result(id, Err(error), &touched).await?,
            None => {}
        }
        failpoint::reach("call-end-recorded");
        Ok(())
    }

    async fn record_result(
        &self,
        id: &CallId,
        mut result: Result<ToolOutput, ToolError>,
        touched: &[PathBuf],
    ) -> Result<(), TurnStopped> {
        if let Ok(output) = &mut result {
            output.content.extend(self.nearby_context(touched).await);
            for artifact in output_artifacts(id, output) {
                let artifact = Box::new(artifact);
                self.journal.record(Fact::ArtifactAdded { artifact, append: false, last: true }).await?;
            }
        }
        self.journal.record(Fact::CallFinished(Box::new(finished_call(id, result)))).await
    }

    /// The saved state of a call is durable before the call continues.
    async fn save_state(&self, id: &CallId, request: SaveRequest) -> Result<(), TurnStopped> {
        let state = Arc::new(request.value);
        if let Some(key) = request.key {
            self.journal.record(Fact::ConversationStateSaved { key, state }).await?;
            let _ = request.saved.send(());
            return Ok(());
        }
        self.journal.record(Fact::CallStateSaved { call: id.clone(), state }).await?;
        self.journal.flush().await?;
        failpoint::reach("call-state-saved");
        // The call may have ended.
        let _ = request.saved.send(());
        Ok(())
    }

    /// Records the cancel and the partial output for the model.
    async fn record_canceled(
        &self,
        id: &CallId,
        result: Option<Result<CallEnd, ToolError>>,
    ) -> Result<(), TurnStopped> {
        let text = "[Operation Cancelled] The user cancelled this call while it ran.";
        let mut finished = finished(id, CallOutcome::Canceled, text);
        if let Some(Ok(CallEnd::Finished(output))) = result {
            finished.output.extend(output.content);
            finished.diff = output.diff;
        }
        self.journal.record(Fact::CallFinished(Box::new(finished))).await
    }

    /// The call waits for an answer. While other calls run, clients get a notice; otherwise the turn asks.
    async fn record_question(&self, id: &CallId, asked: CallQuestion) -> Result<(), TurnStopped> {
        let question = self.journal.with_progress(|progress| progress.work.own_question(id, progress.head));
        let CallQuestion { kind, mut text, url } = asked;
        text.truncate(text.floor_char_boundary(MAX_QUESTION_BYTES));
        let url = url.filter(|url| url.len() <= MAX_QUESTION_BYTES);
        let choices = QUESTION_CHOICES.map(str::to_owned).to_vec();
        let asked = ToolQuestion { call: id.clone(), question, kind, text, url, choices };
        self.journal.record(Fact::CallAsked(Box::new(asked))).await?;
        self.journal.flush().await?;
        failpoint::reach("call-asked");
        let view = self.task.view();
        let Some(question) = view.question_beside_calls() else { return Ok(()) };
        let message = self.output.text(&format!("notice-{}", view.progress.head), question.text());
        let message = Message { metadata: question.metadata, ..message };
        drop(view);
        self.journal.record(Fact::Noticed { message: message.into() }).await
    }

    /// No person can answer: the call ends, its peer is notified, and the model reads the question.
    async fn refuse_question(
        &self,
        record: &CallRecord,
        context: &ToolContext,
        question: &CallQuestion,
    ) -> Result<(), TurnStopped> {
        if let Ok(tool) = self.tool_of(record) {
            // With the state that the run has just saved.
            let now = self.task.view().call_records.find(&record.call.id).cloned();
            let notice = notify_peer(tool.as_ref(), now.as_deref().unwrap_or(record), context).await;
            self.record_peer_notice(record, notice).await?;
        }
        let wanted = match question.kind {
            QuestionKind::Input => "an answer of a person",
            QuestionKind::Auth => "a person to sign in",
        };
        let asked: String = question.text.chars().take(1_000).collect();
        let asked = untrusted(&visible_again(&asked));
        let text =
            format!("It needs {wanted}, and this run has no person to ask. The question was:\n{asked}");
        let error = ToolError::new(ToolErrorKind::ExecutionFailed, text);
        self.journal.record(Fact::CallFinished(Box::new(failed(&record.call.id, &error)))).await
    }

    /// Context files near the paths that the call has touched.
    async fn nearby_context(&self, touched: &[PathBuf]) -> Option<Content> {
        let context_files = self.setup.context_files.as_ref().filter(|_| !touched.is_empty())?;
        context_files.nearby(touched).await.map(Content::Text)
    }

    async fn record_output(&self, id: &CallId, text: Option<String>) -> Result<(), TurnStopped> {
        match text {
            Some(text) => self.journal.record(Fact::CallShowed { call: id.clone(), text }).await,
            None => Ok(()),
        }
    }

    pub(crate) fn process_mark(&self, record: &CallRecord) -> Option<String> {
        self.find_tool(&record.call.name).ok()?.process_mark()
    }

    /// Ends the processes of a call that ran when the server was killed. Until they have ended, the call can still
    /// have effects, so this comes before any question and before the task continues.
    pub(crate) async fn end_leftovers(&self, record: &CallRecord) -> Result<(), TurnStopped> {
        let Some(mark) = &record.mark else { return Ok(()) };
        let left = self.setup.leftovers.end(mark).await;
        if left.is_empty() {
            return Ok(());
        }
        let numbers: Vec<String> = left.iter().map(ToString::to_string).collect();
        let name = &record.call.name;
        let text = format!("Processes of {name} could not be ended and still run: {}", numbers.join(", "));
        self.record_notice(text).await
    }
}

async fn sleep_until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

fn finished_call(id: &CallId, result: Result<ToolOutput, ToolError>) -> FinishedCall {
    match result {
        Err(error) => failed(id, &error),
        Ok(ToolOutput { content, summary, diff, files: _ }) => {
            FinishedCall { call: id.clone(), outcome: CallOutcome::Succeeded, output: content, summary, diff }
        }
    }
}

/// Files for the person become artifacts, with ids derived from the call.
fn output_artifacts(id: &CallId, output: &ToolOutput) -> Vec<Artifact> {
    let artifact = |(place, file): (usize, &OutputFile)| {
        let mut part = Part::new(PartContent::Raw(file.bytes.clone()));
        part.media_type = Some(file.media_type.clone());
        part.filename = Some(file.name.clone());
        Artifact {
            id: format!("file-{}-{place}", id.0).into(),
            name: Some(file.name.clone()),
            description: file.description.clone(),
            parts: vec![part],
            metadata: None,
            extensions: Vec::new(),
        }
    };
    output.files.iter().enumerate().map(artifact).collect()
}
