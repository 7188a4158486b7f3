//! What a conversation works with, by the settings of its workspace and by what its client wishes and may have.

mod brief;
mod ground;
mod wished;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::Context;
use attache_agent::{Mind, PolicyOptions, PolicyReferee, Refusal, RuleKeeper, WorkLimits, Workplace};
use attache_config::policy;
use attache_config::{
    AgentFlags, ApprovalMode, ChosenBy, ConfigError, ModelChoice, Settings, Standing, WorkspaceSettings,
};
use attache_domain::{Content, ContextId, Scope, Wishes};
use attache_net::{AddressRules, Client};
use attache_tool::policy::{Mode, Rule};
use attache_tool::{Confiner, IgnoreSources, Registry, Workspace};
use attache_tool_std::{GoogleWebSearch, MarkedProcesses, WebFetch, WebFetchOptions, WorkspaceFiles};
use sha2::{Digest, Sha256};

use crate::models::Models;
use crate::premises::WorkspacePremises;
use crate::project::{self, Place, Project, TrustSummary};
use crate::sandbox;
use crate::servers::Wanted;
use crate::surroundings::WorkspaceSurroundings;
use crate::toolbox::{SearchByGemini, SharedTools, standard_tools};
use crate::wiring::Attended;
pub(crate) use brief::project_words;
pub(crate) use ground::Ground;
use ground::Grounds;
use wished::ServerStarts;

/// What all conversations have in common.
pub(crate) struct Furnishing {
    operator: Settings,
    flags: AgentFlags,
    /// The environment as it was at the start.
    variables: HashMap<String, String>,
    models: Models,
    /// Those of the server's own workspace.
    settings: WorkspaceSettings,
    choice: ModelChoice,
    mind: Mind,
    tools: SharedTools,
    attended: Attended,
    confiner: Arc<dyn Confiner>,
    /// On the MCP servers that this program starts.
    server_mark: String,
    /// Where the conversations' own folders are, without links.
    scratch: OnceLock<PathBuf>,
    grounds: Grounds,
    /// Whether the server's own workspace was trusted at the start, and what of its files was ignored.
    trust: TrustSummary,
}

/// All but the connections to servers.
pub(crate) struct Prepared {
    /// With the tools still missing.
    pub(crate) place: Workplace,
    /// With its servers still missing.
    pub(crate) premises: WorkspacePremises,
    pub(crate) own_tools: Registry,
    pub(crate) servers: Vec<Wanted>,
}

/// What a program is started with.
pub(crate) struct Start {
    pub(crate) operator: Settings,
    pub(crate) flags: AgentFlags,
    pub(crate) variables: HashMap<String, String>,
    pub(crate) current_dir: PathBuf,
    pub(crate) attended: Attended,
}

impl Furnishing {
    /// Fails where the settings of the user or the operator do: somebody is there to mend them. Those of the project in
    /// the workspace may be broken; then they do not count.
    pub(crate) fn new(start: Start) -> anyhow::Result<Self> {
        let Start { operator, flags, variables, current_dir, attended } = start;
        let environment = |name: &str| variables.get(name).cloned();
        let root = operator.workspace.canonicalize().context("cannot find the workspace")?;
        let project = Project::read(Place {
            folder: &root,
            chosen_by: ChosenBy::Operator,
            flags: &flags,
            environment: &environment,
            operator: &operator,
        })?;
        // Without people, whoever started it has been told already.
        if let Some(notice) = project.notice().filter(|_| attended == Attended::Yes) {
            tracing::warn!("{notice}");
        }
        let trust = project.summary();
        let Project { settings, rules, .. } = project;
        for warning in operator.warnings.iter().chain(&settings.warnings).chain(&rules.warnings) {
            tracing::warn!("{warning}");
        }
        let choice = settings.model_choice(&current_dir)?;
        let models = Models::new(&settings.general, settings.model.context_window)?;
        let mind = models.mind(&choice)?;
        let tools = shared_tools(&operator, &models, &choice)?;
        let confiner = sandbox::confiner(&operator, variables.get("HOME").map(PathBuf::from))?;
        wished::can_be_confined(mode_of(settings.general.approval_mode), confiner.confinement())
            .map_err(anyhow::Error::msg)?;
        let (scratch, grounds) = (OnceLock::new(), Grounds::default());
        Ok(Self {
            operator,
            flags,
            variables,
            models,
            settings,
            choice,
            mind,
            tools,
            attended,
            confiner,
            server_mark: uuid::Uuid::new_v4().to_string(),
            scratch,
            grounds,
            trust,
        })
    }

    /// What confines commands.
    pub(crate) fn confiner(&self) -> &Arc<dyn Confiner> {
        &self.confiner
    }

    /// The model of conversations that wish for no other.
    pub(crate) fn model(&self) -> &ModelChoice {
        &self.choice
    }

    /// Whether the server's own workspace is trusted, and what of its files is ignored.
    pub(crate) fn trust(&self) -> &TrustSummary {
        &self.trust
    }

    /// Can these wishes be granted? Whoever opens the conversation looks again.
    pub(crate) fn check(&self, wishes: &Wishes) -> Result<(), Refusal> {
        let named = self.named_settings(wishes)?;
        let settings = named.as_deref().unwrap_or(&self.settings);
        wished::check(&self.operator, settings, wishes, self.confiner.confinement())?;
        self.mind(wishes).map(drop)
    }

    pub(crate) fn mind(&self, wishes: &Wishes) -> Result<Mind, Refusal> {
        let Some(name) = &wishes.model else { return Ok(self.mind.clone()) };
        let refused = |what: String| Refusal { field: "model", what };
        if *name == self.choice.name() {
            return Ok(self.mind.clone());
        }
        let choice = ModelChoice::wished(name, &self.settings.keys).map_err(|error| match &error {
            ConfigError::NoKey { variable, .. } => {
                refused(format!("{error}; its operator can set {variable} where the server runs"))
            }
            _ => refused(error.to_string()),
        })?;
        self.models.mind(&choice).map_err(|error| {
            tracing::warn!(error = format!("{error:#}"), "a model that a client wished for cannot be used");
            refused(format!("{name} cannot be used here"))
        })
    }

    /// All that a conversation gets; `ground` is what its site has.
    pub(crate) fn prepare(
        &self,
        ground: &Arc<Ground>,
        conversation: &(Scope, ContextId),
        wishes: &Wishes,
    ) -> Result<Prepared, Refusal> {
        let mind = self.mind(wishes)?;
        let Ground { root, settings, policy, told, instructions, .. } = ground.as_ref();
        let scratch = self.scratch_of(conversation)?;
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
        let mode = wished::mode(&self.operator, settings, wishes)?;
        let confinement = self.confiner.confinement();
        wished::can_be_confined(mode, confinement).map_err(|what| Refusal { field: "approvalMode", what })?;
        let referee = PolicyReferee::new(PolicyOptions {
            policy: policy.clone(),
            mode,
            roots: workspace.roots.clone(),
            plans: Some(scratch.join("plans")),
            trusted: settings.trusted,
            confinement: confinement.clone(),
            files: Arc::new(WorkspaceFiles::new(workspace.clone())),
            unattended: self.attended == Attended::No,
            only_once: settings.security.disable_always_allow,
            keeper: keeper(settings, root),
            client_servers: wishes.mcp_servers.keys().cloned().collect(),
        });
        let place = Workplace {
            mind,
            toolbox: Arc::new(Registry::default()),
            referee: Arc::new(referee),
            workspace: Arc::new(workspace),
            instructions: instructions.clone(),
            opening: vec![Content::Text(brief::opening(ground, &scratch))],
            surroundings: Some(Arc::new(WorkspaceSurroundings::new(settings.clone(), root.clone(), told))),
            premises: None,
            notices: told
                .notices
                .iter()
                .chain(ground.notice.iter().filter(|_| self.attended == Attended::Yes))
                .cloned()
                .chain(wished::not_granted(wishes, mode))
                .collect(),
            limits: WorkLimits {
                conversation_rounds: settings.model.max_session_turns,
                compression_threshold: settings.model.compression_threshold,
                detects_loops: !settings.model.disable_loop_detection,
                ..WorkLimits::default()
            },
            leftovers: Arc::new(MarkedProcesses::other_than(self.server_mark.clone())),
            attended: self.attended == Attended::Yes,
        };
        let own_tools = standard_tools(settings, &self.tools, self.attended, &self.confiner);
        let starts = ServerStarts { confiner: self.confiner.clone(), mark: self.server_mark.clone() };
        let servers = wished::servers(&self.operator, settings, root, wishes, starts)?;
        let premises = WorkspacePremises {
            settings: settings.clone(),
            root: root.clone(),
            model: self.choice.name(),
            servers: Vec::new(),
        };
        Ok(Prepared { place, premises, own_tools, servers })
    }

    /// The commands of a conversation: the standard ones, and those in TOML files that count there.
    pub(crate) fn commands(&self, wishes: &Wishes) -> Result<attache_command::Registry, Refusal> {
        let (root, chosen_by) = self.root(wishes)?;
        let environment = |name: &str| self.variables.get(name).cloned();
        let refused = |error: ConfigError| Refusal { field: "workspace", what: error.to_string() };
        let standing = Standing::look_up(&root, chosen_by, &self.flags, &environment, &self.operator);
        let (loaded, _) = project::commands(&standing.map_err(refused)?, &self.settings.homes, &root);
        let standard = attache_command::Registry::standard();
        let (registry, problems) = standard.with_custom(loaded);
        for problem in problems {
            tracing::warn!(%problem, "a command cannot be used");
        }
        Ok(registry)
    }

    /// The folder to work in, and who chose it.
    fn root(&self, wishes: &Wishes) -> Result<(PathBuf, ChosenBy), Refusal> {
        match &wishes.workspace {
            None => {
                let gone = |_| Refusal { field: "workspace", what: "the server's workspace is gone".into() };
                Ok((self.operator.own_workspace().map_err(gone)?, ChosenBy::Operator))
            }
            Some(wished) => {
                let folder = wished::workspace(&self.operator, wished)?;
                let own = *wished == self.operator.workspace
                    || self.operator.own_workspace().is_ok_and(|own| own == folder);
                Ok((folder, if own { ChosenBy::Operator } else { ChosenBy::Client }))
            }
        }
    }

    /// A folder of its own, made when it is first needed: what one conversation leaves there is nothing to the others.
    fn scratch_of(&self, (scope, context): &(Scope, ContextId)) -> Result<PathBuf, Refusal> {
        let whose = format!("{scope:?} {context:?}");
        let name = attache_domain::Digest::of_hash(&Sha256::digest(whose)[..12]).0;
        if let Some(folder) = self.scratch.get() {
            return Ok(folder.join(&*name));
        }
        let folder = &self.operator.scratch;
        let made = std::fs::create_dir_all(folder).and_then(|()| folder.canonicalize());
        let folder = made.map_err(|error| {
            tracing::error!(%error, folder = %folder.display(), "the scratch folder cannot be made");
            Refusal { field: "workspace", what: format!("there is no place for temporary files: {error}") }
        })?;
        Ok(self.scratch.get_or_init(|| folder).join(&*name))
    }
}

fn shared_tools(operator: &Settings, models: &Models, choice: &ModelChoice) -> anyhow::Result<SharedTools> {
    let client = Client::new(&WebFetch::client_options(addresses(operator, AddressRules::public_only())?))
        .context("cannot make the client for web pages")?;
    let search = models.search(choice)?;
    let search = search.map(|search| GoogleWebSearch::new(Arc::new(SearchByGemini(search))));
    Ok(SharedTools::new(WebFetch::new(client, WebFetchOptions::default()), search))
}

/// Only public addresses, and those that the operator allows.
pub(crate) fn addresses(operator: &Settings, rules: AddressRules) -> anyhow::Result<AddressRules> {
    operator.allow_private_addresses.iter().try_fold(rules, |rules, place| {
        rules.allow(place).context("the setting `allow_private_addresses` cannot be used")
    })
}

pub(crate) fn mode_of(mode: ApprovalMode) -> Mode {
    match mode {
        ApprovalMode::Default => Mode::Default,
        ApprovalMode::AutoEdit => Mode::AutoEdit,
        ApprovalMode::Confined => Mode::Confined,
        ApprovalMode::Yolo => Mode::Yolo,
        ApprovalMode::Plan => Mode::Plan,
    }
}

/// Writes answers for good into the file where rules are looked for.
struct RulesFile(PathBuf);

impl RuleKeeper for RulesFile {
    fn keep(&self, rules: &[Rule]) -> Result<(), String> {
        policy::save_rules(&self.0, rules).map_err(|error| error.to_string())
    }
}

/// Further folders whose words for the model count.
pub(crate) fn included(settings: &WorkspaceSettings) -> &[PathBuf] {
    let keys = &settings.context;
    if keys.load_memory_from_include_directories { &keys.include_directories } else { &[] }
}

fn keeper(settings: &WorkspaceSettings, root: &Path) -> Option<Arc<dyn RuleKeeper>> {
    let path =
        policy::auto_saved(settings, root).filter(|_| settings.security.enable_permanent_tool_approval)?;
    Some(Arc::new(RulesFile(path)))
}
