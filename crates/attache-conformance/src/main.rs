//! `attache-conformance URL`: checks the A2A server at URL and prints the results.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command talks to the person who ran it")]

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use attache_conformance::{Options, run};
use clap::Parser;

/// Checks an A2A server from outside. Exit code 1 if a MUST is broken, 2 if it could not be checked.
#[derive(Debug, Parser)]
#[command(name = "attache-conformance")]
struct Arguments {
    /// The agent's base URL; its card is at `URL/.well-known/agent-card.json`
    url: String,
    /// A file with the bearer token
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// A file with the bearer token of a second caller, who must not see the tasks of the first
    #[arg(long, value_name = "FILE")]
    other_token_file: Option<PathBuf>,
    /// Only checks whose ids begin with this; may be repeated
    #[arg(long, value_name = "ID")]
    only: Vec<String>,
    /// How many checks run in parallel
    #[arg(long, default_value_t = 8, value_name = "N")]
    jobs: usize,
    /// Print JSON instead of the table
    #[arg(long)]
    json: bool,
    /// Also write the JSON to a file
    #[arg(long, value_name = "FILE")]
    json_file: Option<PathBuf>,
    /// Fail on any broken rule, not only a MUST, and if the agent does not obey every steering word
    #[arg(long)]
    strict: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match check(&arguments) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn check(arguments: &Arguments) -> Result<ExitCode, String> {
    let options = Options {
        base: arguments.url.clone(),
        token: token(arguments.token_file.as_deref())?,
        other_token: token(arguments.other_token_file.as_deref())?,
        only: arguments.only.clone(),
        jobs: arguments.jobs,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("starting: {error}"))?;
    let report = runtime.block_on(run(&options))?;
    let json = report.to_json();
    if let Some(file) = &arguments.json_file {
        std::fs::write(file, format!("{json:#}\n"))
            .map_err(|error| format!("writing {}: {error}", file.display()))?;
    }
    if arguments.json {
        println!("{json:#}");
    } else {
        print!("{}", report.to_text());
    }
    let (_, failed, _) = report.counts();
    let strictly = arguments.strict && (failed > 0 || !report.disobeyed.is_empty());
    Ok(if report.breaks_a_must() || strictly { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn token(file: Option<&Path>) -> Result<Option<String>, String> {
    let Some(file) = file else { return Ok(None) };
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("reading the token in {}: {error}", file.display()))?;
    Ok(Some(text.trim().to_owned()))
}
