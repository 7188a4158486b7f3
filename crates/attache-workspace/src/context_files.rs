//! Files that the model should see: those that a message mentions, and context files near the paths that a call has
//! touched.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use attache_agent::ContextFiles;
use attache_domain::{Content, IgnorePoison};
use attache_tool::ToolContext;

use crate::agent_mentions::{self, AgentMentions};
use crate::context::{self, ContextSources, LoadedContext};
use crate::implementations::Implementations;
use crate::setup_builder::{included_folders, project_words};
use crate::{RemoteAgents, WorkspaceSettings};

pub(crate) struct WorkspaceContextFiles {
    settings: Arc<WorkspaceSettings>,
    workspace: PathBuf,
    implementations: Arc<dyn Implementations>,
    /// Files that the model has seen.
    known: Mutex<Vec<PathBuf>>,
    agents: Arc<dyn RemoteAgents>,
}

impl WorkspaceContextFiles {
    pub(crate) fn new(
        settings: Arc<WorkspaceSettings>,
        workspace: PathBuf,
        loaded: &LoadedContext,
        implementations: Arc<dyn Implementations>,
        agents: Arc<dyn RemoteAgents>,
    ) -> Self {
        let known = loaded.files.iter().map(|(path, _)| path.clone()).collect();
        Self { settings, workspace, implementations, known: Mutex::new(known), agents }
    }
}

#[async_trait]
impl ContextFiles for WorkspaceContextFiles {
    async fn referenced_by(&self, text: &str, context: &ToolContext) -> Vec<Content> {
        let names: Vec<String> = self.agents.statuses().into_iter().map(|agent| agent.name).collect();
        let AgentMentions { agents, rest } = agent_mentions::find(text, &names);
        let mut contents = self.implementations.mentioned(&rest, context).await;
        if !agents.is_empty() {
            contents.push(agent_mentions::note(&agents));
        }
        contents
    }

    async fn nearby(&self, touched: &[PathBuf]) -> Option<String> {
        let sources = ContextSources {
            workspace: &self.workspace,
            include: included_folders(&self.settings),
            homes: &self.settings.homes,
            names: &self.settings.context.file_names,
        };
        let mut text = String::new();
        for path in touched {
            let known = self.known.lock().ignore_poison().clone();
            let Some(found) = context::between(&sources, path, &known) else { continue };
            let mut known = self.known.lock().ignore_poison();
            known.extend(found.files.into_iter().map(|(path, _)| path));
            text.push_str(&found.project);
        }
        (!text.is_empty()).then(|| project_words(&text, self.settings.trusted))
    }
}
