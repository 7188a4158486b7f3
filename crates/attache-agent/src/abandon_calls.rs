//! Tells remote agents that their calls were abandoned.

use std::sync::Arc;

use attache_domain::{CallPhase, CallProgress, CallRecord, TaskView, visible_line};
use attache_session::{AbandonedPeers, TurnRequest, TurnStopped};
use attache_tool::{CANCEL_TIMEOUT, PeerNotice, Tool, ToolContext, failpoint};
use futures_util::future::join_all;
use tokio::time::timeout;

use crate::CodingAgent;
use crate::calls::call_context;
use crate::turn_runner::TurnRunner;

impl CodingAgent {
    /// The task of `request` was cancelled, or its turn was stopped, while calls were running or waited for an answer.
    pub(crate) async fn abandon(&self, request: TurnRequest) -> AbandonedPeers {
        failpoint::reach("calls-abandoned");
        let view = request.view.clone();
        let settings = request.into_task().other_tasks().await.unwrap_or_default().settings(Some(&view));
        let setup = self.conversations.open(&view.progress.scope, &view.context, &settings).await;
        let notices = open_calls(&view).map(async |record| {
            let setup = match &setup {
                Ok(setup) => setup,
                Err(refusal) => return (record, lost(record, &refusal.what)),
            };
            let notice = match setup.tool_source.begun_tool(&record.call.name) {
                Some(tool) => {
                    let context = call_context(setup, &view, Some(&record.call.id));
                    notify_peer(tool.as_ref(), record, &context).await
                }
                None => lost(record, "there is no tool for it any more"),
            };
            (record, notice)
        });
        let mut peers = AbandonedPeers::default();
        for (record, notice) in join_all(notices).await {
            match notice {
                PeerNotice::Told => {}
                PeerNotice::NotYet => peers.unreached.push(not_told(record, "it cannot be reached")),
                PeerNotice::Never(sentence) => peers.lost.push(sentence),
            }
        }
        peers
    }
}

/// Only calls that saved something have a peer.
fn lost(record: &CallRecord, why: &str) -> PeerNotice {
    match record.state {
        Some(_) => PeerNotice::Never(not_told(record, why)),
        None => PeerNotice::Told,
    }
}

fn not_told(record: &CallRecord, why: &str) -> String {
    let agent = record.proposal.as_ref().and_then(|proposal| proposal.agent());
    let peer = match agent {
        Some((agent, origin)) => format!("{} at {}", visible_line(agent), visible_line(origin)),
        None => format!("the peer of {}", visible_line(&record.call.name)),
    };
    format!(
        "{peer} was not told that its call is cancelled, and may still work on it: {}.",
        visible_line(why)
    )
}

impl TurnRunner<'_> {
    /// People read that the peer of a call that is over was not told.
    pub(crate) async fn record_peer_notice(
        &self,
        record: &CallRecord,
        notice: PeerNotice,
    ) -> Result<(), TurnStopped> {
        match notice {
            PeerNotice::Told => Ok(()),
            PeerNotice::NotYet => self.record_notice(not_told(record, "it cannot be reached")).await,
            PeerNotice::Never(sentence) => self.record_notice(sentence).await,
        }
    }
}

fn open_calls(view: &TaskView) -> impl Iterator<Item = &Arc<CallRecord>> {
    let is_open = |call: &CallProgress| call.phase == CallPhase::Started || call.asks.is_some();
    let records = view.call_records.calls.iter();
    records.filter(move |record| view.progress.work.find(&record.call.id).is_some_and(is_open))
}

/// Lets the tool of a resumable call notify its peer that the call is over.
pub(crate) async fn notify_peer(tool: &dyn Tool, record: &CallRecord, context: &ToolContext) -> PeerNotice {
    let (Some(resumable), Some(proposal)) = (tool.resumable(), &record.proposal) else {
        return PeerNotice::Told;
    };
    let saved = record.state.as_deref().cloned();
    timeout(CANCEL_TIMEOUT, resumable.cancel(proposal, saved, context)).await.unwrap_or_else(|_| {
        tracing::warn!(tool = %record.call.name, "the peer of a cancelled call was not reached in time");
        PeerNotice::NotYet
    })
}
