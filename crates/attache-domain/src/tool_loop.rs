//! The calls of a model's latest answer: the state of each, and the next steps.

use serde::{Deserialize, Serialize};

use crate::{
    AGENT_MODEL, CallId, CallOutcome, ContextReason, Fact, ModelPart, ModelPartContent, QuestionKind,
    RepeatDetector, ResponseEnd, Seq, Verdict,
};

/// Small: the content of the calls is in the view.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ToolLoop {
    /// Whole answers of the model in this turn.
    pub rounds: u32,
    /// In the order of the answer.
    pub calls: Vec<CallProgress>,
    /// Detects a model that repeats its calls.
    #[serde(rename = "circles", default, skip_serializing_if = "RepeatDetector::is_empty")]
    pub repeats: RepeatDetector,
    /// The latest answer makes no calls: the turn ends the way the answer ended.
    #[serde(rename = "spoken", default, skip_serializing_if = "Option::is_none")]
    pub answer_end: Option<ResponseEnd>,
    /// A command has prompted the model in this turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prompted: bool,
    /// A person refused a call of the latest answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    refused: bool,
    /// A person approved or skipped a call of the latest answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    approved: bool,
    /// A call of the latest answer succeeded.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    succeeded: bool,
    /// The latest calls are the agent's own and no model's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub agents_own: bool,
    /// How often clients answered about calls, or cancelled one, in this turn. What runs the calls watches it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub interventions: u32,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallProgress {
    pub id: CallId,
    pub phase: CallPhase,
    /// Must not run in parallel with its neighbours.
    pub alone: bool,
    /// The choices that the open question offers.
    pub choices: Vec<String>,
    /// The id of the latest question about it, if it differs from the call's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<CallId>,
    /// Its effect depends on this earlier call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<CallId>,
    /// It was running when the server stopped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
    /// Its last run ended with a question of its own, and it has not started again since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<QuestionKind>,
    /// A client cancelled it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub canceled: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallPhase {
    /// Requested by the model.
    Requested,
    /// Waits for an approval.
    Asked,
    /// Approved by a rule or a person.
    Allowed,
    /// Refused by a person.
    Refused,
    /// Skipped by a person.
    Skipped,
    Started,
    Finished,
}

impl CallProgress {
    /// The id that an answer names.
    pub fn question_id(&self) -> &CallId {
        self.question.as_ref().unwrap_or(&self.id)
    }

    /// Does `id` name its question? A call that asks something itself keeps its id for clients, so that names it, too.
    pub fn is_asked_as(&self, id: &CallId) -> bool {
        self.question_id() == id || (self.asks.is_some() && self.id == *id)
    }
}

impl CallPhase {
    /// The call that `fact` changes, and its new phase.
    pub(crate) fn after(fact: &Fact) -> Option<(&CallId, Self)> {
        Some(match fact {
            Fact::CallProposed(proposed) if proposed.choices.is_empty() => (&proposed.call, Self::Allowed),
            Fact::CallProposed(proposed) => (&proposed.call, Self::Asked),
            Fact::CallAnswered { call, answer } => (
                call,
                match answer.verdict {
                    Verdict::Proceed => Self::Allowed,
                    Verdict::Refuse => Self::Refused,
                    Verdict::Skip => Self::Skipped,
                    Verdict::Modify => Self::Requested,
                },
            ),
            Fact::CallStarted { call, .. } => (call, Self::Started),
            Fact::CallLost { call, .. } => (call, Self::Asked),
            Fact::CallAsked(asked) => (&asked.call, Self::Asked),
            Fact::CallFinished(finished) => (&finished.call, Self::Finished),
            _ => return None,
        })
    }
}

/// A step with the calls of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallStep {
    /// Make a proposal and a ruling.
    Propose(CallId),
    Start(CallId),
    /// A person refused it, or every call with a question: it does not run.
    Cancel(CallId),
    /// Go on without it; its outcome stays unknown.
    Skip(CallId),
    /// It is running, or was running when the server stopped.
    Await(CallId),
    /// Wait for the answers of a person.
    AskPerson,
    /// Every call is over: send the results to the model.
    CallModel,
    /// The turn is over.
    Settle(TurnEnd),
}

/// How a turn ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEnd {
    /// The model gave its final answer.
    Spoken(ResponseEnd),
    /// A person refused and no call succeeded: the next message decides.
    Declined,
}

impl ToolLoop {
    /// All steps that can be taken now; never empty.
    pub fn steps(&self) -> Vec<CallStep> {
        let mut steps = self.cancellations();
        if steps.is_empty() {
            steps = self.proposals();
        }
        if steps.is_empty() {
            steps = self.runs();
        }
        if steps.is_empty() {
            steps.push(self.step_without_calls());
        }
        steps
    }

    /// The step when no call can go on by itself.
    fn step_without_calls(&self) -> CallStep {
        if self.calls.iter().any(|call| call.phase != CallPhase::Finished) {
            return CallStep::AskPerson;
        }
        match &self.answer_end {
            Some(end) => CallStep::Settle(TurnEnd::Spoken(end.clone())),
            // Without what the agent wanted for itself the turn goes on.
            None if self.agents_own => CallStep::CallModel,
            None if self.refused && !self.approved && !self.succeeded => CallStep::Settle(TurnEnd::Declined),
            None => CallStep::CallModel,
        }
    }

    /// Every open call waits for a person.
    pub fn waits_for_person(&self) -> bool {
        self.steps() == [CallStep::AskPerson]
    }

    pub fn find(&self, id: &CallId) -> Option<&CallProgress> {
        self.calls.iter().find(|call| call.id == *id)
    }

    /// The calls with an open question.
    pub fn asked(&self) -> impl Iterator<Item = &CallProgress> {
        self.calls.iter().filter(|call| call.phase == CallPhase::Asked)
    }

    /// Every open question is one of a call that needs a credential.
    pub fn asks_only_for_credentials(&self) -> bool {
        let mut asked = self.asked().peekable();
        asked.peek().is_some() && asked.all(|call| call.asks == Some(QuestionKind::Auth))
    }

    /// A new id for the question about a lost call.
    pub fn lost_question(&self, call: &CallId, head: Seq) -> CallId {
        self.new_question("lost", call, head)
    }

    /// A new id for a question of the call itself.
    pub fn own_question(&self, call: &CallId, head: Seq) -> CallId {
        self.new_question("ask", call, head)
    }

    /// Made of its position in the log and among the calls. It is unique within the task, also among the ids of calls.
    fn new_question(&self, kind: &str, call: &CallId, head: Seq) -> CallId {
        let place = self.calls.iter().position(|known| known.id == *call).unwrap_or_default() + 1;
        let mut id = CallId(format!("{kind}-{head}-{place}"));
        while self.find(&id).is_some() {
            id.0.push('x');
        }
        id
    }

    /// A refused call does not run, nor does a call that depends on it. When every question is answered with a refusal,
    /// no other call starts either. A call that a client cancelled before it started does not run, and the others do.
    fn cancellations(&self) -> Vec<CallStep> {
        let is_refused = |call: &CallProgress| call.phase == CallPhase::Refused;
        let any_refused = self.calls.iter().any(is_refused);
        let goes_on = !any_refused || self.agents_own || self.approved || self.asked().next().is_some();
        // A call depends only on earlier ones.
        let (mut steps, mut refused): (Vec<CallStep>, Vec<&CallId>) = Default::default();
        for call in &self.calls {
            let has_begun = matches!(call.phase, CallPhase::Started | CallPhase::Finished);
            let waits = call.until.as_ref().is_some_and(|until| refused.contains(&until));
            let is_canceled = call.canceled && !has_begun;
            let with_refused = !has_begun && (!goes_on || is_refused(call) || waits);
            if with_refused {
                refused.push(&call.id);
            }
            if with_refused || is_canceled {
                steps.push(CallStep::Cancel(call.id.clone()));
            }
        }
        steps
    }

    fn proposals(&self) -> Vec<CallStep> {
        let requested =
            self.calls.iter().filter(|call| call.phase == CallPhase::Requested && call.until.is_none());
        requested.map(|call| CallStep::Propose(call.id.clone())).collect()
    }

    /// Neighbours that may run in parallel start together, once all of them are approved; one group after the other.
    fn runs(&self) -> Vec<CallStep> {
        let groups = self.calls.chunk_by(|before, after| !before.alone && !after.alone);
        let is_over = |group: &&[CallProgress]| group.iter().all(|call| call.phase == CallPhase::Finished);
        let Some(group) = groups.into_iter().find(|group| !is_over(group)) else { return Vec::new() };
        // A call that asks something itself has run before, with the others.
        let waits = group.iter().any(|call| call.phase == CallPhase::Asked && call.asks.is_none());
        let step = |call: &CallProgress| match call.phase {
            CallPhase::Skipped => Some(CallStep::Skip(call.id.clone())),
            CallPhase::Allowed if !waits => Some(CallStep::Start(call.id.clone())),
            CallPhase::Started => Some(CallStep::Await(call.id.clone())),
            _ => None,
        };
        group.iter().filter_map(step).collect()
    }

    /// May `fact` be recorded now?
    pub(crate) fn accepts(&self, fact: &Fact) -> bool {
        let is = |id: &CallId, phases: &[CallPhase]| {
            self.find(id).is_some_and(|call| phases.contains(&call.phase))
        };
        match fact {
            Fact::ModelAnswered(_) => self.calls.iter().all(|call| call.phase == CallPhase::Finished),
            Fact::CallProposed(proposed) => is(&proposed.call, &[CallPhase::Requested]),
            Fact::CallDeferred { call, until } => {
                let before = self.calls.iter().take_while(|known| known.id != *call);
                let open = |known: &CallProgress| known.id == *until && known.phase != CallPhase::Finished;
                is(call, &[CallPhase::Requested]) && before.into_iter().any(open)
            }
            Fact::CallStarted { call, .. } => is(call, &[CallPhase::Allowed]),
            Fact::CallLost { call, .. } | Fact::CallStateSaved { call, .. } => {
                is(call, &[CallPhase::Started])
            }
            Fact::CallAsked(asked) => is(&asked.call, &[CallPhase::Started]),
            Fact::ContextGiven(_) | Fact::ContextReduced(_) => {
                self.calls.iter().all(|call| call.phase == CallPhase::Finished)
            }
            Fact::CallShowed { call, .. } => is(call, &[CallPhase::Started]),
            Fact::CallFinished(finished) => {
                self.find(&finished.call).is_some_and(|call| call.phase != CallPhase::Finished)
            }
            Fact::PersonAsked { .. } => self.waits_for_person(),
            _ => true,
        }
    }

    /// A person refused a call of the latest answer.
    pub fn was_refused(&self) -> bool {
        self.refused && !self.agents_own
    }

    pub(crate) fn apply(&mut self, fact: &Fact) {
        if let Some((call, phase)) = CallPhase::after(fact) {
            self.enter(call, phase);
        }
        match fact {
            Fact::TurnStarted { .. } => *self = Self::default(),
            Fact::ModelAnswered(answer) => {
                self.agents_own = answer.model == AGENT_MODEL;
                if !self.agents_own {
                    self.rounds += 1;
                    self.repeats.record_calls(&answer.parts);
                }
                (self.refused, self.approved, self.succeeded) = (false, false, false);
                self.calls = answer.parts.iter().filter_map(requested).collect();
                self.answer_end = self.calls.is_empty().then(|| answer.end.clone());
            }
            Fact::CallProposed(proposed) => {
                if let Some(call) = self.find_mut(&proposed.call) {
                    *call = CallProgress {
                        id: proposed.call.clone(),
                        phase: call.phase,
                        alone: proposed.alone,
                        choices: proposed.choices.clone(),
                        question: None,
                        until: None,
                        lost: false,
                        asks: None,
                        canceled: call.canceled,
                    };
                }
            }
            Fact::CallAnswered { answer, .. } => {
                self.interventions += 1;
                match answer.verdict {
                    Verdict::Refuse => self.refused = true,
                    Verdict::Proceed | Verdict::Skip | Verdict::Modify => self.approved = true,
                }
            }
            Fact::CallCancelRequested { call, .. } => {
                self.interventions += 1;
                if let Some(call) = self.find_mut(call) {
                    call.canceled = true;
                }
            }
            Fact::CallAsked(asked) => {
                if let Some(call) = self.find_mut(&asked.call) {
                    call.choices.clone_from(&asked.choices);
                    call.question = Some(asked.question.clone());
                    call.asks = Some(asked.kind);
                    call.lost = false;
                }
            }
            Fact::CallStarted { call, .. } => {
                if let Some(call) = self.find_mut(call) {
                    call.asks = None;
                }
            }
            Fact::CallLost { call, choices, question } => {
                if let Some(call) = self.find_mut(call) {
                    call.choices.clone_from(choices);
                    call.question.clone_from(question);
                    call.asks = None;
                    call.lost = true;
                }
            }
            Fact::CallDeferred { call, until } => {
                if let Some(call) = self.find_mut(call) {
                    call.until = Some(until.clone());
                }
            }
            Fact::ContextGiven(given) => {
                self.answer_end = None;
                self.prompted |= given.reason == ContextReason::Command;
                if given.reason == ContextReason::Loop {
                    self.repeats.record_warning();
                }
            }
            Fact::CallFinished(finished) => {
                self.succeeded |= finished.outcome == CallOutcome::Succeeded;
                for call in &mut self.calls {
                    call.until.take_if(|until| *until == finished.call);
                }
            }
            _ => {}
        }
    }

    fn enter(&mut self, id: &CallId, phase: CallPhase) {
        if let Some(call) = self.find_mut(id) {
            call.phase = phase;
            call.choices.clear();
        }
    }

    fn find_mut(&mut self, id: &CallId) -> Option<&mut CallProgress> {
        self.calls.iter_mut().find(|call| call.id == *id)
    }
}

fn requested(part: &ModelPart) -> Option<CallProgress> {
    let ModelPartContent::Call(call) = &part.what else { return None };
    Some(CallProgress {
        id: call.id.clone(),
        phase: CallPhase::Requested,
        alone: false,
        choices: Vec::new(),
        question: None,
        until: None,
        lost: false,
        asks: None,
        canceled: false,
    })
}
