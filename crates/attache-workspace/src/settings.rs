//! Loads the agent's settings, for every entry point.
//!
//! From highest to lowest precedence: flags, environment, the operator's enforced values, the user's `.env` file, the
//! project's files, the user's files, the operator's defaults, the built-in values. Every value keeps its origin. What
//! a project can set depends on its [`ProjectTrust`]: it can always restrict, and can never change trust.

mod age;
pub(crate) mod agent_overrides;
pub(crate) mod agent_signatures;
pub(crate) mod agent_tls;
pub(crate) mod check;
pub(crate) mod entries;
pub(crate) mod expand;
mod flags_and_variables;
pub(crate) mod gather;
pub(crate) mod keys;
pub(crate) mod layer;
pub(crate) mod mcp;
pub(crate) mod nearest;
pub(crate) mod resolve;
pub(crate) mod typed;

use std::path::{Path, PathBuf};

use agent_overrides::AgentOverrides;
use attache_config::{ConfigError, Environment, Flags, OperatorAgentSettings, Settings, variable};
use attache_document::{Node, NodeKind, ParseError};
use gather::GatheredSettings;
use typed::{SettingsReader, WorkspaceSettings};

use crate::env_file::PROJECTS_MAY_READ;
use crate::read_file::read_text;
use crate::settings::layer::Layer;
use crate::{EnvFile, HomeFolders, ModelCredentials, ProjectTrust};
pub(crate) use flags_and_variables::{truth, variables};

const MAX_BYTES: u64 = 1 << 20;

/// The command-line flags about the agent.
#[derive(Debug, Clone, Default)]
pub struct AgentFlags {
    pub model: Option<String>,
    pub approval_mode: Option<String>,
    pub allowed_tools: Vec<String>,
    pub allowed_mcp_server_names: Vec<String>,
    pub include_directories: Vec<String>,
    pub output_format: Option<String>,
    /// Rule files or folders that replace the user's.
    pub policies: Vec<PathBuf>,
    /// Rule files or folders in addition to the administrator's.
    pub admin_policies: Vec<PathBuf>,
    /// `--trust`: the folder is trusted for this run.
    pub trust: bool,
    /// The hashes of the permissions that are accepted for this run.
    pub accepted: Vec<String>,
}

impl From<&Flags> for AgentFlags {
    fn from(flags: &Flags) -> Self {
        Self { model: flags.model.clone(), approval_mode: flags.approval_mode.clone(), ..Self::default() }
    }
}

/// The sources of settings.
#[derive(Clone, Copy)]
pub struct SettingsSources<'a> {
    /// Absolute and without links.
    pub workspace: &'a Path,
    pub home: Option<&'a Path>,
    pub flags: &'a AgentFlags,
    pub environment: Environment<'a>,
    pub operator: &'a Settings,
    /// What the workspace's own files can set.
    pub project_trust: &'a ProjectTrust,
}

impl WorkspaceSettings {
    pub fn load(sources: &SettingsSources<'_>) -> Result<Self, ConfigError> {
        let homes = HomeFolders::new(sources.home.map(Path::to_owned), sources.environment);
        let place = SettingsFiles {
            workspace: sources.workspace,
            homes: &homes,
            environment: sources.environment,
            operator: &sources.operator.agent,
        };
        let trusted = sources.project_trust.is_trusted();
        let (mut gathered, env_file) = place.gather(sources.project_trust)?;
        let keys = ModelCredentials::read(sources.environment, env_file.as_ref());
        flags_and_variables::variables(&mut gathered, sources.environment, env_file.as_ref(), &keys)?;
        flags_and_variables::flags(&mut gathered, sources.flags)?;
        let resolved = resolve::resolve(&gathered);
        let mut warnings = gathered.warnings;
        let mut reader = SettingsReader {
            resolved: &resolved,
            workspace: sources.workspace,
            homes: &homes,
            trusted,
            warnings: &mut warnings,
        };
        Ok(Self {
            model: reader.model(),
            general: reader.general(),
            tools: reader.tools(),
            context: reader.context(&sources.operator.allowed_roots),
            mcp_servers: reader.servers(),
            mcp_allowed: resolved.texts("mcp.allowed"),
            mcp_excluded: resolved.texts("mcp.excluded").unwrap_or_default(),
            security: reader.security(),
            policy_paths: reader.paths("policyPaths"),
            output_format: reader.output_format(),
            enable_agents: resolved.bool("experimental.enableAgents"),
            agent_overrides: AgentOverrides::resolve(&gathered.overrides),
            trusted,
            project_trust: sources.project_trust.clone(),
            project: gathered.project,
            keys,
            homes,
            warnings,
            resolved,
        })
    }
}

/// The settings files of one workspace.
pub(crate) struct SettingsFiles<'a> {
    pub(crate) workspace: &'a Path,
    pub(crate) homes: &'a HomeFolders,
    pub(crate) environment: Environment<'a>,
    pub(crate) operator: &'a OperatorAgentSettings,
}

/// The variables that a file can use.
#[derive(Clone, Copy)]
enum VisibleVariables<'a> {
    /// The environment and the user's `.env` file.
    Users(Option<&'a EnvFile>),
    /// Only the project's `.env` file.
    Projects(Option<&'a EnvFile>),
    /// The project's `.env` file, and some of the user's variables.
    ProjectsAnd { own: Option<&'a EnvFile>, user: Option<&'a EnvFile>, names: &'a [String] },
}

impl SettingsFiles<'_> {
    /// Reads all files, and the user's `.env` file.
    fn gather(
        &self,
        project_trust: &ProjectTrust,
    ) -> Result<(GatheredSettings, Option<EnvFile>), ConfigError> {
        let mut gathered = GatheredSettings::default();
        let env_file = self.gather_own(&mut gathered)?;
        let folder = self.workspace.join(".gemini");
        // In the home folder, the settings are the user's own, not a project's.
        if Some(folder.as_path()) == self.homes.gemini() {
            return Ok((gathered, env_file));
        }
        let project = EnvFile::of_project(self.workspace, self.homes, &mut gathered.warnings);
        let names = projects_may_read(&gathered);
        let variables =
            VisibleVariables::ProjectsAnd { own: project.as_ref(), user: env_file.as_ref(), names: &names };
        for (name, layer) in [("config.yaml", Layer::ProjectYaml), ("settings.json", Layer::ProjectJson)] {
            let path = folder.join(name);
            let read = self.project_file(&mut gathered, variables, &path, layer, project_trust);
            match read {
                // A file that is not trusted does not stop the work either.
                Err(error) if !project_trust.is_trusted() => {
                    gathered.warnings.push(format!("{} is passed over: {error}", path.display()));
                }
                read => read?,
            }
        }
        Ok((gathered, env_file))
    }

    /// Reads the settings of the operator and the user.
    pub(crate) fn gather_own(&self, gathered: &mut GatheredSettings) -> Result<Option<EnvFile>, ConfigError> {
        let env_file = EnvFile::of_user(self.homes, &mut gathered.warnings);
        self.operator(gathered, env_file.as_ref())?;
        let yaml = self.homes.user_yaml().map(|path| (path, Layer::UserYaml));
        let json = self.homes.user_settings().map(|path| (path, Layer::UserJson));
        for (path, layer) in yaml.into_iter().chain(json) {
            if let Some(mut tree) = self.tree(&path, layer)? {
                self.expand_variables(&mut tree, &path, VisibleVariables::Users(env_file.as_ref()), gathered);
                gathered.file(&path, layer, &tree)?;
            }
        }
        Ok(env_file)
    }

    /// Reads the operator's settings. Also called separately, to find errors at the start.
    pub(crate) fn operator(
        &self,
        gathered: &mut GatheredSettings,
        env_file: Option<&EnvFile>,
    ) -> Result<(), ConfigError> {
        let OperatorAgentSettings { path, enforced, defaults, named } = self.operator;
        flags_and_variables::named(gathered, path, named)?;
        for (layer, tree) in [(Layer::OperatorDefaults, defaults), (Layer::OperatorEnforced, enforced)] {
            let mut tree = tree.clone();
            self.expand_variables(&mut tree, path, VisibleVariables::Users(env_file), gathered);
            gathered.file(path, layer, &tree)?;
        }
        Ok(())
    }

    fn project_file(
        &self,
        gathered: &mut GatheredSettings,
        variables: VisibleVariables<'_>,
        path: &Path,
        layer: Layer,
        project_trust: &ProjectTrust,
    ) -> Result<(), ConfigError> {
        let Some(mut tree) = self.tree(path, layer)? else { return Ok(()) };
        let mut written = tree.clone();
        if let VisibleVariables::ProjectsAnd { own, .. } = variables {
            self.expand_variables(
                &mut written,
                path,
                VisibleVariables::Projects(own),
                &mut GatheredSettings::default(),
            );
        }
        self.expand_variables(&mut tree, path, variables, gathered);
        gathered.project_file(path, layer, (&tree, &written), project_trust)
    }

    fn tree(&self, path: &Path, layer: Layer) -> Result<Option<Node>, ConfigError> {
        let beneath = layer.is_project().then_some(self.workspace);
        let read = read_text(path, MAX_BYTES, beneath);
        let unreadable =
            |source| ConfigError::Unreadable { what: "settings file", path: path.to_owned(), source };
        let Some(text) = read.map_err(unreadable)? else { return Ok(None) };
        let yaml = matches!(layer, Layer::UserYaml | Layer::ProjectYaml);
        let parsed = if yaml { Node::from_yaml(&text) } else { Node::from_json(&text) };
        parsed.map(Some).map_err(|ParseError { line, message }| ConfigError::BadSetting {
            place: format!("{}:{line}", path.display()),
            key: None,
            message,
        })
    }

    /// A project's file can use only some of the user's variables, because it could send them to a server of its
    /// choice.
    fn expand_variables(
        &self,
        tree: &mut Node,
        path: &Path,
        variables: VisibleVariables<'_>,
        gathered: &mut GatheredSettings,
    ) {
        let warnings = &mut gathered.warnings;
        let in_file = |file: Option<&EnvFile>, name: &str| {
            file.and_then(|file| file.get(name)).map(|(value, _)| value.to_owned())
        };
        let of_user = |file, name: &str| variable(self.environment, name).or_else(|| in_file(file, name));
        tree.map_texts(&mut |line, text| {
            expand::expand(text, &mut |name| match variables {
                VisibleVariables::Users(file) => of_user(file, name),
                VisibleVariables::Projects(own) => in_file(own, name),
                VisibleVariables::ProjectsAnd { user, names, .. } if names.iter().any(|known| known == name) => {
                    of_user(user, name)
                }
                VisibleVariables::ProjectsAnd { own, user, .. } => {
                    let value = in_file(own, name);
                    if value.is_none() && of_user(user, name).is_some() {
                        warnings.push(format!(
                            "{}:{line}: a project's settings may not use ${name}; security.projectVariables in your own \
                             settings allows it",
                            path.display()
                        ));
                    }
                    value
                }
            })
        });
    }
}

/// The user's variables that a project's files can use.
fn projects_may_read(gathered: &GatheredSettings) -> Vec<String> {
    let own = gathered.values.iter().filter(|value| !value.layer.is_project());
    let value = own.filter(|value| value.key.name == "security.projectVariables");
    let named = value.filter_map(|value| match &value.node.kind {
        NodeKind::List(nodes) => Some(nodes),
        _ => None,
    });
    let named = named.flatten().filter_map(|node| match &node.kind {
        NodeKind::Text(name) => Some(name.clone()),
        _ => None,
    });
    PROJECTS_MAY_READ.iter().map(|name| (*name).to_owned()).chain(named).collect()
}

#[cfg(test)]
pub(crate) mod tests;
