//! Starts the other server, and attache for the same clients.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::super::model::Model;
use super::super::server::Server;
use super::super::workbench::{Store, Workbench};
use crate::setup::{environment, gemini_server};
use crate::workspace::Workspace;

/// Where it is below the folder that it is installed in.
const PROGRAM: &str = "node_modules/@google/gemini-cli-a2a-server/dist/a2a-server.mjs";

/// What it says, followed by its address, once it can be called.
const GREETING: &str = "Agent Server started on ";

pub(super) struct Peer {
    installed: PathBuf,
    /// Keeps it on this machine, where it would otherwise wait for a network.
    preload: PathBuf,
    home: PathBuf,
    path: OsString,
}

impl Peer {
    pub(super) fn install(workspace: &Workspace, workbench: &Workbench) -> Result<Self, String> {
        let tools = workspace.test_tools();
        gemini_server::provide(&workspace.root, &tools)?;
        let home = workbench.folder.join("peer");
        fs::create_dir_all(&home).map_err(|error| format!("the other server's home: {error}"))?;
        #[expect(clippy::disallowed_methods, reason = "it runs programs of this machine")]
        let path = std::env::var_os("PATH").unwrap_or_default();
        Ok(Self {
            installed: tools.join(gemini_server::FOLDER),
            preload: workspace.root.join("tests").join("gemini").join("preload.cjs"),
            home,
            path,
        })
    }

    pub(super) fn start(&self, model: &Model) -> Result<Server, String> {
        let mut command = Command::new(environment::node(&self.installed));
        command.arg("--require").arg(&self.preload).arg(self.installed.join(PROGRAM));
        // Nothing of what this machine's owner has told their own agent.
        command.env_clear().env("PATH", &self.path).env("HOME", &self.home).current_dir(&self.home);
        command.env("GEMINI_API_KEY", "bench").env("GOOGLE_GEMINI_BASE_URL", &model.server.url);
        Server::start_saying(GREETING, &mut command)
    }
}

/// attache with a store on disk, at work in `folder`; its clients may request calls that run unasked.
pub(super) fn start_ours(
    workbench: &Workbench,
    store: &str,
    model: &Model,
    folder: &str,
) -> Result<Server, String> {
    let settings = workbench.file("attache.toml");
    fs::write(&settings, "client_auto_execute = true\n")
        .map_err(|error| format!("attache's settings: {error}"))?;
    let mut command = workbench.agent_command(Store::Sqlite(store), model, folder);
    Server::start(command.args(["--config", &settings]))
}
