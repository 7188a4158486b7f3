//! `attache -p`: wires one run without a terminal.

mod arguments;
mod format;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use attache_cli::report::ErrorWithHint;
use attache_cli::{TrustRefusal, resolve_trust};
use attache_config::{ConfigError, Settings, StoreChoice};
use attache_domain::ApiKeys;
use attache_headless::{
    ConnectedClients, FailureKind, HeadlessRunner, HeadlessSession, OutputEvent, OutputFormat, PromptInput,
    RunFailure, RunOutput, RunSummary, ScratchFolder, output, read_input,
};
use attache_session::SessionService;
use attache_tool_std::mentions::find_mentions;
use attache_workspace::{AgentFlags, Interactivity};
use tokio::runtime::Runtime;
use uuid::Uuid;

use crate::live_endpoint::{LiveEndpoint, ServedSession};
use crate::{logging, models, runtime, wiring};
pub(crate) use arguments::HeadlessArguments;

pub(crate) fn run(arguments: &HeadlessArguments) -> ExitCode {
    let session_id = Uuid::new_v4().to_string();
    let format = arguments.output_format.or_else(|| format::format_from_settings(arguments));
    let mut output = output(format.unwrap_or(OutputFormat::Text), &session_id);
    match attempt(arguments, &session_id, output.as_mut()) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(failure)) => ExitCode::from(failure.kind.code()),
        // The reader has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(%error, "the output cannot be written");
            ExitCode::FAILURE
        }
    }
}

/// The outer error is one of writing.
fn attempt(
    arguments: &HeadlessArguments,
    session_id: &str,
    output: &mut dyn RunOutput,
) -> io::Result<Result<(), RunFailure>> {
    let mut runner = HeadlessRunner::default();
    let result = match prepare(arguments) {
        Err(failure) => Err(failure),
        Ok(PreparedRun { input, settings, flags, runtime, scratch }) => {
            let _removed_at_the_end = scratch;
            if let Some(warning) = &input.warning {
                output.show(&OutputEvent::Warning(warning.clone()))?;
            }
            runtime.block_on(Box::pin(async {
                let started = match arguments.a2a_port {
                    Some(port) => start_with_endpoint(&settings, flags, port, session_id).await,
                    None => {
                        start(&settings, flags, Interactivity::NonInteractive).await.map(|(it, _)| (it, None))
                    }
                };
                let (session, endpoint) = match started {
                    Ok(started) => started,
                    Err(error) => return Ok(Err(settings_failure(&error))),
                };
                let result = runner.run(&session, session_id, &input, output).await;
                if let Some(endpoint) = endpoint {
                    endpoint.close().await;
                }
                // Ends what still runs.
                session.session.shutdown().await;
                result
            }))?
        }
    };
    let response = runner.response();
    output.end(&RunSummary {
        result: result.as_ref().copied(),
        response: &response,
        stats: runner.stats(),
    })?;
    Ok(result)
}

struct PreparedRun {
    input: PromptInput,
    settings: Settings,
    flags: AgentFlags,
    runtime: Runtime,
    scratch: Option<ScratchFolder>,
}

#[expect(
    clippy::disallowed_methods,
    reason = "the binary is where the environment and current folder are read"
)]
fn prepare(arguments: &HeadlessArguments) -> Result<PreparedRun, RunFailure> {
    arguments.check_unattended()?;
    arguments.check_query()?;
    let input = read_input(arguments.prompt.as_deref(), &arguments.query)?;
    let wrong = |error: anyhow::Error| settings_failure(&error);
    let current_dir = std::env::current_dir().context("cannot tell the current folder").map_err(wrong)?;
    let environment = |name: &str| crate::environment::variable(name);
    let settings = attache_workspace::load_operator(arguments.into(), &environment, &current_dir);
    let mut settings = settings.map_err(|error| wrong(error.into()))?;
    let colour = environment("NO_COLOR").is_none_or(|value| value.is_empty());
    match arguments.debug {
        true => logging::start(&settings.log, colour).map_err(wrong)?,
        false => logging::start_for_people(&settings.log).map_err(wrong)?,
    }
    let mut flags = AgentFlags::from(arguments);
    resolve_trust(&settings, &mut flags, &environment).map_err(trust_failure)?;
    check_mentions(&input, &settings.workspace)?;
    let runtime = runtime::start(settings.worker_threads).context("cannot start the runtime");
    let runtime = runtime.map_err(wrong)?;
    // A task that is kept may refer to the folder.
    let scratch = (settings.store == StoreChoice::Memory).then(|| {
        let (scratch, folder) = ScratchFolder::new(&settings.scratch);
        settings.scratch = folder;
        scratch
    });
    Ok(PreparedRun { input, settings, flags, runtime, scratch })
}

async fn start(
    settings: &Settings,
    flags: AgentFlags,
    interactivity: Interactivity,
) -> anyhow::Result<(HeadlessSession, Arc<ApiKeys>)> {
    let wiring::WiredAgent { agent, model, trust, api_keys, .. } =
        wiring::agent(settings, flags, interactivity)?;
    let stores = wiring::stores(settings)?;
    let session = SessionService::start(stores, agent, wiring::session_options(settings)).await?;
    let model = models::name_of(&model);
    let trusted = trust.trust.is_trusted();
    Ok((HeadlessSession { session, model, trusted, clients: None }, api_keys))
}

/// The clients of the endpoint see the task under the id of the session, and can answer questions.
async fn start_with_endpoint(
    settings: &Settings,
    flags: AgentFlags,
    port: u16,
    session_id: &str,
) -> anyhow::Result<(HeadlessSession, Option<LiveEndpoint>)> {
    let (mut session, api_keys) = start(settings, flags, Interactivity::Interactive).await?;
    let task = attache_headless::reserve_task(&session.session, session_id);
    let task = task.await.map_err(|fault| anyhow::anyhow!("cannot begin the session: {fault}"))?;
    let endpoint = LiveEndpoint::open(
        settings,
        port,
        ServedSession { session: session.session.clone(), task: task.clone(), api_keys },
    )
    .await?;
    // The answer goes to stdout.
    let _ = writeln!(io::stderr(), "live endpoint at {}", endpoint.url);
    session.clients = Some(ConnectedClients { task, url: endpoint.url.clone() });
    Ok((session, Some(endpoint)))
}

fn check_mentions(input: &PromptInput, workspace: &Path) -> Result<(), RunFailure> {
    match missing_mention(input.words(), workspace) {
        Some(problem) => Err(RunFailure::new(FailureKind::Input, problem)),
        None => Ok(()),
    }
}

/// A file that the words mention with an `@`, and that does not exist, is most likely misspelled.
pub(crate) fn missing_mention(words: &str, workspace: &Path) -> Option<String> {
    let missing = find_mentions(words)
        .into_iter()
        .find(|mention| mention.plainly_a_path && !workspace.join(&mention.path).exists())?;
    Some(format!("the prompt mentions @{}, and there is no such file or folder", missing.path))
}

pub(crate) fn trust_failure(refusal: TrustRefusal) -> RunFailure {
    match refusal {
        TrustRefusal::Untrusted(message) => RunFailure::new(FailureKind::Untrusted, message),
        TrustRefusal::Settings(error) => settings_failure(&error),
    }
}

/// The failure of a run whose settings, or what they name, are wrong.
pub(crate) fn settings_failure(error: &anyhow::Error) -> RunFailure {
    let kind = match error.downcast_ref::<ConfigError>() {
        Some(ConfigError::NoKey { .. }) => FailureKind::Authentication,
        Some(error) if error.is_about_flag() => FailureKind::Usage,
        _ => FailureKind::Configuration,
    };
    let hint = match error.downcast_ref::<ErrorWithHint>() {
        Some(hinted) => Some(hinted.hint.clone()),
        None => error.downcast_ref::<ConfigError>().and_then(|error| Some(error.hint()?.to_owned())),
    };
    let hint = hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
    RunFailure::new(kind, format!("{error:#}{hint}"))
}
