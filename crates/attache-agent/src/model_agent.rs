//! The agent that answers with what one model says.

use std::sync::Arc;

use async_trait::async_trait;
use attache_domain::{Message, ReplyShape};
use attache_model::ModelProvider;
use attache_session::{Agent, Journal, Stopped, TurnRequest};

use crate::turn;

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
    /// The built-in models see nothing but the task.
    fn keeps_conversation(&self) -> bool {
        false
    }

    fn reply_shape(&self, message: &Message) -> ReplyShape {
        self.model.reply_shape(message)
    }

    async fn perform(&self, request: TurnRequest, journal: &Journal) -> Result<(), Stopped> {
        turn::perform(self.model.as_ref(), request, journal).await
    }
}
