//! One running call: its live output, its result, and its leftovers after a kill of the server.

use std::path::PathBuf;
use std::sync::Arc;

use attache_domain::{
    Artifact, CallId, CallOutcome, CallRecord, Content, Fact, FinishedCall, Part, PartContent, Proposal,
};
use attache_session::TurnStopped;
use attache_tool::{OutputFile, ToolError, ToolOutput, failpoint};
use tokio::time::Instant;

use crate::calls::{failed, touched};
use crate::live_output::LiveOutputBuffer;
use crate::output_recorder::{OUTPUT_INTERVAL, OutputRecorder};
use crate::turn_runner::TurnRunner;

impl TurnRunner<'_> {
    /// Runs one call, records its live output meanwhile, and records its result.
    pub(crate) async fn run_call(
        &self,
        record: &CallRecord,
        proposal: Proposal,
        mark: Option<String>,
    ) -> Result<(), TurnStopped> {
        let id = &record.call.id;
        let live = Arc::new(LiveOutputBuffer::default());
        let context = self.tool_context(live.clone(), mark);
        let touched = touched(&proposal);
        let run = async {
            let tool = self.find_tool(&record.call.name)?;
            tool.run(proposal, &context).await
        };
        let mut run = std::pin::pin!(run);
        let mut recorder = OutputRecorder::new(Instant::now());
        let mut quiet_until = Instant::now();
        let mut result = loop {
            let shown = async {
                tokio::time::sleep_until(quiet_until).await;
                live.next().await
            };
            tokio::select! {
                biased;
                result = &mut run => break result,
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
        if let Ok(output) = &mut result {
            output.content.extend(self.nearby_context(&touched).await);
            for artifact in output_artifacts(id, output) {
                let artifact = Box::new(artifact);
                self.journal.record(Fact::ArtifactAdded { artifact, append: false, last: true }).await?;
            }
        }
        self.journal.record(Fact::CallFinished(Box::new(finished_call(id, result)))).await?;
        failpoint::reach("call-end-recorded");
        Ok(())
    }

    /// What people left for the model beside what it has just touched.
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

    /// Ends the processes of a call that were running when the server was killed. Until they are gone the call can
    /// still take effect, so this comes before any question and before the task continues.
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

/// Files for the person become artifacts, named after the call so that each is its own.
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
