//! Our server as the peer's clients meet it: they choose their workspace and may ask for calls without approval.

use std::path::PathBuf;

use attache_testkit::model_server::ModelServer;
use attache_testkit::{ServerLaunch, ServerProcess};
use serde_json::json;

use super::model::Model;
use super::play::{Stage, Whose};
use crate::agent_world::{launch_with, write};

pub(super) struct Ours {
    server: ServerProcess,
    launch: ServerLaunch,
}

pub(super) async fn start(model: &ModelServer) -> Ours {
    let launch = launch_with(model);
    let folder = launch.folder().canonicalize().unwrap();
    let workspaces = folder.join("work").display().to_string();
    let settings = format!("allowed_roots = [{workspaces:?}]\nclient_auto_execute = true\n");
    let launch = launch.settings(&settings);
    // A workspace that a client chose is not trusted by itself, and only in one that is may it run calls unasked.
    write(&launch, ".gemini/trustedFolders.json", &json!({ workspaces: "TRUST_FOLDER" }).to_string());
    let server = launch.start().await;
    Ours { server, launch }
}

impl Ours {
    pub(super) fn stage<'a>(&self, model: &'a Model) -> Stage<'a> {
        let folder: PathBuf = self.launch.folder().canonicalize().unwrap();
        Stage { address: self.server.address().to_owned(), model, folder, whose: Whose::Ours }
    }
}
