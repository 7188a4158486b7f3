//! Runs one task in this process, and shows what happens.

use std::io;
use std::sync::Arc;

use attache_domain::{
    CallOutcome, CancelTask, ContextId, Event, Fact, Fault, Message, MessageId, Part, Rights, Role, Scope,
    SendConfiguration, SendMessage, SendOptions, TaskId, TaskView, TurnOutcome,
};
use attache_session::{
    CommandOutcome, CommandRefusal, Follower, Reservation, SessionService, Subscription, TailEntry,
};
use attache_tool::ToolErrorKind;
use tokio::signal::unix::{Signal, SignalKind, signal};
use uuid::Uuid;

use crate::failure::{FailureKind, RunFailure};
use crate::input::PromptInput;
use crate::output::RunOutput;
use crate::output_event::{OutputEvent, OutputEvents};
use crate::stats::{Stats, StatsCollector};

/// Events read at once.
const MAX_EVENTS: usize = 64;

/// Runs one task and shows what happens.
#[derive(Default)]
pub struct HeadlessRunner {
    stats: StatsCollector,
    events: OutputEvents,
    /// The task, as far as it has been read.
    view: Option<TaskView>,
    /// What is shown if the task gave no answer.
    fallback_answer: Option<String>,
    /// The name of the model, for people. The provider may fall back to others.
    model: String,
    /// Where clients can answer what the task asks.
    answered_at: Option<String>,
}

/// The session that a run works in. The binary starts it.
pub struct HeadlessSession {
    pub session: Arc<SessionService>,
    /// The name of the model, for people.
    pub model: String,
    /// The folder is trusted.
    pub trusted: bool,
    /// Others that see the task and can answer what it asks.
    pub clients: Option<ConnectedClients>,
}

/// The clients of a live endpoint.
pub struct ConnectedClients {
    /// The id under which they see the task.
    pub task: TaskId,
    /// Where they connect.
    pub url: String,
}

/// Reserves the id of the session for its task, so that clients see the task before it begins.
pub async fn reserve_task(session: &SessionService, session_id: &str) -> Result<TaskId, Fault> {
    let (context, rights) = (Some(ContextId::from(session_id)), Rights::ALL);
    let wanted = Reservation { context, rights, ..Reservation::default() };
    session.reserve_as(&operator(), TaskId::from(session_id), wanted).await
}

fn operator() -> Scope {
    Scope::new("", "operator")
}

/// Why the reading stopped.
enum ExitReason {
    Settled(Result<(), RunFailure>),
    /// The task could go on, but must not.
    Fatal(RunFailure),
    Interrupted,
    /// The output cannot be written.
    Unread(io::Error),
}

impl HeadlessRunner {
    /// What the run has cost so far.
    pub fn stats(&self) -> &Stats {
        &self.stats.stats
    }

    /// The answer as it counts.
    pub fn response(&self) -> String {
        let Some(view) = &self.view else { return String::new() };
        let replied = view.replied.as_ref().map(|message| message.text());
        replied.or_else(|| self.fallback_answer.clone()).unwrap_or_else(|| view.answer_text())
    }

    /// Works until the task settles. The outer error is one of writing.
    pub async fn run(
        &mut self,
        HeadlessSession { session, model, trusted, clients }: &HeadlessSession,
        session_id: &str,
        input: &PromptInput,
        output: &mut dyn RunOutput,
    ) -> io::Result<Result<(), RunFailure>> {
        self.model.clone_from(model);
        self.events.denials.trusted = *trusted;
        self.answered_at = clients.as_ref().map(|clients| clients.url.clone());
        let mut interrupt = StopSignals::watch()?;
        output.begin(&self.model, &input.prompt)?;
        let scope = operator();
        let mut prompt = send(session_id, &input.prompt);
        prompt.message.task = clients.as_ref().map(|clients| clients.task.clone());
        let subscription = match begin(session, &scope, prompt, input).await {
            Ok(subscription) => subscription,
            Err(failure) => return Ok(Err(failure)),
        };
        let task = subscription.view.task.clone();
        self.view = Some(subscription.view.as_ref().clone());
        let Some(mut follower) = subscription.follower else { return Ok(Ok(())) };
        let stop = tokio::select! {
            biased;
            () = interrupt.next() => ExitReason::Interrupted,
            stop = self.follow(&mut follower, output) => stop,
        };
        let result = match stop {
            ExitReason::Settled(result) => return Ok(result),
            ExitReason::Fatal(failure) => Ok(Err(failure)),
            ExitReason::Interrupted => Ok(Err(RunFailure::new(FailureKind::Cancelled, "cancelled"))),
            ExitReason::Unread(error) => Err(error),
        };
        let cancel = async {
            // A task that has just settled cannot be cancelled, and need not be.
            let _ = session.cancel(&scope, &CancelTask { task, metadata: None }).await;
            // Nothing tells them later.
            session.notify_peers().await;
        };
        tokio::select! {
            () = cancel => {}
            () = interrupt.next() => std::process::exit(FailureKind::Cancelled.code().into()),
        }
        result
    }

    async fn follow(&mut self, follower: &mut Follower, output: &mut dyn RunOutput) -> ExitReason {
        let mut entries: Vec<Arc<TailEntry>> = Vec::new();
        loop {
            if let Err(error) = follower.next(MAX_EVENTS, &mut entries).await {
                let message = format!("the task cannot be read: {error}");
                return ExitReason::Settled(Err(RunFailure::new(FailureKind::General, message)));
            }
            for entry in entries.drain(..) {
                if let Err(error) = self.take(&entry.event, output) {
                    return ExitReason::Unread(error);
                }
                if let Some(stop) = self.stop_at(&entry.event, output) {
                    return stop;
                }
            }
        }
    }

    fn take(&mut self, event: &Event, output: &mut dyn RunOutput) -> io::Result<()> {
        for shown in self.events.of(event) {
            output.show(&shown)?;
        }
        self.stats.take(event);
        if let Some(view) = &mut self.view {
            view.apply(event);
        }
        Ok(())
    }

    fn stop_at(&mut self, event: &Event, output: &mut dyn RunOutput) -> Option<ExitReason> {
        match &event.fact {
            Fact::TurnEnded { outcome, message, .. } => {
                Some(self.turn_ended(event, *outcome, message.as_deref(), output))
            }
            Fact::Replied { message } => Some(match output.show(&OutputEvent::Text(&message.text())) {
                Ok(()) => ExitReason::Settled(Ok(())),
                Err(error) => ExitReason::Unread(error),
            }),
            Fact::TaskCanceled => Some(ExitReason::Settled(Err(RunFailure::new(
                FailureKind::Cancelled,
                "the task was cancelled",
            )))),
            Fact::PersonAsked { message, .. } => {
                if let Some(url) = &self.answered_at {
                    let question = format!("waits for an answer at {url}: {}", message.text().trim_end());
                    return output.show(&OutputEvent::Warning(question)).err().map(ExitReason::Unread);
                }
                let advice =
                    "questions cannot be answered here; allow it with --approval-mode or --allowed-tools";
                let message = format!("{}\n({advice})", message.text().trim_end());
                Some(ExitReason::Fatal(RunFailure::new(FailureKind::Tool, message)))
            }
            Fact::CallFinished(finished) => match &finished.outcome {
                CallOutcome::Failed { kind } if *kind == ToolErrorKind::NoSpaceLeft.name() => {
                    Some(ExitReason::Fatal(RunFailure::new(FailureKind::Tool, finished.summary.clone())))
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn turn_ended(
        &mut self,
        event: &Event,
        outcome: TurnOutcome,
        message: Option<&Message>,
        output: &mut dyn RunOutput,
    ) -> ExitReason {
        let reason = message.and_then(reason_in);
        let text = message.map(Message::text);
        let kind = match (outcome, reason) {
            (TurnOutcome::Completed, _) | (TurnOutcome::InputRequired, None) => None,
            (TurnOutcome::AuthRequired, _) | (_, Some("credential")) => Some(FailureKind::Authentication),
            (_, Some("turn_limit" | "session_limit")) => Some(FailureKind::TurnLimit),
            (TurnOutcome::InputRequired | TurnOutcome::Failed | TurnOutcome::Rejected, _) => {
                Some(FailureKind::General)
            }
        };
        if let Some(kind) = kind {
            if reason.is_some_and(|reason| ASKED_IN_VAIN.contains(&reason)) {
                self.stats.model_failed(&self.model, event.at);
            }
            let said = text.unwrap_or_else(|| "the agent gave no reason".to_owned());
            return ExitReason::Settled(Err(RunFailure::new(kind, said)));
        }
        // The last word, where there is one: all there is to show, or something to know.
        let shown = match text {
            None => Ok(()),
            Some(text) if self.events.is_silent() => {
                let shown = output.show(&OutputEvent::Text(&text));
                self.fallback_answer = Some(text);
                shown
            }
            Some(text) => output.show(&OutputEvent::Warning(text)),
        };
        shown.map_or_else(ExitReason::Unread, |()| ExitReason::Settled(Ok(())))
    }
}

/// Why a turn stopped, where a model was asked and gave no answer.
const ASKED_IN_VAIN: [&str; 7] =
    ["credential", "request", "no_such_model", "too_long", "quota", "unavailable", "unusable"];

/// Why the agent stopped without an answer, as it says to programs; nothing when it just has something to say.
fn reason_in(message: &Message) -> Option<&str> {
    message.metadata.as_ref()?.get("reason")?.as_str()
}

/// A command is carried out; everything else is said to the model. What looks like a command and is none is a mistake
/// where it was typed, and text like any other where it was piped in.
async fn begin(
    session: &SessionService,
    scope: &Scope,
    prompt: SendMessage,
    input: &PromptInput,
) -> Result<Subscription, RunFailure> {
    let wrong = |fault: Fault| RunFailure::new(FailureKind::Input, fault.to_string());
    if let Some(call) = input.command() {
        let mut given = prompt.clone();
        given.message.command = Some(Box::new(call));
        match session.run_command(scope, given).await.map_err(wrong)? {
            CommandOutcome::Started { started, .. } => return Ok(session.follow(started)),
            CommandOutcome::Refused(CommandRefusal::Unknown(why)) if input.is_typed() => {
                let why = format!("{why} (to say it to the model, begin with another word)");
                return Err(RunFailure::new(FailureKind::Usage, why));
            }
            CommandOutcome::Refused(CommandRefusal::Unknown(_)) => {}
            CommandOutcome::Refused(CommandRefusal::BadArguments(why)) => {
                return Err(RunFailure::new(FailureKind::General, why));
            }
        }
    }
    let (subscription, _) = session.stream(scope, prompt, None).await.map_err(wrong)?;
    Ok(subscription)
}

fn send(session_id: &str, prompt: &str) -> SendMessage {
    let message = Message {
        id: MessageId::from(Uuid::new_v4().to_string()),
        role: Role::User,
        parts: vec![Part::text(prompt)],
        context: Some(ContextId::from(session_id)),
        task: None,
        requested: None,
        command: None,
        sender: None,
        reference_tasks: Vec::new(),
        extensions: Vec::new(),
        metadata: None,
    };
    SendMessage {
        message,
        answers: Default::default(),
        configuration: SendConfiguration::default(),
        metadata: None,
        options: SendOptions { rights: Rights::ALL, ..SendOptions::default() },
    }
}

/// The signals that stop a run.
struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl StopSignals {
    fn watch() -> io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(test)]
#[path = "runner_tests.rs"]
mod tests;
