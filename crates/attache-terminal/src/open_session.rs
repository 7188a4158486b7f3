//! The session of this process: one task, its events, and the inputs of the person at the terminal.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex};

use attache_domain::{
    ANSWER, CallId, CommandSpec, DataAnswer, Fault, GetTask, GivenChoice, IgnorePoison, Interface,
    ListCommands, Message, MessageAnswers, MessageId, NewContent, Part, PartAnswers, PartContent, Rights,
    Role, Scope, SendConfiguration, SendMessage, SendOptions, SubscribeTask, TaskEnding, TaskId, TaskView,
};
use attache_session::{
    CommandOutcome, FinishedTaskRule, Follower, FutureFollower, Reservation, SessionService, TailEntry,
};
use serde_json::{Map, json};
use uuid::Uuid;

use crate::session_event::{SessionEvent, events_of, prompt_event};
use crate::session_input::{InputRefusal, SessionInput, TypedAnswer};

/// Entries of the log that are read at once.
const MAX_ENTRIES: usize = 64;

/// The name of this client, for others.
pub(crate) const CLIENT: &str = "terminal";

/// How a session begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionStart {
    /// Under this id, which no session has.
    New(TaskId),
    /// Goes on with the session.
    Resumed(TaskId),
}

/// Why a session cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenSessionError {
    /// It takes nothing more.
    #[error("the session {0} is over; attache, without --resume, begins another one")]
    Over(TaskId),
    #[error("cannot open the session {id}: {fault}")]
    Refused { id: TaskId, fault: Fault },
}

/// The field of the request means nothing to the person.
fn refused_cancel(fault: Fault) -> InputRefusal {
    match &fault {
        Fault::InvalidParams { violations } if violations.len() == 1 => {
            InputRefusal::BadCommand(format!("/calls cancel {}", violations[0].description))
        }
        _ => fault.into(),
    }
}

/// An id for a new session.
pub fn unused_session_id() -> TaskId {
    TaskId::from(Uuid::now_v7().to_string())
}

/// Takes the inputs. A session is one task, so its id is the id of the task.
#[derive(Clone)]
pub struct OpenSession {
    session: Arc<SessionService>,
    scope: Scope,
    id: TaskId,
    /// The messages that were sent from here.
    sent: Arc<Mutex<HashSet<MessageId>>>,
}

impl OpenSession {
    pub async fn open(
        session: Arc<SessionService>,
        scope: Scope,
        start: SessionStart,
    ) -> Result<Self, OpenSessionError> {
        let refused = |id: &TaskId| {
            let id = id.clone();
            move |fault| OpenSessionError::Refused { id, fault }
        };
        let id = match start {
            SessionStart::New(id) => {
                let (ending, rights) = (TaskEnding::Session, Rights::ALL);
                let wanted = Reservation { ending, rights, ..Reservation::default() };
                let reserved = session.reserve_as(&scope, id.clone(), wanted).await;
                reserved.map_err(refused(&id))?
            }
            SessionStart::Resumed(id) => id,
        };
        let open = Self { session, scope, id, sent: Arc::default() };
        let view = open.view().await.map_err(refused(&open.id))?;
        if view.progress.is_final() {
            return Err(OpenSessionError::Over(open.id));
        }
        Ok(open)
    }

    pub fn id(&self) -> &TaskId {
        &self.id
    }

    /// The current task; before the first prompt, an empty one.
    pub async fn view(&self) -> Result<Arc<TaskView>, Fault> {
        let get = GetTask { task: self.id.clone(), history_length: None, at: None };
        Ok(self.session.get(&self.scope, &get).await?.view.clone())
    }

    /// The current task, and all events from now on.
    pub async fn events(&self) -> Result<(Arc<TaskView>, SessionEvents), Fault> {
        let subscribe = SubscribeTask::to(self.id.clone());
        let subscription = self.session.subscribe(&self.scope, &subscribe, FinishedTaskRule::Show).await?;
        let source = match (subscription.follower, subscription.promised) {
            (Some(follower), _) => Source::Task(follower),
            (None, Some(promised)) => Source::Reserved(promised),
            (None, None) => Source::Over,
        };
        let (entries, ready) = (Vec::new(), VecDeque::new());
        let events = SessionEvents { session: self.clone(), source, entries, ready };
        Ok((subscription.view, events))
    }

    /// The commands that can be given.
    pub async fn commands(&self) -> Result<Vec<CommandSpec>, Fault> {
        let list = ListCommands { task: Some(self.id.clone()), ..ListCommands::default() };
        self.session.commands(&self.scope, list).await
    }

    /// Hands an input to the task. What happens then comes as events.
    pub async fn send(&self, input: SessionInput) -> Result<(), InputRefusal> {
        match input {
            SessionInput::Prompt(text) => {
                // It is not read for answers: a question that the person has not seen must not take it for one.
                let send = self.message(vec![Part::text(text)]);
                self.session.begin(&self.scope, send).await?;
            }
            SessionInput::Command(call) => {
                let mut send = self.message(vec![Part::text(call.line())]);
                send.message.command = Some(Box::new(call));
                if let CommandOutcome::Refused(why) = self.session.run_command(&self.scope, send).await? {
                    return Err(InputRefusal::BadCommand(why.to_string()));
                }
            }
            SessionInput::Answer { call, answer } => {
                self.session.begin(&self.scope, self.answer(call, answer)).await?;
            }
            SessionInput::CancelCall(call) => {
                let cancelled = self.session.cancel_call(&self.scope, &self.id, &call).await;
                cancelled.map_err(refused_cancel)?;
            }
            SessionInput::StopTurn => {
                if !self.session.stop_turn(&self.scope, &self.id).await? {
                    return Err(InputRefusal::NothingToStop);
                }
            }
        }
        Ok(())
    }

    fn has_sent(&self, message: &MessageId) -> bool {
        self.sent.lock().ignore_poison().contains(message)
    }

    fn message(&self, parts: Vec<Part>) -> SendMessage {
        let id = MessageId::from(Uuid::new_v4().to_string());
        self.sent.lock().ignore_poison().insert(id.clone());
        let message = Message {
            id,
            role: Role::User,
            parts,
            context: None,
            task: Some(self.id.clone()),
            requested: None,
            command: None,
            sender: None,
            reference_tasks: Vec::new(),
            extensions: Vec::new(),
            metadata: None,
        };
        let options = SendOptions {
            ending: Some(TaskEnding::Session),
            client: Some(CLIENT.to_owned()),
            interface: Some(Interface::Terminal),
            rights: Rights::ALL,
            ..SendOptions::default()
        };
        SendMessage {
            message,
            answers: MessageAnswers::default(),
            configuration: SendConfiguration::default(),
            metadata: None,
            options,
        }
    }

    /// The answer as data that names its call, so that it can never be taken for one to another question.
    fn answer(&self, call: CallId, answer: TypedAnswer) -> SendMessage {
        let (choice, words) = match answer {
            TypedAnswer::Choice(choice) => (choice, None),
            TypedAnswer::Words(words) => (ANSWER.to_owned(), Some(words)),
        };
        let data = Map::from_iter([
            ("tool_call_id".to_owned(), json!(call.0)),
            ("selected_option_id".to_owned(), json!(choice)),
        ]);
        let mut send = self.message(vec![Part::new(PartContent::Data(data.into()))]);
        let given = GivenChoice { given: choice.clone(), choices: vec![choice.into()], is_answer: true };
        send.answers.parts = vec![PartAnswers::Data(vec![DataAnswer {
            call: Some(call),
            choice: Some(given),
            new_content: NewContent::Unchanged,
            answers: words.map(Into::into),
        }])];
        send
    }
}

/// Everything that happens in the session, in the order of its log.
pub struct SessionEvents {
    session: OpenSession,
    source: Source,
    entries: Vec<Arc<TailEntry>>,
    ready: VecDeque<SessionEvent>,
}

enum Source {
    /// The task waits for its first message.
    Reserved(FutureFollower),
    /// The first message is not shown yet.
    Opened(Follower),
    Task(Follower),
    Over,
}

impl SessionEvents {
    /// Waits for the next event; `None` when there will be none. Can be dropped and called again.
    pub async fn next(&mut self) -> Option<SessionEvent> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            match &mut self.source {
                Source::Reserved(promised) => match promised.await {
                    Ok(follower) => self.source = Source::Opened(follower),
                    Err(_) => self.source = Source::Over,
                },
                // The follower begins after the event that opened the task, which holds the first prompt.
                Source::Opened(_) => {
                    let opening =
                        self.session.view().await.ok().and_then(|view| view.history.first().cloned());
                    let is_own = |message: &MessageId| self.session.has_sent(message);
                    self.ready.extend(opening.and_then(|message| prompt_event(&message, false, &is_own)));
                    if let Source::Opened(follower) = std::mem::replace(&mut self.source, Source::Over) {
                        self.source = Source::Task(follower);
                    }
                }
                Source::Task(follower) => {
                    if follower.next(MAX_ENTRIES, &mut self.entries).await.is_err() {
                        self.source = Source::Over;
                    }
                    let is_own = |message: &MessageId| self.session.has_sent(message);
                    for entry in self.entries.drain(..) {
                        self.ready.extend(events_of(&entry, &is_own));
                    }
                }
                Source::Over => return None,
            }
        }
    }
}
