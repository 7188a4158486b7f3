//! The state that the conversations in one workspace share. It is read once, and again when one of its files has
//! changed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use attache_agent::{SettingsRefusal, declarations};
use attache_config::ConfigError;
use attache_domain::{BoundedCache, IgnorePoison, RequestedSettings};
use attache_model::ToolDeclaration;
use attache_tool::Tool;
use attache_tool::policy::Policy;

use super::{SetupBuilder, opening_prompt, permitted};
use crate::agent_files::{AgentDefinition, LoadedAgents};
use crate::command_context::context_files;
use crate::context::LoadedContext;
use crate::file_stamps::{FileStamps, record_stamps};
use crate::project::{Project, ProjectQuery};
use crate::{AgentFlags, ChosenBy, WorkspaceSettings};

/// Contains nothing of a single conversation.
pub(crate) struct WorkspaceSnapshot {
    /// Absolute and without links.
    pub(super) root: PathBuf,
    pub(crate) settings: Arc<WorkspaceSettings>,
    pub(super) policy: Policy,
    pub(super) context: LoadedContext,
    /// The ignored parts of the project's files, in one line.
    pub(super) notice: Option<String>,
    pub(super) instructions: Arc<str>,
    /// The file tree of the workspace, if the settings show it to the model.
    pub(super) tree: Option<String>,
    /// The standard tools that are offered, and the built-in agent.
    pub(crate) declared: Arc<[ToolDeclaration]>,
    /// The tool for agents among them.
    pub(crate) help_tool: Option<Arc<dyn Tool>>,
    /// None while agents are disabled.
    pub(crate) agents: Option<Arc<LoadedAgents>>,
    /// Agents that would count, and are switched off.
    pub(crate) switched_off: Arc<[AgentDefinition]>,
    /// A note that agent files exist nevertheless.
    pub(crate) agents_notice: Option<String>,
}

/// Conversations with the same key share a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct WorkspaceKey {
    pub(super) root: PathBuf,
    pub(super) chosen_by: ChosenBy,
    /// Tools that the client allows without approval. They become rules.
    pub(super) allowed_tools: Vec<String>,
}

/// The cache keeps the latest ones.
const MAX_SNAPSHOTS: usize = 32;

/// More files are compared on a thread that may block on the disk.
const MAX_STAMPS_INLINE: usize = 64;

pub(crate) struct SnapshotCache {
    cached: Mutex<BoundedCache<WorkspaceKey, Arc<CachedSnapshot>>>,
}

struct CachedSnapshot {
    snapshot: Arc<WorkspaceSnapshot>,
    stamps: FileStamps,
}

impl Default for SnapshotCache {
    fn default() -> Self {
        Self { cached: Mutex::new(BoundedCache::new(MAX_SNAPSHOTS, MAX_SNAPSHOTS)) }
    }
}

impl SnapshotCache {
    fn find(&self, key: &WorkspaceKey) -> Option<Arc<CachedSnapshot>> {
        self.cached.lock().ignore_poison().get(key).cloned()
    }

    fn keep(&self, key: WorkspaceKey, snapshot: CachedSnapshot) {
        let mut cached = self.cached.lock().ignore_poison();
        // A file that was just written may change again without a new time stamp.
        if snapshot.stamps.are_stable() {
            cached.insert(key, Arc::new(snapshot), 1);
        } else {
            cached.remove(&key);
        }
    }
}

impl SetupBuilder {
    /// The workspace of a conversation with these settings.
    pub(crate) fn workspace_key(
        &self,
        requested: &RequestedSettings,
    ) -> Result<WorkspaceKey, SettingsRefusal> {
        let (root, chosen_by) = self.requested_root(requested)?;
        Ok(WorkspaceKey { root, chosen_by, allowed_tools: requested.allowed_tools.clone() })
    }

    /// The snapshot if it is cached, has not changed, and can be checked without blocking.
    fn cached_snapshot(&self, key: &WorkspaceKey) -> Option<Arc<WorkspaceSnapshot>> {
        let known = self.snapshots.find(key).filter(|known| known.stamps.len() <= MAX_STAMPS_INLINE)?;
        known.stamps.are_current().then(|| known.snapshot.clone())
    }

    /// The snapshot as the files are now.
    pub(crate) async fn current_snapshot(
        self: &Arc<Self>,
        requested: &RequestedSettings,
    ) -> Result<Arc<WorkspaceSnapshot>, SettingsRefusal> {
        let key = self.workspace_key(requested)?;
        if let Some(snapshot) = self.cached_snapshot(&key) {
            return Ok(snapshot);
        }
        let (builder, settings) = (self.clone(), requested.clone());
        // Reading settings, rules and context files may block.
        let read = tokio::task::spawn_blocking(move || builder.snapshot(&key, &settings)).await;
        read.map_err(|_| SettingsRefusal { field: "workspace", what: "its settings cannot be read".into() })?
    }

    /// Reads the workspace unless it is cached and has not changed. Blocks on the disk.
    fn snapshot(
        &self,
        key: &WorkspaceKey,
        requested: &RequestedSettings,
    ) -> Result<Arc<WorkspaceSnapshot>, SettingsRefusal> {
        if let Some(known) = self.snapshots.find(key).filter(|known| known.stamps.are_current()) {
            return Ok(known.snapshot.clone());
        }
        let flags = permitted::flags(&self.options.operator, &self.options.flags, requested)?;
        let (read, stamps) = record_stamps(|| self.read(&key.root, key.chosen_by, &flags));
        let refused = |error: ConfigError| SettingsRefusal { field: "workspace", what: error.to_string() };
        let snapshot = Arc::new(read.map_err(refused)?);
        self.snapshots.keep(key.clone(), CachedSnapshot { snapshot: snapshot.clone(), stamps });
        Ok(snapshot)
    }

    /// The settings of the requested workspace, if the rest of the request depends on them. Reads a few small files
    /// unless they are cached.
    pub(super) fn named_settings(
        &self,
        requested: &RequestedSettings,
    ) -> Result<Option<Arc<WorkspaceSettings>>, SettingsRefusal> {
        let depends = requested.approval_mode.is_some() || !requested.mcp_servers.is_empty();
        if requested.workspace.is_none() || !depends {
            return Ok(None);
        }
        let key = self.workspace_key(requested)?;
        if let Some(snapshot) = self.cached_snapshot(&key) {
            return Ok(Some(snapshot.settings.clone()));
        }
        let flags = permitted::flags(&self.options.operator, &self.options.flags, requested)?;
        let project = self.project(&key.root, key.chosen_by, &flags);
        let refused = |error: ConfigError| SettingsRefusal { field: "workspace", what: error.to_string() };
        Ok(Some(Arc::new(project.map_err(refused)?.settings)))
    }

    /// Reads the current state of the workspace for a conversation. Blocks on the disk.
    pub(crate) fn read_project(&self, requested: &RequestedSettings) -> Result<Project, SettingsRefusal> {
        let key = self.workspace_key(requested)?;
        let flags = permitted::flags(&self.options.operator, &self.options.flags, requested)?;
        let refused = |error: ConfigError| SettingsRefusal { field: "workspace", what: error.to_string() };
        self.project(&key.root, key.chosen_by, &flags).map_err(refused)
    }

    fn project(&self, root: &Path, chosen_by: ChosenBy, flags: &AgentFlags) -> Result<Project, ConfigError> {
        let environment = |name: &str| self.options.variables.get(name).cloned();
        let place = ProjectQuery {
            folder: root,
            chosen_by,
            flags,
            environment: &environment,
            operator: &self.options.operator,
        };
        Project::read(place)
    }

    fn read(
        &self,
        root: &Path,
        chosen_by: ChosenBy,
        flags: &AgentFlags,
    ) -> Result<WorkspaceSnapshot, ConfigError> {
        let project = self.project(root, chosen_by, flags)?;
        let (notice, agents_notice) = (project.notice(), project.agents_notice());
        let Project { settings, rules, agents, switched_off, .. } = project;
        let context = context_files(&settings, root);
        let mut tools = self.options.implementations.tools(&settings);
        let help_tool = self.help_tool(&settings);
        help_tool.iter().for_each(|tool| tools.add(tool.clone()));
        Ok(WorkspaceSnapshot {
            root: root.to_owned(),
            policy: rules.policy,
            notice,
            instructions: opening_prompt::instructions(root, &context).into(),
            tree: opening_prompt::tree(root, &settings),
            declared: declarations(&tools),
            help_tool,
            settings: Arc::new(settings),
            context,
            agents: agents.map(Arc::new),
            switched_off: switched_off.into(),
            agents_notice,
        })
    }
}
