//! Turns the end of the remote task into the end of the call.

use attache_client::{Client, RemoteStatus, StreamEvent, TaskState};
use attache_tool::{CallEnd, CallQuestion, QuestionKind, ToolError, untrusted};

use super::AgentCall;
use crate::{received_files, result_text};

impl AgentCall<'_> {
    pub(super) async fn settle(
        &mut self,
        client: &Client,
        status: Option<RemoteStatus>,
    ) -> Result<CallEnd, ToolError> {
        let state = status.as_ref().and_then(|status| status.state);
        let (Some(status), Some(state)) = (status, state) else {
            // A message without a task. The context counts all the same.
            self.keep_continuity(None).await?;
            return self.finish().await;
        };
        if matches!(state, TaskState::InputRequired | TaskState::AuthRequired) {
            return self.ask(&status, state).await;
        }
        self.fetch_result(client).await;
        self.keep_continuity(None).await?;
        match state {
            TaskState::Completed => self.finish().await,
            _ => {
                let words = attache_client::state_name(state);
                Err(self.failure(&format!("its task ended as {words}")).await)
            }
        }
    }

    /// Some agents put their result into the task, and not into the stream; and of a stream that was not read from its
    /// beginning, the task holds the rest.
    async fn fetch_result(&mut self, client: &Client) {
        let is_partial = self.output.is_empty() || (self.replay.is_partial() && !self.has_whole_task);
        let Some(task) = self.saved.task.clone().filter(|_| is_partial) else {
            return;
        };
        match client.get(&task, None).await {
            Ok(task) => {
                if self.replay.is_partial() && self.saved.sent == 0 {
                    self.output.fill_words(&task, &self.saved.message);
                }
                self.output.add(&StreamEvent::Task(Box::new(task)));
            }
            // It may be forgotten already; then there is nothing more to tell.
            Err(error) => tracing::debug!(%error, "the result of an agent's task cannot be fetched"),
        }
    }

    /// The agent waits for input or a credential.
    async fn ask(&mut self, status: &RemoteStatus, state: TaskState) -> Result<CallEnd, ToolError> {
        let message = status.message.as_ref();
        let words =
            message.map(|message| self.output.words(message)).filter(|words| !words.trim().is_empty());
        let kind = match state {
            TaskState::AuthRequired => QuestionKind::Auth,
            _ => QuestionKind::Input,
        };
        // Some servers wait for the next message after each turn. That is no question for a person.
        let is_turn_end = kind == QuestionKind::Input && words.is_none() && !self.output.is_empty();
        let asks_person = self.attended && self.saved.task.is_some() && !is_turn_end;
        // The next prompt may answer a question for input that no person is asked. A question to a person has its own answer,
        // and none if it is skipped. A prompt is no credential either.
        let takes_prompt = kind == QuestionKind::Input && !asks_person;
        self.keep_continuity(self.saved.task.clone().filter(|_| takes_prompt)).await?;
        if asks_person {
            let text = words.unwrap_or_else(|| match kind {
                QuestionKind::Auth => "It needs a credential, and did not say which.".to_owned(),
                QuestionKind::Input => "It needs more input, and did not say what.".to_owned(),
            });
            self.output.ask(&text);
            self.save_files().await;
            self.keep_output().await;
            self.saved.ask(&text, kind, status);
            self.save().await?;
            return Ok(CallEnd::Asks(CallQuestion { kind, text, url: None }));
        }
        let waits = match kind {
            QuestionKind::Auth => {
                "The agent waits for a credential, which cannot be given here. Another call begins a new task."
            }
            QuestionKind::Input => {
                "The agent waits for more input. Another call with the answer as the prompt goes on with the same task."
            }
        };
        self.output(Some(waits)).await
    }

    async fn finish(&mut self) -> Result<CallEnd, ToolError> {
        self.output(None).await
    }

    async fn output(&mut self, note: Option<&str>) -> Result<CallEnd, ToolError> {
        let mut content = self.report().await;
        if content.is_empty() {
            content = format!("The agent {} finished and said nothing.", self.agent.name());
        }
        if let Some(note) = note {
            content.push_str(&format!("\n\n{note}"));
        }
        Ok(CallEnd::Finished(result_text::output(content, &self.output.text())))
    }

    /// What the agent said and sent until the call was cancelled.
    pub(super) async fn finish_cancelled(&mut self) -> Result<CallEnd, ToolError> {
        let report = self.report().await;
        if report.is_empty() {
            return Err(self.failure("the call was cancelled").await);
        }
        Ok(CallEnd::Finished(result_text::output(report, &self.output.text())))
    }

    /// Everything that the agent said and sent; empty if that is nothing. Files and long texts are saved.
    pub(super) async fn report(&mut self) -> String {
        self.save_files().await;
        let mut blocks = Vec::new();
        let text = self.output.text();
        if !text.trim().is_empty() {
            let scratch = &self.context.workspace.scratch;
            blocks.push(result_text::for_model(text, scratch, &self.folder_name()).await);
        }
        let files = self.output.saved_files();
        if !files.is_empty() {
            blocks.push(format!("The agent sent files:\n{}", files.join("\n")));
        }
        if self.has_lost_conversation {
            let lost =
                "The agent does not know the earlier conversation any more: this call began a new one.";
            blocks.push(lost.to_owned());
        }
        format!("{}{}", self.dialog(), blocks.join("\n\n")).trim_end().to_owned()
    }

    /// What the agent asked and the person answered.
    fn dialog(&self) -> String {
        let turns = self.output.dialog().iter().map(|turn| {
            let answer = turn.answer.as_deref().unwrap_or("(the answer is not known any more)");
            format!("The agent asked:\n{}\nThe person answered: {answer}\n\n", untrusted(&turn.question))
        });
        turns.collect()
    }

    async fn save_files(&mut self) {
        let scratch = &self.context.workspace.scratch;
        let lines = received_files::save(self.output.files(), scratch, &self.folder_name()).await;
        self.output.files_saved(lines);
    }
}
