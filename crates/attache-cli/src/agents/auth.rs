//! `attache agents auth`: signs in to an agent, and out again.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use attache_client::{Client, ClientError, ClientOptions};
use attache_config::variable;
use attache_credentials::{CardSecurity, SignIn};
use attache_net::HttpClientOptions;
use attache_workspace::agent_files::{
    self, AgentDefinition, AgentKind, RemoteAgent, SourceContext, oauth_source,
};
use clap::Args;

use crate::ProcessContext;
use crate::call::agent::{FileOfAgent, allowed_origins, card_source, file_hint};
use crate::call::is_at_terminal;
use crate::network;
use crate::printable::printable;
use crate::report::with_hint;
use crate::sign_in::{TerminalSignIn, browser};
use crate::standard_streams::stderr;

#[derive(Debug, Args)]
pub(super) struct AuthArguments {
    pub(super) name: String,
    /// With a code that is entered on any device, instead of a browser on this machine
    #[arg(long)]
    device: bool,
    /// Only show the address, and open no browser
    #[arg(long, conflicts_with = "device")]
    no_browser: bool,
    /// Remove the agent's token from this machine
    #[arg(long, conflicts_with_all = ["device", "no_browser"])]
    sign_out: bool,
}

pub(super) fn run(
    agent: &AgentDefinition,
    arguments: &AuthArguments,
    process: ProcessContext<'_>,
) -> anyhow::Result<ExitCode> {
    let AgentKind::Remote(remote) = &agent.kind else {
        bail!("{} is a local agent, which needs no sign-in", agent.name);
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.context("cannot start the runtime")?;
    runtime.block_on(async {
        let working = async {
            match arguments.sign_out {
                true => sign_out(agent, process).await,
                false => sign_in(agent, remote, arguments, process).await,
            }
        };
        tokio::select! {
            biased;
            _ = tokio::signal::ctrl_c() => Ok(ExitCode::from(130)),
            done = Box::pin(working) => done.map(|()| ExitCode::SUCCESS),
        }
    })
}

async fn sign_in(
    agent: &AgentDefinition,
    remote: &RemoteAgent,
    arguments: &AuthArguments,
    process: ProcessContext<'_>,
) -> anyhow::Result<()> {
    let name = &agent.name;
    let network = network::of_user(process.environment)?;
    // The certificate proves who we are to the agent, and not to a server of tokens.
    let net = network.client_options();
    let sign_in: Arc<dyn SignIn> = Arc::new(TerminalSignIn {
        asks: is_at_terminal(),
        opens: !arguments.no_browser,
        uses_device: arguments.device,
        browser: browser(process.environment),
    });
    let context = SourceContext { environment: process.environment, net: &net, sign_in: &sign_in };
    let Some(source) = oauth_source(agent, context).map_err(|what| anyhow!("{what}"))? else {
        let kind = remote.auth.as_ref().map_or("no authentication", |auth| auth.name());
        let error = anyhow!("{name} has {kind} in its file; only oauth2 has a sign-in");
        return Err(with_hint(error, "`attache agents show NAME` shows how an agent is authenticated"));
    };
    let network = network::for_agent(network, agent.tls.as_ref(), process.environment)?;
    let security = card_security(agent, remote, network.client_options()).await?;
    source.sign_in(security.as_ref()).await.map_err(|error| anyhow!("{}", printable(&error.to_string())))?;
    writeln!(stderr(), "signed in to {name}")?;
    if variable(process.environment, "GEMINI_FORCE_ENCRYPTED_FILE_STORAGE")
        .is_some_and(|value| value == "true")
    {
        let note = "GEMINI_FORCE_ENCRYPTED_FILE_STORAGE has no effect here";
        writeln!(
            stderr(),
            "note: {note}: the token is in ~/.gemini/a2a-oauth-tokens.json, readable by you only"
        )?;
    }
    Ok(())
}

/// What the card says; `None` if it is shown to known callers only.
async fn card_security(
    agent: &AgentDefinition,
    remote: &RemoteAgent,
    net: HttpClientOptions,
) -> anyhow::Result<Option<CardSecurity>> {
    let allowed_origins = allowed_origins(remote)?;
    let options = ClientOptions { net, allowed_origins, ..ClientOptions::default() };
    match Client::connect_to(&card_source(remote.card.clone()), options).await {
        Ok(client) => Ok(Some(client.security().clone())),
        Err(ClientError::Unauthenticated { .. } | ClientError::Status { status: 403, .. }) => Ok(None),
        Err(error) => {
            let text = anyhow!("its card cannot be read: {}", printable(&error.to_string()));
            Err(match file_hint(&error, &FileOfAgent::of(agent)) {
                Some(hint) => with_hint(text, hint),
                None => text,
            })
        }
    }
}

async fn sign_out(agent: &AgentDefinition, process: ProcessContext<'_>) -> anyhow::Result<()> {
    let removed =
        agent_files::sign_out(agent, process.environment).await.map_err(|what| anyhow!("{what}"))?;
    let done = if removed { "signed out of" } else { "there was no token of" };
    writeln!(stderr(), "{done} {}", agent.name)?;
    Ok(())
}
