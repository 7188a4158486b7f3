//! Resumes a call after a restart.

use attache_client::{Client, ClientError, ListTasks, RemoteTask};
use attache_domain::ContextId;
use attache_tool::{CallEnd, CallQuestion, QuestionKind, ToolError};

use super::{AgentCall, Replay, Source, usable};
use crate::saved_call::Phase;

/// Pages of tasks that are looked through for a message.
const MAX_PAGES: usize = 3;
const PAGE_SIZE: usize = 50;
/// Messages of each task that are looked at.
const HISTORY_LENGTH: usize = 100;

impl AgentCall<'_> {
    /// The task that the run before has followed. Its events come again from the beginning, so that the result is whole; live
    /// output goes on where it was.
    pub(super) fn resume(&mut self, client: &Client) -> Source {
        let Some(task) = self.saved.task.clone() else { return Source::Ended(CallEnd::Unknown) };
        if !client.replays_events() {
            return self.resume_without_cursor(client);
        }
        self.output.begin_again();
        self.replay = match (self.shown_before, &self.saved.began_after, &self.saved.cursor) {
            (Some(bytes), Some(cursor), _) => Replay::Until(cursor.clone(), bytes),
            (Some(bytes), None, _) => Replay::Bytes(bytes),
            (None, _, Some(cursor)) => Replay::Until(cursor.clone(), 0),
            (None, _, None) => Replay::None,
        };
        Source::Events(client.resume(&task, Some(BEGINNING)))
    }

    /// The task as it is now, and what follows. The rest is fetched at the end.
    pub(super) fn resume_without_cursor(&mut self, client: &Client) -> Source {
        let Some(task) = self.saved.task.clone() else { return Source::Ended(CallEnd::Unknown) };
        self.begin_with_snapshot();
        Source::Events(client.resume(&task, None))
    }

    /// The agent does not tell again what its statuses said; the log has it.
    fn begin_with_snapshot(&mut self) {
        self.replay = Replay::Snapshot;
        self.output.was_shown(std::mem::take(&mut self.words_before));
    }

    /// A message was being sent when the server stopped: has it arrived? Only an agent that recognises a repeated message
    /// gets it again.
    pub(super) async fn recover(&mut self, client: &Client, text: &str) -> Result<Source, ToolError> {
        if let Some(events) = client.resume_send(self.message(client, text)) {
            self.in_flight.send_replace(true);
            return Ok(Source::Events(events));
        }
        if client.recognises_messages() {
            self.in_flight.send_replace(true);
            return match client.stream(self.message(client, text)).await {
                Ok(events) => Ok(Source::Events(events)),
                Err(error) => self.failed_send(client, error).await,
            };
        }
        if let (1.., Some(_)) = (self.saved.sent, &self.saved.task) {
            return match self.answered_task(client).await {
                Some(task) => self.go_on_after_answer(client, task).await,
                None => Ok(Source::Ended(self.ask_whether_to_answer_again().await?)),
            };
        }
        let Ok(Some(task)) = self.find_task(client).await else {
            return Ok(Source::Ended(CallEnd::Unknown));
        };
        self.go_on_with(task).await?;
        Ok(self.resume(client))
    }

    /// The task that asked, if it has the answer: it goes on, asks something else, or holds the message.
    pub(super) async fn answered_task(&self, client: &Client) -> Option<RemoteTask> {
        let task = client.get(self.saved.task.as_deref()?, Some(HISTORY_LENGTH)).await.ok()?;
        (self.has_message(&task) || !self.saved.is_asked_in(&task.status)).then_some(task)
    }

    /// Follows a task that has the answer already. What the person said about it now is not for the agent.
    pub(super) async fn go_on_after_answer(
        &mut self,
        client: &Client,
        task: RemoteTask,
    ) -> Result<Source, ToolError> {
        if std::mem::take(&mut self.saved.may_be_answered) {
            self.restore_output().await;
        }
        self.go_on_with(task.id.to_string()).await?;
        self.begin_with_snapshot();
        let events = client.resume(task.id.as_str(), None);
        let is_old = self.saved.is_asked_in(&task.status);
        Ok(Source::Events(if is_old { events.after_answer_to(task.status) } else { events }))
    }

    fn has_message(&self, task: &RemoteTask) -> bool {
        task.history.iter().any(|known| known.id.as_str() == self.saved.message)
    }

    pub(super) async fn go_on_with(&mut self, task: String) -> Result<(), ToolError> {
        (self.saved.task, self.saved.phase) = (Some(task), Phase::Following);
        self.save().await?;
        self.in_flight.send_replace(false);
        Ok(())
    }

    /// The task that has received the message; none if no task has.
    pub(super) async fn find_task(&self, client: &Client) -> Result<Option<String>, ClientError> {
        let has_it = |task: &RemoteTask| usable(task.id.as_str()).is_some() && self.has_message(task);
        if let Some(task) = &self.saved.task {
            let task = client.get(task, Some(HISTORY_LENGTH)).await?;
            return Ok(has_it(&task).then(|| task.id.to_string()));
        }
        let mut list = ListTasks {
            context: self.saved.context.as_deref().map(ContextId::from),
            page_size: PAGE_SIZE,
            history_length: Some(HISTORY_LENGTH),
            ..ListTasks::default()
        };
        for _ in 0..MAX_PAGES {
            let page = client.list(list.clone()).await?;
            if let Some(task) = page.tasks.iter().find(|task| has_it(task)) {
                return Ok(Some(task.id.to_string()));
            }
            if page.next_page_token.is_empty() {
                break;
            }
            list.page_token = page.next_page_token;
        }
        Ok(None)
    }

    /// The task that asked, if it does not wait any more: the person may have resolved it elsewhere.
    pub(super) async fn task_without_answer(&self, client: &Client) -> Option<String> {
        let task = client.get(self.saved.task.as_deref()?, None).await.ok()?;
        (!task.status.is_interrupted()).then(|| self.saved.task.clone())?
    }

    /// The question that has no answer yet.
    pub(super) async fn ask_again(&mut self) -> Result<CallEnd, ToolError> {
        self.ask_again_with("").await
    }

    /// The answer may have arrived, and an agent that does not recognise it would take it for another one.
    async fn ask_whether_to_answer_again(&mut self) -> Result<CallEnd, ToolError> {
        let answer = match &self.saved.answer {
            Some(answer) => format!("the answer {answer:?}"),
            None => "the answer".to_owned(),
        };
        self.saved.may_be_answered = true;
        let note = format!(
            "\n\n(The server stopped while {answer} was being sent, and the agent does not tell whether it arrived. What you \
             answer now is sent, unless the agent has gone on by then.)"
        );
        self.ask_again_with(&note).await
    }

    async fn ask_again_with(&mut self, note: &str) -> Result<CallEnd, ToolError> {
        self.saved.lose_answer();
        self.save().await?;
        let text = format!("{}{note}", self.saved.question.clone().unwrap_or_default());
        let kind = if self.saved.asks_credential { QuestionKind::Auth } else { QuestionKind::Input };
        Ok(CallEnd::Asks(CallQuestion { kind, text, url: None }))
    }
}

/// The cursor before the first event.
const BEGINNING: &str = "0";
