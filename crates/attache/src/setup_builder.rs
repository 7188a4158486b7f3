//! What a conversation works with, by the settings of its workspace and by what its client wishes and may have.

mod opening_prompt;
mod requested;
mod snapshot;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::Context;
use attache_agent::{
    AgentModel, ConversationLimits, ConversationSetup, PolicyApprover, PolicyOptions, RuleStore,
    SettingsRefusal,
};
use attache_config::{ApprovalMode, ConfigError, Settings};
use attache_domain::{Content, ContextId, RequestedSettings, Scope};
use attache_net::{AddressRules, HttpClient};
use attache_tool::policy::{PolicyMode, PolicyRule};
use attache_tool::{Confiner, IgnoreSources, ToolRegistry, Workspace};
use attache_tool_std::{GoogleWebSearch, MarkedProcesses, WebFetch, WebFetchOptions, WorkspaceFiles};
use attache_workspace::policy;
use attache_workspace::{AgentFlags, ChosenBy, ModelChoice, ProjectTrust, WorkspaceSettings};
use sha2::{Digest, Sha256};

use crate::command_context::WorkspaceCommandContext;
use crate::context_files::WorkspaceContextFiles;
use crate::conversation_tools::{GeminiWebSearch, SharedTools, standard_tools};
use crate::mcp_servers::ServerGroup;
use crate::models::Models;
use crate::project::{self, Project, ProjectQuery, TrustSummary};
use crate::sandbox;
use crate::wiring::Attendance;
pub(crate) use opening_prompt::project_words;
use requested::ServerLaunch;
use snapshot::SnapshotCache;
pub(crate) use snapshot::WorkspaceSnapshot;

/// What all conversations have in common.
pub(crate) struct SetupBuilder {
    operator: Settings,
    flags: AgentFlags,
    /// The environment as it was at the start.
    variables: HashMap<String, String>,
    models: Models,
    /// Those of the server's own workspace.
    settings: WorkspaceSettings,
    default_choice: ModelChoice,
    default_model: AgentModel,
    tools: SharedTools,
    attended: Attendance,
    confiner: Arc<dyn Confiner>,
    /// On the MCP servers that this program starts.
    server_mark: String,
    /// Where the conversations' own folders are, without links.
    scratch: OnceLock<PathBuf>,
    snapshots: SnapshotCache,
    /// Whether the server's own workspace was trusted at the start, and what of its files was ignored.
    trust: TrustSummary,
}

/// All but the connections to servers.
pub(crate) struct PreparedSetup {
    /// With the tools still missing.
    pub(crate) setup: ConversationSetup,
    /// With its servers still missing.
    pub(crate) command_context: WorkspaceCommandContext,
    pub(crate) own_tools: ToolRegistry,
    pub(crate) servers: Vec<ServerGroup>,
}

/// What a program is started with.
pub(crate) struct SetupOptions {
    pub(crate) operator: Settings,
    pub(crate) flags: AgentFlags,
    pub(crate) variables: HashMap<String, String>,
    pub(crate) current_dir: PathBuf,
    pub(crate) attended: Attendance,
}

impl SetupBuilder {
    /// Fails where the settings of the user or the operator do: somebody is there to mend them. Those of the project in
    /// the workspace may be broken; then they do not count.
    pub(crate) fn new(start: SetupOptions) -> anyhow::Result<Self> {
        let SetupOptions { operator, flags, variables, current_dir, attended } = start;
        let environment = |name: &str| variables.get(name).cloned();
        let root = operator.workspace.canonicalize().context("cannot find the workspace")?;
        let project = Project::read(ProjectQuery {
            folder: &root,
            chosen_by: ChosenBy::Operator,
            flags: &flags,
            environment: &environment,
            operator: &operator,
        })?;
        // Without people, whoever started it has been told already.
        if let Some(notice) = project.notice().filter(|_| attended == Attendance::Yes) {
            tracing::warn!("{notice}");
        }
        let trust = project.summary();
        let Project { settings, rules, .. } = project;
        for warning in operator.warnings.iter().chain(&settings.warnings).chain(&rules.warnings) {
            tracing::warn!("{warning}");
        }
        let choice = settings.model_choice(&current_dir)?;
        let models = Models::new(&settings.general, settings.model.context_window)?;
        let mind = models.model(&choice)?;
        let tools = shared_tools(&operator, &models, &choice)?;
        let confiner = sandbox::confiner(&operator, variables.get("HOME").map(PathBuf::from))?;
        requested::can_be_confined(policy_mode(settings.general.approval_mode), confiner.confinement())
            .map_err(anyhow::Error::msg)?;
        let (scratch, grounds) = (OnceLock::new(), SnapshotCache::default());
        Ok(Self {
            operator,
            flags,
            variables,
            models,
            settings,
            default_choice: choice,
            default_model: mind,
            tools,
            attended,
            confiner,
            server_mark: uuid::Uuid::new_v4().to_string(),
            scratch,
            snapshots: grounds,
            trust,
        })
    }

    /// What confines commands.
    pub(crate) fn confiner(&self) -> &Arc<dyn Confiner> {
        &self.confiner
    }

    /// The model of conversations that wish for no other.
    pub(crate) fn model_choice(&self) -> &ModelChoice {
        &self.default_choice
    }

    /// Whether the server's own workspace is trusted, and what of its files is ignored.
    pub(crate) fn trust(&self) -> &TrustSummary {
        &self.trust
    }

    /// Can these wishes be granted? Whoever opens the conversation looks again.
    pub(crate) fn check(&self, wishes: &RequestedSettings) -> Result<(), SettingsRefusal> {
        let named = self.named_settings(wishes)?;
        let settings = named.as_deref().unwrap_or(&self.settings);
        requested::check(&self.operator, settings, wishes, self.confiner.confinement())?;
        self.model(wishes).map(drop)
    }

    pub(crate) fn model(&self, wishes: &RequestedSettings) -> Result<AgentModel, SettingsRefusal> {
        let Some(name) = &wishes.model else { return Ok(self.default_model.clone()) };
        let refused = |what: String| SettingsRefusal { field: "model", what };
        if *name == self.default_choice.name() {
            return Ok(self.default_model.clone());
        }
        let choice = ModelChoice::requested(name, &self.settings.keys).map_err(|error| match &error {
            ConfigError::NoKey { variable, .. } => {
                refused(format!("{error}; its operator can set {variable} where the server runs"))
            }
            _ => refused(error.to_string()),
        })?;
        self.models.model(&choice).map_err(|error| {
            tracing::warn!(error = format!("{error:#}"), "a model that a client wished for cannot be used");
            refused(format!("{name} cannot be used here"))
        })
    }

    /// All that a conversation gets; `ground` is what its site has.
    pub(crate) fn build(
        &self,
        ground: &Arc<WorkspaceSnapshot>,
        conversation: &(Scope, ContextId),
        wishes: &RequestedSettings,
    ) -> Result<PreparedSetup, SettingsRefusal> {
        let mind = self.model(wishes)?;
        let WorkspaceSnapshot { root, settings, policy, context: told, instructions, .. } = ground.as_ref();
        let scratch = self.scratch_folder(conversation)?;
        let workspace = Workspace {
            roots: std::iter::once(root).chain(&settings.context.include_directories).cloned().collect(),
            scratch: scratch.clone(),
            environment: self.operator.child_environment.clone(),
            ignore: IgnoreSources {
                git: settings.context.respect_git_ignore,
                gemini: settings.context.respect_gemini_ignore,
                custom: settings.context.custom_ignore_file_paths.clone(),
            },
        };
        let mode = requested::mode(&self.operator, settings, wishes)?;
        let confinement = self.confiner.confinement();
        requested::can_be_confined(mode, confinement)
            .map_err(|what| SettingsRefusal { field: "approvalMode", what })?;
        let referee = PolicyApprover::new(PolicyOptions {
            policy: policy.clone(),
            mode,
            roots: workspace.roots.clone(),
            plans: Some(scratch.join("plans")),
            trusted: settings.trusted,
            confinement: confinement.clone(),
            files: Arc::new(WorkspaceFiles::new(workspace.clone())),
            unattended: self.attended == Attendance::No,
            only_once: settings.security.disable_always_allow,
            keeper: rule_keeper(settings, root),
            client_servers: wishes.mcp_servers.keys().cloned().collect(),
        });
        let place = ConversationSetup {
            model: mind,
            toolbox: Arc::new(ToolRegistry::default()),
            approver: Arc::new(referee),
            workspace: Arc::new(workspace),
            instructions: instructions.clone(),
            opening: vec![Content::Text(opening_prompt::opening(ground, &scratch))],
            context_files: Some(Arc::new(WorkspaceContextFiles::new(settings.clone(), root.clone(), told))),
            info: None,
            notices: told
                .notices
                .iter()
                .chain(ground.notice.iter().filter(|_| self.attended == Attendance::Yes))
                .cloned()
                .chain(requested::not_granted(wishes, mode))
                .collect(),
            limits: ConversationLimits {
                conversation_requests: settings.model.max_session_turns,
                compression_threshold: settings.model.compression_threshold,
                detects_loops: !settings.model.disable_loop_detection,
                ..ConversationLimits::default()
            },
            leftovers: Arc::new(MarkedProcesses::other_than(self.server_mark.clone())),
            attended: self.attended == Attendance::Yes,
        };
        let own_tools = standard_tools(settings, &self.tools, self.attended, &self.confiner);
        let starts = ServerLaunch { confiner: self.confiner.clone(), mark: self.server_mark.clone() };
        let servers = requested::servers(&self.operator, settings, root, wishes, starts)?;
        let premises = WorkspaceCommandContext {
            settings: settings.clone(),
            root: root.clone(),
            model: self.default_choice.name(),
            servers: Vec::new(),
        };
        Ok(PreparedSetup { setup: place, command_context: premises, own_tools, servers })
    }

    /// The commands of a conversation: the standard ones, and those in TOML files that count there.
    pub(crate) fn commands(
        &self,
        wishes: &RequestedSettings,
    ) -> Result<attache_command::CommandRegistry, SettingsRefusal> {
        let (root, chosen_by) = self.requested_root(wishes)?;
        let environment = |name: &str| self.variables.get(name).cloned();
        let refused = |error: ConfigError| SettingsRefusal { field: "workspace", what: error.to_string() };
        let standing = ProjectTrust::look_up(&root, chosen_by, &self.flags, &environment, &self.operator);
        let (loaded, _) = project::commands(&standing.map_err(refused)?, &self.settings.homes, &root);
        let standard = attache_command::CommandRegistry::standard();
        let (registry, problems) = standard.with_custom(loaded);
        for problem in problems {
            tracing::warn!(%problem, "a command cannot be used");
        }
        Ok(registry)
    }

    /// The folder to work in, and who chose it.
    fn requested_root(&self, wishes: &RequestedSettings) -> Result<(PathBuf, ChosenBy), SettingsRefusal> {
        match &wishes.workspace {
            None => {
                let gone =
                    |_| SettingsRefusal { field: "workspace", what: "the server's workspace is gone".into() };
                Ok((attache_workspace::own_workspace(&self.operator).map_err(gone)?, ChosenBy::Operator))
            }
            Some(wished) => {
                let folder = requested::workspace(&self.operator, wished)?;
                let own = *wished == self.operator.workspace
                    || attache_workspace::own_workspace(&self.operator).is_ok_and(|own| own == folder);
                Ok((folder, if own { ChosenBy::Operator } else { ChosenBy::Client }))
            }
        }
    }

    /// A folder of its own, made when it is first needed: what one conversation leaves there is nothing to the others.
    fn scratch_folder(&self, (scope, context): &(Scope, ContextId)) -> Result<PathBuf, SettingsRefusal> {
        let whose = format!("{scope:?} {context:?}");
        let name = attache_domain::Digest::of_hash(&Sha256::digest(whose)[..12]).0;
        if let Some(folder) = self.scratch.get() {
            return Ok(folder.join(&*name));
        }
        let folder = &self.operator.scratch;
        let made = std::fs::create_dir_all(folder).and_then(|()| folder.canonicalize());
        let folder = made.map_err(|error| {
            tracing::error!(%error, folder = %folder.display(), "the scratch folder cannot be made");
            SettingsRefusal {
                field: "workspace",
                what: format!("there is no place for temporary files: {error}"),
            }
        })?;
        Ok(self.scratch.get_or_init(|| folder).join(&*name))
    }
}

fn shared_tools(operator: &Settings, models: &Models, choice: &ModelChoice) -> anyhow::Result<SharedTools> {
    let client =
        HttpClient::new(&WebFetch::client_options(address_rules(operator, AddressRules::public_only())?))
            .context("cannot make the client for web pages")?;
    let search = models.search(choice)?;
    let search = search.map(|search| GoogleWebSearch::new(Arc::new(GeminiWebSearch(search))));
    Ok(SharedTools::new(WebFetch::new(client, WebFetchOptions::default()), search))
}

/// Only public addresses, and those that the operator allows.
pub(crate) fn address_rules(operator: &Settings, rules: AddressRules) -> anyhow::Result<AddressRules> {
    operator.allow_private_addresses.iter().try_fold(rules, |rules, place| {
        rules.allow(place).context("the setting `allow_private_addresses` cannot be used")
    })
}

pub(crate) fn policy_mode(mode: ApprovalMode) -> PolicyMode {
    match mode {
        ApprovalMode::Default => PolicyMode::Default,
        ApprovalMode::AutoEdit => PolicyMode::AutoEdit,
        ApprovalMode::Confined => PolicyMode::Confined,
        ApprovalMode::Yolo => PolicyMode::Yolo,
        ApprovalMode::Plan => PolicyMode::Plan,
    }
}

/// Writes answers for good into the file where rules are looked for.
struct RulesFile(PathBuf);

impl RuleStore for RulesFile {
    fn save(&self, rules: &[PolicyRule]) -> Result<(), String> {
        policy::save_rules(&self.0, rules).map_err(|error| error.to_string())
    }
}

/// Further folders whose words for the model count.
pub(crate) fn included_folders(settings: &WorkspaceSettings) -> &[PathBuf] {
    let keys = &settings.context;
    if keys.load_memory_from_include_directories { &keys.include_directories } else { &[] }
}

fn rule_keeper(settings: &WorkspaceSettings, root: &Path) -> Option<Arc<dyn RuleStore>> {
    let path =
        policy::auto_saved(settings, root).filter(|_| settings.security.enable_permanent_tool_approval)?;
    Some(Arc::new(RulesFile(path)))
}
