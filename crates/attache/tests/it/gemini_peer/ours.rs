//! Our server as the peer's clients meet it: they choose their workspace and may ask for calls without approval.

use std::path::PathBuf;

use attache_testkit::model_server::ModelServer;
use attache_testkit::{Launch, ServerProcess};

use super::model::Model;
use super::normal::Live;
use super::play::Stage;
use crate::agent_world::launch_with;

pub(super) struct Ours {
    server: ServerProcess,
    launch: Launch,
}

pub(super) async fn start(model: &ModelServer) -> Ours {
    let launch = launch_with(model);
    let folder = launch.folder().canonicalize().unwrap();
    let settings = format!("allowed_roots = [{:?}]\nclient_auto_execute = true\n", folder.join("work"));
    let launch = launch.settings(&settings);
    let server = launch.start().await;
    Ours { server, launch }
}

impl Ours {
    pub(super) fn stage<'a>(&self, model: &'a Model) -> Stage<'a> {
        let folder: PathBuf = self.launch.folder().canonicalize().unwrap();
        Stage { address: self.server.address().to_owned(), model, folder, live: Live::Pieces }
    }
}
