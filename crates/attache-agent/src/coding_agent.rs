//! The session's agent: one turn, with whoever thinks and whatever the conversation works with.

use std::sync::Arc;

use async_trait::async_trait;
use attache_domain::{Fault, Message, ReplyShape, TaskView};
use attache_session::{Agent, Journal, Stopped, TurnRequest};

use crate::built_in::Ended;
use crate::performance::Performance;
use crate::wishes::{Wishes, field};
use crate::{Mind, Refusal, Workplaces, built_in};

pub struct CodingAgent {
    pub(crate) workplaces: Arc<dyn Workplaces>,
}

impl CodingAgent {
    pub fn new(workplaces: Arc<dyn Workplaces>) -> Self {
        Self { workplaces }
    }
}

#[async_trait]
impl Agent for CodingAgent {
    fn keeps_conversation(&self, view: &TaskView) -> bool {
        let mind = self.workplaces.mind(&Wishes::of([view]));
        matches!(mind, Ok(Mind::Language(_)))
    }

    fn reply_shape(&self, message: &Message) -> Result<ReplyShape, Fault> {
        let wishes = Wishes::in_message(message)?.unwrap_or_default();
        match self.workplaces.mind(&wishes).map_err(fault)? {
            Mind::Language(_) => Ok(ReplyShape::Task),
            Mind::BuiltIn(model) => Ok(model.reply_shape(message)),
        }
    }

    async fn perform(&self, request: TurnRequest, journal: &Journal) -> Result<(), Stopped> {
        let progress = &request.view.progress;
        let alone = !progress.continues && progress.work.calls.is_empty();
        let mind = self.workplaces.mind(&Wishes::of([request.view.as_ref()]));
        let latest = request.into_latest();
        // Most turns of a model of ours use no tools: they need no workplace and nothing that was said before.
        if let (true, Ok(Mind::BuiltIn(model))) = (alone, mind)
            && let Ended::WithTurn(end) = built_in::round(model.as_ref(), &latest, journal).await?
        {
            return journal.record(end).await;
        }
        match Performance::open(self.workplaces.as_ref(), latest, journal).await? {
            Some(performance) => performance.run().await,
            None => Ok(()),
        }
    }
}

fn fault(refusal: Refusal) -> Fault {
    Fault::invalid(field(refusal.field), refusal.what)
}
