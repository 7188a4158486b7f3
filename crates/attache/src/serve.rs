//! `attache serve`.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context;
use attache_cli::{Banner, ServeArguments, print_banner};
use attache_config::{Flags, Settings};
use attache_server::{Server, ServerHandle, can_identify_local_users};
use attache_session::{SessionOptions, SessionService};
use attache_tool::AccessLevel;
use attache_workspace::{AgentFlags, Interactivity, accept_for_this_run, visible};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::Instant;

use crate::open_files::connections_within;
use crate::{logging, open_files, runtime, sandbox, wiring};

/// However long the calls took to end, this much time is left to finish writes.
const MIN_WRITE_TIMEOUT: Duration = Duration::from_millis(500);

#[expect(
    clippy::disallowed_methods,
    reason = "the binary is where the environment and current folder are read"
)]
pub(crate) fn run(arguments: ServeArguments) -> anyhow::Result<()> {
    let current_dir = std::env::current_dir().context("cannot tell the current folder")?;
    let environment = |name: &str| crate::environment::variable(name);
    let agent = arguments.agent.clone();
    let flags = Flags::from(arguments);
    let mut agent_flags = agent.flags(&flags);
    let settings = attache_workspace::load_operator(flags, &environment, &current_dir)?;
    logging::start(&settings.log, environment("NO_COLOR").is_none_or(|value| value.is_empty()))?;
    let folder = settings.workspace.clone();
    for allowance in accept_for_this_run(&mut agent_flags, &folder, &environment, &settings)? {
        let place = visible(&allowance.origin.to_string());
        tracing::warn!("accepted for this run: {} ({place})", allowance.words);
    }
    let open_files = open_files::raise_limit();
    let runtime = runtime::start(settings.worker_threads).context("cannot start the runtime")?;
    // Runs on a worker: any other thread would have to wake one for every connection.
    let served = runtime.block_on(runtime.spawn(serve(settings, agent_flags, open_files)));
    // A thread that waits for a hanging disk must not keep the program alive.
    runtime.shutdown_timeout(MIN_WRITE_TIMEOUT);
    served.context("the server broke down")?
}

async fn serve(settings: Settings, flags: AgentFlags, open_files: Option<usize>) -> anyhow::Result<()> {
    let wiring::WiredAgent { agent, model, trust, notice, confiner, api_keys, own_origin, .. } =
        wiring::agent(&settings, flags, Interactivity::Interactive)?;
    if let Some(notice) = notice {
        tracing::warn!("{notice}");
    }
    // The port first: a second server on it must not touch the store of the first.
    let listener = wiring::listen(SocketAddr::new(settings.host, settings.port), "--port").await?;
    let address = listener.local_addr().context("cannot tell the address")?;
    let listening_at = format!("http://{address}");
    let base_url = settings.public_url.clone().unwrap_or_else(|| listening_at.clone());
    // Set once: the server listens at one place.
    let _ = own_origin.set(base_url.clone());
    let mut options = wiring::server_options(&settings, &base_url)?;
    options.api_keys = api_keys;
    options.console = settings.live.then(|| logging::open_console(&settings));
    options.limits.connections = connections_within(open_files, options.limits.connections);
    let stores = wiring::stores(&settings)?;
    let session_options =
        SessionOptions { push: wiring::push(&settings)?, ..wiring::session_options(&settings) };
    let session = SessionService::start(stores, agent, session_options)
        .await
        .context("cannot take up the stored tasks")?;
    let server = Server::new(listener, session.clone(), options);
    let handle = server.handle();
    stop_on_signals(handle)?;
    warn_of_plain_http(&settings);
    warn_of_unknown_users(&settings);
    let is_confined = confiner.confinement().holds(AccessLevel::Work);
    let banner = Banner {
        settings: &settings,
        model: &model,
        summary: &trust,
        confinement: (!is_confined).then(|| sandbox::describe(confiner.as_ref())),
        url: &listening_at,
    };
    match print_banner(&banner) {
        // A banner that cannot be read is no reason not to serve.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        greeted => greeted.context("cannot write to standard output")?,
    }
    let ends_at = server.run_until().await;
    let ends_at = ends_at.max(Instant::now() + MIN_WRITE_TIMEOUT);
    if tokio::time::timeout_at(ends_at, session.shutdown()).await.is_err() {
        tracing::warn!("the store does not end in time; what it has not written yet is lost");
    }
    tracing::info!("stopped");
    Ok(())
}

/// The server has no TLS of its own, so the network between it and its callers can read the token.
fn warn_of_plain_http(settings: &Settings) {
    if !settings.host.is_loopback() && settings.needs_token() {
        tracing::warn!(
            "the token crosses the network readable by others: {} is reached over plain HTTP; listen on 127.0.0.1 and put a \
             proxy that speaks HTTPS in front",
            settings.host
        );
    }
}

/// Without a token, only the user who runs the server is served. The system must be able to tell users apart.
fn warn_of_unknown_users(settings: &Settings) {
    if !settings.needs_token() && !can_identify_local_users() {
        tracing::warn!(
            "this system does not tell which user a connection comes from, so every call is refused: start the server with \
             --token-file FILE or ATTACHE_TOKEN"
        );
    }
}

/// The first signal stops the server gracefully, the second one at once.
fn stop_on_signals(handle: ServerHandle) -> anyhow::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot watch for signals")?;
    let mut terminate = signal(SignalKind::terminate()).context("cannot watch for signals")?;
    #[expect(clippy::disallowed_methods, reason = "lives exactly as long as the process")]
    tokio::spawn(async move {
        let mut stopping = false;
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if stopping {
                std::process::exit(130);
            }
            stopping = true;
            handle.stop();
            tracing::info!("stopping; once more to stop at once");
        }
    });
    Ok(())
}
