//! The examples, run as their pages say, against the real binary.

mod buffers;
mod clients;
mod pages;
mod workflow;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use attache_testkit::{ServerLaunch, ServerProcess};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

use crate::support::launch;

/// Far more than any of them takes, also on a machine that has other things to do.
const PATIENCE: Duration = Duration::from_secs(100);

/// A file below the folder of examples.
fn example(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(path)
}

/// What the developer command has installed under this name; none, and said so, when it has not.
#[expect(clippy::print_stdout, reason = "people who run the tests should see what was skipped")]
fn installed(name: &str) -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the developer command tells where it has installed them")]
    let tools = std::env::var_os("ATTACHE_TEST_TOOLS");
    let found = tools.map(|tools| PathBuf::from(tools).join(name)).filter(|folder| folder.is_dir());
    if found.is_none() {
        println!(
            "skipped: what the examples need is not installed; `cargo xtask test` does it and says where"
        );
    }
    found
}

/// A server that plays the script of an example, and whose workspace is the folder `work` with a greeting in it.
async fn start(script: &str) -> (ServerLaunch, ServerProcess) {
    let launch = launch().in_memory().argument("--workspace").argument("work");
    let launch = launch.script(&fs::read_to_string(example(script)).unwrap());
    fs::create_dir(launch.folder().join("work")).unwrap();
    fs::write(greeting(&launch), "Hello.\n").unwrap();
    let server = launch.start().await;
    (launch, server)
}

/// The file that the agent works on.
fn greeting(launch: &ServerLaunch) -> PathBuf {
    launch.folder().join("work/greeting.txt")
}

/// What a program prints that has nothing but `folder` to itself, when these lines are typed.
async fn output(program: &mut Command, folder: &Path, typed: &str) -> String {
    #[expect(clippy::disallowed_methods, reason = "interpreters look for what they start")]
    let path = std::env::var_os("PATH").unwrap();
    program.env_clear().env("PATH", path).env("HOME", folder).env("TMPDIR", folder).current_dir(folder);
    program.env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONUTF8", "1").kill_on_drop(true);
    program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = program.spawn().unwrap_or_else(|error| panic!("{program:?}: {error}"));
    // One that has gone without reading tells why below.
    drop(child.stdin.take().unwrap().write_all(typed.as_bytes()).await);
    let output = timeout(PATIENCE, child.wait_with_output()).await.expect("it ends in time").unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{printed}\n{complaints}", output.status);
    assert_eq!(complaints, "", "it has nothing to complain about");
    printed
}
