//! `attache store`: checks, backs up, restores and compacts the database that keeps the tasks.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use attache_cli::report::{self, with_hint};
use attache_config::{Flags, StoreChoice};
use attache_domain::terminal_safe;
use attache_store_sql::{CheckReport, MaintenanceError, OpenError};
use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct StoreArguments {
    #[command(subcommand)]
    command: StoreCommand,
    /// Which store: sqlite:PATH [default: the one that `attache serve` would use]
    #[arg(long, value_name = "STORE", global = true)]
    store: Option<String>,
    /// Settings file of the server; see docs/settings.md
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum StoreCommand {
    /// Look for damage and report it; a server may be running
    Check,
    /// Copy the store to a new file; a server may be running
    Backup {
        /// The file to make
        file: PathBuf,
    },
    /// Replace the store with a backup; no server may be running
    Restore {
        /// The backup
        file: PathBuf,
        /// Move a store that is there already aside, to PATH.before-restore or another free name
        #[arg(long)]
        force: bool,
    },
    /// Return unused space to the file system; no server may be running
    Compact,
}

pub(crate) fn run(arguments: StoreArguments) -> ExitCode {
    match run_command(arguments) {
        Ok(code) => code,
        Err(error) => report::failure(&error),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the binary is where the environment and current folder are read"
)]
fn run_command(arguments: StoreArguments) -> anyhow::Result<ExitCode> {
    let current_dir = std::env::current_dir().context("cannot tell the current folder")?;
    let environment = |name: &str| crate::environment::variable(name);
    let flags = Flags { config: arguments.config, store: arguments.store, ..Flags::default() };
    let settings = attache_workspace::load_operator(flags, &environment, &current_dir)?;
    let StoreChoice::Sqlite(path) = settings.store else {
        let error = anyhow!("the settings keep tasks in memory, and there is no file to work on");
        return Err(with_hint(error, "name the store with --store sqlite:PATH"));
    };
    let done = match arguments.command {
        StoreCommand::Check => attache_store_sql::check(&path).map(|found| checked(&path, &found)),
        StoreCommand::Backup { file } => attache_store_sql::backup(&path, &file).map(|found| {
            let (text, code) = checked(&file, &found);
            (format!("backed up {} to {}\n{text}", path.display(), file.display()), code)
        }),
        StoreCommand::Restore { file, force } => {
            attache_store_sql::restore(&file, &path, force).map(|restored| {
                let mut text = format!("restored {} from {}", path.display(), file.display());
                if let Some(replaced) = restored.replaced {
                    text += &format!("\nwhat was there before is in {}", replaced.display());
                }
                text += &format!(
                    "\n{}\ncursors of clients from before lead nowhere: they are told of a gap",
                    counts(&restored.report)
                );
                (text, ExitCode::SUCCESS)
            })
        }
        StoreCommand::Compact => attache_store_sql::compact(&path).map(|bytes| {
            let text =
                format!("compacted {}: {} bytes before, {} after", path.display(), bytes.before, bytes.after);
            (text, ExitCode::SUCCESS)
        }),
    };
    let (text, code) = done.map_err(with_advice)?;
    writeln!(io::stdout().lock(), "{}", terminal_safe(&text)).context("cannot write to standard output")?;
    Ok(code)
}

/// What a check has found, one fault on each line.
fn checked(path: &Path, report: &CheckReport) -> (String, ExitCode) {
    let mut lines: Vec<String> = report.faults.iter().map(|fault| format!("fault: {fault}")).collect();
    lines.extend(report.notes.iter().map(|note| format!("note: {note}")));
    if report.without_checksum > 0 {
        let rows = report.without_checksum;
        lines.push(format!(
            "note: {rows} rows were written before there were checksums; damage in them may go unnoticed"
        ));
    }
    lines.push(counts(report));
    let (verdict, code) = match report.faults.len() {
        0 => ("no fault".to_owned(), ExitCode::SUCCESS),
        1 => ("1 fault".to_owned(), ExitCode::FAILURE),
        count => (format!("{count} faults"), ExitCode::FAILURE),
    };
    lines.push(format!("{}: {verdict}", path.display()));
    (lines.join("\n"), code)
}

fn counts(report: &CheckReport) -> String {
    let CheckReport { tasks, events, snapshots, records, .. } = report;
    format!("{tasks} tasks, {events} events, {snapshots} snapshots, {records} records")
}

fn with_advice(error: MaintenanceError) -> anyhow::Error {
    let hint = match &error {
        MaintenanceError::Open(OpenError::InUse { .. }) => "stop the server that uses it first",
        MaintenanceError::Exists { .. } => {
            "for a backup, choose another file; for a restore, --force moves the store that is there aside"
        }
        MaintenanceError::Missing { .. } => "name the store with --store sqlite:PATH",
        MaintenanceError::Damaged { .. } => {
            "`attache store check --store sqlite:FILE` names the faults; to use it all the same, stop the server and copy the \
             file into place yourself"
        }
        _ => return error.into(),
    };
    with_hint(error, hint)
}
