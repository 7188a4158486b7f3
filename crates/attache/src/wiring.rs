//! Wires the program from its settings.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use attache_agent::CodingAgent;
use attache_cli::network;
use attache_cli::report::with_hint;
use attache_config::{
    CardFormSetting, DefaultDialect, Settings, StoreChoice, Synchronous, answers_card_of, card_of,
    extended_card_of,
};
use attache_domain::{AgentCard, AgentExtension, ApiKeys};
use attache_net::{Secret, SystemResolver};
use attache_server::{
    BodyBudget, ClientToken, HttpPushSender, Limits, PushSenderOptions, ServerOptions, bind,
};
use attache_session::{Agent, HistoryLimits, PushEvents, PushOptions, PushSetup, SessionOptions};
use attache_store::Stores;
use attache_store::memory::MemoryStore;
use attache_store_sql::{OpenError, SqliteOptions, SqliteStore};
use attache_tool::Confiner;
use attache_tool_remote::OwnOrigin;
use attache_wire::card::CardForm;
use attache_wire::devtool::Dialect;
use attache_wire::{devtool, extensions, replay};
use attache_workspace::{
    AgentFlags, ChosenBy, Interactivity, ModelChoice, Project, ProjectQuery, SessionRetention, SetupBuilder,
    SetupOptions, TrustSummary, WorkspaceConversations,
};
use tokio::net::TcpListener;

use crate::implementations::StandardImplementations;
use crate::models::Models;
use crate::{sandbox, signing};

/// Binds the port, which `flag` chooses.
pub(crate) async fn listen(address: SocketAddr, flag: &str) -> anyhow::Result<TcpListener> {
    bind(address).await.map_err(|error| {
        let hint = error.hint(flag);
        with_hint(error, hint)
    })
}

pub(crate) fn stores(settings: &Settings) -> anyhow::Result<Stores> {
    match &settings.store {
        StoreChoice::Memory => Ok(Stores::of(Arc::new(MemoryStore::default()))),
        StoreChoice::Sqlite(path) => {
            let synchronous = match settings.synchronous {
                Synchronous::Full => attache_store_sql::Synchronous::Full,
                Synchronous::Normal => attache_store_sql::Synchronous::Normal,
                Synchronous::Off => attache_store_sql::Synchronous::Off,
            };
            let options = SqliteOptions { synchronous, ..SqliteOptions::default() };
            let store = SqliteStore::open(path, options).map_err(|error| {
                let hint = match error {
                    OpenError::Corrupt { .. } => {
                        "`attache store check` names the damage, and `attache store restore` puts a backup in its place"
                    }
                    _ => "choose another place with --store sqlite:PATH, or --store memory: to keep nothing",
                };
                with_hint(
                    anyhow::Error::new(error).context(format!("cannot use the store {}", path.display())),
                    hint,
                )
            })?;
            Ok(Stores::of(Arc::new(store)))
        }
    }
}

/// Makes the agent. Fails on mistakes in the settings of the user or the operator, who can mend them. Broken settings of the
/// project in the workspace do not count.
#[expect(
    clippy::disallowed_methods,
    reason = "the binary is where the environment and current folder are read"
)]
pub(crate) fn agent(
    settings: &Settings,
    flags: AgentFlags,
    interactivity: Interactivity,
) -> anyhow::Result<WiredAgent> {
    let current_dir = std::env::current_dir().context("cannot tell the current folder")?;
    let variables = crate::environment::variables().clone();
    let project = own_project(settings, &flags)?;
    let notice = project.notice();
    let trust = project.summary();
    let about_agents = about_agents(&project);
    let Project { settings: workspace_settings, rules, .. } = project;
    for warning in settings
        .warnings
        .iter()
        .chain(&workspace_settings.warnings)
        .chain(&rules.warnings)
        .chain(&about_agents)
    {
        tracing::warn!("{warning}");
    }
    let model_choice = workspace_settings.model_choice(&current_dir)?;
    let general = &workspace_settings.general;
    let network = network::settings(general.proxy.as_ref(), &crate::environment::variable)?;
    let models = Models::new(general, workspace_settings.model.context_window, network)?;
    let model = models.model(&model_choice)?;
    let confiner = sandbox::confiner(settings, variables.get("HOME").map(PathBuf::from))?;
    let own_origin = OwnOrigin::default();
    let implementations = StandardImplementations::new(
        settings,
        models,
        &model_choice,
        confiner.clone(),
        interactivity,
        own_origin.clone(),
    )?;
    let api_keys = Arc::new(ApiKeys::default());
    let session_retention = workspace_settings.general.session_retention;
    let builder = SetupBuilder::new(SetupOptions {
        operator: settings.clone(),
        flags,
        variables,
        settings: workspace_settings,
        model_choice: model_choice.clone(),
        model,
        implementations: Arc::new(implementations),
        confiner: confiner.clone(),
        interactivity,
        api_keys: api_keys.clone(),
        manual: &crate::manual::MANUAL,
    })?;
    let conversations = Arc::new(WorkspaceConversations::new(builder));
    Ok(WiredAgent {
        agent: Arc::new(CodingAgent::new(conversations.clone())),
        conversations,
        model: model_choice,
        trust,
        notice,
        confiner,
        api_keys,
        session_retention,
        own_origin,
    })
}

/// What is wrong with agent files, or that they are not used.
fn about_agents(project: &Project) -> Vec<String> {
    let notice = project.agents_notice();
    let agents = project.agents.iter();
    let errors =
        agents.clone().flat_map(|agents| &agents.errors).map(|error| error.to_string().replace('\n', ";"));
    let warnings = agents.flat_map(|agents| agents.warnings.clone());
    notice.into_iter().chain(errors).chain(warnings).collect()
}

/// What counts in the server's own workspace.
fn own_project(settings: &Settings, flags: &AgentFlags) -> anyhow::Result<Project> {
    let root = settings.workspace.canonicalize().context("cannot find the workspace")?;
    Ok(Project::read(ProjectQuery {
        folder: &root,
        chosen_by: ChosenBy::Operator,
        flags,
        environment: &|name: &str| crate::environment::variable(name),
        operator: settings,
    })?)
}

/// The agent, and what the banner shows about it.
pub(crate) struct WiredAgent {
    pub(crate) agent: Arc<dyn Agent>,
    /// What the agent works with.
    pub(crate) conversations: Arc<WorkspaceConversations>,
    /// The model of tasks that request no other.
    pub(crate) model: ModelChoice,
    /// Whether the workspace is trusted, and what is ignored of its files.
    pub(crate) trust: TrustSummary,
    /// What is ignored of the folder's files, in a sentence.
    pub(crate) notice: Option<String>,
    pub(crate) confiner: Arc<dyn Confiner>,
    /// Where the agent looks for the keys that clients give.
    pub(crate) api_keys: Arc<ApiKeys>,
    pub(crate) session_retention: SessionRetention,
    /// Where this server can be called, for the agents that it calls. Set once it listens.
    pub(crate) own_origin: OwnOrigin,
}

pub(crate) fn session_options(settings: &Settings) -> SessionOptions {
    SessionOptions {
        input_modes: settings.card.input_modes.clone(),
        output_modes: settings.card.output_modes.clone(),
        history: HistoryLimits {
            events: settings.limits.task_events as u64,
            bytes: (settings.limits.task_megabytes as u64) << 20,
        },
        answer_by_context: settings.answer_by_context,
        duplicate_sends: settings.duplicate_sends,
        ..SessionOptions::default()
    }
}

/// Sends push notifications, unless the operator has switched them off.
pub(crate) fn push(settings: &Settings) -> anyhow::Result<Option<PushSetup>> {
    let push = &settings.push;
    if !push.enabled {
        return Ok(None);
    }
    let sender = HttpPushSender::new(PushSenderOptions {
        allow: push.allow_private_addresses.clone(),
        allow_http: push.allow_http,
        timeout: push.timeout,
        signing_key: push.signing_key.as_ref().map(|key| Secret::new(key.expose())),
        resolver: Arc::new(SystemResolver),
    });
    let sender = sender.context("cannot send push notifications")?;
    let events = if push.artifacts { PushEvents::StatusesAndArtifacts } else { PushEvents::Statuses };
    let options = PushOptions { events, attempts: push.attempts, ..PushOptions::default() };
    Ok(Some(PushSetup { sender: Arc::new(sender), options }))
}

pub(crate) fn card_form(setting: CardFormSetting) -> CardForm {
    match setting {
        CardFormSetting::Superset => CardForm::Superset,
        CardFormSetting::V1_0 => CardForm::V1_0,
        CardFormSetting::V0_3 => CardForm::V0_3,
    }
}

pub(crate) fn server_options(settings: &Settings, base_url: &str) -> anyhow::Result<ServerOptions> {
    let limits = &settings.limits;
    let mut card = card_of(settings, base_url);
    let mut extended_card = extended_card_of(settings, base_url);
    let mut answers_card = answers_card_of(settings, base_url);
    for card in [&mut card].into_iter().chain(&mut extended_card).chain(&mut answers_card) {
        add_extension(card, devtool::URI, "Thoughts, tool calls, approvals and commands of a coding agent.");
        require_development_tool(card, settings.card.require_development_tool);
        add_extension(
            card,
            replay::URI,
            "Cursors on everything a stream shows, for coming back on any binding without a loss.",
        );
        add_extension(
            card,
            extensions::IDEMPOTENT_SEND,
            "A message's id alone tells whether it came before.",
        );
    }
    Ok(ServerOptions {
        tenants: tenants(settings)?,
        signed_card: signing::signed_card(
            settings,
            &card,
            extended_card.as_ref(),
            answers_card.as_ref(),
            base_url,
        )?,
        card_form: card_form(settings.card.form),
        answers: settings.answers,
        answers_card,
        card,
        extended_card,
        card_max_age: settings.card.max_age,
        bearer_token: settings.token.clone(),
        clients: settings.clients.iter().map(client_token).collect(),
        local_user: Some(nix::unistd::geteuid().as_raw()),
        allowed_hosts: settings.answered_hosts(),
        allowed_origins: settings.allowed_origins.clone(),
        strict_version: settings.strict_version,
        default_dialect: match settings.default_dialect {
            DefaultDialect::Plain => Dialect::Plain,
            DefaultDialect::Gemini => Dialect::Gemini,
            DefaultDialect::Developer => Dialect::Developer,
        },
        live: settings.live,
        api_keys: Arc::default(),
        live_session: None,
        console: None,
        limits: Limits {
            body_bytes: limits.body_bytes,
            body_budget: BodyBudget::new(limits.body_room_bytes),
            response_budget: BodyBudget::new(limits.answer_room_bytes),
            header_bytes: limits.header_bytes,
            json_depth: limits.json_depth,
            connections: limits.connections,
            connections_per_address: limits.connections_per_address,
            streams_per_address: limits.streams_per_address,
            streams_per_caller: limits.streams_per_caller,
            streams_per_connection: limits.streams_per_connection,
            header_timeout: limits.header_timeout,
            body_timeout: limits.body_timeout,
            idle_timeout: limits.idle_timeout,
            stall_timeout: limits.stall_timeout,
            heartbeat: limits.heartbeat_interval,
            shutdown_timeout: limits.shutdown_timeout,
        },
    })
}

fn client_token(client: &attache_config::ClientToken) -> ClientToken {
    let attache_config::ClientToken { name, rights, token } = client;
    ClientToken { name: name.clone(), rights: *rights, token: Secret::new(token.expose()) }
}

/// The tenants of the cards. None may be called like a path of the server.
fn tenants(settings: &Settings) -> anyhow::Result<Vec<String>> {
    let tenants: Vec<String> = settings.card.tenants().cloned().collect();
    match tenants.iter().find(|tenant| attache_wire::rest::is_reserved(tenant)) {
        None => Ok(tenants),
        Some(tenant) => Err(with_hint(
            anyhow!("the setting `card.tenants` has {tenant:?}, which no tenant can be called"),
            format!("a path that begins with /{tenant}/ means something else; choose another name"),
        )),
    }
}

/// Lists an extension, unless the operator's card lists it already.
fn add_extension(card: &mut AgentCard, uri: &str, description: &str) {
    let listed = &mut card.capabilities.extensions;
    let is_this =
        |known: &str| known == uri || (devtool::is_devtool_uri(uri) && devtool::is_devtool_uri(known));
    if !listed.iter().any(|extension| is_this(&extension.uri)) {
        let description = Some(description.to_owned());
        listed.push(AgentExtension { uri: uri.to_owned(), description, required: false, params: None });
    }
}

fn require_development_tool(card: &mut AgentCard, required: bool) {
    for extension in &mut card.capabilities.extensions {
        extension.required |= required && devtool::is_devtool_uri(&extension.uri);
    }
}
