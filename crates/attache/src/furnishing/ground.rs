//! What conversations in one workspace have in common: read once, and again as soon as a file it came from has changed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use attache_agent::{Refusal, declared};
use attache_config::context::ContextFiles;
use attache_config::{AgentFlags, ChosenBy, ConfigError, Sightings, WorkspaceSettings, watched};
use attache_domain::Wishes;
use attache_model::ToolDeclaration;
use attache_tool::policy::Policy;

use super::{Furnishing, brief, wished};
use crate::premises::context_files;
use crate::project::{Place, Project};
use crate::toolbox::standard_tools;

/// Nothing in it is one conversation's own.
pub(crate) struct Ground {
    /// Absolute and without links.
    pub(super) root: PathBuf,
    pub(super) settings: Arc<WorkspaceSettings>,
    pub(super) policy: Policy,
    pub(super) told: ContextFiles,
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
pub(crate) struct Site {
    pub(super) root: PathBuf,
    pub(super) chosen_by: ChosenBy,
    /// Those that a client wishes to be used unasked: they are among the rules.
    pub(super) allowed_tools: Vec<String>,
}

/// So many sites are remembered, the latest first.
const MOST_SITES: usize = 32;

/// So many files are looked at on the spot; more are looked at where waiting hurts nobody.
const FEW: usize = 64;

#[derive(Default)]
pub(crate) struct Grounds {
    known: Mutex<Vec<Arc<Known>>>,
}

struct Known {
    site: Site,
    ground: Arc<Ground>,
    sightings: Sightings,
}

impl Grounds {
    fn known(&self) -> MutexGuard<'_, Vec<Arc<Known>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, site: &Site) -> Option<Arc<Known>> {
        self.known().iter().find(|known| known.site == *site).cloned()
    }

    fn keep(&self, known: Known) {
        let mut all = self.known();
        all.retain(|other| other.site != known.site);
        // What has just been written may be written again, and nobody could tell.
        if known.sightings.are_settled() {
            all.insert(0, Arc::new(known));
            all.truncate(MOST_SITES);
        }
    }
}

impl Furnishing {
    /// Where a conversation with these wishes works.
    pub(crate) fn site(&self, wishes: &Wishes) -> Result<Site, Refusal> {
        let (root, chosen_by) = self.root(wishes)?;
        Ok(Site { root, chosen_by, allowed_tools: wishes.allowed_tools.clone() })
    }

    /// What is there, if it was read before, is as it was, and can be told so without waiting.
    pub(crate) fn at_hand(&self, site: &Site) -> Option<Arc<Ground>> {
        let known = self.grounds.find(site).filter(|known| known.sightings.len() <= FEW)?;
        known.sightings.still_hold().then(|| known.ground.clone())
    }

    /// What is there. Waits for the disk.
    pub(crate) fn ground(&self, site: &Site, wishes: &Wishes) -> Result<Arc<Ground>, Refusal> {
        if let Some(known) = self.grounds.find(site).filter(|known| known.sightings.still_hold()) {
            return Ok(known.ground.clone());
        }
        let flags = wished::flags(&self.operator, &self.flags, wishes)?;
        let (read, sightings) = watched(|| self.read(&site.root, site.chosen_by, &flags));
        let refused = |error: ConfigError| Refusal { field: "workspace", what: error.to_string() };
        let ground = Arc::new(read.map_err(refused)?);
        self.grounds.keep(Known { site: site.clone(), ground: ground.clone(), sightings });
        Ok(ground)
    }

    /// The settings of the workspace that `wishes` name, where what else they say depends on them. Reads a few small
    /// files unless they were read before.
    pub(super) fn named_settings(&self, wishes: &Wishes) -> Result<Option<Arc<WorkspaceSettings>>, Refusal> {
        let depends = wishes.approval_mode.is_some() || !wishes.mcp_servers.is_empty();
        if wishes.workspace.is_none() || !depends {
            return Ok(None);
        }
        let site = self.site(wishes)?;
        if let Some(ground) = self.at_hand(&site) {
            return Ok(Some(ground.settings.clone()));
        }
        let flags = wished::flags(&self.operator, &self.flags, wishes)?;
        let project = self.project(&site.root, site.chosen_by, &flags);
        let refused = |error: ConfigError| Refusal { field: "workspace", what: error.to_string() };
        Ok(Some(Arc::new(project.map_err(refused)?.settings)))
    }

    fn project(&self, root: &Path, chosen_by: ChosenBy, flags: &AgentFlags) -> Result<Project, ConfigError> {
        let environment = |name: &str| self.variables.get(name).cloned();
        let place =
            Place { folder: root, chosen_by, flags, environment: &environment, operator: &self.operator };
        Project::read(place)
    }

    fn read(&self, root: &Path, chosen_by: ChosenBy, flags: &AgentFlags) -> Result<Ground, ConfigError> {
        let project = self.project(root, chosen_by, flags)?;
        let notice = project.notice();
        let Project { settings, rules, .. } = project;
        let told = context_files(&settings, root);
        Ok(Ground {
            root: root.to_owned(),
            policy: rules.policy,
            notice,
            instructions: brief::instructions(root, &told).into(),
            tree: brief::tree(root, &settings),
            declared: declared(&standard_tools(&settings, &self.tools, self.attended, &self.confiner)),
            settings: Arc::new(settings),
            told,
        })
    }
}
