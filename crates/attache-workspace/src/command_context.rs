//! What commands show about a conversation's workspace.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use attache_command::{AgentDirectory, ExtensionEntry, LoadedMemory, MemoryFile, ServerEntry, WorkspaceInfo};
use attache_tool::{ServerState, ServerStatus};

use crate::agent_directory::WorkspaceAgents;
use crate::brought_servers::BroughtTools;
use crate::context::{self, ContextSources, LoadedContext};
use crate::extensions::{InstalledExtension, installed};
use crate::implementations::ToolServers;
use crate::setup_builder::included_folders;
use crate::{MODEL_ALIASES, WorkspaceSettings};

pub(crate) struct WorkspaceCommandContext {
    pub(crate) settings: Arc<WorkspaceSettings>,
    pub(crate) root: PathBuf,
    pub(crate) model: String,
    pub(crate) servers: Vec<Arc<dyn ToolServers>>,
    /// None where no conversation is set up.
    pub(crate) brought: Option<BroughtTools>,
    /// None where no conversation is set up.
    pub(crate) agents: Option<Arc<WorkspaceAgents>>,
}

/// Loads the context files of a workspace.
pub(crate) fn context_files(settings: &WorkspaceSettings, root: &std::path::Path) -> LoadedContext {
    context::load(&ContextSources {
        workspace: root,
        include: included_folders(settings),
        homes: &settings.homes,
        names: &settings.context.file_names,
    })
}

#[async_trait]
impl WorkspaceInfo for WorkspaceCommandContext {
    async fn memory(&self) -> LoadedMemory {
        let (settings, root) = (self.settings.clone(), self.root.clone());
        let read = tokio::task::spawn_blocking(move || context_files(&settings, &root)).await;
        let Ok(told) = read else { return LoadedMemory::default() };
        let texts = [told.global.as_str(), told.project.as_str()].map(str::trim);
        let texts: Vec<_> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        let files = told.files.into_iter().map(|(path, bytes)| MemoryFile { path, bytes });
        LoadedMemory { text: texts.join("\n\n"), files: files.collect() }
    }

    fn servers(&self) -> Vec<ServerEntry> {
        let own = self.servers.iter().flat_map(|servers| servers.statuses());
        let brought = self.brought.iter().flat_map(BroughtTools::statuses);
        let brought = brought.map(|(status, by)| {
            let entry = server_entry(status);
            ServerEntry { status: format!("{}, brought by {by}", entry.status), ..entry }
        });
        own.map(server_entry).chain(brought).collect()
    }

    fn extensions(&self) -> Vec<ExtensionEntry> {
        let found = installed(&self.settings.homes, &self.root).into_iter();
        let entry = |found: InstalledExtension| ExtensionEntry {
            name: found.name,
            version: found.version,
            enabled: found.enabled,
        };
        found.map(entry).collect()
    }

    fn agents(&self) -> Option<Arc<dyn AgentDirectory>> {
        self.agents.clone().map(|agents| agents as Arc<dyn AgentDirectory>)
    }

    fn models(&self) -> Vec<String> {
        let aliases = MODEL_ALIASES.iter().map(|alias| (*alias).to_owned());
        let mut names = vec![self.model.clone()];
        let others = aliases.chain(["offline".to_owned()]).filter(|name| *name != self.model);
        names.extend(others);
        names
    }

    fn about(&self) -> Vec<(String, String)> {
        let trusted = if self.settings.trusted { "yes" } else { "no" };
        [
            ("attache", env!("CARGO_PKG_VERSION").to_owned()),
            ("system", format!("{} {}", std::env::consts::OS, std::env::consts::ARCH)),
            ("workspace", self.root.display().to_string()),
            ("trusted", trusted.to_owned()),
            ("approval mode", self.settings.general.approval_mode.name().to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }
}

fn server_entry(status: ServerStatus) -> ServerEntry {
    ServerEntry {
        name: status.name,
        status: match status.state {
            ServerState::Unapproved => "waits for approval".to_owned(),
            ServerState::Connecting => "connecting".to_owned(),
            ServerState::Connected => "connected".to_owned(),
            ServerState::Failed { why } => format!("failed: {why}"),
        },
        tools: status.tools,
    }
}
