//! Settings become parts: the only place that names implementations.

use std::ffi::OsString;
use std::net::IpAddr;
use std::sync::Arc;

use anyhow::Context;
use attache_agent::CodingAgent;
use attache_config::{AgentFlags, ModelChoice, Settings, StoreChoice, Synchronous, card_of};
use attache_domain::{AgentCard, AgentExtension};
use attache_server::{Limits, ServerOptions};
use attache_session::{Agent, SessionOptions};
use attache_store::Stores;
use attache_store::memory::MemoryStore;
use attache_store_sql::{SqliteOptions, SqliteStore};
use attache_wire::devtool;

use crate::furnishing::{Furnishing, Start};
use crate::report::hinted;
use crate::signing;
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

/// The agent, and the model that answers unless somebody asks for another.
#[expect(
    clippy::disallowed_methods,
    reason = "the binary is where the environment and current folder are read"
)]
pub(crate) fn agent(
    settings: &Settings,
    flags: AgentFlags,
    attended: Attended,
) -> anyhow::Result<(Arc<dyn Agent>, ModelChoice)> {
    let current_dir = std::env::current_dir().context("cannot tell the current folder")?;
    // What is not text is nothing that we know.
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    let variables = std::env::vars_os().filter_map(text).collect();
    let operator = settings.clone();
    let furnishing = Furnishing::new(Start { operator, flags, variables, current_dir, attended })?;
    let model = furnishing.model().clone();
    let agent = CodingAgent::new(Arc::new(Furnisher::new(furnishing)));
    Ok((Arc::new(agent), model))
}

/// Whether somebody can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attended {
    Yes,
    No,
}

pub(crate) fn session_options(settings: &Settings) -> SessionOptions {
    SessionOptions {
        input_modes: settings.card.input_modes.clone(),
        output_modes: settings.card.output_modes.clone(),
        ..SessionOptions::default()
    }
}

pub(crate) fn server_options(settings: &Settings, base_url: &str) -> anyhow::Result<ServerOptions> {
    let limits = &settings.limits;
    let mut card = card_of(settings, base_url);
    offer_development_tool(&mut card, settings.card.require_development_tool);
    Ok(ServerOptions {
        signed_card: signing::signed_card(settings, &card, base_url)?,
        card,
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
    })
}

/// Every attache speaks the extension; an operator who lists it describes it in their own words.
fn offer_development_tool(card: &mut AgentCard, required: bool) {
    let listed = &mut card.capabilities.extensions;
    match listed.iter_mut().find(|extension| devtool::speaks(&extension.uri)) {
        Some(extension) => extension.required |= required,
        None => listed.push(AgentExtension {
            uri: devtool::URI.to_owned(),
            description: Some("Thoughts, tool calls, approvals and commands of a coding agent.".to_owned()),
            required,
            params: None,
        }),
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
