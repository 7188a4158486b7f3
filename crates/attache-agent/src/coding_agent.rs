//! The agent that works with a language model and tools.

use std::sync::Arc;

use async_trait::async_trait;
use attache_domain::{Message, ReplyShape};
use attache_model::LanguageModel;
use attache_session::{Agent, Journal, Stopped, TurnRequest};
use attache_tool::Workspace;

use crate::performance::Performance;
use crate::{Referee, Toolbox};

pub struct CodingAgent {
    pub(crate) model: Arc<dyn LanguageModel>,
    pub(crate) toolbox: Arc<dyn Toolbox>,
    pub(crate) referee: Arc<dyn Referee>,
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) options: CodingOptions,
}

#[derive(Debug, Clone)]
pub struct CodingOptions {
    /// What the model is told before everything else.
    pub instructions: String,
    /// Answers of the model in one turn; then the person is asked whether to go on.
    pub most_rounds: u32,
}

impl Default for CodingOptions {
    fn default() -> Self {
        Self { instructions: String::new(), most_rounds: 100 }
    }
}

impl CodingAgent {
    pub fn new(
        model: Arc<dyn LanguageModel>,
        toolbox: Arc<dyn Toolbox>,
        referee: Arc<dyn Referee>,
        workspace: Arc<Workspace>,
        options: CodingOptions,
    ) -> Self {
        Self { model, toolbox, referee, workspace, options }
    }
}

#[async_trait]
impl Agent for CodingAgent {
    fn keeps_conversation(&self) -> bool {
        true
    }

    fn reply_shape(&self, _message: &Message) -> ReplyShape {
        ReplyShape::Task
    }

    async fn perform(&self, request: TurnRequest, journal: &Journal) -> Result<(), Stopped> {
        Performance::new(self, request, journal).run().await
    }
}
