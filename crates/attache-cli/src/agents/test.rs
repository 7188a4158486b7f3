//! `attache agents test`: asks an agent for its card, and says whether it can be used.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, anyhow, bail};
use attache_client::{Client, ClientOptions};
use attache_credentials::{NoSignIn, SignIn};
use attache_workspace::agent_files::{
    AgentDefinition, AgentKind, RemoteAgent, SourceContext, credential_source,
};
use serde_json::{Value, json};

use super::show::{table, target};
use super::{first_line, print, print_json};
use crate::ProcessContext;
use crate::call::agent::{FileOfAgent, allowed_origins, card_source, file_hint};
use crate::network;
use crate::printable::printable;

/// Fails when the agent cannot be used: it is not there, its card requires what its file does not have, or there is no
/// credential for it now.
pub(super) fn run(
    agent: &AgentDefinition,
    json: bool,
    process: ProcessContext<'_>,
) -> anyhow::Result<ExitCode> {
    let AgentKind::Remote(remote) = &agent.kind else {
        bail!("{} is a local agent, which has no card", agent.name);
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start the runtime")?;
    let begun = Instant::now();
    let connected = runtime.block_on(async {
        tokio::select! {
            biased;
            _ = tokio::signal::ctrl_c() => None,
            connected = Box::pin(connect(agent, remote, process)) => Some(connected),
        }
    });
    let Some(connected) = connected else { return Ok(ExitCode::from(130)) };
    let (latency, is_ready) = (begun.elapsed().as_millis(), connected.is_ok());
    let report = match connected {
        Ok(client) => ready(agent, &client, latency),
        Err(error) => json!({
            "name": agent.name, "url": target(agent), "status": "failed", "error": printable(&format!("{error:#}")),
            "advice": error.downcast_ref().and_then(|error| file_hint(error, &FileOfAgent::of(agent))),
        }),
    };
    if json {
        print_json(&json!({ "agent": report }))?;
    } else {
        print(&table(&rows(&report)))?;
    }
    Ok(if is_ready { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn connect(
    agent: &AgentDefinition,
    remote: &RemoteAgent,
    process: ProcessContext<'_>,
) -> anyhow::Result<Client> {
    let of_user = network::of_user(process.environment)?;
    let sign_in: Arc<dyn SignIn> = Arc::new(NoSignIn);
    let net = of_user.client_options();
    let context = SourceContext { environment: process.environment, net: &net, sign_in: &sign_in };
    let credential = credential_source(agent, context).map_err(|what| anyhow!("{what}"))?;
    let net = network::for_agent(of_user, agent.tls.as_ref(), process.environment)?.client_options();
    let allowed_origins = allowed_origins(remote)?;
    let options =
        ClientOptions { credential: credential.clone(), net, allowed_origins, ..ClientOptions::default() };
    let client = Client::connect_to(&card_source(remote.card.clone()), options).await?;
    if let Some(missing) = agent.missing_authentication(client.security()) {
        bail!("{missing}");
    }
    client.check_credential(credential.as_deref()).await?;
    Ok(client)
}

fn ready(agent: &AgentDefinition, client: &Client, latency: u128) -> Value {
    let (card, notices) = (client.card(), client.notices());
    json!({
        "name": agent.name, "url": target(agent), "status": "ready", "latencyMs": latency as u64,
        "agentName": card.name, "version": card.version, "protocol": client.protocol().name(),
        "streaming": card.capabilities.streaming, "notices": notices,
    })
}

fn rows(report: &Value) -> Vec<(&'static str, String)> {
    let text = |name: &str| report[name].as_str().map(first_line);
    let mut rows = vec![("name", text("name")), ("card", text("url")), ("state", text("status"))];
    rows.push(("latency", report["latencyMs"].as_u64().map(|latency| format!("{latency} ms"))));
    rows.extend([
        ("problem", text("error")),
        ("advice", text("advice")),
        ("agent", text("agentName")),
        ("version", text("version")),
    ]);
    rows.push(("protocol", text("protocol")));
    let notices = report["notices"].as_array().into_iter().flatten();
    rows.extend(notices.map(|notice| ("notice", notice.as_str().map(first_line))));
    rows.into_iter()
        .filter_map(|(name, value)| Some((name, value.filter(|value| !value.is_empty())?)))
        .collect()
}
