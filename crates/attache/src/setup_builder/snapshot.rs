//! What conversations in one workspace have in common: read once, and again as soon as a file it came from has changed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use attache_agent::{SettingsRefusal, declarations};
use attache_config::ConfigError;
use attache_domain::RequestedSettings;
use attache_model::ToolDeclaration;
use attache_tool::policy::Policy;
use attache_workspace::context::LoadedContext;
use attache_workspace::{AgentFlags, ChosenBy, FileStamps, WorkspaceSettings, record_stamps};

use super::{SetupBuilder, opening_prompt, requested};
use crate::command_context::context_files;
use crate::conversation_tools::standard_tools;
use crate::project::{Project, ProjectQuery};

/// Nothing in it is one conversation's own.
pub(crate) struct WorkspaceSnapshot {
    /// Absolute and without links.
    pub(super) root: PathBuf,
    pub(super) settings: Arc<WorkspaceSettings>,
    pub(super) policy: Policy,
    pub(super) context: LoadedContext,
    /// What of the project's is ignored, in one line.
    pub(super) notice: Option<String>,
    pub(super) instructions: Arc<str>,
    /// What is in the workspace, where the model is told.
    pub(super) tree: Option<String>,
    /// The standard tools that are offered.
    pub(crate) declared: Arc<[ToolDeclaration]>,
}

/// Which conversations have the same.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WorkspaceKey {
    pub(super) root: PathBuf,
    pub(super) chosen_by: ChosenBy,
    /// Those that a client wishes to be used unasked: they are among the rules.
    pub(super) allowed_tools: Vec<String>,
}

/// So many sites are remembered, the latest first.
const MAX_SNAPSHOTS: usize = 32;

/// So many files are looked at on the spot; more are looked at where waiting hurts nobody.
const MAX_STAMPS_INLINE: usize = 64;

#[derive(Default)]
pub(crate) struct SnapshotCache {
    cached: Mutex<Vec<Arc<CachedSnapshot>>>,
}

struct CachedSnapshot {
    key: WorkspaceKey,
    snapshot: Arc<WorkspaceSnapshot>,
    stamps: FileStamps,
}

impl SnapshotCache {
    fn known(&self) -> MutexGuard<'_, Vec<Arc<CachedSnapshot>>> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, site: &WorkspaceKey) -> Option<Arc<CachedSnapshot>> {
        self.known().iter().find(|known| known.key == *site).cloned()
    }

    fn keep(&self, known: CachedSnapshot) {
        let mut all = self.known();
        all.retain(|other| other.key != known.key);
        // What has just been written may be written again, and nobody could tell.
        if known.stamps.are_stable() {
            all.insert(0, Arc::new(known));
            all.truncate(MAX_SNAPSHOTS);
        }
    }
}

impl SetupBuilder {
    /// Where a conversation with these wishes works.
    pub(crate) fn workspace_key(&self, wishes: &RequestedSettings) -> Result<WorkspaceKey, SettingsRefusal> {
        let (root, chosen_by) = self.requested_root(wishes)?;
        Ok(WorkspaceKey { root, chosen_by, allowed_tools: wishes.allowed_tools.clone() })
    }

    /// What is there, if it was read before, is as it was, and can be told so without waiting.
    pub(crate) fn cached_snapshot(&self, site: &WorkspaceKey) -> Option<Arc<WorkspaceSnapshot>> {
        let known = self.snapshots.find(site).filter(|known| known.stamps.len() <= MAX_STAMPS_INLINE)?;
        known.stamps.are_current().then(|| known.snapshot.clone())
    }

    /// What is there. Waits for the disk.
    pub(crate) fn snapshot(
        &self,
        site: &WorkspaceKey,
        wishes: &RequestedSettings,
    ) -> Result<Arc<WorkspaceSnapshot>, SettingsRefusal> {
        if let Some(known) = self.snapshots.find(site).filter(|known| known.stamps.are_current()) {
            return Ok(known.snapshot.clone());
        }
        let flags = requested::flags(&self.operator, &self.flags, wishes)?;
        let (read, sightings) = record_stamps(|| self.read(&site.root, site.chosen_by, &flags));
        let refused = |error: ConfigError| SettingsRefusal { field: "workspace", what: error.to_string() };
        let ground = Arc::new(read.map_err(refused)?);
        self.snapshots.keep(CachedSnapshot {
            key: site.clone(),
            snapshot: ground.clone(),
            stamps: sightings,
        });
        Ok(ground)
    }

    /// The settings of the workspace that `wishes` name, where what else they say depends on them. Reads a few small
    /// files unless they were read before.
    pub(super) fn named_settings(
        &self,
        wishes: &RequestedSettings,
    ) -> Result<Option<Arc<WorkspaceSettings>>, SettingsRefusal> {
        let depends = wishes.approval_mode.is_some() || !wishes.mcp_servers.is_empty();
        if wishes.workspace.is_none() || !depends {
            return Ok(None);
        }
        let site = self.workspace_key(wishes)?;
        if let Some(ground) = self.cached_snapshot(&site) {
            return Ok(Some(ground.settings.clone()));
        }
        let flags = requested::flags(&self.operator, &self.flags, wishes)?;
        let project = self.project(&site.root, site.chosen_by, &flags);
        let refused = |error: ConfigError| SettingsRefusal { field: "workspace", what: error.to_string() };
        Ok(Some(Arc::new(project.map_err(refused)?.settings)))
    }

    fn project(&self, root: &Path, chosen_by: ChosenBy, flags: &AgentFlags) -> Result<Project, ConfigError> {
        let environment = |name: &str| self.variables.get(name).cloned();
        let place = ProjectQuery {
            folder: root,
            chosen_by,
            flags,
            environment: &environment,
            operator: &self.operator,
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
        let notice = project.notice();
        let Project { settings, rules, .. } = project;
        let told = context_files(&settings, root);
        Ok(WorkspaceSnapshot {
            root: root.to_owned(),
            policy: rules.policy,
            notice,
            instructions: opening_prompt::instructions(root, &told).into(),
            tree: opening_prompt::tree(root, &settings),
            declared: declarations(&standard_tools(&settings, &self.tools, self.attended, &self.confiner)),
            settings: Arc::new(settings),
            context: told,
        })
    }
}
