//! Runs calls concurrently, and handles answers and cancels that clients send during the run.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::Arc;

use attache_domain::{ANSWER, CallId, CallRecord, CallStep, Fact};
use attache_session::TurnStopped;
use attache_tool::{CallStart, QuestionAnswer, failpoint};
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::calls::digest;
use crate::run_call::CallRun;
use crate::turn_runner::{TurnFlow, TurnRunner};

/// What happens with one of the calls.
enum CallWork {
    Run(Box<CallRun>),
    /// The call ends without another run.
    End(CallId, Option<Arc<CallRecord>>),
}

/// The running calls, each with its cancellation token.
type RunningCalls = HashMap<CallId, CancellationToken>;

impl TurnRunner<'_> {
    /// Runs all calls that can run together, and waits for them.
    pub(crate) async fn run_calls(&self, steps: &[CallStep]) -> Result<TurnFlow, TurnStopped> {
        // Does not hold the view: recording a fact would copy the task.
        let call_records = self.task.view().call_records.clone();
        self.run_concurrently(steps, &call_records.calls).await?;
        Ok(TurnFlow::Continue)
    }

    /// Records that the calls start, waits until that is durable, and runs them together. Calls that clients answer in
    /// the meantime start again beside the others.
    pub(crate) async fn run_concurrently(
        &self,
        steps: &[CallStep],
        records: &[Arc<CallRecord>],
    ) -> Result<(), TurnStopped> {
        let mut under_way = RunningCalls::new();
        let first_seen = self.journal.with_progress(|progress| progress.work.interventions);
        let mut seen = first_seen;
        let first = self.begin(steps, records, &mut under_way).await?;
        let mut running: FuturesUnordered<_> = first.into_iter().map(|work| self.work_on(work)).collect();
        let mut intervened = pin!(self.task.intervened(seen));
        loop {
            tokio::select! {
                biased;
                ended = running.next() => match ended {
                    Some(ended) => {
                        under_way.remove(&ended?);
                        // A step may have waited for this call.
                        if seen != first_seen {
                            let more = self.after_intervention(&mut under_way).await?;
                            running.extend(more.into_iter().map(|work| self.work_on(work)));
                        }
                    }
                    None => return Ok(()),
                },
                () = &mut intervened => {
                    self.journal.catch_up(&self.task).await?;
                    seen = self.journal.with_progress(|progress| progress.work.interventions);
                    intervened.set(self.task.intervened(seen));
                    let more = self.after_intervention(&mut under_way).await?;
                    running.extend(more.into_iter().map(|work| self.work_on(work)));
                }
            }
        }
    }

    /// Handles answers and cancels of clients while other calls run.
    async fn after_intervention(&self, under_way: &mut RunningCalls) -> Result<Vec<CallWork>, TurnStopped> {
        let steps = self.journal.with_progress(|progress| {
            for call in progress.work.calls.iter().filter(|call| call.canceled) {
                if let Some(running) = under_way.get(&call.id) {
                    running.cancel();
                }
            }
            progress.work.steps()
        });
        let call_records = self.task.view().call_records.clone();
        self.begin(&steps, &call_records.calls, under_way).await
    }

    /// Records that these steps begin, and waits until that is durable.
    async fn begin(
        &self,
        steps: &[CallStep],
        records: &[Arc<CallRecord>],
        under_way: &mut RunningCalls,
    ) -> Result<Vec<CallWork>, TurnStopped> {
        let mut works = Vec::new();
        for step in steps {
            let (CallStep::Start(id) | CallStep::Await(id) | CallStep::Skip(id) | CallStep::Cancel(id)) =
                step
            else {
                continue;
            };
            if under_way.contains_key(id) {
                continue;
            }
            let record = records.iter().find(|record| record.call.id == *id).cloned();
            let work = match (step, record) {
                (CallStep::Start(_), Some(record)) => self.start(record).await?,
                (CallStep::Await(_), Some(record)) => self.take_up(record).await?,
                (CallStep::Skip(_) | CallStep::Cancel(_), record) => Some(CallWork::End(id.clone(), record)),
                _ => None,
            };
            if let Some(work) = work {
                let cancel = match &work {
                    CallWork::Run(run) => run.cancel.clone(),
                    CallWork::End(..) => CancellationToken::new(),
                };
                under_way.insert(id.clone(), cancel);
                works.push(work);
            }
        }
        // After a crash from here on, the log says that they started.
        self.journal.flush().await?;
        failpoint::reach("call-durable");
        Ok(works)
    }

    async fn start(&self, record: Arc<CallRecord>) -> Result<Option<CallWork>, TurnStopped> {
        let Some(proposal) = self.approved(&record) else { return Ok(None) };
        let (digest, mark) = (digest(&proposal), self.process_mark(&record));
        let started = Fact::CallStarted { call: record.call.id.clone(), digest, mark: mark.clone() };
        self.journal.record(started).await?;
        failpoint::reach("call-recorded");
        let start = start_of(&record, false);
        let cancel = CancellationToken::new();
        Ok(Some(CallWork::Run(Box::new(CallRun { record, proposal, mark, start, cancel }))))
    }

    /// The call was running when the server stopped. Resumable calls and calls without side effects run again by
    /// themselves; a person decides about the others.
    async fn take_up(&self, record: Arc<CallRecord>) -> Result<Option<CallWork>, TurnStopped> {
        let id = &record.call.id;
        self.end_leftovers(&record).await?;
        let is_canceled =
            self.journal.with_progress(|progress| progress.work.find(id).is_some_and(|call| call.canceled));
        if is_canceled {
            return Ok(Some(CallWork::End(id.clone(), Some(record))));
        }
        let Some(proposal) = self.approved(&record).filter(|_| self.may_run_again(&record)) else {
            self.record_lost(id).await?;
            return Ok(None);
        };
        let start = start_of(&record, true);
        let cancel = CancellationToken::new();
        Ok(Some(CallWork::Run(Box::new(CallRun { record, proposal, mark: None, start, cancel }))))
    }

    /// Returns when the call has ended or asks a question.
    async fn work_on(&self, work: CallWork) -> Result<CallId, TurnStopped> {
        match work {
            CallWork::Run(run) => {
                let id = run.record.call.id.clone();
                self.run_call(*run).await?;
                Ok(id)
            }
            CallWork::End(id, record) => {
                self.end_without_run(&id, record).await?;
                Ok(id)
            }
        }
    }
}

fn start_of(record: &CallRecord, restarted: bool) -> CallStart {
    let asked = record.answer.as_ref().and_then(|answer| Some((answer.question.clone()?, answer)));
    let answer = asked.as_ref().filter(|(_, answer)| answer.choice == ANSWER);
    let answer = answer.map(|(question, answer)| {
        QuestionAnswer::new(question.clone(), answer.answers.as_ref().unwrap_or(&Value::Null))
    });
    CallStart {
        run: asked.map_or_else(|| record.call.id.clone(), |(question, _)| question),
        saved: record.state.as_deref().cloned(),
        answer,
        restarted,
        shown: if restarted { record.live.clone() } else { String::new() },
    }
}
