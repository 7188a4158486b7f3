//! Reads a workspace's own files and decides which of their content applies. Every entry point uses it.

use std::path::{Path, PathBuf};

use attache_command::custom::{self, CustomSource, LoadedCommands};
use attache_config::{ConfigError, Environment, SettingOrigin, Settings};

use crate::agent_files::{
    self, AgentDefinition, AgentSources, AgentSwitch, LoadedAgents, SwitchContext, SwitchError,
};
use crate::policy::{self, LoadedRules, RuleSources};
use crate::{
    AgentFlags, Allowance, ChosenBy, FolderTrust, HomeFolders, ProjectReport, ProjectTrust, SettingsScope,
    SettingsSources, WorkspaceSettings,
};

/// The settings, rules and commands that apply in a folder, and the ignored ones of the project's files.
pub struct Project {
    /// Absolute and without links.
    pub folder: PathBuf,
    pub project_trust: ProjectTrust,
    pub settings: WorkspaceSettings,
    pub rules: LoadedRules,
    /// None while `experimental.enableAgents` is off.
    pub agents: Option<LoadedAgents>,
    /// Those that would count, and are switched off: some of them, or all.
    pub(crate) switched_off: Vec<AgentDefinition>,
    /// Agent files that are ignored because of that.
    pub unused_agent_files: usize,
    pub report: ProjectReport,
    /// Errors in the project's own files, for people. The files can then only restrict.
    pub broken: Option<String>,
}

/// The summary of a folder's own files at the start.
#[derive(Debug, Clone)]
pub struct TrustSummary {
    pub trust: FolderTrust,
    /// The number of ignored values, and their files.
    pub ignored: Option<String>,
}

/// The folder to read, and its user.
#[derive(Clone, Copy)]
pub struct ProjectQuery<'a> {
    /// Absolute and without links.
    pub folder: &'a Path,
    pub chosen_by: ChosenBy,
    pub flags: &'a AgentFlags,
    pub environment: Environment<'a>,
    pub operator: &'a Settings,
}

impl Project {
    /// Reads everything that applies. A broken file of a trusted project must not stop every later conversation, and
    /// must not allow what it would have denied, so the folder is then treated as not trusted. Broken files of the
    /// user or the operator are an error.
    pub fn read(place: ProjectQuery<'_>) -> Result<Self, ConfigError> {
        let ProjectQuery { folder, chosen_by, flags, environment, operator } = place;
        let project_trust = ProjectTrust::look_up(folder, chosen_by, flags, environment, operator)?;
        let is_trusted = project_trust.is_trusted();
        let error = match Self::read_with_trust(place, project_trust) {
            Err(error) if is_trusted => error,
            result => return result,
        };
        let broken = format!(
            "The project's own settings and rules do not count, and this folder is treated as not trusted, because a file \
             of the project is broken: {error}"
        );
        match Self::read_with_trust(place, ProjectTrust::distrusted("a file of the project is broken")) {
            Ok(project) => {
                tracing::warn!(folder = %folder.display(), "{broken}");
                Ok(Self { broken: Some(broken), ..project })
            }
            // The broken file is the user's or the operator's.
            Err(_) => Err(error),
        }
    }

    fn read_with_trust(place: ProjectQuery<'_>, project_trust: ProjectTrust) -> Result<Self, ConfigError> {
        let ProjectQuery { folder, flags, environment, operator, .. } = place;
        let home = environment("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
        let sources = SettingsSources {
            workspace: folder,
            home: home.as_deref(),
            flags,
            environment,
            operator,
            project_trust: &project_trust,
        };
        let settings = WorkspaceSettings::load(&sources)?;
        let rules = policy::load(&RuleSources { settings: &settings, workspace: folder, flags, operator })?;
        let mut report = settings.project.clone();
        report.extend(rules.project.clone());
        report.extend(commands(&project_trust, &settings.homes, folder).1);
        let sources = AgentSources {
            project_trust: &project_trust,
            homes: &settings.homes,
            overrides: &settings.agent_overrides,
            root: folder,
        };
        let agents = settings.enable_agents.then(|| {
            let (agents, of_project) = agent_files::load(sources);
            report.extend(of_project);
            agents
        });
        let unused = agents.is_none().then(|| agent_files::load(sources));
        let switched_off =
            agents.as_ref().or(unused.as_ref().map(|(unused, _)| unused)).map_or_else(Vec::new, |all| {
                let used = if unused.is_some() { all.agents.as_slice() } else { &[] };
                used.iter().chain(all.disabled.iter().map(|disabled| &disabled.agent)).cloned().collect()
            });
        // People accept the switch and the agents together.
        if let Some((_, of_project)) = unused.filter(|_| report.is_pending(&agent_switch())) {
            report.extend(of_project);
        }
        let unused_agent_files = match agents {
            Some(_) => 0,
            None => agent_files::count_files(&project_trust, &settings.homes, folder),
        };
        let folder = folder.to_owned();
        let broken = None;
        Ok(Self {
            folder,
            project_trust,
            settings,
            rules,
            agents,
            switched_off,
            unused_agent_files,
            report,
            broken,
        })
    }

    /// Everything that the project allows, accepted or not.
    pub fn allowances(&self) -> impl Iterator<Item = &Allowance> {
        self.report.allowances.iter().map(|(allowance, _)| allowance)
    }

    pub fn summary(&self) -> TrustSummary {
        TrustSummary { trust: self.project_trust.trust.clone(), ignored: self.report.summary() }
    }

    /// Checks that an agent can be enabled or disabled here, and finds the files to change. Without a scope: enables
    /// it where it is disabled, and disables it in the project.
    pub fn switch_agent(
        &self,
        name: &str,
        enabled: bool,
        scope: Option<SettingsScope>,
    ) -> Result<AgentSwitch, SwitchError> {
        let context = SwitchContext {
            homes: &self.settings.homes,
            root: &self.folder,
            overrides: &self.settings.agent_overrides,
            agents: self.agents.as_ref(),
        };
        AgentSwitch::plan(context, name, enabled, scope)
    }

    /// That there are agent files and the switch is off, in one line.
    pub fn agents_notice(&self) -> Option<String> {
        let files = match self.unused_agent_files {
            0 => return None,
            1 => "An agent file is not used".to_owned(),
            number => format!("{number} agent files are not used"),
        };
        Some(format!(
            "{files}, because agents are switched off: \"experimental\": {{\"enableAgents\": true}} in \
             ~/.gemini/settings.json switches them on."
        ))
    }

    /// What is ignored and how to change that, in one line.
    pub fn notice(&self) -> Option<String> {
        self.broken.clone().or_else(|| self.report.notice(&self.folder, &self.project_trust.trust))
    }
}

/// The permissions that a project's settings grant when they enable agents.
fn agent_switch() -> Allowance {
    Allowance::setting("experimental.enableAgents", &true.into(), SettingOrigin::BuiltIn)
}

/// With `--trust`, accepts the current permissions of the folder for this run and returns them. Later changes are not
/// accepted.
pub fn accept_for_this_run(
    flags: &mut AgentFlags,
    folder: &Path,
    environment: Environment<'_>,
    operator: &Settings,
) -> Result<Vec<Allowance>, ConfigError> {
    if !flags.trust {
        return Ok(Vec::new());
    }
    let place = ProjectQuery { folder, chosen_by: ChosenBy::Operator, flags, environment, operator };
    let project = Project::read(place)?;
    let new = project.report.allowances.iter().filter(|(_, counts)| !counts);
    let new: Vec<Allowance> = new.map(|(allowance, _)| allowance.clone()).collect();
    flags.accepted = new.iter().map(|allowance| allowance.digest.clone()).collect();
    Ok(new)
}

/// The custom commands that apply in `root`, and a report about those of the project.
pub(crate) fn commands(
    project_trust: &ProjectTrust,
    homes: &HomeFolders,
    root: &Path,
) -> (LoadedCommands, ProjectReport) {
    let own = root.join(".gemini");
    let user = homes.gemini().map(|gemini| CustomSource::user(gemini.join("commands")));
    let project = (homes.gemini() != Some(own.as_path()))
        .then(|| CustomSource::project(own.join("commands"), root.to_owned()));
    let sources: Vec<_> = user.into_iter().chain(project.clone()).collect();
    let mut report = ProjectReport::default();
    let mut loaded = custom::load_admitted(&sources, &mut |source, command| {
        if Some(source) != project.as_ref() {
            return true;
        }
        let name = attache_command::Command::name(command);
        let programs = command.programs();
        let line = command.first_program_line();
        if programs.is_empty() {
            if !project_trust.is_trusted() {
                let origin = SettingOrigin::File { path: command.path().into(), line: 0 };
                report.ignored.push((origin, format!("/{name}")));
            }
            return project_trust.is_trusted();
        }
        let allowance = Allowance::command(name, command.path(), line, &programs);
        let counts = project_trust.admits(&allowance);
        report.allowances.push((allowance, counts));
        counts
    });
    if !project_trust.is_trusted() {
        loaded.problems.retain(|problem| !problem.path.starts_with(&own));
    }
    (loaded, report)
}
