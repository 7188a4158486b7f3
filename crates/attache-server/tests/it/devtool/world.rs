//! A server with a scripted Gemini model and a workspace, and the editors that talk to it.

use std::fs;

use attache_server::ServerOptions;
use attache_testkit::editor::Editor;
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use attache_testkit::pairs::Pair;
use attache_wire::devtool::is_devtool_uri;

use crate::agent_world::{AgentLaunch, AgentServer, launch_with, work};

pub(super) struct World {
    pub(super) model: ModelServer,
    pub(super) launch: AgentLaunch,
    pub(super) server: AgentServer,
}

impl World {
    /// The model says these, one after the other.
    pub(super) async fn playing(answers: impl IntoIterator<Item = PlannedResponse>) -> Self {
        Self::with(answers, |launch| launch).await
    }

    /// The same, and `more` says how else the server is started.
    pub(super) async fn with(
        answers: impl IntoIterator<Item = PlannedResponse>,
        more: impl FnOnce(AgentLaunch) -> AgentLaunch,
    ) -> Self {
        let model = ModelServer::with_responses(answers);
        let launch = more(launch_with(&model));
        let server = launch.start().await;
        Self { model, launch, server }
    }

    /// As the RFC's examples are: 0.3 over JSON-RPC.
    pub(super) fn editor(&self) -> Editor {
        self.editor_on(Pair::Rpc03)
    }

    pub(super) fn editor_on(&self, pair: Pair) -> Editor {
        Editor::of(pair, &self.server.client())
    }

    /// Ends the server where it stands, and starts another on the same store.
    pub(super) async fn crash(self) -> Self {
        let Self { model, launch, server } = self;
        server.kill().await;
        let server = launch.start().await;
        Self { model, launch, server }
    }

    /// A file of the workspace as it is on the disk; none when it is not there.
    pub(super) fn file(&self, name: &str) -> Option<String> {
        fs::read_to_string(work(&self.launch).join(name)).ok()
    }

    /// Writes a file of the workspace.
    pub(super) fn write(&self, name: &str, text: &str) {
        fs::write(work(&self.launch).join(name), text).unwrap();
    }

    /// The contents of the latest request to the model.
    pub(super) fn told(&self) -> String {
        self.model.received().last().unwrap().json()["contents"].to_string()
    }
}

/// Serves only clients that speak the extension.
pub(super) fn require_extension(options: &mut ServerOptions) {
    for extension in &mut options.card.capabilities.extensions {
        extension.required |= is_devtool_uri(&extension.uri);
    }
}
