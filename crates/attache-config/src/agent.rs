//! The agent's own settings: one loader for every surface.
//!
//! From the strongest: flags, environment, what the operator enforces, the `.env` file, the project's files, the
//! user's files, the operator's defaults, what is built in. Every value keeps where it came from. What a project says
//! is read only if the folder is trusted, and even then it has no say in who trusts whom.

pub(crate) mod check;
pub(crate) mod expand;
pub(crate) mod gather;
pub(crate) mod keys;
pub(crate) mod mcp;
pub(crate) mod nearest;
pub(crate) mod resolve;
mod spoken;
pub(crate) mod typed;

use std::path::{Path, PathBuf};

use crate::environment::{CREDENTIALS, Environment, variable};
use crate::origin::Layer;
use crate::reading::read_text;
use crate::tree::{Node, Unreadable};
use crate::{ConfigError, EnvFile, Homes, Keys, Settings};
use gather::Gathered;
pub(crate) use spoken::{truth, variables};
use typed::{Reader, WorkspaceSettings};

const MOST_BYTES: u64 = 1 << 20;

/// What was said about the agent on the command line.
#[derive(Debug, Clone, Default)]
pub struct AgentFlags {
    pub model: Option<String>,
    pub approval_mode: Option<String>,
    pub allowed_tools: Vec<String>,
    pub allowed_mcp_server_names: Vec<String>,
    pub include_directories: Vec<String>,
    pub output_format: Option<String>,
    /// Files or folders of rules instead of the user's.
    pub policies: Vec<PathBuf>,
    /// Files or folders of rules besides the administrator's.
    pub admin_policies: Vec<PathBuf>,
    pub skip_trust: bool,
}

/// Where settings are looked for.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// Absolute and without links.
    pub workspace: &'a Path,
    pub home: Option<&'a Path>,
    pub flags: &'a AgentFlags,
    pub environment: Environment<'a>,
    pub operator: &'a Settings,
    pub trusted: bool,
}

impl WorkspaceSettings {
    pub fn load(sources: &Sources<'_>) -> Result<Self, ConfigError> {
        let homes = Homes::new(sources.home.map(Path::to_owned), sources.environment);
        let place = Place {
            workspace: sources.workspace,
            homes: &homes,
            environment: sources.environment,
            operator: &sources.operator.agent,
            trusted: sources.trusted,
        };
        let (mut gathered, env_file) = place.gather()?;
        let keys = Keys::read(sources.environment, env_file.as_ref());
        spoken::variables(&mut gathered, sources.environment, env_file.as_ref(), &keys)?;
        spoken::flags(&mut gathered, sources.flags)?;
        let resolved = resolve::resolve(&gathered);
        let mut warnings = gathered.warnings;
        warnings.extend(keys.warnings().iter().cloned());
        let mut reader = Reader {
            resolved: &resolved,
            workspace: sources.workspace,
            homes: &homes,
            trusted: sources.trusted,
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
            trusted: sources.trusted,
            keys,
            env_file,
            homes,
            warnings,
            resolved,
        })
    }
}

/// What the operator's file says about the agent.
#[derive(Debug, Clone)]
pub(crate) struct OperatorAgent {
    pub(crate) path: PathBuf,
    pub(crate) enforced: Node,
    pub(crate) defaults: Node,
    /// The keys that stand at the top of the file and not in a table: name, value and line.
    pub(crate) named: Vec<(&'static str, String, u32)>,
}

impl Default for OperatorAgent {
    fn default() -> Self {
        Self { path: PathBuf::new(), enforced: Node::empty(), defaults: Node::empty(), named: Vec::new() }
    }
}

/// One workspace, and who has a say in it.
pub(crate) struct Place<'a> {
    pub(crate) workspace: &'a Path,
    pub(crate) homes: &'a Homes,
    pub(crate) environment: Environment<'a>,
    pub(crate) operator: &'a OperatorAgent,
    pub(crate) trusted: bool,
}

impl Place<'_> {
    /// All that files say, and the file of variables that counts.
    pub(crate) fn gather(&self) -> Result<(Gathered, Option<EnvFile>), ConfigError> {
        let mut gathered = Gathered::default();
        let env_file = EnvFile::find(self.workspace, self.homes, self.trusted, &mut gathered.warnings);
        self.operator(&mut gathered, env_file.as_ref())?;
        if let Some(path) = self.homes.user_yaml() {
            self.file(&mut gathered, env_file.as_ref(), &path, Layer::UserYaml)?;
        }
        if let Some(path) = self.homes.user_settings() {
            self.file(&mut gathered, env_file.as_ref(), &path, Layer::UserJson)?;
        }
        let folder = self.workspace.join(".gemini");
        // Whoever works in the home folder finds the user's own settings there, and no project's.
        if self.trusted && Some(folder.as_path()) != self.homes.gemini() {
            self.file(&mut gathered, env_file.as_ref(), &folder.join("config.yaml"), Layer::ProjectYaml)?;
            self.file(&mut gathered, env_file.as_ref(), &folder.join("settings.json"), Layer::ProjectJson)?;
        }
        Ok((gathered, env_file))
    }

    /// What the operator's file says; also by itself, to find mistakes at the start.
    pub(crate) fn operator(
        &self,
        gathered: &mut Gathered,
        env_file: Option<&EnvFile>,
    ) -> Result<(), ConfigError> {
        let OperatorAgent { path, enforced, defaults, named } = self.operator;
        spoken::named(gathered, path, named)?;
        for (layer, tree) in [(Layer::OperatorDefaults, defaults), (Layer::OperatorEnforced, enforced)] {
            let mut tree = tree.clone();
            self.put_variables_in(&mut tree, path, layer, env_file, gathered);
            gathered.file(path, layer, &tree)?;
        }
        Ok(())
    }

    fn file(
        &self,
        gathered: &mut Gathered,
        env_file: Option<&EnvFile>,
        path: &Path,
        layer: Layer,
    ) -> Result<(), ConfigError> {
        let beneath = layer.is_project().then_some(self.workspace);
        let read = read_text(path, MOST_BYTES, beneath);
        let unreadable =
            |source| ConfigError::Unreadable { what: "settings file", path: path.to_owned(), source };
        let Some(text) = read.map_err(unreadable)? else { return Ok(()) };
        let yaml = matches!(layer, Layer::UserYaml | Layer::ProjectYaml);
        let parsed = if yaml { Node::from_yaml(&text) } else { Node::from_json(&text) };
        let mut tree = parsed.map_err(|Unreadable { line, message }| ConfigError::BadSetting {
            place: format!("{}:{line}", path.display()),
            key: None,
            message,
        })?;
        self.put_variables_in(&mut tree, path, layer, env_file, gathered);
        gathered.file(path, layer, &tree)
    }

    /// A project's file may use variables, but not the keys of our own that it could have sent to a server of its choice.
    fn put_variables_in(
        &self,
        tree: &mut Node,
        path: &Path,
        layer: Layer,
        env_file: Option<&EnvFile>,
        gathered: &mut Gathered,
    ) {
        let warnings = &mut gathered.warnings;
        tree.map_texts(&mut |line, text| {
            expand::expand(text, &mut |name| {
                let in_file = || env_file.and_then(|file| file.get(name)).map(|(value, _)| value.to_owned());
                if layer.is_project() && CREDENTIALS.contains(&name) {
                    let own = env_file.is_some_and(EnvFile::is_project).then(in_file).flatten();
                    if own.is_none() {
                        let place = path.display();
                        warnings.push(format!("{place}:{line}: a project's settings may not use ${name}"));
                    }
                    return Some(own.unwrap_or_default());
                }
                variable(self.environment, name).or_else(in_file)
            })
        });
    }
}

#[cfg(test)]
pub(crate) mod tests;
