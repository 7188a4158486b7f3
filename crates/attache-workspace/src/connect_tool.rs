//! The tool that connects to servers of clients, if several groups have one each.

use std::sync::Arc;

use async_trait::async_trait;
use attache_domain::Proposal;
use attache_tool::{Tool, ToolContext, ToolError, ToolInput, ToolOutput, ToolSpec};

/// Passes each call to the group that knows the server.
pub(crate) struct ConnectTool {
    first: Arc<dyn Tool>,
    others: Vec<Arc<dyn Tool>>,
}

impl ConnectTool {
    pub(crate) fn of(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Option<Arc<dyn Tool>> {
        let mut tools = tools.into_iter();
        let first = tools.next()?;
        let others: Vec<_> = tools.collect();
        Some(if others.is_empty() { first } else { Arc::new(Self { first, others }) })
    }

    async fn find(
        &self,
        input: &ToolInput,
        context: &ToolContext,
    ) -> Result<(&dyn Tool, Proposal), ToolError> {
        let refused = match self.first.propose(input, context).await {
            Ok(proposal) => return Ok((self.first.as_ref(), proposal)),
            Err(error) => error,
        };
        for tool in &self.others {
            if let Ok(proposal) = tool.propose(input, context).await {
                return Ok((tool.as_ref(), proposal));
            }
        }
        Err(refused)
    }
}

#[async_trait]
impl Tool for ConnectTool {
    fn spec(&self) -> &ToolSpec {
        self.first.spec()
    }

    async fn propose(&self, input: &ToolInput, context: &ToolContext) -> Result<Proposal, ToolError> {
        self.find(input, context).await.map(|(_, proposal)| proposal)
    }

    async fn run(&self, proposal: Proposal, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (tool, _) = self.find(&proposal.input, context).await?;
        tool.run(proposal, context).await
    }
}
