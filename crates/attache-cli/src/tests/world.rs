//! A home with a workspace in it, and commands that run there in this process.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use attache_config::Settings;
use attache_help::Manual;
use attache_workspace::{ServerStatus, WorkspaceSettings};
use clap::{CommandFactory, Parser};
use serde_json::Value;
use tempfile::TempDir;

use crate::card::CardContext;
use crate::standard_streams::{take_captured, tell};
use crate::{ProcessContext, agents, call, card, config, help_pages, keys, mcp, report, trust};

/// The commands as the binary has them.
#[derive(Debug, Parser)]
#[command(name = "attache")]
enum Command {
    Agents(agents::AgentsArguments),
    Call(Box<call::CallArguments>),
    Card(card::CardArguments),
    Config(config::ConfigArguments),
    Keys(keys::KeysArguments),
    Mcp(mcp::McpArguments),
    Trust(trust::TrustArguments),
}

pub(super) struct World {
    folder: TempDir,
    variables: Vec<(String, String)>,
}

/// How a command ended, and what it printed.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) code: u8,
    pub(super) out: String,
    pub(super) err: String,
}

impl World {
    pub(super) fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap(), variables: Vec::new() };
        fs::create_dir(world.work()).unwrap();
        let home = world.home().display().to_string();
        world.variable("HOME", &home)
    }

    pub(super) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn home(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub(super) fn work(&self) -> PathBuf {
        self.home().join("work")
    }

    /// Writes a file below the home.
    pub(super) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(super) fn file(self, name: &str, text: &str) -> Self {
        self.write(name, text);
        self
    }

    /// Runs a command in the workspace.
    pub(super) fn run(&self, arguments: &[&str]) -> Ended {
        self.run_in(&self.work(), arguments)
    }

    pub(super) fn run_in(&self, folder: &Path, arguments: &[&str]) -> Ended {
        take_captured();
        let line = ["attache"].iter().chain(arguments);
        let code = match Command::try_parse_from(line) {
            Ok(command) => number(self.execute(folder, command)),
            Err(error) => {
                tell(&error);
                u8::try_from(error.exit_code()).unwrap()
            }
        };
        let (out, err) = take_captured();
        Ended { code, out, err }
    }

    fn execute(&self, folder: &Path, command: Command) -> ExitCode {
        let environment = |name: &str| {
            let found = self.variables.iter().rev().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone())
        };
        let process = ProcessContext { current_dir: folder, environment: &environment };
        let own_card: card::OwnCard<'_> = &|_| unreachable!("no test here is about the own card");
        let manual = Manual::new(help_pages(Command::command(), "attache"));
        let ended = match command {
            Command::Agents(arguments) => agents::run(arguments, process, &manual),
            Command::Call(arguments) => return call::run(*arguments, process, &manual),
            Command::Card(arguments) => {
                return card::run(arguments, CardContext { own_card, environment: &environment });
            }
            Command::Config(arguments) => {
                return config::run(arguments, process, &|_| Ok("by the tests".into()));
            }
            Command::Keys(arguments) => keys::run(arguments).map(|()| ExitCode::SUCCESS),
            Command::Mcp(arguments) => mcp::run(arguments, process, &probe),
            Command::Trust(arguments) => trust::run(arguments, process).map(|()| ExitCode::SUCCESS),
        };
        ended.unwrap_or_else(|error| report::failure(&error))
    }
}

/// Connects to no server.
fn probe(_: &Settings, _: &WorkspaceSettings, _: &Path) -> anyhow::Result<Vec<ServerStatus>> {
    Ok(Vec::new())
}

fn number(code: ExitCode) -> u8 {
    (0..=u8::MAX).find(|number| ExitCode::from(*number) == code).unwrap()
}

impl Ended {
    #[track_caller]
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    #[track_caller]
    pub(super) fn ends_with(self, code: u8) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }
}
