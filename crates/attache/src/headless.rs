//! `attache -p`: wires one run without a terminal.

mod arguments;
mod format;
mod scratch;
mod trust;

use std::io;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use attache_cli::report::ErrorWithHint;
use attache_config::{ConfigError, Settings};
use attache_headless::{
    FailureKind, HeadlessRunner, HeadlessSession, OutputEvent, OutputFormat, PromptInput, RunFailure,
    RunOutput, RunSummary, output, read_input,
};
use attache_session::SessionService;
use attache_tool_std::mentions::find_mentions;
use attache_workspace::{AgentFlags, Attendance};
use scratch::ScratchFolder;
use tokio::runtime::Runtime;
use uuid::Uuid;

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
                match start(&settings, flags).await {
                    Ok(session) => runner.run(session, session_id, &input, output).await,
                    Err(error) => Ok(Err(settings_failure(&error))),
                }
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
    scratch: ScratchFolder,
}

#[expect(
    clippy::disallowed_methods,
    reason = "the binary is where the environment and current folder are read"
)]
fn prepare(arguments: &HeadlessArguments) -> Result<PreparedRun, RunFailure> {
    arguments.check_query()?;
    let input = read_input(arguments.prompt.as_deref(), &arguments.query)?;
    let wrong = |error: anyhow::Error| settings_failure(&error);
    let current_dir = std::env::current_dir().context("cannot tell the current folder").map_err(wrong)?;
    let environment = |name: &str| crate::environment::variable(name);
    let settings = attache_workspace::load_operator(arguments.into(), &environment, &current_dir);
    let mut settings = settings.map_err(|error| wrong(error.into()))?;
    let colour = environment("NO_COLOR").is_none_or(|value| value.is_empty());
    logging::start(&settings.log, colour).map_err(wrong)?;
    let mut flags = AgentFlags::from(arguments);
    trust::resolve_trust(&settings, &mut flags, &environment)?;
    check_mentions(&input, &settings.workspace)?;
    let runtime = runtime::start(settings.worker_threads).context("cannot start the runtime");
    let runtime = runtime.map_err(wrong)?;
    let scratch = ScratchFolder::for_run(&mut settings);
    Ok(PreparedRun { input, settings, flags, runtime, scratch })
}

async fn start(settings: &Settings, flags: AgentFlags) -> anyhow::Result<HeadlessSession> {
    let wiring::WiredAgent { agent, model, trust, .. } =
        wiring::agent(settings, flags, Attendance::Unattended)?;
    let stores = wiring::stores(settings)?;
    let session = SessionService::start(stores, agent, wiring::session_options(settings)).await?;
    Ok(HeadlessSession { session, model: models::name_of(&model), trusted: trust.trust.is_trusted() })
}

/// A file that the words mention with an `@`, and that does not exist, is most likely misspelled.
fn check_mentions(input: &PromptInput, workspace: &Path) -> Result<(), RunFailure> {
    let missing = find_mentions(input.words())
        .into_iter()
        .find(|mention| mention.plainly_a_path && !workspace.join(&mention.path).exists());
    let Some(mention) = missing else { return Ok(()) };
    let message = format!("the prompt mentions @{}, and there is no such file or folder", mention.path);
    Err(RunFailure::new(FailureKind::Input, message))
}

/// The failure of a run whose settings, or what they name, are wrong.
fn settings_failure(error: &anyhow::Error) -> RunFailure {
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
