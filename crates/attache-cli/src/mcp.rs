//! `attache mcp`: the MCP servers in the settings files.

mod arguments;
mod entry;
mod file;
mod list;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use arguments::{AddArguments, McpCommand, RemoveArguments, ScopeFlag};
use file::SettingsFile;
pub(crate) use file::explained;

use crate::ProcessContext;
use crate::report::with_hint;
use crate::standard_streams::stdout;
pub use arguments::McpArguments;
pub use list::ProbeServers;

/// The table of a settings file that holds the servers.
const SERVERS: &str = "mcpServers";

/// `probe` connects to servers; the binary knows how.
pub fn run(
    arguments: McpArguments,
    process: ProcessContext<'_>,
    probe: ProbeServers<'_>,
) -> anyhow::Result<ExitCode> {
    let ProcessContext { current_dir, environment } = process;
    let places = SettingsFolders {
        home: environment("HOME").filter(|home| !home.is_empty()).map(Into::into),
        current_dir: current_dir.to_owned(),
    };
    match arguments.command {
        McpCommand::Add(arguments) => add(&places, arguments).map(|()| ExitCode::SUCCESS),
        McpCommand::Remove(arguments) => remove(&places, &arguments).map(|()| ExitCode::SUCCESS),
        McpCommand::List(arguments) => list::run(&places, &arguments, environment, probe),
    }
}

/// The folders of settings files.
struct SettingsFolders {
    home: Option<PathBuf>,
    current_dir: PathBuf,
}

impl SettingsFolders {
    fn file(&self, scope: ScopeFlag) -> anyhow::Result<SettingsFile> {
        match scope {
            ScopeFlag::User => {
                let home =
                    self.home.as_deref().context("HOME is not set, so there is no user's settings file")?;
                Ok(SettingsFile::of(home, ScopeFlag::User))
            }
            ScopeFlag::Project => Ok(SettingsFile::of(&self.current_dir, ScopeFlag::Project)),
        }
    }

    /// The current folder is the home folder, so its settings file is the user's.
    fn is_home(&self) -> bool {
        let real = |path: &Path| path.canonicalize().ok();
        self.home.as_deref().and_then(real).is_some_and(|home| real(&self.current_dir) == Some(home))
    }
}

fn add(places: &SettingsFolders, arguments: AddArguments) -> anyhow::Result<()> {
    let arguments = arguments.into_server()?;
    let (name, scope) = (arguments.name.clone(), arguments.scope);
    entry::check_name(&name)?;
    if scope == ScopeFlag::Project && places.is_home() {
        let error = anyhow::anyhow!("this is your home folder: its settings hold for all projects");
        return Err(with_hint(error, "say --scope user if that is meant, or go to the project first"));
    }
    let entry = entry::of_arguments(arguments)?;
    let file = places.file(scope)?;
    let document = file.read()?;
    let known = document.table(SERVERS)?.is_some_and(|servers| servers.contains_key(&name));
    file.write(&document.with(SERVERS, &name, &entry)?)?;
    let done = if known { "Changed" } else { "Added" };
    let next = match scope {
        ScopeFlag::User => "",
        ScopeFlag::Project => " `attache trust` lets it be used here.",
    };
    print_line(&format!("{done} the MCP server {name} in {}.{next}", file.path().display()))
}

fn remove(places: &SettingsFolders, arguments: &RemoveArguments) -> anyhow::Result<()> {
    let (name, file) = (&arguments.name, places.file(arguments.scope)?);
    let Some(text) = file.read()?.without(SERVERS, name)? else {
        let other = match arguments.scope {
            ScopeFlag::User => "--scope project",
            ScopeFlag::Project => "--scope user",
        };
        let error = anyhow::anyhow!("there is no MCP server {name} in {}", file.path().display());
        return Err(with_hint(
            error,
            format!("`attache mcp list` shows all; {other} looks in the other file"),
        ));
    };
    file.write(&text)?;
    print_line(&format!("Removed the MCP server {name} from {}.", file.path().display()))
}

fn print_line(text: &str) -> anyhow::Result<()> {
    let mut out = stdout().lock();
    if let Err(error) = writeln!(out, "{text}").and_then(|()| out.flush())
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        bail!("cannot write to standard output: {error}");
    }
    Ok(())
}
