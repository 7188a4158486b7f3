//! Programs of others that read the OpenAPI document: schemathesis looks for answers that it does not describe, and a
//! TypeScript client of generated types drives a task.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::Duration;

use attache_testkit::model_server::ModelServer;
use serde_json::json;
use tokio::process::Command;
use tokio::time::timeout;

use crate::agent_world::{calls, launch_with, says, work};
use crate::support::launch;

/// Far more than any of them takes.
const PATIENCE: Duration = Duration::from_secs(100);

/// What the developer command has installed under this name; none, and said so, when it has not.
#[expect(clippy::print_stdout, reason = "the developer should see what was not tried")]
fn installed(name: &str) -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the developer command tells where it has installed them")]
    let tools = std::env::var_os("ATTACHE_TEST_TOOLS");
    let found = tools.map(|tools| PathBuf::from(tools).join(name)).filter(|folder| folder.is_dir());
    if found.is_none() {
        println!("skipped: {name} is not installed; `cargo xtask test` does it and says where");
    }
    found
}

/// Runs a program that has nothing but `folder` to itself.
async fn run(program: &mut Command, folder: &Path) -> Output {
    #[expect(clippy::disallowed_methods, reason = "interpreters look for what they start")]
    let path = std::env::var_os("PATH").unwrap();
    program.env_clear().env("PATH", path).env("HOME", folder).env("TMPDIR", folder).current_dir(folder);
    program.env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONUTF8", "1").env("NO_COLOR", "1");
    program.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let child = program.spawn().unwrap_or_else(|error| panic!("{program:?}: {error}"));
    timeout(PATIENCE, child.wait_with_output()).await.expect("it ends in time").unwrap()
}

/// What a program prints that succeeds.
async fn printed(program: &mut Command, folder: &Path) -> String {
    let output = run(program, folder).await;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// No response that the document does not describe, and none with status 500.
#[tokio::test]
async fn schemathesis_finds_nothing_that_the_document_does_not_say() {
    let Some(tools) = installed("rest-py") else { return };
    let launch = launch().in_memory().argument("--model").argument("offline");
    let server = launch.start().await;
    let client = server.client();
    // With something to find.
    let task = client.post("/tasks", &json!({})).await.json()["taskId"].as_str().unwrap().to_owned();
    client.post_stream(&format!("/tasks/{task}/execute"), &json!({"message": "help"})).await.rest().await;
    let document = format!("{}/openapi.json", server.url());
    let mut program = Command::new(tools.join("bin/schemathesis"));
    // A request may be as described and all the same not fit the task, such as one that is settled.
    program.args(["run", &document, "--checks", "all", "--exclude-checks", "positive_data_acceptance"]);
    program.args(["--max-examples", "15", "--seed", "1", "--max-failures", "5", "--request-timeout", "20"]);
    let output = run(&mut program, launch.folder()).await;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("Tested: "), "it has tried something: {text}");
}

#[tokio::test]
async fn the_document_is_valid() {
    let Some(tools) = installed("rest-py") else { return };
    let launch = launch().in_memory().argument("--model").argument("offline");
    let server = launch.start().await;
    let path = launch.folder().join("openapi.json");
    fs::write(&path, server.client().get("/openapi.json").await.text()).unwrap();
    let mut program = Command::new(tools.join("bin/openapi-spec-validator"));
    let said = printed(program.arg(&path), launch.folder()).await;
    assert!(said.contains("OK"), "{said}");
}

#[tokio::test]
async fn a_generated_typescript_client_drives_a_task_with_an_approval() {
    let Some(tools) = installed("rest-js") else { return };
    let model = ModelServer::with_responses([
        calls("run_shell_command", json!({"command": "touch made"})),
        says("Made."),
    ]);
    let launch = launch_with(&model);
    let server = launch.start().await;
    let folder = launch.folder().join("client");
    fs::create_dir(&folder).unwrap();
    std::os::unix::fs::symlink(tools.join("node_modules"), folder.join("node_modules")).unwrap();
    let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/rest/client.ts");
    fs::copy(client, folder.join("client.ts")).unwrap();
    fs::write(folder.join("package.json"), r#"{"private": true, "type": "module"}"#).unwrap();
    let document = format!("{}/openapi.json", server.url());
    let generate = ["node_modules/openapi-typescript/bin/cli.js", &document, "-o", "api.d.ts"];
    printed(Command::new("node").args(generate), &folder).await;
    let compile = "node_modules/typescript/bin/tsc --strict --target es2022 --module nodenext --skipLibCheck \
                   --lib es2022,dom,dom.asynciterable client.ts";
    printed(Command::new("node").args(compile.split_whitespace()), &folder).await;
    let told = printed(Command::new("node").args(["client.js", server.url()]), &folder).await;
    let expected = [
        "run_shell_command requested",
        "asked proceed_once running",
        "answered proceed_once",
        "run_shell_command requested",
        "run_shell_command executing",
        "run_shell_command completed",
        "text Made.",
        "state completed",
        "listed true completed",
        "unknown 404",
    ];
    assert_eq!(told.lines().collect::<Vec<_>>(), expected);
    assert!(work(&launch).join("made").exists());
}
