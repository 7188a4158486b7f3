//! Commands through the whole product: what they can reach, what is said about it, and what they cannot find out.

mod modes;
mod weak_kernel;

use std::fs;
use std::os::unix::fs::symlink;

use attache_testkit::ServerLaunch;
use attache_testkit::model_server::{ModelServer, PlannedResponse};
use serde_json::{Value, json};

use crate::agent_world::{calls, last_output, launch_with, reply, says, send, start, state, work, write};

const SECRET: &str = "attache-secret-4711-with-some-length";

fn runs(command: &str) -> PlannedResponse {
    calls("run_shell_command", json!({ "command": command }))
}

fn question(task: &Value) -> &str {
    assert_eq!(state(task), "TASK_STATE_INPUT_REQUIRED", "{task:#}");
    task["status"]["message"]["parts"][0]["text"].as_str().unwrap()
}

fn in_mode(mode: &str, model: &ModelServer) -> ServerLaunch {
    launch_with(model).argument("--approval-mode").argument(mode)
}

#[tokio::test]
async fn a_question_says_how_far_a_command_can_reach() {
    let asked = [
        (
            json!({"command": "make"}),
            "Confined (work): it can read and write the workspace, except protected files; no network.",
        ),
        (json!({"command": "make", "network": ["docs.example"]}), "network: docs.example."),
        (json!({"command": "make", "protected_paths": [".env"]}), "it can also write the protected "),
        (json!({"command": "make", "unconfined": true}), "NOT confined"),
        (json!({"command": "ls", "unconfined": true}), "NOT confined"),
    ];
    for (input, expected) in asked {
        let model = ModelServer::with_responses([calls("run_shell_command", input.clone()), says("Done.")]);
        let (_launch, server) = start(&model).await;
        let task = send(&server.client(), "m1", "Go!").await;
        assert!(question(&task).contains(expected), "{input}: {}", question(&task));
        let refused = reply(&server.client(), "m2", &task, "no").await;
        assert_ne!(state(&refused), "TASK_STATE_FAILED", "{refused:#}");
    }
    let wrong = json!({"command": "ls", "network": ["https://docs.example/"]});
    let model = ModelServer::with_responses([calls("run_shell_command", wrong), says("Done.")]);
    let (_launch, server) = start(&model).await;
    send(&server.client(), "m1", "Go!").await;
    assert!(last_output(&model).contains("without scheme and path"), "{}", last_output(&model));
}

#[tokio::test]
async fn a_command_that_runs_unasked_sees_the_workspace_and_nothing_else() {
    let model = ModelServer::with_responses([runs("cat hello.txt; ls -a; pwd"), says("Done.")]);
    let (launch, server) = start(&model).await;
    let task = send(&server.client(), "m1", "Look!").await;
    assert_eq!(state(&task), "TASK_STATE_COMPLETED", "{task:#}");
    assert!(last_output(&model).contains("Hello, world."), "{}", last_output(&model));
    drop((server, launch));
    // A wrong ruling, here by a rule that allows every command, still meets the wall.
    let script =
        "cat link ../secret.txt ~/secret.txt; echo x > ../made; echo inside > made; cat made; exit 1";
    let model = ModelServer::with_responses([runs("sh try.sh"), says("Done.")]);
    let launch = launch_with(&model).argument("--allowed-tools").argument("run_shell_command");
    write(&launch, "secret.txt", SECRET);
    write(&launch, "work/try.sh", script);
    symlink(launch.folder().join("secret.txt"), work(&launch).join("link")).unwrap();
    let server = launch.start().await;
    let task = send(&server.client(), "m1", "Look!").await;
    assert_eq!(state(&task), "TASK_STATE_COMPLETED", "{task:#}");
    let output = last_output(&model);
    assert!(!output.contains(SECRET) && output.contains("inside"), "{output}");
    assert!(!launch.folder().join("made").exists());
}

#[tokio::test]
async fn the_mode_confined_asks_only_for_more() {
    let model = ModelServer::with_responses([
        runs("sh work.sh"),
        calls("run_shell_command", json!({"command": "make", "network": ["docs.example"]})),
        says("Done."),
    ]);
    let launch = in_mode("confined", &model);
    write(&launch, "work/work.sh", "echo x > made.txt && mkdir .vscode && echo x > .vscode/tasks.json");
    let server = launch.start().await;
    let task = send(&server.client(), "m1", "Work!").await;
    assert!(question(&task).contains("network: docs.example"), "{}", question(&task));
    assert_eq!(fs::read_to_string(work(&launch).join("made.txt")).unwrap(), "x\n");
    assert!(!work(&launch).join(".vscode").exists(), "what is protected was put aside");
    assert!(last_output(&model).contains("Blocked: it wrote .vscode"), "{}", last_output(&model));
}

#[tokio::test]
async fn without_confinement_nothing_runs_unasked_and_the_mode_is_refused() {
    let off = "[confinement]\nenabled = false\n";
    let model = ModelServer::with_responses([runs("cat hello.txt"), says("Done.")]);
    let server = launch_with(&model).settings(off).start().await;
    let task = send(&server.client(), "m1", "Look!").await;
    let text = question(&task);
    assert!(text.contains("Not enforced here: confinement is switched off in the settings"), "{text}");
    let (code, told) = in_mode("confined", &model).settings(off).start_failing().await;
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("confined cannot be had on this system: confinement is switched off"), "{told}");
}

/// Every way to the server's environment that a command could try.
const SEARCH: &str = "cat /proc/$PPID/environ /proc/*/environ /proc/*/cmdline /proc/self/mountinfo 2>/dev/null | tr '\\0' '\\n'; env";

#[tokio::test]
async fn an_approved_command_finds_no_secret_of_the_server() {
    for unconfined in [false, true] {
        let input = json!({"command": SEARCH, "unconfined": unconfined});
        let model = ModelServer::with_responses([calls("run_shell_command", input), says("Done.")]);
        // Its own secret: servers of other tests that are just starting can be seen without confinement, too.
        let secret = format!("{SECRET}-{}-{unconfined}", std::process::id());
        let launch = launch_with(&model)
            .variable("GEMINI_API_KEY", &secret)
            .variable("ATTACHE_TOKEN", &secret)
            .variable("ATTACHE_PUSH_SIGNING_KEY", &secret)
            .variable("AWS_SECRET_ACCESS_KEY", &secret);
        let server = launch.start().await;
        let client = server.client().with("Authorization", &format!("Bearer {secret}"));
        let task = send(&client, "m1", "Search!").await;
        question(&task);
        let task = reply(&client, "m2", &task, "yes").await;
        assert_eq!(state(&task), "TASK_STATE_COMPLETED", "{task:#}");
        let output = last_output(&model);
        assert!(output.contains("ATTACHE_COMMAND_ID"), "it looked around: {output}");
        assert!(!output.contains(&secret), "{output}");
    }
}

#[tokio::test]
async fn secrets_of_the_server_are_not_in_its_environment() {
    let model = ModelServer::with_responses([says("Hello.")]);
    let launch = launch_with(&model).variable("ATTACHE_TOKEN", SECRET).variable("PLAIN", "seen");
    let server = launch.start().await;
    let pid = server.pid();
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    assert!(status.starts_with("Name:\tattache"), "{status}");
    // Only root can read it at all.
    if let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) {
        let environment = String::from_utf8_lossy(&environment).into_owned();
        assert!(environment.contains("PLAIN=seen"), "{environment}");
        assert!(!environment.contains(SECRET) && !environment.contains("key-for-tests"), "{environment}");
    }
    let client = server.client().with("Authorization", &format!("Bearer {SECRET}"));
    assert_eq!(
        state(&send(&client, "m1", "Hello!").await),
        "TASK_STATE_COMPLETED",
        "it still has its secrets"
    );
}
