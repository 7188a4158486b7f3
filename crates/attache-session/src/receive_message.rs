//! A message to a task that exists: an answer, a prompt, the cancel of a call, or one that came before.

use std::sync::Arc;

use attache_domain::{
    ANSWER, Answerer, CallAnswer, CallId, Digest, DuplicateRule, Fault, Intent, Interface, Message,
    MessageAnswers, MessageId, Progress, Right, Rights, Scope, SendMessage, SendOptions, Sender, TaskEnding,
    TaskId, TaskKey, TaskState, TaskView, visible_line,
};

use crate::SessionService;
use crate::identity::digest;
use crate::live_task::{LiveTask, RecordError, now};
use crate::outbox::OutboxGuard;
use crate::service::{StartedTask, record_fault};

impl SessionService {
    pub(crate) async fn receive(
        &self,
        scope: &Scope,
        task: TaskId,
        mut send: SendMessage,
    ) -> Result<(StartedTask, Option<OutboxGuard>), Fault> {
        let live = match self.visible(scope, &task).await {
            Err(Fault::TaskNotFound { .. }) => {
                let key = TaskKey { scope: scope.clone(), task };
                if let Some(opened) = self.open_reserved(&key, &send).await? {
                    return Ok(opened);
                }
                // Another message may have opened it since.
                self.visible(scope, &key.task).await?
            }
            found => found?,
        };
        let head = live.with_progress(|progress| progress.head);
        let registered = self.register_push(&live.key, send.configuration.push.take(), head).await?;
        let guard = if registered.is_none() { self.guard_outbox(&live.key).await? } else { None };
        match self.append_message(scope, live, send).await {
            Ok(started) => Ok((started, registered.map(|registered| registered.guard).or(guard))),
            Err(fault) => {
                self.discard_push(registered).await;
                Err(fault)
            }
        }
    }

    async fn append_message(
        &self,
        scope: &Scope,
        live: Arc<LiveTask>,
        send: SendMessage,
    ) -> Result<StartedTask, Fault> {
        let duplicates = self.duplicates(&send);
        let SendMessage { message, answers, options, .. } = send;
        let answers = answers.within(&live.key.task);
        let digest = digest(&message);
        let message = Message { sender: Some(sender(scope, &options)), ..message };
        if options.duplicate_rule == DuplicateRule::Id {
            live.with_progress(|progress| refuse_another(progress, &message.id, &digest))?;
        }
        let by = Answerer::new(scope, options.client.as_deref(), &message.id);
        let is_known = |progress: &Progress| progress.has_received(&message.id, &digest, duplicates);
        let view = live.view();
        if !options.rights.prompt && is_known(&view.progress) {
            // An answer that is sent again. Were its turn over by now, it would be taken for a prompt.
            return Ok(StartedTask { live, view, bare: false, shown_again: 0, recorded: 0 });
        }
        let said = read(&view, &message, &answers, options.interface, &by, is_known)?;
        drop(view);
        said.check(options.rights)?;
        let sign = |(call, answer): (CallId, CallAnswer)| {
            let message = Some((message.id.clone(), digest.clone()));
            (call, CallAnswer { message, by: Some(by.clone()), ..answer })
        };
        let mut answered = 0;
        let intent = match said {
            MessageContent::Prompt(message) => Intent::Receive {
                message,
                digest: digest.clone(),
                reopens: options.ending != Some(TaskEnding::Completes),
                duplicates,
            },
            MessageContent::CancelCall(call) => Intent::CancelCall { call, by: Some(by.clone()) },
            MessageContent::Answers { answers, rest } => {
                let prompt = rest.map(|rest| (rest, digest.clone()));
                answered = answers.len() as u64;
                Intent::Answer { answers: answers.into_iter().map(sign).collect(), prompt }
            }
        };
        let queued = live.with_progress(|progress| progress.queue.len());
        let (view, recorded) = match live.record(intent).await {
            // It was recorded when it seemed to fail, and comes again.
            Err(RecordError::Refused(_)) if live.with_progress(is_known) => (live.view(), 0),
            recorded => recorded.map_err(record_fault)?,
        };
        let is_queued = view.progress.queue.len() > queued && view.progress.state == TaskState::Working;
        let shown_again = match answered {
            // A message that was queued behind visible work got a notice.
            0 => u64::from(is_queued),
            // The answers, and the question about what is still open.
            answers if view.progress.waits_for_person() => answers + 1,
            _ => 0,
        };
        Ok(StartedTask { live, view, bare: false, shown_again, recorded })
    }
}

/// Who sends a message, for other clients.
pub(crate) fn sender(scope: &Scope, options: &SendOptions) -> Box<Sender> {
    let (by, client) = (scope.owner.to_string(), options.client.clone());
    Box::new(Sender { by, client, interface: options.interface })
}

/// What a message says to a task: answers about calls, something else, or both.
enum MessageContent {
    Prompt(Message),
    Answers {
        answers: Vec<(CallId, CallAnswer)>,
        rest: Option<Message>,
    },
    /// It cancels a call that runs.
    CancelCall(CallId),
}

impl MessageContent {
    /// Refuses what the client may not say. A question of a tool, which any text answers, approves nothing.
    fn check(&self, rights: Rights) -> Result<(), Fault> {
        match self {
            Self::Prompt(_) => rights.require(Right::Prompt),
            Self::CancelCall(_) => rights.require(Right::Approve),
            Self::Answers { answers, rest } => {
                if rest.is_some() {
                    rights.require(Right::Prompt)?;
                }
                match answers.iter().all(|(_, answer)| answer.choice == ANSWER) {
                    true => rights.require_to_send(true),
                    false => rights.require(Right::Approve),
                }
            }
        }
    }
}

/// A message that the task has already received is passed on unchanged: `decide` recognises it.
fn read(
    view: &TaskView,
    message: &Message,
    answers: &MessageAnswers,
    interface: Option<Interface>,
    by: &Answerer,
    is_known: impl Fn(&Progress) -> bool,
) -> Result<MessageContent, Fault> {
    let progress = &view.progress;
    let is_known = is_known(progress);
    if !is_known && let Some(call) = progress.cancels_running_call(answers) {
        return Ok(MessageContent::CancelCall(call));
    }
    if !is_known && let Some((data, rest)) = answers.data_apart(message) {
        let answers = view.match_answers(message, &data, by, now())?;
        return Ok(MessageContent::Answers { answers, rest });
    }
    if is_known || message.command.is_some() {
        return Ok(MessageContent::Prompt(message.clone()));
    }
    // A call may ask while others still run.
    if !progress.waits_for_person() && !progress.names_own_question(answers) {
        view.refuse_late_answer(answers, by, now())?;
        view.refuse_answer_after_end(answers, now())?;
        return Ok(MessageContent::Prompt(message.clone()));
    }
    if interface == Some(Interface::Rest)
        && !progress.takes_any_text()
        && !progress.names_own_question(answers)
    {
        // The clients of the REST API may pass on the words of a person who has not seen the confirmation.
        let open = progress.work.asked().map(|asked| visible_line(&asked.question_id().0).into_owned());
        return Err(Fault::ConfirmationOpen { task: progress.task.clone(), open: open.collect() });
    }
    let answers = view.match_answers(message, answers, by, now())?;
    Ok(MessageContent::Answers { answers, rest: None })
}

/// For callers that identify a message by its id alone: an earlier message with this id must have been the same.
pub(crate) fn refuse_another(progress: &Progress, message: &MessageId, digest: &Digest) -> Result<(), Fault> {
    let another = progress.received.iter().any(|seen| seen.id == *message && seen.digest != *digest);
    if another { Err(Fault::MessageIdTaken { message: message.clone() }) } else { Ok(()) }
}
