//! Proposes, starts and cancels the calls of an answer.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;

use attache_domain::{
    CallId, CallOutcome, CallPhase, CallRecord, CallStep, Content, Digest, Effect, Fact, FinishedCall,
    LOST_CHOICES, Preview, Proposal, ProposedCall, TaskView, Verdict, quoted,
};
use attache_session::TurnStopped;
use attache_tool::diff::compare;
use attache_tool::{CallKey, Delegation, NoCallState, ToolContext, ToolError, ToolErrorKind, shell};
use futures_util::future::join_all;
use sha2::{Digest as _, Sha256};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::abandon_calls::notify_peer;
use crate::changes::shortened;
use crate::live_output::LiveOutputBuffer;
use crate::turn_runner::{TurnFlow, TurnRunner};
use crate::{ApprovalDecision, ApprovalRequest, ConversationSetup};

impl TurnRunner<'_> {
    /// Records what each requested call would do and whether it may run. Calls that need no approval start in the same
    /// write.
    pub(crate) async fn propose(&self, steps: &[CallStep]) -> Result<TurnFlow, TurnStopped> {
        let call_records = self.task.view().call_records.clone();
        let (mut earlier, mut proposed_now) = (PendingWrites::default(), Vec::new());
        for record in &call_records.calls {
            let id = &record.call.id;
            if steps.contains(&CallStep::Propose(id.clone())) {
                let ruled = self.rule_on(record).await;
                let fact = match (earlier.conflict_with(&ruled), ruled) {
                    (Some(until), _) => Fact::CallDeferred { call: id.clone(), until },
                    (None, Ok(proposed)) => {
                        earlier.add(id, &proposed.proposal);
                        let proposal = Some(proposed.proposal.clone());
                        proposed_now.push(Arc::new(CallRecord { proposal, ..record.as_ref().clone() }));
                        Fact::CallProposed(Box::new(proposed))
                    }
                    (None, Err(error)) => Fact::CallFinished(Box::new(failed(id, &error))),
                };
                self.journal.record(fact).await?;
            } else if let Some(proposal) = record.proposal.as_ref().filter(|_| record.result.is_none()) {
                earlier.add(id, proposal);
            }
        }
        let steps = self.journal.with_progress(|progress| progress.work.steps());
        let starts = |record: &Arc<CallRecord>| steps.contains(&CallStep::Start(record.call.id.clone()));
        // Anything else, such as a question, waits until the proposals are durable.
        if !steps.is_empty() && steps.len() == proposed_now.iter().filter(|record| starts(record)).count() {
            self.run_concurrently(&steps, &proposed_now).await?;
        }
        Ok(TurnFlow::Continue)
    }

    async fn rule_on(&self, record: &CallRecord) -> Result<ProposedCall, ToolError> {
        let tool = self.find_tool(&record.call.name)?;
        let mut input = record.call.input.clone();
        // Models can request an order; tools do not see that member.
        let waits = input.remove("wait_for_previous").is_some_and(|waits| waits == true);
        let mut proposal = tool.propose(&input, &self.tool_context(Some(&record.call.id))).await?;
        self.put_in_others_words(record, &mut proposal);
        if let Preview::Exec { command, programs, .. } = &mut proposal.shown {
            *programs = shell::roots(&shell::parse(command));
        }
        let case = ApprovalRequest { tool: tool.spec(), proposal: &proposal };
        let (choices, grants, why, access) = match self.setup.approver.rule(case) {
            ApprovalDecision::Allow { why, access } => (Vec::new(), BTreeMap::new(), why, access),
            ApprovalDecision::Ask { choices, grants, why, access } => (choices, grants, why, access),
            ApprovalDecision::Deny { message } => {
                return Err(ToolError::new(ToolErrorKind::PolicyViolation, message));
            }
        };
        if let Some(access) = access {
            proposal.set_access(&access);
        }
        let alone = waits || !tool.spec().parallel;
        let (call, proposal) = (record.call.id.clone(), Arc::new(proposal));
        Ok(ProposedCall { call, proposal, alone, choices, grants, why })
    }

    /// A person refused or cancelled these calls, so none of them runs.
    pub(crate) async fn cancel(&self, steps: &[CallStep]) -> Result<TurnFlow, TurnStopped> {
        let call_records = self.task.view().call_records.clone();
        let canceled = steps.iter().filter_map(|step| match step {
            CallStep::Cancel(id) => Some(self.end_without_run(id, call_records.find(id).cloned())),
            _ => None,
        });
        for ended in join_all(canceled).await {
            ended?;
        }
        Ok(TurnFlow::Continue)
    }

    /// A call ends without another run: a person refused, skipped or cancelled it. The peer of a call that has run
    /// before is notified.
    pub(crate) async fn end_without_run(
        &self,
        id: &CallId,
        record: Option<Arc<CallRecord>>,
    ) -> Result<(), TurnStopped> {
        let Some(call) = self.journal.with_progress(|progress| progress.work.find(id).cloned()) else {
            return Ok(());
        };
        let text = match call.phase {
            _ if call.canceled => "[Operation Cancelled] The user cancelled this call.",
            CallPhase::Refused | CallPhase::Skipped if call.asks.is_some() => {
                "[Operation Cancelled] The user did not answer the question of this call, so it was ended."
            }
            CallPhase::Refused => "[Operation Cancelled] The user did not agree to this.",
            _ => {
                "[Operation Cancelled] It was not run, because the user did not agree to the calls beside it."
            }
        };
        let has_run = call.asks.is_some() || call.phase == CallPhase::Started;
        if let (true, Some(record)) = (has_run, record)
            && let Ok(tool) = self.tool_of(&record)
        {
            let notice = notify_peer(tool.as_ref(), &record, &self.tool_context(Some(id))).await;
            self.record_peer_notice(&record, notice).await?;
        }
        let is_unknown = call.lost || (call.phase == CallPhase::Skipped && call.asks.is_none());
        let finished = if is_unknown { unknown(id) } else { finished(id, CallOutcome::Canceled, text) };
        self.journal.record(Fact::CallFinished(Box::new(finished))).await
    }

    /// Proposes an edit again with the content that a person changed; it needs approval again.
    fn put_in_others_words(&self, record: &CallRecord, proposal: &mut Proposal) {
        let answer = record.answer.as_ref().filter(|answer| answer.verdict == Verdict::Modify);
        if let Some(content) = answer.and_then(|answer| answer.new_content.as_ref())
            && let Preview::Edit { path, diff, original, new_content, .. } = &mut proposal.shown
        {
            *diff = compare(&shortened(path, self.setup.roots()), original.as_deref(), content).text;
            new_content.clone_from(content);
        }
    }

    /// A new approval request: an answer to the earlier request must not run the call a second time.
    pub(crate) async fn record_lost(&self, id: &CallId) -> Result<(), TurnStopped> {
        let question = self.journal.with_progress(|progress| progress.work.lost_question(id, progress.head));
        let choices = LOST_CHOICES.map(str::to_owned).to_vec();
        self.journal.record(Fact::CallLost { call: id.clone(), choices, question: Some(question) }).await
    }

    /// The proposal with the person's changes. Records approvals for more than this call.
    pub(crate) fn approved(&self, record: &CallRecord) -> Option<Proposal> {
        let mut proposal = record.proposal.as_deref()?.clone();
        let Some(answer) = &record.answer else { return Some(proposal) };
        if let Ok(tool) = self.find_tool(&record.call.name) {
            self.setup
                .approver
                .remember_answer(ApprovalRequest { tool: tool.spec(), proposal: &proposal }, answer);
        }
        if let (Some(content), Preview::Edit { new_content, .. }) = (&answer.new_content, &mut proposal.shown)
        {
            new_content.clone_from(content);
        }
        // The answer to a question of a running call goes to the run.
        if let Some(answers) = answer.answers.as_ref().filter(|_| answer.question.is_none()) {
            proposal.input.insert("answers".into(), answers.clone());
        }
        Some(proposal)
    }

    /// Whether the call can run again without approval when the server stopped during its run.
    pub(crate) fn may_run_again(&self, record: &CallRecord) -> bool {
        let tool = self.tool_of(record);
        tool.is_ok_and(|tool| tool.spec().repeatable || tool.resumable().is_some())
    }

    /// The context of a call, or of other work in the turn.
    pub(crate) fn tool_context(&self, call: Option<&CallId>) -> CallContext {
        CallContext::new(call_context(&self.setup, &self.task.view(), call))
    }
}

/// A context without live output and without saved state.
pub(crate) fn call_context(setup: &ConversationSetup, view: &TaskView, call: Option<&CallId>) -> ToolContext {
    let call = call.cloned().unwrap_or_else(|| CallId(String::new()));
    ToolContext {
        workspace: setup.workspace.clone(),
        cancel: CancellationToken::new(),
        live: Arc::new(LiveOutputBuffer::default()),
        mark: None,
        call: CallKey { task: view.task.clone(), context: view.context.clone(), call },
        state: Arc::new(NoCallState),
        delegation: Arc::new(Delegation::of_task(view)),
    }
}

/// The context of one call. Cancelling a task drops its turn and with it this guard, which cancels the token that the
/// tool's threads check.
pub(crate) struct CallContext {
    context: ToolContext,
    _cancel_on_drop: DropGuard,
}

impl CallContext {
    pub(crate) fn new(context: ToolContext) -> Self {
        Self { _cancel_on_drop: context.cancel.clone().drop_guard(), context }
    }
}

impl Deref for CallContext {
    type Target = ToolContext;

    fn deref(&self) -> &ToolContext {
        &self.context
    }
}

/// The paths that unfinished calls of the same answer would write.
#[derive(Default)]
struct PendingWrites {
    writes: Vec<(CallId, PathBuf)>,
}

impl PendingWrites {
    fn add(&mut self, id: &CallId, proposal: &Proposal) {
        let writes = proposal.effects.iter().filter_map(|effect| match effect {
            Effect::Write { path } => Some((id.clone(), path.clone())),
            _ => None,
        });
        self.writes.extend(writes);
    }

    /// The earlier call that must end before `ruled` can be proposed: it writes a path that `ruled` touches, or
    /// `ruled` failed and may depend on its result.
    fn conflict_with(&self, ruled: &Result<ProposedCall, ToolError>) -> Option<CallId> {
        let Ok(proposed) = ruled else { return self.writes.last().map(|(id, _)| id.clone()) };
        let touched = touched(&proposed.proposal);
        let meets = |written: &PathBuf| {
            touched.iter().any(|path| path.starts_with(written) || written.starts_with(path))
        };
        self.writes.iter().rev().find(|(_, path)| meets(path)).map(|(id, _)| id.clone())
    }
}

pub(crate) fn touched(proposal: &Proposal) -> Vec<PathBuf> {
    let paths = proposal.effects.iter().filter_map(|effect| match effect {
        Effect::Read { path } | Effect::Write { path } => Some(path.clone()),
        _ => None,
    });
    paths.collect()
}

pub(crate) fn digest(proposal: &Proposal) -> Digest {
    let bytes = serde_json::to_vec(proposal).unwrap_or_default();
    Digest::of_hash(&Sha256::digest(bytes))
}

pub(crate) fn failed(id: &CallId, error: &ToolError) -> FinishedCall {
    finished(id, CallOutcome::Failed { kind: error.kind.name() }, &error.message)
}

fn unknown(id: &CallId) -> FinishedCall {
    let text = "The server stopped while this was running. It is not known whether it took effect: look before \
                doing it again.";
    finished(id, CallOutcome::Unknown, text)
}

/// `text` is for the model. People see what is data in it as quotes.
pub(crate) fn finished(id: &CallId, outcome: CallOutcome, text: &str) -> FinishedCall {
    FinishedCall {
        call: id.clone(),
        outcome,
        output: vec![Content::Text(text.into())],
        summary: quoted(text).into_owned(),
        diff: None,
    }
}
