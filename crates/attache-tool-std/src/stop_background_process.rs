//! `stop_background_process`: ends a background command with everything it started.
//!
//! A confined command sees only its own processes, so `kill` cannot do this.

use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use attache_domain::Content;
use attache_tool::{
    Preview, Proposal, Tool, ToolContext, ToolError, ToolInput, ToolKind, ToolOutput, ToolSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::read_background_output::unknown;
use crate::shell::BackgroundProcesses;

const NAME: &str = "stop_background_process";

#[derive(Debug)]
pub struct StopBackgroundProcess {
    background: Arc<BackgroundProcesses>,
}

#[derive(Debug, Deserialize)]
struct Input {
    pid: i32,
}

impl StopBackgroundProcess {
    pub fn new(background: Arc<BackgroundProcesses>) -> Self {
        Self { background }
    }
}

#[async_trait]
impl Tool for StopBackgroundProcess {
    fn spec(&self) -> &ToolSpec {
        &SPEC
    }

    async fn propose(&self, input: &ToolInput, _: &ToolContext) -> Result<Proposal, ToolError> {
        let Input { pid } = parse(input)?;
        let shown = Preview::Plain { summary: format!("stop the background process {pid}") };
        Ok(Proposal { input: input.clone(), effects: vec![], shown })
    }

    async fn run(&self, proposal: Proposal, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Input { pid } = parse(&proposal.input)?;
        let state = self.background.stop(pid).await.ok_or_else(|| unknown(pid, &self.background.list()))?;
        let text = format!("Process {pid}: {state}");
        Ok(ToolOutput { content: vec![Content::Text(text)], summary: state, diff: None, files: Vec::new() })
    }
}

fn parse(input: &ToolInput) -> Result<Input, ToolError> {
    serde_json::from_value(Value::Object(input.clone()))
        .map_err(|error| ToolError::bad_input(format!("{NAME}: {error}")))
}

/// The same for every conversation.
static SPEC: LazyLock<ToolSpec> = LazyLock::new(spec);

fn spec() -> ToolSpec {
    ToolSpec {
        name: NAME.into(),
        title: "Stop Background Process".into(),
        description: "Ends a command of this conversation that runs in the background, with everything it started. Use \
            this instead of `kill`: a command does not see the processes of others."
            .into(),
        kind: ToolKind::Execute,
        parameters: json!({
            "type": "object",
            "properties": {
                "pid": { "type": "integer", "description": "The pid, as list_background_processes tells it." }
            },
            "required": ["pid"]
        }),
        repeatable: true,
        parallel: true,
        origin: None,
    }
}
