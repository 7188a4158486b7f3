//! `attache call` against our own server: the real binary calls. Calls of scripted agents are tested in `attache-cli`.

use std::process::Stdio;

use attache_testkit::WAIT_TIMEOUT;
use serde_json::Value;
use tokio::process::Command;
use tokio::time::timeout;

use crate::support::launch;

pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// `attache call` with these arguments and nothing on standard input.
pub(crate) async fn call(arguments: &[&str]) -> Ended {
    call_with(arguments, &[]).await
}

/// The same with variables.
pub(crate) async fn call_with(arguments: &[&str], variables: &[(&str, &str)]) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_attache"));
    command.arg("call").args(arguments).env_clear().envs(variables.iter().copied()).kill_on_drop(true);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = timeout(WAIT_TIMEOUT, command.output()).await.expect("it ends in time").unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    Ended { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

#[tokio::test]
async fn our_own_server_is_called_and_given_commands_in_both_versions_and_all_bindings() {
    let launch = launch().in_memory().settings("[card]\ngrpc = \"authority\"\n");
    let server = launch.start().await;
    for version in ["1.0", "0.3"] {
        for binding in ["jsonrpc", "http", "grpc"] {
            let flags = ["--version", version, "--binding", binding];
            let ended = call(&[&[server.url(), "help"], &flags[..]].concat()).await;
            assert_eq!(ended.code, Some(0), "{version} {binding}: {}", ended.err);
            assert!(!ended.out.trim().is_empty(), "{version} {binding}: {}", ended.err);
            let told = call(&[&[server.url(), "help", "--json"], &flags[..]].concat()).await;
            let events: Vec<Value> =
                told.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let id = events[0]["task"]["id"].as_str().unwrap().to_owned();
            let shown = call(&[&[server.url(), "--task", &id, "--json"], &flags[..]].concat()).await;
            let shown: Value = serde_json::from_str(&shown.out).unwrap();
            assert_eq!(shown["status"]["state"], "TASK_STATE_COMPLETED", "{version} {binding}");
            let listed = call(&[&[server.url(), "--commands"], &flags[..]].concat()).await;
            assert_eq!(listed.code, Some(0), "{version} {binding}: {}", listed.err);
            let has_memory = listed.out.lines().any(|line| line.starts_with("memory add <"));
            assert!(has_memory, "{version} {binding}: {}", listed.out);
            let run = call(&[&[server.url(), "--command", "/help", "memory add"], &flags[..]].concat()).await;
            assert_eq!(run.code, Some(0), "{version} {binding}: {}{}", run.out, run.err);
            assert!(run.out.contains("memory add"), "{version} {binding}: {}{}", run.out, run.err);
        }
    }
    let listed = call(&[server.url(), "--commands", "--json"]).await;
    let listed: Value = serde_json::from_str(&listed.out).unwrap();
    let memory = listed.as_array().unwrap().iter().find(|command| command["name"] == "memory").unwrap();
    assert!(memory["commands"].as_array().unwrap().iter().any(|command| command["name"] == "add"));
    let unknown = call(&[server.url(), "--command", "memori"]).await;
    assert_eq!(unknown.code, Some(1), "{}{}", unknown.out, unknown.err);
    assert!(unknown.err.contains("memori"), "{}", unknown.err);
}
