//! Builds the setup of a conversation from the settings of its workspace and the permitted requests of its client.

mod opening_prompt;
mod permitted;
mod requested_model;
mod snapshot;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, OnceLock};

use attache_agent::{
    API_KEY, AgentModel, ConversationLimits, ConversationSetup, PolicyApprover, PolicyOptions, RuleStore,
    SettingsRefusal,
};
use attache_config::{ApprovalMode, ConfigError, Settings};
use attache_domain::{ApiKeys, Content, ContextId, RequestedSettings, Scope};
use attache_help::Manual;
use attache_tool::policy::{PolicyMode, PolicyRule};
use attache_tool::{Confiner, INVOKE_AGENT, IgnoreSources, Tool, ToolRegistry, Workspace};
use requested_model::RequestedModel;
use sha2::{Digest, Sha256};
use snapshot::SnapshotCache;

use crate::agent_files::{AgentDefinition, LoadedAgents};
use crate::built_in_agents::{AllAgents, CliHelp};
use crate::command_context::WorkspaceCommandContext;
use crate::context_files::WorkspaceContextFiles;
use crate::implementations::{Implementations, ServerGroup};
use crate::remote_agents::remote;
use crate::{
    AgentFlags, AgentGroup, ChosenBy, ModelChoice, ProjectTrust, RemoteAgents, WorkspaceSettings, policy,
    project,
};
pub(crate) use opening_prompt::project_words;
pub(crate) use snapshot::WorkspaceSnapshot;

/// The parts that all conversations share.
pub struct SetupBuilder {
    options: SetupOptions,
    /// The folder that holds the conversations' own folders, without links.
    scratch: OnceLock<PathBuf>,
    snapshots: SnapshotCache,
    /// The built-in agent, the same for all conversations.
    help: Arc<CliHelp>,
}

/// The setup without connections to servers.
pub(crate) struct PreparedSetup {
    /// The setup before its tools are added.
    pub(crate) setup: ConversationSetup,
    /// The setup before its servers are added.
    pub(crate) command_context: WorkspaceCommandContext,
    pub(crate) own_tools: ToolRegistry,
    pub(crate) servers: Vec<ServerGroup>,
}

pub struct SetupOptions {
    pub operator: Settings,
    pub flags: AgentFlags,
    /// The environment at the start.
    pub variables: HashMap<String, String>,
    /// The settings of the server's own workspace.
    pub settings: WorkspaceSettings,
    /// The model of conversations that request none.
    pub model_choice: ModelChoice,
    pub model: AgentModel,
    pub implementations: Arc<dyn Implementations>,
    pub confiner: Arc<dyn Confiner>,
    pub interactivity: Interactivity,
    /// The keys of clients, for their conversations.
    pub api_keys: Arc<ApiKeys>,
    /// The documentation that the built-in agent answers from.
    pub manual: &'static LazyLock<Manual>,
}

/// Whether a person can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interactivity {
    Interactive,
    NonInteractive,
}

impl SetupBuilder {
    /// Fails if the approval mode of the settings needs a confinement that this system lacks.
    pub fn new(options: SetupOptions) -> Result<Self, SettingsRefusal> {
        let mode = policy_mode(options.settings.general.approval_mode);
        permitted::can_be_confined(mode, options.confiner.confinement())?;
        let help = Arc::new(CliHelp::new(options.manual));
        Ok(Self { options, scratch: OnceLock::new(), snapshots: SnapshotCache::default(), help })
    }

    pub(crate) fn implementations(&self) -> &Arc<dyn Implementations> {
        &self.options.implementations
    }

    fn is_interactive(&self) -> bool {
        self.options.interactivity == Interactivity::Interactive
    }

    /// Checks whether the request is permitted. Opening the conversation checks again.
    pub(crate) fn check(&self, requested: &RequestedSettings) -> Result<(), SettingsRefusal> {
        let named = self.named_settings(requested)?;
        let settings = named.as_deref().unwrap_or(&self.options.settings);
        permitted::check(&self.options.operator, settings, requested, self.options.confiner.confinement())?;
        self.model(requested).map(drop)
    }

    pub(crate) fn model(&self, requested: &RequestedSettings) -> Result<AgentModel, SettingsRefusal> {
        let SetupOptions { settings, model_choice, api_keys, implementations, .. } = &self.options;
        let found = requested_model::resolve(requested, model_choice, &settings.keys, api_keys)?;
        let (choice, model) = match &found {
            RequestedModel::Operator => return Ok(self.options.model.clone()),
            RequestedModel::Shared(choice) => (choice, implementations.model(choice)),
            RequestedModel::WithClientKey(choice) => (choice, implementations.own_model(choice)),
        };
        model.map_err(|error| {
            tracing::warn!(error, "a model that a client requested cannot be used");
            SettingsRefusal { field: "model", what: format!("{} cannot be used here", choice.name()) }
        })
    }

    /// The model for a setup: what the conversation has begun can go on until the model is asked.
    pub(crate) fn model_or_without_key(
        &self,
        requested: &RequestedSettings,
    ) -> Result<AgentModel, SettingsRefusal> {
        match self.model(requested) {
            Err(refusal) if refusal.field == API_KEY => Ok(AgentModel::WithoutKey(refusal)),
            found => found,
        }
    }

    /// Builds the setup of a conversation on the `snapshot` of its workspace. `agents`: its remote agents.
    pub(crate) fn build(
        &self,
        snapshot: &Arc<WorkspaceSnapshot>,
        conversation: &(Scope, ContextId),
        requested: &RequestedSettings,
        agents: &Arc<dyn RemoteAgents>,
    ) -> Result<PreparedSetup, SettingsRefusal> {
        let model = self.model_or_without_key(requested)?;
        let WorkspaceSnapshot { root, settings, policy, context, instructions, .. } = snapshot.as_ref();
        let scratch = self.scratch_folder(conversation)?;
        let workspace = Workspace {
            roots: std::iter::once(root).chain(&settings.context.include_directories).cloned().collect(),
            scratch: scratch.clone(),
            environment: self.options.operator.child_environment.clone(),
            ignore: IgnoreSources {
                git: settings.context.respect_git_ignore,
                gemini: settings.context.respect_gemini_ignore,
                custom: settings.context.custom_ignore_file_paths.clone(),
            },
        };
        let mode = permitted::mode(&self.options.operator, settings, requested)?;
        let confinement = self.options.confiner.confinement();
        permitted::can_be_confined(mode, confinement)?;
        let approver = PolicyApprover::new(PolicyOptions {
            policy: policy.clone(),
            mode,
            roots: workspace.roots.clone(),
            plans: Some(scratch.join("plans")),
            trusted: settings.trusted,
            confinement: confinement.clone(),
            files: self.options.implementations.files(&workspace),
            unattended: !self.is_interactive(),
            only_once: settings.security.disable_always_allow,
            keeper: rule_keeper(settings, root),
            client_servers: requested.mcp_servers.keys().cloned().collect(),
        });
        let implementations = &self.options.implementations;
        let context_files = WorkspaceContextFiles::new(
            settings.clone(),
            root.clone(),
            context,
            implementations.clone(),
            agents.clone(),
        );
        let setup = ConversationSetup {
            model,
            tool_source: Arc::new(ToolRegistry::default()),
            approver: Arc::new(approver),
            workspace: Arc::new(workspace),
            instructions: instructions.clone(),
            opening: vec![Content::Text(opening_prompt::opening(snapshot, &scratch))],
            context_files: Some(Arc::new(context_files)),
            info: None,
            notices: context
                .notices
                .iter()
                .chain(snapshot.notice.iter().filter(|_| self.is_interactive()))
                .cloned()
                .chain(permitted::not_granted(requested, mode))
                .collect(),
            limits: ConversationLimits {
                conversation_requests: settings.model.max_session_turns,
                compression_threshold: settings.model.compression_threshold,
                detects_loops: !settings.model.disable_loop_detection,
                ..ConversationLimits::default()
            },
            leftovers: implementations.leftovers(),
            attended: self.is_interactive(),
        };
        let own_tools = implementations.tools(settings);
        let servers = permitted::servers(settings, root, requested)?;
        let command_context = WorkspaceCommandContext {
            settings: settings.clone(),
            root: root.clone(),
            model: self.options.model_choice.name(),
            servers: Vec::new(),
            brought: None,
            agents: None,
        };
        Ok(PreparedSetup { setup, command_context, own_tools, servers })
    }

    /// The agents of the workspace: no remote ones while agents are disabled, and none if the tool for them is not
    /// offered.
    pub(crate) fn agent_group(
        &self,
        settings: &WorkspaceSettings,
        agents: Option<&LoadedAgents>,
        switched_off: &[AgentDefinition],
    ) -> AgentGroup {
        let agents = agents.map(|loaded| loaded.agents.as_slice()).unwrap_or_default();
        let (agents, unused) =
            if settings.tools.offers(INVOKE_AGENT) { (agents, &[][..]) } else { (&[][..], agents) };
        let switched_off = remote(switched_off.iter().chain(unused));
        let (attended, built_in) = (self.is_interactive(), CliHelp::is_offered(settings));
        AgentGroup { agents: remote(agents), switched_off, attended, built_in }
    }

    /// The tool for the built-in agent, if it can be called.
    pub(crate) fn help_tool(&self, settings: &WorkspaceSettings) -> Option<Arc<dyn Tool>> {
        CliHelp::is_offered(settings).then(|| self.help.clone() as Arc<dyn Tool>)
    }

    /// The agents of one conversation.
    pub(crate) fn agents(&self, snapshot: &WorkspaceSnapshot) -> Arc<dyn RemoteAgents> {
        let group = self.agent_group(&snapshot.settings, snapshot.agents.as_deref(), &snapshot.switched_off);
        let is_asked = group.built_in;
        let remote = self.options.implementations.remote_agents(group);
        Arc::new(AllAgents::new(remote, self.help.clone(), is_asked))
    }

    /// The group of one server that a client adds to a conversation, with the settings `requested`.
    pub(crate) fn brought_group(
        &self,
        snapshot: &WorkspaceSnapshot,
        requested: &RequestedSettings,
        brought: &RequestedSettings,
    ) -> Result<ServerGroup, SettingsRefusal> {
        permitted::brought_server(&snapshot.settings, &snapshot.root, requested, brought)
    }

    /// The commands of a conversation: the standard ones, and those in TOML files that apply there.
    pub(crate) fn commands(
        &self,
        requested: &RequestedSettings,
    ) -> Result<attache_command::CommandRegistry, SettingsRefusal> {
        let (root, chosen_by) = self.requested_root(requested)?;
        let environment = |name: &str| self.options.variables.get(name).cloned();
        let refused = |error: ConfigError| SettingsRefusal { field: "workspace", what: error.to_string() };
        let project_trust = ProjectTrust::look_up(
            &root,
            chosen_by,
            &self.options.flags,
            &environment,
            &self.options.operator,
        );
        let (loaded, _) =
            project::commands(&project_trust.map_err(refused)?, &self.options.settings.homes, &root);
        let standard = attache_command::CommandRegistry::standard();
        let (registry, problems) = standard.with_custom(loaded);
        for problem in problems {
            tracing::warn!(%problem, "a command cannot be used");
        }
        Ok(registry)
    }

    /// The working folder, and its origin.
    fn requested_root(&self, requested: &RequestedSettings) -> Result<(PathBuf, ChosenBy), SettingsRefusal> {
        match &requested.workspace {
            None => {
                let gone =
                    |_| SettingsRefusal { field: "workspace", what: "the server's workspace is gone".into() };
                Ok((
                    crate::client_permissions::own_workspace(&self.options.operator).map_err(gone)?,
                    ChosenBy::Operator,
                ))
            }
            Some(named) => {
                let folder = permitted::workspace(&self.options.operator, named)?;
                let own = *named == self.options.operator.workspace
                    || crate::client_permissions::own_workspace(&self.options.operator)
                        .is_ok_and(|own| own == folder);
                Ok((folder, if own { ChosenBy::Operator } else { ChosenBy::Client }))
            }
        }
    }

    /// The conversation's own folder for temporary files, created at its first use.
    fn scratch_folder(&self, (scope, context): &(Scope, ContextId)) -> Result<PathBuf, SettingsRefusal> {
        let whose = format!("{scope:?} {context:?}");
        let name = attache_domain::Digest::of_hash(&Sha256::digest(whose)[..12]).0;
        if let Some(folder) = self.scratch.get() {
            return Ok(folder.join(&*name));
        }
        let folder = &self.options.operator.scratch;
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

pub(crate) fn policy_mode(mode: ApprovalMode) -> PolicyMode {
    match mode {
        ApprovalMode::Default => PolicyMode::Default,
        ApprovalMode::AutoEdit => PolicyMode::AutoEdit,
        ApprovalMode::Confined => PolicyMode::Confined,
        ApprovalMode::Yolo => PolicyMode::Yolo,
        ApprovalMode::Plan => PolicyMode::Plan,
    }
}

/// Saves permanent answers in the file that rules are read from.
struct RulesFile(PathBuf);

impl RuleStore for RulesFile {
    fn save(&self, rules: &[PolicyRule]) -> Result<(), String> {
        policy::save_rules(&self.0, rules).map_err(|error| error.to_string())
    }
}

/// Further folders with context files.
pub(crate) fn included_folders(settings: &WorkspaceSettings) -> &[PathBuf] {
    let keys = &settings.context;
    if keys.load_memory_from_include_directories { &keys.include_directories } else { &[] }
}

fn rule_keeper(settings: &WorkspaceSettings, root: &Path) -> Option<Arc<dyn RuleStore>> {
    let path =
        policy::auto_saved(settings, root).filter(|_| settings.security.enable_permanent_tool_approval)?;
    Some(Arc::new(RulesFile(path)))
}
