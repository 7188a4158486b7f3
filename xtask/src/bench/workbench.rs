//! The binaries under test and a folder for their files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::load::{self, HeldLoad, Measurement};
use super::model::{self, Model};
use super::options::Options;
use super::script;
use super::server::Server;
use crate::process;
use crate::workspace::Workspace;

pub(super) struct Workbench {
    attache: PathBuf,
    bench: PathBuf,
    /// On the same disk as the target folder: memory disks know no cost of a commit.
    pub(super) folder: PathBuf,
    instant: PathBuf,
    streams: PathBuf,
    pub(super) rounds: usize,
}

/// Where attache keeps its tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Store<'a> {
    Memory,
    /// A file of this name in the bench's folder, kept between starts.
    Sqlite(&'a str),
}

/// What attache's model plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScriptPace {
    Instant,
    Streams,
}

impl Workbench {
    pub(super) fn build(workspace: &Workspace, options: &Options) -> Result<Self, String> {
        let binaries = build(&workspace.root)?;
        let folder = workspace.target.join("bench");
        if folder.exists() {
            fs::remove_dir_all(&folder).map_err(|error| format!("the last run's files: {error}"))?;
        }
        fs::create_dir_all(&folder).map_err(|error| format!("the bench's folder: {error}"))?;
        Ok(Self {
            attache: binary(&binaries, "attache")?,
            bench: binary(&binaries, "attache-bench")?,
            streams: script::write(&folder)?,
            instant: workspace.root.join("examples/scripts/instant.yaml"),
            folder,
            rounds: options.rounds,
        })
    }

    pub(super) fn attache_path(&self) -> String {
        self.attache.to_string_lossy().into_owned()
    }

    pub(super) fn start_bare(&self) -> Result<Server, String> {
        Server::start(&mut self.bare_command(Command::new(&self.bench)))
    }

    pub(super) fn start_attache(&self, store: Store<'_>, playing: ScriptPace) -> Result<Server, String> {
        Server::start(&mut self.attache_command(Command::new(&self.attache), store, playing))
    }

    /// The same with settings of its own.
    pub(super) fn start_attache_with(
        &self,
        settings: &str,
        store: Store<'_>,
        playing: ScriptPace,
    ) -> Result<Server, String> {
        let path = self.file("attache.toml");
        fs::write(&path, settings).map_err(|error| format!("the settings: {error}"))?;
        let mut command = self.attache_command(Command::new(&self.attache), store, playing);
        Server::start(command.args(["--config", &path]))
    }

    /// The model that a coding agent is measured with.
    pub(super) fn start_model(&self) -> Result<Model, String> {
        Ok(Model { server: Server::start(Command::new(&self.bench).arg("gemini"))? })
    }

    /// attache as a coding agent of `model`, at work in the folder `workspace`.
    pub(super) fn start_agent(
        &self,
        store: Store<'_>,
        model: &Model,
        workspace: &str,
    ) -> Result<Server, String> {
        Server::start(&mut self.agent_command(store, model, workspace))
    }

    /// The same, for who has more to say.
    pub(super) fn agent_command(&self, store: Store<'_>, model: &Model, workspace: &str) -> Command {
        let mut command = Command::new(&self.attache);
        // Nothing of what this machine's owner has told their own agent.
        command.env_clear().env("HOME", self.file("home"));
        command.env("GEMINI_API_KEY", "bench").env("GOOGLE_GEMINI_BASE_URL", &model.server.url);
        command.args([
            "serve",
            "--trust",
            "--port",
            "0",
            "--store",
            &self.store(store),
            "--model",
            model::NAME,
        ]);
        command.args(["--workspace", workspace]);
        command
    }

    /// What stands in the file `line.txt` of [`Workbench::new_folder`].
    pub(super) const LINE: &str = "one-line-and-no-more";

    /// A folder with one small file in it.
    pub(super) fn new_folder(&self) -> Result<String, String> {
        let folder = self.folder.join("work");
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(folder.join("line.txt"), Self::LINE))
            .map_err(|error| format!("the agent's folder: {error}"))?;
        Ok(folder.to_string_lossy().into_owned())
    }

    /// The same two servers, run by `tool`.
    pub(super) fn start_bare_under(&self, mut tool: Command) -> Result<Server, String> {
        tool.arg(&self.bench);
        Server::start(&mut self.bare_command(tool))
    }

    pub(super) fn start_attache_under(&self, mut tool: Command) -> Result<Server, String> {
        tool.arg(&self.attache);
        Server::start(&mut self.attache_command(tool, Store::Memory, ScriptPace::Instant))
    }

    pub(super) fn measure(&self, server: &Server, arguments: &[&str]) -> Result<Measurement, String> {
        load::measure(&self.bench, server, arguments)
    }

    pub(super) fn attempt(&self, server: &Server, arguments: &[&str]) -> Result<Measurement, String> {
        load::attempt(&self.bench, server, arguments)
    }

    pub(super) fn hold(&self, server: &Server, arguments: &[&str]) -> Result<HeldLoad, String> {
        load::hold(&self.bench, server, arguments)
    }

    /// A file of the bench's own.
    pub(super) fn file(&self, name: &str) -> String {
        self.folder.join(name).to_string_lossy().into_owned()
    }

    fn bare_command(&self, mut command: Command) -> Command {
        command.arg("bare");
        command
    }

    fn attache_command(&self, mut command: Command, store: Store<'_>, playing: ScriptPace) -> Command {
        let store = self.store(store);
        let script = match playing {
            ScriptPace::Instant => &self.instant,
            ScriptPace::Streams => &self.streams,
        };
        let model = format!("script:{}", script.display());
        command.args(["serve", "--trust", "--port", "0", "--store", &store, "--model", &model]);
        command.arg("--workspace").arg(&self.folder);
        command
    }

    fn store(&self, store: Store<'_>) -> String {
        match store {
            Store::Memory => "memory:".to_owned(),
            Store::Sqlite(name) => format!("sqlite:{}", self.file(name)),
        }
    }
}

impl Drop for Workbench {
    fn drop(&mut self) {
        // What is left is cleared away by the next run.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// What cargo says it built, one JSON object per line.
fn build(root: &Path) -> Result<String, String> {
    eprintln!("bench: building the binaries with the profile `dist`");
    let mut command = process::cargo(root);
    command.args(["build", "--profile", "dist", "--package", "attache", "--package", "attache-bench"]);
    command.args(["--message-format", "json"]);
    process::stdout_of(&mut command)
}

fn binary(built: &str, name: &str) -> Result<PathBuf, String> {
    let messages = built.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut executables = messages.filter(|message| message["target"]["name"] == name);
    let path = executables.find_map(|message| message["executable"].as_str().map(PathBuf::from));
    path.ok_or_else(|| format!("cargo built no `{name}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_is_where_cargo_says() {
        let built = concat!(
            r#"{"reason":"compiler-artifact","target":{"name":"attache"},"executable":null}"#,
            "\n",
            r#"{"reason":"compiler-artifact","target":{"name":"attache"},"executable":"/t/attache"}"#,
            "\nnot JSON\n",
        );
        assert_eq!(binary(built, "attache").unwrap(), PathBuf::from("/t/attache"));
        assert!(binary(built, "attache-bench").is_err());
    }
}
