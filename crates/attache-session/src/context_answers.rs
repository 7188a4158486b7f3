//! A message that names a context but no task, while a task of the context waits for input: it is the answer.
//!
//! Many clients know contexts and not tasks. Their next message goes to the one task of the context that waits. Nothing
//! becomes consent that is not clearly an answer: while a call waits for approval, other words open a new task, as they do
//! when nothing waits. Not here: what an answer means, and whether it comes too late.

use std::sync::Arc;

use attache_domain::{
    Answerer, ContextId, DuplicateWindow, Fault, Message, MessageAnswers, Progress, Scope, SendMessage,
    TaskEnding, TaskId, TaskKey, TaskState, TaskView, TurnPhase, visible_line,
};
use attache_store::ListQuery;

use crate::SessionService;
use crate::identity::digest;
use crate::live_task::now;
use crate::service::internal;

/// How many of the latest tasks of a context are considered. A refusal lists as many waiting tasks.
const MAX_TASKS: usize = 8;

impl SessionService {
    /// The task that the message of `send` continues although it names none; `None` if it opens a new one.
    pub async fn task_in_context(&self, scope: &Scope, send: &SendMessage) -> Result<Option<TaskId>, Fault> {
        let message = &send.message;
        if message.task.is_some() || message.command.is_some() {
            return Ok(None);
        }
        let found = match message.context.as_ref().filter(|_| self.options.answer_by_context) {
            Some(context) => self.find_in_context(scope, context, send).await?,
            None => None,
        };
        if found.is_none() && send.answers.has_data() {
            let what = "is required: an answer about a call goes to the task that asks";
            return Err(Fault::invalid("message.task", what));
        }
        Ok(found)
    }

    async fn find_in_context(
        &self,
        scope: &Scope,
        context: &ContextId,
        send: &SendMessage,
    ) -> Result<Option<TaskId>, Fault> {
        let message = &send.message;
        let latest = self.tasks_in(scope, context, None).await?;
        if latest.is_empty() {
            return Ok(None);
        }
        let (sent, duplicates) = (digest(message), self.duplicates(send));
        let known = self.identity.task(scope, message, &sent, send.options.duplicate_rule, 0);
        if duplicates == DuplicateWindow::Always && latest.contains(&known) {
            return Ok(None); // Sent again: the message that opened this task.
        }
        let views = self.candidates(scope, context, latest).await?;
        if views.iter().any(|view| view.progress.has_received(&message.id, &sent, duplicates)) {
            return Ok(None);
        }
        if let Some(view) = views.iter().find(|view| has_received(view, message, duplicates)) {
            return Ok(Some(view.task.clone()));
        }
        let waits =
            |view: &&Arc<TaskView>| view.progress.waits_for_person() || waits_for_message(&view.progress);
        let waiting: Vec<_> = views.iter().filter(waits).collect();
        let mut fitting = waiting.iter().filter(|view| is_answer_to(&send.answers, view));
        match (fitting.next(), waiting.len()) {
            (Some(view), 1) => Ok(Some(view.task.clone())),
            (Some(_), _) => Err(several(&waiting)),
            (None, _) => {
                let by = Answerer::new(scope, send.options.client.as_deref(), &message.id);
                views.iter().try_for_each(|view| refuse_late(view, send, &by))?;
                Ok(None)
            }
        }
    }

    /// The tasks of a context that wait for input or did so a moment ago, all read at once, so that a task that was
    /// answered in between is seen either before or after the answer.
    async fn candidates(
        &self,
        scope: &Scope,
        context: &ContextId,
        latest: Vec<TaskId>,
    ) -> Result<Vec<Arc<TaskView>>, Fault> {
        let mut tasks = self.tasks_in(scope, context, Some(TaskState::InputRequired)).await?;
        tasks.extend(self.tasks_in(scope, context, Some(TaskState::AuthRequired)).await?);
        let in_memory = latest.into_iter().filter(|task| self.task_cache.find(&key(scope, task)).is_some());
        let others: Vec<_> = in_memory.filter(|task| !tasks.contains(task)).collect();
        tasks.extend(others);
        self.views(tasks.iter().map(|task| key(scope, task)).collect()).await.map_err(internal)
    }

    async fn tasks_in(
        &self,
        scope: &Scope,
        context: &ContextId,
        state: Option<TaskState>,
    ) -> Result<Vec<TaskId>, Fault> {
        let (scope, context) = (scope.clone(), Some(context.clone()));
        let query = ListQuery { scope, context, state, since: None, after: None, limit: MAX_TASKS };
        let listed = self.stores.index.list(&query).await.map_err(internal)?;
        Ok(listed.tasks.into_iter().map(|place| place.task).collect())
    }
}

fn key(scope: &Scope, task: &TaskId) -> TaskKey {
    TaskKey { scope: scope.clone(), task: task.clone() }
}

/// The turn is over and the agent asked something. A task that always stays open asks nothing by that.
fn waits_for_message(progress: &Progress) -> bool {
    progress.turn.phase == TurnPhase::Over
        && progress.state == TaskState::InputRequired
        && !matches!(progress.ending, TaskEnding::StaysOpen | TaskEnding::Session)
}

/// May a message be the answer that the task waits for? Of an approval only a clear one is.
fn is_answer_to(answers: &MessageAnswers, view: &TaskView) -> bool {
    !view.progress.waits_for_person()
        || view.progress.takes_any_text()
        || view.progress.is_clear_answer(answers)
}

/// Refuses an answer, in words or as data, to a question of this task that another one has answered.
fn refuse_late(view: &TaskView, send: &SendMessage, by: &Answerer) -> Result<(), Fault> {
    let SendMessage { message, answers, .. } = send;
    view.refuse_late_answer(answers, by, now())?;
    let data = answers.data_apart(message);
    match data.map(|(answers, _)| view.match_answers(message, &answers, by, now())) {
        Some(Err(late @ Fault::AlreadyAnswered { .. })) => Err(late),
        _ => Ok(()),
    }
}

/// The message came before, to the task that it answered then.
fn has_received(view: &TaskView, message: &Message, duplicates: DuplicateWindow) -> bool {
    if !view.progress.received.iter().any(|received| received.id == message.id) {
        return false;
    }
    let sent = digest(&Message { task: Some(view.task.clone()), ..message.clone() });
    view.progress.has_received(&message.id, &sent, duplicates)
}

fn several(waiting: &[&Arc<TaskView>]) -> Fault {
    let mut what = "is required: several tasks of the context wait for input".to_owned();
    for view in waiting {
        let asked = view.status.message.as_ref().map(|message| message.text()).unwrap_or_default();
        let asked: String = asked.lines().find(|line| line.contains("): ")).unwrap_or(&asked).into();
        let asked: String = asked.lines().next().unwrap_or_default().chars().take(200).collect();
        what.push_str(&format!("\n{}: {}", view.task, visible_line(&asked)));
    }
    Fault::invalid("message.task", what)
}
