//! The tool behind `/agents enable` and `/agents disable`. Only commands can use it, and a person is asked as before any other
//! write to a settings file.

use std::sync::Arc;

use async_trait::async_trait;
use attache_command::CONFIGURE_AGENT;
use attache_domain::Content;
use attache_tool::{
    Effect, Preview, Proposal, Tool, ToolContext, ToolError, ToolErrorKind, ToolInput, ToolKind, ToolOutput,
    ToolSpec,
};
use serde_json::json;

use crate::agent_directory::WorkspaceAgents;
use crate::agent_files::AgentSwitch;
use crate::visible;

pub(crate) struct ConfigureAgent {
    spec: ToolSpec,
    agents: Arc<WorkspaceAgents>,
}

impl ConfigureAgent {
    pub(crate) fn new(agents: Arc<WorkspaceAgents>) -> Self {
        Self { spec: spec(), agents }
    }

    async fn plan(&self, input: &ToolInput) -> Result<(AgentSwitch, String, bool), ToolError> {
        let name = input.get("name").and_then(|name| name.as_str());
        let enabled = input.get("enabled").and_then(|enabled| enabled.as_bool());
        let (Some(name), Some(enabled)) = (name, enabled) else {
            return Err(ToolError::bad_input("`name` must be a text, and `enabled` true or false"));
        };
        let switch = self.agents.plan_switch(name, enabled).await;
        let failed = |text: String| ToolError::new(ToolErrorKind::InvalidToolParams, text);
        Ok((switch.map_err(|failure| failed(failure.text()))?, name.to_owned(), enabled))
    }
}

#[async_trait]
impl Tool for ConfigureAgent {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn propose(&self, input: &ToolInput, _context: &ToolContext) -> Result<Proposal, ToolError> {
        let (switch, name, enabled) = self.plan(input).await?;
        let files: Vec<String> = switch.files().map(|file| visible(&file.display().to_string())).collect();
        let what = if enabled { "Enable" } else { "Disable" };
        let prompt = format!(
            "{what} the agent {name}: set agents.overrides.{name}.enabled to {enabled} in {}",
            files.join(" and ")
        );
        // Not as an edit: the settings may hold keys, and what is proposed is recorded.
        Ok(Proposal {
            input: input.clone(),
            effects: switch.files().map(|path| Effect::Write { path: path.to_owned() }).collect(),
            shown: Preview::Info { prompt, urls: Vec::new() },
        })
    }

    async fn run(&self, proposal: Proposal, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (switch, _, _) = match self.plan(&proposal.input).await {
            Ok(planned) => planned,
            // Done before the server was stopped.
            Err(error) if error.message.contains(" is already ") => {
                return Ok(ToolOutput {
                    content: vec![Content::Text(error.message)],
                    ..ToolOutput::default()
                });
            }
            Err(error) => return Err(error),
        };
        let effects: Vec<Effect> =
            switch.files().map(|path| Effect::Write { path: path.to_owned() }).collect();
        if effects != proposal.effects {
            let message = "the settings have changed since this was approved; nothing was changed";
            return Err(ToolError::new(ToolErrorKind::InvalidToolParams, message));
        }
        let failed = |text: String| ToolError::new(ToolErrorKind::FileWriteFailure, text);
        let message = self.agents.switch(switch).await.map_err(failed)?;
        Ok(ToolOutput { content: vec![Content::Text(message)], ..ToolOutput::default() })
    }
}

fn spec() -> ToolSpec {
    ToolSpec {
        name: CONFIGURE_AGENT.to_owned(),
        title: "ConfigureAgent".to_owned(),
        description: "Switches an agent on or off in the settings.".to_owned(),
        kind: ToolKind::Edit,
        parameters: json!({
            "type": "object",
            "properties": {"name": {"type": "string"}, "enabled": {"type": "boolean"}},
            "required": ["name", "enabled"],
        }),
        repeatable: true,
        parallel: false,
        origin: None,
    }
}
