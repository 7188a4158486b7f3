//! A server with a scripted Gemini model and a workspace, and what tests say to it.

use std::fs;
use std::path::PathBuf;

pub(crate) use attache_testkit::agent_client::{answer_text, refusal, reply, send, settled, state};
pub(crate) use attache_testkit::model_requests::{first_told, last_output};
use attache_testkit::model_server::ModelServer;
pub(crate) use attache_testkit::model_server::gemini::{calls, says};
use attache_testkit::{ServerLaunch, ServerProcess};

use crate::support::launch;

/// A server whose model is `model` and whose workspace is the folder `work` of the launch.
pub(crate) async fn start(model: &ModelServer) -> (ServerLaunch, ServerProcess) {
    let launch = launch_with(model);
    let server = launch.start().await;
    (launch, server)
}

pub(crate) fn launch_with(model: &ModelServer) -> ServerLaunch {
    launch_of(launch(), model)
}

/// As [`launch_with`], for a launch of something else than the binary itself.
pub(crate) fn launch_of(launch: ServerLaunch, model: &ModelServer) -> ServerLaunch {
    let workspace = launch.folder().join("work");
    fs::create_dir_all(&workspace).unwrap();
    fs::write(workspace.join("hello.txt"), "Hello, world.\nSecond line.\n").unwrap();
    let data = launch.folder().join("data").display().to_string();
    launch
        .durable()
        .argument("--workspace")
        .argument(workspace.display().to_string())
        .argument("--model")
        .argument("gemini-2.5-pro")
        .variable("GEMINI_API_KEY", "key-for-tests")
        .variable("GOOGLE_GEMINI_BASE_URL", &model.url())
        .variable("XDG_DATA_HOME", &data)
}

/// The workspace of a launch.
pub(crate) fn work(launch: &ServerLaunch) -> PathBuf {
    launch.folder().join("work")
}

/// Writes a file of the workspace, with the folders it needs.
pub(crate) fn write(launch: &ServerLaunch, path: &str, text: &str) {
    let path = launch.folder().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Trusts the workspace for good and accepts what its files allow now, as `attache trust` does.
pub(crate) fn trust(launch: &ServerLaunch) -> String {
    trust_command(launch, "--yes")
}

/// Runs `attache trust` with a flag.
pub(crate) fn trust_command(launch: &ServerLaunch, flag: &str) -> String {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_attache"));
    command.args(["trust", flag, "--workspace"]).arg(work(launch));
    command.env_clear().env("HOME", launch.folder()).current_dir(launch.folder());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}
