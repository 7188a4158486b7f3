//! Settings become parts: the only place that names implementations.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use attache_agent::ModelAgent;
use attache_config::{ModelChoice, Settings, StoreChoice, Synchronous, card_of};
use attache_model::ModelProvider;
use attache_model::offline::OfflineModel;
use attache_model::script::ScriptModel;
use attache_server::{Limits, ServerOptions};
use attache_session::{Agent, SessionOptions};
use attache_store::Stores;
use attache_store::memory::MemoryStore;
use attache_store_sql::{SqliteOptions, SqliteStore};

use crate::report::hinted;

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

pub(crate) fn agent(settings: &Settings) -> anyhow::Result<Arc<dyn Agent>> {
    let model: Arc<dyn ModelProvider> = match &settings.model {
        ModelChoice::Offline => Arc::new(OfflineModel),
        ModelChoice::Script(path) => Arc::new(script(path)?),
    };
    Ok(Arc::new(ModelAgent::new(model)))
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
