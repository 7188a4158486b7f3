//! `attache trust`: shows what a folder's own files allow, and accepts it.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::PathBuf;

use anyhow::bail;
use attache_config::Flags;
use attache_wire::yes_or_no;
use attache_workspace::{
    AgentFlags, ChosenBy, HomeFolders, Project, ProjectQuery, TrustedFolders, accept_allowances, visible,
};
use clap::Args;

use crate::ProcessContext;
use crate::report::with_hint;
use crate::standard_streams::{stderr, stdout};

#[derive(Debug, Args)]
pub struct TrustArguments {
    /// Only show what the folder allows, and whether it counts
    #[arg(long, conflicts_with_all = ["yes", "revoke"])]
    show: bool,
    /// Trust the folder and accept what is shown without asking
    #[arg(long, conflicts_with = "revoke")]
    yes: bool,
    /// Do not trust the folder from now on, and forget what was accepted
    #[arg(long)]
    revoke: bool,
    /// Folder to show, trust or distrust [default: the current one]
    #[arg(long, value_name = "FOLDER")]
    workspace: Option<PathBuf>,
    /// Settings file of the server; see docs/settings.md
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

pub fn run(arguments: TrustArguments, process: ProcessContext<'_>) -> anyhow::Result<()> {
    let ProcessContext { current_dir, environment } = process;
    let flags = Flags { config: arguments.config, workspace: arguments.workspace, ..Flags::default() };
    let operator = attache_workspace::load_operator(flags, environment, current_dir)?;
    let homes = HomeFolders::of(environment);
    let folder = operator.workspace.as_path();
    if arguments.revoke {
        TrustedFolders::save(&homes, folder, false)?;
        accept_allowances(&homes, folder, [])?;
        return print(&format!("{} is not trusted any more.", visible(&folder.display().to_string())));
    }
    let flags = AgentFlags::default();
    let place = ProjectQuery {
        folder,
        chosen_by: ChosenBy::Operator,
        flags: &flags,
        environment,
        operator: &operator,
    };
    let project = Project::read(place)?;
    print(&describe(&project))?;
    if arguments.show {
        return Ok(());
    }
    if !arguments.yes && !confirmed()? {
        bail!("nothing was accepted");
    }
    accept(&homes, &project)?;
    print("Trusted, and accepted as shown. What changes later has to be accepted again.")
}

/// Trusts the folder for good and accepts exactly what was read.
pub fn accept(homes: &HomeFolders, project: &Project) -> anyhow::Result<()> {
    TrustedFolders::save(homes, &project.folder, true)?;
    Ok(accept_allowances(homes, &project.folder, project.allowances())?)
}

/// The folder, whether it is trusted, and everything its files allow, one by one.
pub fn describe(project: &Project) -> String {
    let trust = &project.project_trust.trust;
    let is = if trust.is_trusted() { "trusted" } else { "not trusted" };
    let folder = visible(&project.folder.display().to_string());
    let mut lines = vec![format!("{folder} is {is}: {}", visible(trust.why()))];
    if project.report.allowances.is_empty() {
        lines.push("Its files allow nothing that has to be accepted.".to_owned());
    }
    for (allowance, counts) in &project.report.allowances {
        let state = if *counts { "accepted" } else { "ignored" };
        let place = visible(&allowance.origin.to_string());
        lines.push(format!(
            "  {state:<9} {}: {}\n            in {place}",
            allowance.kind.name(),
            allowance.words
        ));
    }
    for (origin, name) in &project.report.ignored {
        lines.push(format!("  ignored   {} in {}", visible(name), visible(&origin.to_string())));
    }
    lines.join("\n")
}

fn confirmed() -> anyhow::Result<bool> {
    if !io::stdin().is_terminal() || !stderr().is_terminal() {
        let error = anyhow::anyhow!("there is no terminal to ask at");
        return Err(with_hint(error, "say --yes to trust the folder and accept what is shown"));
    }
    Ok(ask("Do you trust the files in this folder?")? == TrustAnswer::Yes)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustAnswer {
    Yes,
    No,
    /// Anything else.
    Later,
}

/// Asks at the terminal. The answer is one line; no line is no answer.
pub fn ask(question: &str) -> io::Result<TrustAnswer> {
    let mut out = stderr().lock();
    write!(out, "{question} [yes/no] ")?;
    out.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(match yes_or_no(&line) {
        Some(true) => TrustAnswer::Yes,
        Some(false) => TrustAnswer::No,
        None => TrustAnswer::Later,
    })
}

fn print(text: &str) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            bail!("cannot write to standard output: {error}")
        }
        _ => Ok(()),
    }
}
