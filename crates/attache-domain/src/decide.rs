//! Decides which facts an intent leads to. The only place that refuses a change.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::choice::{ANSWER, CANCEL, MODIFY, SKIP, verdict_of};
use crate::message::FAILED;
use crate::{
    Answerer, CALL_TO_CANCEL, CallAnswer, CallId, CallOutcome, CallPhase, CallProgress, Content, ContextId,
    Digest, DuplicateWindow, Fact, Fault, FinishedCall, Message, MessageId, Metadata, OpenedTask,
    Presentation, Progress, ReplyShape, Scope, TaskEnding, TaskId, TaskState, TextPhase, ToolLoop,
    TurnOutcome, TurnPhase, Usage, Verdict, visible_line,
};

/// One requested change of one task.
#[derive(Debug, Clone, PartialEq)]
pub enum Intent {
    /// The caller sends a message to the task.
    Receive {
        message: Message,
        digest: Digest,
        /// Also when the task is over, if its ending allows that.
        reopens: bool,
        duplicates: DuplicateWindow,
    },
    /// A client answers questions about calls: all of these answers count, or none. A prompt in the same message waits
    /// until the turn is over.
    Answer { answers: Vec<(CallId, CallAnswer)>, prompt: Option<(Message, Digest)> },
    /// A client cancels the task.
    Cancel,
    /// A client cancels one call, by its id or that of its question. The turn goes on.
    CancelCall { call: CallId, by: Option<Answerer> },
    /// A client stops this turn. The task goes on with the next message.
    StopTurn { turn: u32 },
    /// The runner or the agent reports what happened.
    Record(Fact),
}

/// The decided facts. Usually one, which needs no allocation.
pub type Facts = SmallVec<[Fact; 1]>;

/// The request for a new task. The store refuses it if the id is taken.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenTask {
    pub task: TaskId,
    pub scope: Scope,
    pub context: ContextId,
    pub message: Message,
    pub digest: Digest,
    pub reply: ReplyShape,
    pub metadata: Option<Metadata>,
    pub ending: TaskEnding,
    pub presentation: Presentation,
}

impl OpenTask {
    pub fn decide(self) -> Fact {
        let mut message = self.message;
        let continues = message.context.is_some();
        message.context = Some(self.context.clone());
        message.task = Some(self.task.clone());
        Fact::TaskOpened(Box::new(OpenedTask {
            task: self.task,
            scope: self.scope,
            context: self.context,
            message: Arc::new(message),
            digest: self.digest,
            ending: self.ending,
            reply: self.reply,
            continues,
            presentation: self.presentation,
            metadata: self.metadata,
        }))
    }
}

impl Progress {
    /// The facts to record for `intent`; empty when nothing changes.
    pub fn decide(&self, intent: Intent) -> Result<Facts, Fault> {
        match intent {
            Intent::Receive { message, digest, reopens, duplicates } => {
                self.decide_receive(message, digest, reopens, duplicates)
            }
            Intent::Answer { answers, prompt } => self.decide_answers(answers, prompt),
            Intent::Cancel => self.decide_cancel(),
            Intent::CancelCall { call, by } => self.decide_cancel_call(&call, by),
            Intent::StopTurn { turn } => Ok(self.decide_stop(turn)),
            Intent::Record(fact) => self.decide_record(fact),
        }
    }

    fn decide_receive(
        &self,
        mut message: Message,
        digest: Digest,
        reopens: bool,
        duplicates: DuplicateWindow,
    ) -> Result<Facts, Fault> {
        if self.has_received(&message.id, &digest, duplicates) {
            return Ok(Facts::new());
        }
        if message.context.as_ref().is_some_and(|context| *context != self.context) {
            let (task, context) = (self.task.clone(), self.context.clone());
            return Err(Fault::ContextMismatch { task, context });
        }
        if !(reopens && self.may_reopen()) {
            self.refuse_if_finished()?;
        }
        message.context = Some(self.context.clone());
        message.task = Some(self.task.clone());
        let message = Arc::new(message);
        if self.turn.phase == TurnPhase::Over {
            return Ok(smallvec![Fact::MessageReceived { message, digest }]);
        }
        let notice = self.queued_notice(&message);
        Ok([Fact::PromptQueued { message, digest }].into_iter().chain(notice).collect())
    }

    /// Tells followers of a running task that a message is queued.
    fn queued_notice(&self, message: &Message) -> Option<Fact> {
        if self.turn.phase != TurnPhase::Running || self.state != TaskState::Working {
            return None;
        }
        let id = MessageId::from(format!("queued-{}", message.id));
        let text = "Your message is queued: it is taken up when the work under way is done.";
        let message = Message::from_agent(id, self.context.clone(), Some(self.task.clone()), text);
        Some(Fact::Noticed { message: Arc::new(message) })
    }

    fn decide_answers(
        &self,
        answers: Vec<(CallId, CallAnswer)>,
        prompt: Option<(Message, Digest)>,
    ) -> Result<Facts, Fault> {
        let mut ahead = self.work.clone();
        let mut facts = match prompt {
            Some((message, digest)) => {
                self.decide_receive(message, digest, false, DuplicateWindow::InFlight)?
            }
            None => Facts::new(),
        };
        for (place, (call, answer)) in answers.iter().enumerate() {
            if answers[..place].iter().any(|(other, _)| other == call) {
                let what = format!("must answer about the call {:?} once, not twice", call.0);
                return Err(Fault::invalid("message.parts", what));
            }
            let fact = self.decide_answer(&ahead, call.clone(), answer.clone())?;
            ahead.apply(&fact);
            facts.push(fact);
        }
        // The question and its answer leave the status together: a client that reads the task after its answer was
        // accepted sees that the task works, or what is still asked, and never the question it has answered.
        if self.shows_question() && !answers.is_empty() {
            facts.push(match ahead.waits_for_person() {
                true => Fact::PersonAsked {
                    message: Arc::new(self.remaining_question(&ahead)),
                    auth: ahead.asks_only_for_credentials(),
                },
                false => Fact::WorkResumed,
            });
        }
        Ok(facts)
    }

    /// The view adds what each call would do.
    fn remaining_question(&self, work: &ToolLoop) -> Message {
        let open = work.asked().map(|call| {
            format!(
                "\n{}: answer with one of: {}",
                visible_line(&call.question_id().0),
                call.choices.join(", ")
            )
        });
        let text = format!("I still need your answer before I go on:\n{}", open.collect::<Vec<_>>().concat());
        let id = MessageId::from(format!("ask-{}-{}-{}", work.rounds, self.head, self.task));
        let message = Message::from_agent(id, self.context.clone(), Some(self.task.clone()), text);
        Message { metadata: Some(work.open_calls()), ..message }
    }

    /// An answer counts once, for an open question, with an offered choice.
    fn decide_answer(&self, work: &ToolLoop, call: CallId, answer: CallAnswer) -> Result<Fact, Fault> {
        self.refuse_if_finished()?;
        let asked = work.asked().find(|asked| asked.id == call && asked.question == answer.question);
        let Some(asked) = asked.filter(|_| !self.cancel_requested) else {
            return Err(self.not_open(answer.question.as_ref().unwrap_or(&call)));
        };
        if !asked.choices.contains(&answer.choice) {
            let (call, choices) = (asked.question_id().0.clone(), asked.choices.clone());
            return Err(Fault::NotAChoice { call, given: answer.choice, choices });
        }
        if answer.new_content.is_some() && !asked.choices.iter().any(|choice| choice == MODIFY) {
            let what = format!(
                "cannot be given for the call {:?}: only what a file should hold can be changed",
                call.0
            );
            return Err(Fault::invalid("newContent", what));
        }
        if answer.choice == ANSWER && answer.answers.is_none() {
            return Err(Fault::invalid("answers", "are needed with the choice \"answer\""));
        }
        if answer.verdict == Verdict::Modify && answer.new_content.is_none() {
            return Err(Fault::invalid("newContent", "is needed: it is what the file should hold instead"));
        }
        Ok(Fact::CallAnswered { call, answer: Box::new(answer) })
    }

    fn decide_cancel(&self) -> Result<Facts, Fault> {
        if self.state.is_terminal() {
            return Err(Fault::TaskNotCancelable { task: self.task.clone(), state: self.state });
        }
        if self.cancel_requested {
            return Ok(Facts::new());
        }
        Ok(smallvec![match self.turn.phase {
            TurnPhase::Over => Fact::TaskCanceled,
            TurnPhase::Due | TurnPhase::Running => Fact::CancelRequested,
        }])
    }

    /// A call that waits for an answer is skipped if it asks something itself, and refused if it was never started.
    fn decide_cancel_call(&self, id: &CallId, by: Option<Answerer>) -> Result<Facts, Fault> {
        let open = |call: &&CallProgress| call.phase != CallPhase::Finished;
        let call = self.work.calls.iter().find(|call| call.id == *id || call.question_id() == id);
        let Some(call) = call.filter(open).filter(|_| self.turn.phase == TurnPhase::Running) else {
            return Err(self.no_such_call(id));
        };
        if call.phase == CallPhase::Asked {
            let wanted = if call.asks.is_some() || call.lost { SKIP } else { CANCEL };
            let choice = if call.choices.iter().any(|choice| choice == wanted) { wanted } else { CANCEL };
            let answer = CallAnswer {
                choice: choice.to_owned(),
                question: call.question.clone(),
                verdict: verdict_of(choice),
                new_content: None,
                answers: None,
                message: None,
                by,
            };
            return self.decide_answers(vec![(call.id.clone(), answer)], None);
        }
        if call.canceled || self.cancel_requested {
            return Ok(Facts::new());
        }
        Ok(smallvec![Fact::CallCancelRequested { call: call.id.clone(), by }])
    }

    fn no_such_call(&self, id: &CallId) -> Fault {
        let open = self.work.calls.iter().filter(|call| call.phase != CallPhase::Finished);
        let open: Vec<_> = open.map(|call| visible_line(&call.id.0).into_owned()).collect();
        let which = match open.as_slice() {
            [] => "no call is under way".to_owned(),
            open => format!("under way are: {}", open.join(", ")),
        };
        let what = format!("names a call that is not under way ({}); {which}", visible_line(&id.0));
        Fault::invalid(format!("metadata.{CALL_TO_CANCEL}"), what)
    }

    /// Nothing happens if the turn is over, or the whole task is about to end.
    fn decide_stop(&self, turn: u32) -> Facts {
        if self.turn.phase == TurnPhase::Over || self.turn.number != turn || self.cancel_requested {
            return Facts::new();
        }
        let id = MessageId::from(format!("stopped-{turn}-{}", self.task));
        let message =
            Message::from_agent(id, self.context.clone(), Some(self.task.clone()), "Stopped, as requested.");
        let reason = Metadata::from_iter([("reason".to_owned(), "stopped".into())]);
        let message = Arc::new(Message { metadata: Some(reason), ..message });
        let end = self.decide_turn_end(TurnOutcome::InputRequired, Some(message), None);
        self.open_calls_canceled("The turn was stopped.").chain(end).collect()
    }

    /// The first terminal fact wins: later reports of the agent are refused here.
    fn decide_record(&self, fact: Fact) -> Result<Facts, Fault> {
        let phase = self.turn.phase;
        if matches!(fact, Fact::NoticedLater { state, .. } if state == self.state && phase == TurnPhase::Over)
        {
            return Ok(smallvec![fact]);
        }
        self.refuse_if_finished()?;
        let fits = match &fact {
            Fact::TurnStarted { turn, .. } => phase == TurnPhase::Due && *turn == self.turn.number,
            Fact::TaskCanceled => true,
            Fact::TextSaid { .. } => phase == TurnPhase::Running && self.turn.text != TextPhase::Whole,
            Fact::TextWithdrawn | Fact::TextReplaced { .. } | Fact::TextEnded => {
                phase == TurnPhase::Running && self.turn.text == TextPhase::Speaking
            }
            Fact::ThoughtShared { .. }
            | Fact::ArtifactAdded { .. }
            | Fact::CredentialAsked { .. }
            | Fact::ModelChosen { .. }
            | Fact::ModelResponded { .. }
            | Fact::ConversationStateSaved { .. }
            | Fact::WorkResumed
            | Fact::TurnEnded { .. }
            | Fact::Noticed { .. } => phase == TurnPhase::Running,
            Fact::ModelAnswered(_)
            | Fact::CallProposed(_)
            | Fact::CallDeferred { .. }
            | Fact::ContextGiven(_)
            | Fact::ContextReduced(_)
            | Fact::CallStarted { .. }
            | Fact::CallLost { .. }
            | Fact::CallShowed { .. }
            | Fact::CallStateSaved { .. }
            | Fact::CallAsked(_)
            | Fact::CallFinished(_)
            | Fact::PersonAsked { .. } => phase == TurnPhase::Running && self.work.accepts(&fact),
            // Only when a turn's end is decided again after a conflict.
            Fact::PromptSettled { .. } => phase == TurnPhase::Running && !self.queue.is_empty(),
            Fact::PromptTaken { .. } => phase == TurnPhase::Over && !self.queue.is_empty(),
            Fact::Replied { .. } => phase == TurnPhase::Running && self.reply == ReplyShape::Message,
            Fact::TaskOpened(_)
            | Fact::MessageReceived { .. }
            | Fact::PromptQueued { .. }
            | Fact::CallAnswered { .. }
            | Fact::CallCancelRequested { .. }
            | Fact::NoticedLater { .. }
            | Fact::CancelRequested => false,
        };
        // A turn that is cancelled may still show what it has changed.
        let may_follow_cancel = match &fact {
            Fact::TaskCanceled => true,
            Fact::ArtifactAdded { artifact, .. } => artifact.is_changes(),
            _ => false,
        };
        if !fits || (self.cancel_requested && !may_follow_cancel) {
            return Err(Fault::Unsupported {
                what: format!("task {} is not at a point where this fits", self.task),
            });
        }
        Ok(match fact {
            Fact::TurnEnded { outcome, message, usage } => self.decide_turn_end(outcome, message, usage),
            Fact::TaskCanceled => {
                self.open_calls_canceled("The task was canceled.").chain([Fact::TaskCanceled]).collect()
            }
            fact => smallvec![fact],
        })
    }

    /// Ends every open call, for clients that follow calls.
    fn open_calls_canceled(&self, why: &str) -> impl Iterator<Item = Fact> {
        let open = self.work.calls.iter().filter(|call| call.phase != CallPhase::Finished);
        let text = format!("[Operation Cancelled] {why}");
        open.map(move |call| {
            Fact::CallFinished(Box::new(FinishedCall {
                call: call.id.clone(),
                outcome: CallOutcome::Canceled,
                output: vec![Content::Text(text.clone())],
                summary: text.clone(),
                diff: None,
            }))
        })
    }

    /// Prompts that came in during the turn are answered before the task settles.
    fn decide_turn_end(
        &self,
        outcome: TurnOutcome,
        message: Option<Arc<Message>>,
        usage: Option<Box<Usage>>,
    ) -> Facts {
        let (outcome, message) = match (self.ending, outcome) {
            (TaskEnding::StaysOpen | TaskEnding::Session, TurnOutcome::Completed) => {
                (TurnOutcome::InputRequired, message)
            }
            (TaskEnding::Session, TurnOutcome::Failed) => {
                (TurnOutcome::InputRequired, message.map(with_failure_reason))
            }
            (_, outcome) => (outcome, message),
        };
        let mut facts = Facts::new();
        if self.turn.text == TextPhase::Speaking {
            facts.push(Fact::TextEnded);
        }
        let answered =
            matches!(outcome, TurnOutcome::Completed | TurnOutcome::InputRequired | TurnOutcome::Failed);
        match self.queue.front().filter(|_| answered) {
            Some(next) => facts.extend([
                Fact::PromptSettled { prompt: self.prompt_of(self.turn.number).cloned(), outcome, message },
                Fact::PromptTaken { said: None, message: Some(next.id.clone()) },
            ]),
            None => facts.push(Fact::TurnEnded { outcome, message, usage }),
        }
        facts
    }

    /// It is over, and a message reopens it.
    fn may_reopen(&self) -> bool {
        self.ending == TaskEnding::Reopens && matches!(self.state, TaskState::Completed | TaskState::Failed)
    }

    /// Nothing can change it any more.
    pub fn is_final(&self) -> bool {
        self.state.is_terminal() && !self.may_reopen()
    }

    /// The question `id` is not open, perhaps because another client has answered it.
    pub(crate) fn not_open(&self, id: &CallId) -> Fault {
        if let Some(said) = self.answered.iter().rev().find(|said| said.question_id() == id) {
            return said.already_answered();
        }
        if self.is_final() {
            return Fault::TaskFinished { task: self.task.clone(), state: self.state };
        }
        let open = self.work.asked().map(|asked| asked.question_id().0.clone());
        Fault::NothingToAnswer { call: id.0.clone(), open: open.collect() }
    }

    fn refuse_if_finished(&self) -> Result<(), Fault> {
        if self.state.is_terminal() {
            return Err(Fault::TaskFinished { task: self.task.clone(), state: self.state });
        }
        Ok(())
    }
}

/// The state does not show the failure of a turn in a session, so the message does.
fn with_failure_reason(message: Arc<Message>) -> Arc<Message> {
    let mut message = Arc::unwrap_or_clone(message);
    let metadata = message.metadata.get_or_insert_default();
    metadata.entry("reason").or_insert_with(|| "failed".into());
    metadata.insert(FAILED.to_owned(), true.into());
    Arc::new(message)
}
