//! The view of a conversation that commands get.

use std::path::Path;

use async_trait::async_trait;
use attache_command::{
    CommandContext, ConversationStats, LoadedMemory, NoWorkspaceInfo, ToolEntry, WorkspaceInfo,
};
use attache_domain::{Content, RequestedSettings};
use serde_json::{Map, Value};

use crate::turn_runner::TurnRunner;

pub(crate) struct TurnCommandContext<'p, 'a>(&'p TurnRunner<'a>);

impl<'p, 'a> TurnCommandContext<'p, 'a> {
    pub(crate) fn new(runner: &'p TurnRunner<'a>) -> Self {
        Self(runner)
    }
}

#[async_trait]
impl CommandContext for TurnCommandContext<'_, '_> {
    async fn progress(&self, text: &str) {
        // A stopped turn is detected at the next step.
        let _ = self.0.record_notice(text.to_owned()).await;
    }

    fn workspace(&self) -> &Path {
        self.0.setup.roots().first().map_or(Path::new("."), |root| root.as_path())
    }

    fn workspace_info(&self) -> &dyn WorkspaceInfo {
        self.0.setup.info.as_deref().unwrap_or(&NoWorkspaceInfo)
    }

    async fn refresh_memory(&self) -> LoadedMemory {
        let view = self.0.task.view();
        let (scope, context) = (view.progress.scope.clone(), view.context.clone());
        drop(view);
        self.0.conversations.refresh(&scope, &context).await;
        self.workspace_info().memory().await
    }

    fn tools(&self) -> Vec<ToolEntry> {
        let entry = |spec: &attache_tool::ToolSpec| ToolEntry {
            name: spec.name.clone(),
            description: spec.description.clone(),
            server: spec.origin.as_ref().map(|origin| origin.server.clone()),
        };
        self.0.tools.registry.tools().map(|tool| entry(tool.spec())).collect()
    }

    fn model(&self) -> String {
        let view = self.0.task.view();
        let requested = RequestedSettings::of([view.as_ref()]).model;
        requested.unwrap_or_else(|| self.0.setup.model.name().to_owned())
    }

    fn stats(&self) -> ConversationStats {
        let view = self.0.task.view();
        let mut stats = self.0.earlier_totals.clone();
        stats.add(&view);
        stats.into()
    }

    async fn read_file(&self, path: &str) -> Result<String, String> {
        let context = self.0.tool_context(None);
        let tool = self.0.tools.registry.find("read_file").map_err(|error| error.message)?;
        let input = Map::from_iter([("file_path".to_owned(), Value::from(path))]);
        let proposal = tool.propose(&input, &context).await.map_err(|error| error.message)?;
        let output = tool.run(proposal, &context).await.map_err(|error| error.message)?;
        let texts = output.content.iter().filter_map(|content| match content {
            Content::Text(text) => Some(text.as_str()),
            Content::Bytes { .. } | Content::Link { .. } => None,
        });
        Ok(texts.collect::<Vec<_>>().join("\n"))
    }
}
