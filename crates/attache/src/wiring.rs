//! Settings become parts: the only place that names implementations.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use attache_agent::{CodingAgent, Mind, PolicyOptions};
use attache_config::{
    ApprovalMode, GeminiSettings, ModelChoice, Settings, StoreChoice, Synchronous, card_of,
};
use attache_model::offline::OfflineModel;
use attache_model::script::ScriptModel;
use attache_model::LanguageModel;
use attache_model_http::gemini::{Backend, Credential, GeminiModel, GeminiOptions};
use attache_net::{BaseUrl, Client, ClientOptions, Secret};
use attache_server::{Limits, ServerOptions};
use attache_session::{Agent, SessionOptions};
use attache_store::Stores;
use attache_store::memory::MemoryStore;
use attache_store_sql::{SqliteOptions, SqliteStore};
use attache_tool::Workspace;
use attache_tool::policy::Mode;

use crate::report::hinted;
use crate::workplaces::Furnisher;

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
                let hint =
                    "choose another place with --store sqlite:PATH, or --store memory: to keep nothing";
                hinted(
                    anyhow::Error::new(error).context(format!("cannot use the store {}", path.display())),
                    hint,
                )
            })?;
            Ok(Stores::of(Arc::new(store)))
        }
    }
}

pub(crate) fn agent(settings: &Settings, attended: Attended) -> anyhow::Result<Arc<dyn Agent>> {
    let mind = match &settings.model {
        ModelChoice::Offline => Mind::BuiltIn(Arc::new(OfflineModel)),
        ModelChoice::Script(path) => Mind::BuiltIn(Arc::new(script(path)?)),
        ModelChoice::Gemini(chosen) => Mind::Language(gemini(chosen)?),
    };
    let root = settings.workspace.canonicalize().context("cannot find the workspace")?;
    std::fs::create_dir_all(&settings.scratch)
        .with_context(|| format!("cannot make the folder {}", settings.scratch.display()))?;
    let scratch = settings.scratch.canonicalize().context("cannot find the scratch folder")?;
    let roots = vec![root.clone()];
    let policy = PolicyOptions {
        mode: match settings.approval {
            ApprovalMode::Default => Mode::Default,
            ApprovalMode::AutoEdit => Mode::AutoEdit,
            ApprovalMode::Yolo => Mode::Yolo,
            ApprovalMode::Plan => Mode::Plan,
        },
        roots: roots.clone(),
        // Whoever starts the server in a folder, or names it, trusts it; a folder's own settings are not read yet.
        trusted: true,
        unattended: attended == Attended::No,
        ..PolicyOptions::default()
    };
    let workspace = Workspace { roots, scratch, environment: settings.child_environment.clone() };
    let furnisher = Furnisher::new(mind, policy, root, Arc::new(workspace));
    Ok(Arc::new(CodingAgent::new(Arc::new(furnisher))))
}

/// Whether somebody can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attended {
    Yes,
    No,
}

fn gemini(chosen: &GeminiSettings) -> anyhow::Result<Arc<dyn LanguageModel>> {
    let base_url = chosen.base_url.as_deref().map(BaseUrl::parse).transpose().map_err(|error| {
        let error = anyhow::Error::new(error).context("GOOGLE_GEMINI_BASE_URL cannot be used");
        hinted(error, "give it as https://HOST, or http://127.0.0.1:PORT for a server on this machine")
    })?;
    let credential = Credential::ApiKey(Secret::new(chosen.key.expose()));
    let options = GeminiOptions::new(chosen.model.clone(), credential, Backend::Developer { base_url });
    let client = Client::new(&ClientOptions::default()).context("cannot make the outbound client")?;
    let model = GeminiModel::new(options, client).context("the Gemini model cannot be used")?;
    Ok(Arc::new(model))
}

fn script(path: &Path) -> anyhow::Result<ScriptModel> {
    let hint = "docs/script-model.md describes script files";
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the script {}", path.display()))
        .map_err(|error| hinted(error, hint))?;
    ScriptModel::from_yaml(&text)
        .with_context(|| format!("the script {} is not valid", path.display()))
        .map_err(|error| hinted(error, hint))
}

pub(crate) fn session_options(settings: &Settings) -> SessionOptions {
    SessionOptions {
        input_modes: settings.card.input_modes.clone(),
        output_modes: settings.card.output_modes.clone(),
        ..SessionOptions::default()
    }
}

pub(crate) fn server_options(settings: &Settings, base_url: &str) -> ServerOptions {
    let limits = &settings.limits;
    ServerOptions {
        card: card_of(settings, base_url),
        card_max_age: settings.card.max_age,
        bearer_token: settings.token.clone(),
        allowed_hosts: allowed_hosts(settings),
        allowed_origins: settings.allowed_origins.clone(),
        strict_version: settings.strict_version,
        limits: Limits {
            body_bytes: limits.body_bytes,
            json_depth: limits.json_depth,
            connections: limits.connections,
            header_timeout: limits.header_timeout,
            body_timeout: limits.body_timeout,
            heartbeat: limits.heartbeat,
            shutdown_patience: limits.shutdown_patience,
        },
    }
}

/// The configured names, the one that the public URL promises, and the address it listens on.
fn allowed_hosts(settings: &Settings) -> Vec<String> {
    let promised = settings.public_url.as_deref().and_then(|url| {
        let (_, rest) = url.split_once("://")?;
        rest.split('/').next().map(str::to_owned)
    });
    let own = match settings.host {
        IpAddr::V4(address) => address.to_string(),
        IpAddr::V6(address) => format!("[{address}]"),
    };
    settings.allowed_hosts.iter().cloned().chain(promised).chain([own]).collect()
}
