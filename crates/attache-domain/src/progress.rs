//! The part of a view that the rules need. It stays small, however long the task is.
//!
//! [`decide`](Progress::decide), [`next`](Progress::next) and [`update_of`](crate::update_of) need nothing
//! else.

use std::collections::VecDeque;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    Answerer, Artifact, ArtifactId, CallId, ContextId, Digest, DuplicateWindow, Event, Fact, Fault, Message,
    MessageId, Presentation, ReplyShape, Scope, Seq, TaskEnding, TaskId, TaskKey, TaskState, ToolLoop,
};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    pub task: TaskId,
    pub scope: Scope,
    pub context: ContextId,
    /// Position of the last event folded in.
    pub head: Seq,
    /// The bytes that its events take in the log, estimated.
    #[serde(default)]
    pub bytes: u64,
    pub state: TaskState,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub status_at: Timestamp,
    pub ending: TaskEnding,
    pub reply: ReplyShape,
    #[serde(default, skip_serializing_if = "Presentation::is_usual")]
    pub presentation: Presentation,
    /// The context may have earlier tasks.
    #[serde(default)]
    pub continues: bool,
    pub turn: Turn,
    /// What had been recorded when this turn began. Older snapshots lack it.
    #[serde(default)]
    pub before_turn: RecordedLength,
    /// Prompts that wait for the running turn to end.
    pub queue: VecDeque<Arc<Message>>,
    pub cancel_requested: bool,
    /// The calls of the model's latest answer.
    #[serde(default)]
    pub work: ToolLoop,
    /// The latest answers about calls, to refuse later ones.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    pub answered: VecDeque<RecordedAnswer>,
    /// Every accepted message, to recognise duplicates.
    pub received: Vec<ReceivedMessage>,
}

/// How much was recorded of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RecordedLength {
    pub events: u64,
    /// The bytes that they take in the log, estimated.
    pub bytes: u64,
}

/// An accepted message. In older snapshots it is a list of id and digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceivedMessage {
    pub id: MessageId,
    pub digest: Digest,
    /// The turn that takes it; 0 if unknown.
    #[serde(default)]
    pub turn: u32,
}

/// An answer about a call that counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedAnswer {
    pub call: CallId,
    /// The id of the question, if it differs from the call's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<CallId>,
    /// The turn in which it counted; 0 if unknown.
    #[serde(default)]
    pub turn: u32,
    pub choice: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Answerer>,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub at: Timestamp,
}

impl RecordedAnswer {
    /// The id that the answer named.
    pub fn question_id(&self) -> &CallId {
        self.question.as_ref().unwrap_or(&self.call)
    }

    /// The client that gave it, if it is known.
    pub(crate) fn client(&self) -> Option<&str> {
        self.by.as_ref().map(|by| by.client.as_str())
    }

    /// Refuses another answer to the same question.
    pub(crate) fn already_answered(&self) -> Fault {
        let by = self.by.as_ref().map(Answerer::to_string);
        let (call, choice) = (self.question_id().0.clone(), self.choice.clone());
        Fault::AlreadyAnswered { call, choice, by, at: self.at }
    }
}

/// The answers that a task remembers.
const MAX_RECORDED_ANSWERS: usize = 64;

/// One turn: from a message to the agent's next stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Counted from one.
    pub number: u32,
    pub phase: TurnPhase,
    /// The number of outputs in this turn. A script continues after them when the server restarts.
    pub emitted: u32,
    pub text: TextPhase,
    /// A question about a call is open.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asked: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TurnPhase {
    /// A message arrived and the turn has not started.
    Due,
    Running,
    Over,
}

/// The state of this turn's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextPhase {
    Silent,
    Speaking,
    /// Withdrawn; the next piece replaces it.
    Withdrawn,
    Whole,
}

/// What [`update_of`](crate::update_of) needs to show an event. Small enough to keep beside each event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UpdateContext {
    pub reply: ReplyShape,
    pub presentation: Presentation,
    pub turn: Turn,
}

impl UpdateContext {
    /// The context after `fact`.
    pub fn after(mut self, fact: &Fact) -> Self {
        self.turn.apply(fact);
        self
    }

    /// Id of the artifact that holds the answer of the current turn.
    pub fn answer_id(&self) -> ArtifactId {
        Artifact::answer_id(self.turn.number)
    }
}

impl Turn {
    fn due(number: u32) -> Self {
        Self { number, phase: TurnPhase::Due, emitted: 0, text: TextPhase::Silent, asked: false }
    }

    fn apply(&mut self, fact: &Fact) {
        match fact {
            Fact::PersonAsked { .. } => self.asked = true,
            // An answer about a call is no output of the model.
            Fact::WorkResumed if self.asked => self.asked = false,
            Fact::TaskOpened(_)
            | Fact::PromptQueued { .. }
            | Fact::CancelRequested
            | Fact::ModelAnswered(_)
            | Fact::ModelChosen { .. }
            | Fact::ModelResponded { .. }
            | Fact::ContextGiven(_)
            | Fact::ContextReduced(_)
            | Fact::CallLost { .. }
            | Fact::CallProposed(_)
            | Fact::CallDeferred { .. }
            | Fact::CallAnswered { .. }
            | Fact::CallStarted { .. }
            | Fact::CallShowed { .. }
            | Fact::CallStateSaved { .. }
            | Fact::ConversationStateSaved { .. }
            | Fact::CallAsked(_)
            | Fact::CallCancelRequested { .. }
            | Fact::CallFinished(_)
            | Fact::Noticed { .. }
            | Fact::NoticedLater { .. } => {}
            Fact::MessageReceived { .. } | Fact::PromptTaken { .. } => *self = Self::due(self.number + 1),
            Fact::TurnStarted { turn, .. } => *self = Self { phase: TurnPhase::Running, ..Self::due(*turn) },
            Fact::TextSaid { last, .. } => {
                self.emitted += 1;
                self.text = if *last { TextPhase::Whole } else { TextPhase::Speaking };
            }
            Fact::TextWithdrawn => {
                self.emitted = 0;
                self.text = TextPhase::Withdrawn;
            }
            Fact::TextReplaced { .. } => self.text = TextPhase::Speaking,
            Fact::TextEnded => self.text = TextPhase::Whole,
            Fact::ThoughtShared { .. }
            | Fact::ArtifactAdded { .. }
            | Fact::CredentialAsked { .. }
            | Fact::WorkResumed => self.emitted += 1,
            Fact::PromptSettled { .. }
            | Fact::TurnEnded { .. }
            | Fact::TaskCanceled
            | Fact::Replied { .. } => self.phase = TurnPhase::Over,
        }
    }
}

impl Progress {
    /// The progress after the first event of a task; `None` if that event is no opening.
    pub fn open(event: &Event) -> Option<Self> {
        let Fact::TaskOpened(opened) = &event.fact else { return None };
        Some(Self {
            task: opened.task.clone(),
            scope: opened.scope.clone(),
            context: opened.context.clone(),
            head: event.seq,
            bytes: event.fact.size(),
            state: TaskState::Submitted,
            status_at: event.at,
            ending: opened.ending,
            reply: opened.reply,
            presentation: opened.presentation,
            continues: opened.continues,
            turn: Turn::due(1),
            before_turn: RecordedLength::default(),
            queue: VecDeque::new(),
            cancel_requested: false,
            work: ToolLoop::default(),
            answered: VecDeque::new(),
            received: vec![ReceivedMessage {
                id: opened.message.id.clone(),
                digest: opened.digest.clone(),
                turn: 1,
            }],
        })
    }

    pub fn key(&self) -> TaskKey {
        TaskKey { scope: self.scope.clone(), task: self.task.clone() }
    }

    /// A blocking call can return: the task is over or waits for a client.
    pub fn is_settled(&self) -> bool {
        match self.turn.phase {
            TurnPhase::Over => true,
            TurnPhase::Running => self.state == TaskState::AuthRequired || self.waits_for_person(),
            TurnPhase::Due => false,
        }
    }

    /// Was this message received before, within the window of `duplicates`?
    pub fn has_received(&self, id: &MessageId, digest: &Digest, duplicates: DuplicateWindow) -> bool {
        let counts = |received: &ReceivedMessage| match duplicates {
            DuplicateWindow::Always => true,
            DuplicateWindow::InFlight => {
                self.turn.phase != TurnPhase::Over && received.turn >= self.turn.number
            }
        };
        let is_same = |received: &&ReceivedMessage| received.id == *id && received.digest == *digest;
        self.received.iter().filter(is_same).any(counts)
    }

    /// The message that begins this turn; older logs do not know it.
    pub fn prompt_of(&self, turn: u32) -> Option<&MessageId> {
        self.received.iter().find(|received| received.turn == turn).map(|received| &received.id)
    }

    fn record_message(&mut self, id: &MessageId, digest: &Digest, turn: u32) {
        self.received.push(ReceivedMessage { id: id.clone(), digest: digest.clone(), turn });
    }

    /// The context for showing the next event.
    pub fn update_context(&self) -> UpdateContext {
        UpdateContext { reply: self.reply, presentation: self.presentation, turn: self.turn }
    }

    /// Folds one recorded event in. What is in the log happened.
    pub fn apply(&mut self, event: &Event) {
        if let Fact::TurnStarted { .. } = event.fact {
            self.before_turn = RecordedLength { events: self.head.0, bytes: self.bytes };
        }
        self.head = event.seq;
        self.bytes += event.fact.size();
        self.turn.apply(&event.fact);
        self.work.apply(&event.fact);
        match &event.fact {
            Fact::MessageReceived { message, digest } => {
                let state = self.state.after_message();
                self.enter(state, event.at);
                self.record_message(&message.id, digest, self.turn.number);
            }
            Fact::PromptQueued { message, digest } => {
                // Each prompt in the queue gets a turn of its own, one after the other.
                self.record_message(&message.id, digest, self.turn.number + self.queue.len() as u32 + 1);
                self.queue.push_back(message.clone());
            }
            Fact::PromptTaken { .. } => {
                self.queue.pop_front();
            }
            Fact::TurnStarted { .. } | Fact::WorkResumed => self.enter(TaskState::Working, event.at),
            Fact::CredentialAsked { .. } => self.enter(TaskState::AuthRequired, event.at),
            Fact::CallAnswered { call, answer } => {
                if self.answered.len() >= MAX_RECORDED_ANSWERS {
                    self.answered.pop_front();
                }
                self.answered.push_back(RecordedAnswer {
                    call: call.clone(),
                    question: answer.question.clone(),
                    turn: self.turn.number,
                    choice: answer.choice.clone(),
                    by: answer.by.clone(),
                    at: event.at,
                });
                if let Some((id, digest)) = &answer.message
                    && !self.has_received(id, digest, DuplicateWindow::InFlight)
                {
                    self.record_message(id, digest, self.turn.number);
                }
            }
            Fact::PersonAsked { auth, .. } => self.enter(TaskState::asked(*auth), event.at),
            Fact::TurnEnded { outcome, .. } => self.enter(outcome.state(), event.at),
            Fact::CancelRequested => self.cancel_requested = true,
            Fact::TaskCanceled => self.enter(TaskState::Canceled, event.at),
            Fact::Replied { .. } => self.enter(TaskState::Completed, event.at),
            Fact::TaskOpened(_)
            | Fact::PromptSettled { .. }
            | Fact::ThoughtShared { .. }
            | Fact::TextSaid { .. }
            | Fact::TextWithdrawn
            | Fact::TextReplaced { .. }
            | Fact::TextEnded
            | Fact::ArtifactAdded { .. }
            | Fact::ModelChosen { .. }
            | Fact::ModelResponded { .. }
            | Fact::ModelAnswered(_)
            | Fact::ContextGiven(_)
            | Fact::ContextReduced(_)
            | Fact::CallProposed(_)
            | Fact::CallDeferred { .. }
            | Fact::CallStarted { .. }
            | Fact::CallLost { .. }
            | Fact::CallShowed { .. }
            | Fact::CallStateSaved { .. }
            | Fact::ConversationStateSaved { .. }
            | Fact::CallAsked(_)
            | Fact::CallCancelRequested { .. }
            | Fact::CallFinished(_)
            | Fact::Noticed { .. }
            | Fact::NoticedLater { .. } => {}
        }
    }

    /// Its id is reserved, and nothing has been said.
    pub fn awaits_first_message(&self) -> bool {
        let has_none = self.received.first().is_some_and(|received| received.id.as_str().is_empty());
        has_none && self.turn.phase == TurnPhase::Due
    }

    /// The last event that was sent to clients that show prompts. A reserved task has none: its opening is its first prompt.
    pub fn last_shown(&self) -> Seq {
        if self.awaits_first_message() { Seq::START } else { self.head }
    }

    /// The turn waits for answers of a person.
    pub fn waits_for_person(&self) -> bool {
        self.turn.phase == TurnPhase::Running && self.shows_question() && self.work.waits_for_person()
    }

    /// The status shows a question about calls.
    pub fn shows_question(&self) -> bool {
        match self.state {
            TaskState::InputRequired => true,
            // Otherwise the agent waits for a credential without a question.
            TaskState::AuthRequired => self.turn.asked,
            _ => false,
        }
    }

    fn enter(&mut self, state: TaskState, at: Timestamp) {
        self.state = state;
        self.status_at = at;
    }
}
