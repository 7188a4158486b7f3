//! `attache -p`: one task in this process, from a prompt to an exit code.
//!
//! The same agent as a server's, with nobody to ask: what would need an answer is denied. What is printed, and how it
//! ends, is what scripts written for Gemini CLI expect.

mod arguments;
mod denial;
mod failure;
mod format;
mod input;
mod json;
mod output;
mod output_event;
mod runner;
mod scratch;
mod stats;
mod stream_json;
mod text;
mod trust;

use std::io;
use std::process::ExitCode;

use anyhow::Context;
use arguments::OutputFormat;
use attache_config::Settings;
use attache_workspace::AgentFlags;
use failure::Failure;
use input::PromptInput;
use output::{RunOutput, RunSummary, output};
use runner::{HeadlessRunner, RunOptions};
use scratch::ScratchFolder;
use tokio::runtime::Runtime;
use uuid::Uuid;

use crate::{logging, runtime};
pub(crate) use arguments::HeadlessArguments;

pub(crate) fn run(arguments: &HeadlessArguments) -> ExitCode {
    let session_id = Uuid::new_v4().to_string();
    let said = arguments.output_format.or_else(|| format::format_from_settings(arguments));
    let mut output = output(said.unwrap_or(OutputFormat::Text), &session_id);
    match attempt(arguments, &session_id, output.as_mut()) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(failure)) => ExitCode::from(failure.kind.code()),
        // Whoever read it has read enough.
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
) -> io::Result<Result<(), Failure>> {
    let mut conduct = HeadlessRunner::default();
    let result = match prepare(arguments) {
        Err(failure) => Err(failure),
        Ok(PreparedRun { input, settings, flags, runtime, scratch }) => {
            let _removed_at_the_end = scratch;
            if let Some(warning) = &input.warning {
                output.show(&output_event::OutputEvent::Warning(warning.clone()))?;
            }
            let order = RunOptions { settings: &settings, flags, session_id, input: &input };
            runtime.block_on(Box::pin(conduct.run(order, output)))?
        }
    };
    let (response, stats) = (conduct.response(), &conduct.stats.stats);
    output.end(&RunSummary { result: result.as_ref().copied(), response: &response, stats })?;
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
fn prepare(arguments: &HeadlessArguments) -> Result<PreparedRun, Failure> {
    arguments.check_query()?;
    let input = input::read_input(arguments.prompt.as_deref(), &arguments.query)?;
    let wrong = |error: anyhow::Error| Failure::of_settings(&error);
    let current_dir = std::env::current_dir().context("cannot tell the current folder").map_err(wrong)?;
    let environment = |name: &str| crate::environment::variable(name);
    let settings = attache_workspace::load_operator(arguments.into(), &environment, &current_dir);
    let mut settings = settings.map_err(|error| wrong(error.into()))?;
    let colour = environment("NO_COLOR").is_none_or(|value| value.is_empty());
    logging::start(&settings.log, colour).map_err(wrong)?;
    let mut flags = AgentFlags::from(arguments);
    trust::resolve_trust(&settings, &mut flags, &environment)?;
    input.check_mentions(&settings.workspace)?;
    let runtime = runtime::start(settings.worker_threads).context("cannot start the runtime");
    let runtime = runtime.map_err(wrong)?;
    let scratch = ScratchFolder::for_run(&mut settings);
    Ok(PreparedRun { input, settings, flags, runtime, scratch })
}
