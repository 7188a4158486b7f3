//! `attache` at a terminal: wires a session and its screen.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::{Context, anyhow};
use attache_cli::report::{ErrorWithHint, with_hint};
use attache_cli::resolve_trust;
use attache_config::{Settings, StoreChoice};
use attache_domain::{ApiKeys, Scope, terminal_safe};
use attache_headless::{FailureKind, RunFailure};
use attache_session::{SessionOptions, SessionService};
use attache_store_sql::OpenError;
use attache_terminal::{
    LineScreen, OpenSession, OpenSessionError, RetentionLimits, ScreenEnd, SessionPlace, SessionRequest,
    delete_old_sessions, run_line_screen,
};
use attache_workspace::{AgentFlags, Interactivity, SessionRetention};
use tokio::sync::mpsc;

use crate::headless::{HeadlessArguments, missing_mention, settings_failure, trust_failure};
use crate::live_endpoint::{LiveEndpoint, ServedSession};
use crate::{logging, models, runtime, wiring};

/// A session that was ended by a signal.
const TERMINATED: u8 = 143;

pub(crate) fn run(arguments: &HeadlessArguments) -> ExitCode {
    let ended = prepare(arguments).and_then(|prepared| {
        let runtime = runtime::start(prepared.settings.worker_threads).context("cannot start the runtime");
        let runtime = runtime.map_err(|error| settings_failure(&error))?;
        let ended = runtime.block_on(Box::pin(hold_session(arguments, prepared)));
        // A thread that waits for a key must not keep the program alive.
        runtime.shutdown_background();
        ended.map_err(|error| settings_failure(&error))
    });
    match ended {
        Ok(ScreenEnd::Left) => ExitCode::SUCCESS,
        Ok(ScreenEnd::Over) => ExitCode::FAILURE,
        Ok(ScreenEnd::Interrupted) => ExitCode::from(FailureKind::Cancelled.code()),
        Ok(ScreenEnd::Terminated) => ExitCode::from(TERMINATED),
        Err(failure) => {
            let _ = writeln!(io::stderr(), "error: {}", terminal_safe(&failure.message));
            ExitCode::from(failure.kind.code())
        }
    }
}

struct PreparedSession {
    settings: Settings,
    flags: AgentFlags,
    place: SessionPlace,
    has_colour: bool,
    log: mpsc::Receiver<String>,
}

#[expect(
    clippy::disallowed_methods,
    reason = "the binary is where the environment and current folder are read"
)]
fn prepare(arguments: &HeadlessArguments) -> Result<PreparedSession, RunFailure> {
    arguments.check_query()?;
    let wrong = |error: anyhow::Error| settings_failure(&error);
    let current_dir = std::env::current_dir().context("cannot tell the current folder").map_err(wrong)?;
    let environment = |name: &str| crate::environment::variable(name);
    let settings = attache_workspace::load_operator(arguments.into(), &environment, &current_dir);
    let mut settings = settings.map_err(|error| wrong(error.into()))?;
    let has_colour = environment("NO_COLOR").is_none_or(|value| value.is_empty())
        && environment("TERM").is_none_or(|terminal| terminal != "dumb");
    let (lines, log) = mpsc::channel(logging::MAX_SCREEN_LINES);
    logging::start_on_screen(&settings.log, lines).map_err(wrong)?;
    let mut flags = AgentFlags::from(arguments);
    resolve_trust(&settings, &mut flags, &environment).map_err(trust_failure)?;
    let has_home = !settings.data_folder.starts_with(current_dir.join(".attache"));
    let sessions = all_sessions(&settings);
    let request = SessionRequest {
        // Without a home, no file is known to be the user's own.
        sessions: (arguments.store.is_none() && has_home).then_some(sessions.as_path()),
        workspace: &settings.workspace,
        resume: arguments.resume.as_deref(),
        session_id: arguments.session_id.as_deref(),
    };
    let place = SessionPlace::resolve(request).map_err(|error| match error.hint() {
        Some(hint) => wrong(with_hint(error, hint)),
        None => wrong(error.into()),
    })?;
    if let Some(path) = &place.file {
        settings.store = StoreChoice::Sqlite(path.clone());
    }
    Ok(PreparedSession { settings, flags, place, has_colour, log })
}

async fn hold_session(arguments: &HeadlessArguments, prepared: PreparedSession) -> anyhow::Result<ScreenEnd> {
    let PreparedSession { settings, flags, place, has_colour, log } = prepared;
    let wiring::WiredAgent { agent, conversations, model, api_keys, session_retention, .. } =
        wiring::agent(&settings, flags, Interactivity::Interactive)?;
    let stores = wiring::stores(&settings).map_err(|error| without_store(&place, error))?;
    let options = SessionOptions { keeps_sessions: true, ..wiring::session_options(&settings) };
    let service = SessionService::start(stores, agent, options).await?;
    let screen = LineScreen {
        has_colour,
        history: place.file.is_some().then(|| settings.data_folder.join("history")),
        workspace: settings.workspace.clone(),
        greeting: greeting(&settings.workspace, &models::name_of(&model), &place),
        first_prompt: arguments.first_prompt(),
        check_prompt: {
            let workspace = settings.workspace.clone();
            Box::new(move |prompt| missing_mention(prompt, &workspace))
        },
        log,
    };
    let showing = show_session(arguments, &settings, &place, (service.clone(), api_keys), screen);
    // Warns of agents that cannot be used before one is needed.
    let reading = conversations.read_agent_cards();
    let (shown, (), ()) = tokio::join!(showing, clean_up(&settings, &place, session_retention), reading);
    service.shutdown().await;
    drop(service);
    let was_used = shown.as_ref().is_ok_and(|(_, was_used)| *was_used) || !place.is_new();
    let is_over = match &shown {
        Ok((end, _)) => *end == ScreenEnd::Over,
        Err(error) => matches!(error.downcast_ref(), Some(OpenSessionError::Over(_))),
    };
    if is_over {
        place.mark_over();
    }
    place.close(was_used);
    if was_used && place.file.is_some() && shown.is_ok() && !is_over {
        let _ = writeln!(io::stdout(), "attache --resume {} goes on with this session", place.id());
    }
    shown.map(|(end, _)| end)
}

/// The folder with the sessions of all folders.
fn all_sessions(settings: &Settings) -> PathBuf {
    settings.data_folder.join("sessions")
}

/// Deletes old sessions beside this one, which is open already.
async fn clean_up(settings: &Settings, place: &SessionPlace, retention: SessionRetention) {
    let Some(own) = place.file.clone() else { return };
    let all = all_sessions(settings);
    let retention = RetentionLimits { max_age: retention.max_age, max_count: retention.max_count };
    let cleaning = tokio::task::spawn_blocking(move || {
        let deleted = delete_old_sessions(&all, &own, &retention, SystemTime::now());
        if deleted > 0 {
            tracing::info!(
                deleted,
                "old sessions were deleted; general.sessionRetention says how many are kept"
            );
        }
    });
    let _ = cleaning.await;
}

/// How the session ended, and whether something was said in it.
async fn show_session(
    arguments: &HeadlessArguments,
    settings: &Settings,
    place: &SessionPlace,
    (service, api_keys): (Arc<SessionService>, Arc<ApiKeys>),
    mut screen: LineScreen,
) -> anyhow::Result<(ScreenEnd, bool)> {
    let scope = Scope::new("", "operator");
    let session = OpenSession::open(service.clone(), scope, place.start.clone()).await?;
    let endpoint = match arguments.a2a_port {
        Some(port) => {
            let served = ServedSession { session: service, task: session.id().clone(), api_keys };
            Some(LiveEndpoint::open(settings, port, served).await?)
        }
        None => None,
    };
    if let Some(LiveEndpoint { url, .. }) = &endpoint {
        let socket = url.replacen("http", "ws", 1);
        screen.greeting.push(format!("live endpoint at {url}, {socket}/ws"));
    }
    let ended = run_line_screen(session.clone(), screen).await;
    if let Some(endpoint) = endpoint {
        endpoint.close().await;
    }
    let was_used = session.view().await.is_ok_and(|view| !view.history.is_empty());
    Ok((ended.context("cannot use the terminal")?, was_used))
}

/// A session that another process has open is no reason to choose another store.
fn without_store(place: &SessionPlace, error: anyhow::Error) -> anyhow::Error {
    let cause = error.downcast_ref::<ErrorWithHint>().and_then(|hinted| hinted.error.downcast_ref());
    match cause {
        Some(OpenError::InUse { by, .. }) if !place.is_new() => {
            let by = by.as_ref().map(|by| format!(" ({by})")).unwrap_or_default();
            let what = anyhow!("the session {} is in use by another process{by}", place.id());
            with_hint(what, "attache, without --resume, begins another one")
        }
        _ => error,
    }
}

fn greeting(workspace: &Path, model: &str, place: &SessionPlace) -> Vec<String> {
    let version = env!("CARGO_PKG_VERSION");
    let how = if place.is_new() { "session" } else { "goes on with session" };
    vec![
        format!("attache {version} in {}, model {model}", workspace.display()),
        format!("{how} {}; /help lists the commands, Ctrl-D leaves", place.id()),
    ]
}
