//! The session's agent: one turn, with whoever thinks and whatever the conversation works with.

use std::sync::Arc;

use async_trait::async_trait;
use attache_domain::{Fact, Fault, Message, Outcome, Progress, ReplyShape, TaskView, Wishes};
use attache_session::{Agent, Journal, Latest, Stopped, TurnRequest};

use crate::built_in::Ended;
use crate::performance::Performance;
use crate::reason::Reason;
use crate::voice::Voice;
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

    fn model(&self, view: &TaskView) -> Option<String> {
        self.workplaces.mind(&Wishes::of([view])).ok().map(|mind| mind.name().to_owned())
    }

    fn check(&self, message: &Message) -> Result<(), Fault> {
        match &message.wishes {
            Some(wishes) => self.workplaces.mind(wishes).map(drop).map_err(|refusal| fault(wishes, refusal)),
            None => Ok(()),
        }
    }

    fn reply_shape(&self, message: &Message) -> ReplyShape {
        let wishes = message.wishes.as_deref().cloned().unwrap_or_default();
        match self.workplaces.mind(&wishes) {
            Ok(Mind::BuiltIn(model)) => model.reply_shape(message),
            Ok(Mind::Language(_)) | Err(_) => ReplyShape::Task,
        }
    }

    async fn perform(&self, request: TurnRequest, journal: &Journal) -> Result<(), Stopped> {
        let Progress { continues, turn, work, .. } = &request.view.progress;
        // In a conversation that began with this turn nothing was said before.
        let (fresh, idle) = (!continues && turn.number == 1, work.calls.is_empty());
        let latest = request.into_latest();
        let earlier = if fresh { Ok(Vec::new()) } else { latest.earlier().await };
        let earlier = match earlier {
            Ok(views) => views,
            Err(error) => {
                tracing::error!(%error, "the conversation cannot be read");
                let text = "I cannot read our earlier conversation now. Send any message to try again.";
                return cannot_begin(&latest, journal, text.into()).await;
            }
        };
        let wishes = Wishes::of(earlier.iter().chain([latest.view().as_ref()]));
        // Most turns of a model of ours use no tools: they need no workplace.
        if let (true, Ok(Mind::BuiltIn(model))) = (idle, self.workplaces.mind(&wishes))
            && let Ended::WithTurn(end) = built_in::round(model.as_ref(), &latest, journal).await?
        {
            return journal.record(end).await;
        }
        // Boxed, so that whoever needs none of it carries none of it.
        Box::pin(self.work(latest, journal, &earlier, &wishes)).await
    }
}

impl CodingAgent {
    async fn work(
        &self,
        latest: Latest,
        journal: &Journal,
        earlier: &[TaskView],
        wishes: &Wishes,
    ) -> Result<(), Stopped> {
        let (scope, context) = (latest.view().progress.scope.clone(), latest.view().context.clone());
        match self.workplaces.open(&scope, &context, wishes).await {
            Ok(place) => Performance::new(place, latest, journal, earlier).run().await,
            Err(refusal) => {
                tracing::warn!(error = %refusal, "a conversation cannot be furnished");
                let text = format!("I cannot work here: {refusal}. Send any message to try again.");
                cannot_begin(&latest, journal, text).await
            }
        }
    }
}

/// The turn ends before it began, and the person may try again.
async fn cannot_begin(latest: &Latest, journal: &Journal, text: String) -> Result<(), Stopped> {
    let message = Some(Voice::of(&latest.view()).reason(Reason::Unavailable, text).into());
    journal.record(Fact::TurnEnded { outcome: Outcome::InputRequired, message, usage: None }).await
}

/// Names the member as the client spelled it.
fn fault(wishes: &Wishes, refusal: Refusal) -> Fault {
    let member = match (wishes.said_in.as_str(), refusal.field) {
        ("attache", field) => field,
        (_, "workspace") => "workspacePath",
        (_, field) => field,
    };
    Fault::invalid(format!("message.metadata.{}.{member}", wishes.said_in), refusal.what)
}
