//! Commands and confirmations of our own server: `attache call` by the real binary. Those of scripted agents are tested in
//! `attache-cli`.

use serde_json::Value;

use crate::call_command::call;
use crate::support::launch;

#[tokio::test]
async fn commands_are_listed_and_run_on_every_binding() {
    let server = launch().in_memory().settings("[card]\ngrpc = \"authority\"\n").start().await;
    for version in ["1.0", "0.3"] {
        for binding in ["jsonrpc", "http", "grpc"] {
            let flags = ["--version", version, "--binding", binding];
            let about = format!("{version} {binding}");
            let listed = call(&[&[server.url(), "--commands"], &flags[..]].concat()).await;
            assert_eq!(listed.code, Some(0), "{about}: {}", listed.err);
            assert!(
                listed.out.lines().any(|line| line.starts_with("memory add <")),
                "{about}: {}",
                listed.out
            );
            let run = call(&[&[server.url(), "--command", "/help", "memory add"], &flags[..]].concat()).await;
            assert_eq!(run.code, Some(0), "{about}: {}{}", run.out, run.err);
            assert!(run.out.contains("memory add"), "{about}: {}{}", run.out, run.err);
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

#[tokio::test]
async fn a_tool_call_of_a_command_is_answered() {
    let launch = launch().in_memory();
    for (answer, written) in [("no", false), ("yes", true)] {
        let server = launch.start().await;
        let ended =
            call(&[server.url(), "--command", "memory add", "we test first", "--answer", answer]).await;
        let said = format!("{}{}", ended.out, ended.err);
        assert!(said.contains("[input-required]"), "{answer}: {said}");
        assert_eq!(ended.out.lines().any(|line| line == "Remembered: we test first"), written, "{said}");
        let remembered = std::fs::read_to_string(launch.folder().join("GEMINI.md")).unwrap_or_default();
        assert_eq!(remembered.contains("we test first"), written, "{answer}: {said}");
    }
}
