//! `list_background_processes`: the commands that run or ran in the background.

use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use attache_domain::Content;
use attache_tool::{
    Preview, Proposal, Tool, ToolContext, ToolError, ToolInput, ToolKind, ToolOutput, ToolSpec,
};
use serde_json::json;

use crate::shell::BackgroundProcesses;

#[derive(Debug)]
pub struct ListBackgroundProcesses {
    background: Arc<BackgroundProcesses>,
}

impl ListBackgroundProcesses {
    pub fn new(background: Arc<BackgroundProcesses>) -> Self {
        Self { background }
    }
}

#[async_trait]
impl Tool for ListBackgroundProcesses {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    async fn propose(&self, input: &ToolInput, _: &ToolContext) -> Result<Proposal, ToolError> {
        let shown = Preview::Plain { summary: "list background processes".into() };
        Ok(Proposal { input: input.clone(), effects: vec![], shown })
    }

    async fn run(&self, _: Proposal, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let processes = self.background.list();
        let text = if processes.is_empty() {
            "There are no background processes.".into()
        } else {
            processes.join("\n")
        };
        let summary = format!("{} background processes", processes.len());
        Ok(ToolOutput { content: vec![Content::Text(text)], summary, diff: None, files: Vec::new() })
    }
}

/// The same for every conversation.
static SPEC: LazyLock<ToolSpec> = LazyLock::new(spec);

fn spec() -> ToolSpec {
    ToolSpec {
        name: "list_background_processes".into(),
        title: "List Background Processes".into(),
        description:
            "Lists the commands of this conversation that were started in the background, with their pid, \
            whether they run or how they ended, and where their log is."
                .into(),
        kind: ToolKind::Read,
        parameters: json!({ "type": "object", "properties": {} }),
        repeatable: true,
        parallel: true,
        origin: None,
    }
}
