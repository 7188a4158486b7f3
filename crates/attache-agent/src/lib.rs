//! Performs the steps of a task with a model; is the session's `Agent`.
//!
//! Knows no HTTP, SQL or A2A: it reads a task, asks a model, and reports facts to the journal.

mod turn;

use std::sync::Arc;

use async_trait::async_trait;
use attache_domain::{Message, ReplyShape};
use attache_model::ModelProvider;
use attache_session::{Agent, Journal, Stopped, TurnRequest};

/// An agent that answers with what one model says.
pub struct ModelAgent {
    model: Arc<dyn ModelProvider>,
}

impl ModelAgent {
    pub fn new(model: Arc<dyn ModelProvider>) -> Self {
        Self { model }
    }
}

#[async_trait]
impl Agent for ModelAgent {
    fn reply_shape(&self, message: &Message) -> ReplyShape {
        self.model.reply_shape(message)
    }

    async fn perform(&self, request: TurnRequest, journal: &Journal) -> Result<(), Stopped> {
        turn::perform(self.model.as_ref(), request, journal).await
    }
}
