//! Tells remote agents that their calls were abandoned.

use std::sync::Arc;

use attache_domain::{CallPhase, CallProgress, CallRecord, TaskView};
use attache_session::TurnRequest;
use attache_tool::{CANCEL_TIMEOUT, PeerNotice, Tool, ToolContext, failpoint};
use futures_util::future::join_all;
use tokio::time::timeout;

use crate::CodingAgent;
use crate::calls::call_context;

impl CodingAgent {
    /// The task of `request` was cancelled, or its turn was stopped, while calls were running or waited for an answer.
    /// False if a peer could not be notified.
    pub(crate) async fn abandon(&self, request: TurnRequest) -> bool {
        failpoint::reach("calls-abandoned");
        let view = request.view.clone();
        let settings = request.into_task().other_tasks().await.unwrap_or_default().settings(Some(&view));
        let setup = self.conversations.open(&view.progress.scope, &view.context, &settings).await;
        let Ok(setup) = setup else { return true };
        let tools = setup.tool_source.tools();
        let notices = open_calls(&view).filter_map(|record| {
            let tool = tools.find(&record.call.name).ok()?.clone();
            let context = call_context(&setup, &view, Some(&record.call.id));
            Some(async move { notify_peer(tool.as_ref(), record, &context).await })
        });
        join_all(notices).await.iter().all(|notice| *notice == PeerNotice::Told)
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
