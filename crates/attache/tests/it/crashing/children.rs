//! Commands end with a server that is killed, however they were started and wherever their processes hide: nothing takes
//! effect after a person is asked about them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use attache_testkit::ServerLaunch;
use attache_testkit::model_server::ModelServer;
use serde_json::{Value, json};

use crate::agent_world::{calls, launch_of, launch_with, reply, says, state, work, write};
use crate::support::{has_namespaces, message_to};
use crate::watching::{Pipe, asked, batch, drop_in, eventually, open, reaches, silent};

/// Says through the pipe NAME that it lives, waits for the file `go`, and then writes NAME.late. Whatever it starts keeps
/// the pipe open.
fn worker(name: &str) -> String {
    format!(
        "exec 9>{name}.alive; echo started >&9; until [ -e go ]; do sleep 0.02; done; echo late > {name}.late"
    )
}

/// Ways to run a command, each harder to find again than the one before.
fn ways() -> Vec<(&'static str, String)> {
    let way = |name, form: &str| (name, form.replace("WORKER", &worker(name)));
    vec![
        way("plain", "WORKER"),
        way("pipeline", "(WORKER) | cat | cat"),
        way("jobs", "(WORKER) & wait"),
        way("nohup", "nohup bash -c 'WORKER' > /dev/null 2>&1 & wait"),
        way("session", "setsid -w bash -c 'WORKER'"),
        // No parent, no session, no environment, and none of the limits that it was started with.
        way(
            "hidden",
            "(setsid env -i PATH=\"$PATH\" bash -c 'ulimit -Sx unlimited; WORKER' < /dev/null > /dev/null 2>&1 &); sleep 300",
        ),
    ]
}

async fn check(mode: &str, prepare: impl FnOnce(ServerLaunch) -> ServerLaunch, more: Value) {
    let ways = ways();
    let call = |(_, command): &(&str, String)| {
        let mut input = json!({"command": command});
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ("run_shell_command", input)
    };
    let model = ModelServer::with_responses([batch(ways.iter().map(call)), says("I look.")]);
    let launch = prepare(launch_with(&model).argument("--approval-mode").argument(mode));
    let pipes: Vec<Pipe> = ways.iter().map(|(name, _)| Pipe::of(&launch, name)).collect();
    let server = launch.start().await;
    let (id, _stream) = open(&server.client(), "m1", "Run!").await;
    for (pipe, (name, _)) in pipes.iter().zip(&ways) {
        eventually(&format!("the command {name}"), || pipe.has_started()).await;
    }
    server.kill().await;
    let server = launch.start().await;
    let client = server.client();
    let task = reaches(&client, &id, "INPUT_REQUIRED").await;
    let left: Vec<_> =
        pipes.iter().zip(&ways).filter(|(pipe, _)| !pipe.is_over()).map(|(_, it)| it.0).collect();
    assert!(left.is_empty(), "still running when somebody is asked: {left:?}");
    fs::write(work(&launch).join("go"), "").unwrap();
    let mut task = task;
    for number in 0..ways.len() {
        task = reply(&client, &format!("skip-{number}"), &task, &skip_first(&task)).await;
    }
    assert_eq!(state(&task), "TASK_STATE_COMPLETED", "{task:#}");
    for (name, _) in &ways {
        assert!(!work(&launch).join(format!("{name}.late")).exists(), "{name} took effect later");
    }
}

/// The answer to the first of the calls that are asked about.
fn skip_first(task: &Value) -> String {
    let calls = task["status"]["message"]["metadata"].to_string();
    let question = task["status"]["message"]["parts"][0]["text"].as_str().unwrap();
    let id = question
        .split_once("run_shell_command (")
        .map(|(_, rest)| rest.split_once(')').unwrap().0)
        .or_else(|| Some(question.split_once("\n\n")?.1.trim_start().split_once(':')?.0));
    format!("{}: skip", id.unwrap_or_else(|| panic!("{question} {calls}")))
}

#[tokio::test]
async fn confined_commands_have_ended_when_a_person_is_asked() {
    check("confined", |launch| launch, json!({})).await;
}

#[tokio::test]
async fn open_commands_have_ended_when_a_person_is_asked() {
    check("yolo", |launch| launch, json!({"unconfined": true})).await;
}

#[tokio::test]
async fn commands_have_ended_where_nothing_can_be_confined() {
    check("yolo", |launch| launch.settings("[confinement]\nenabled = false\n"), json!({})).await;
}

/// Without a terminal commands are started in another way.
#[tokio::test]
async fn commands_on_a_pipe_have_ended_when_a_person_is_asked() {
    let without_terminal =
        |launch: ServerLaunch| launch.settings("[enforced]\ntools.shell.enableInteractiveShell = false\n");
    check("yolo", without_terminal, json!({"unconfined": true})).await;
}

/// Where the kernel makes no namespaces, Landlock alone confines.
#[tokio::test]
async fn a_command_that_only_landlock_confines_has_ended_when_a_person_is_asked() {
    if !has_namespaces() {
        return;
    }
    let (name, command) = ways().pop().unwrap();
    let run = batch([("run_shell_command", json!({"command": command}))]);
    let model = ModelServer::with_responses([run, says("I look.")]);
    let wrapper = tempfile::tempdir().unwrap();
    let script = format!(
        "#!/bin/sh\nexec unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_user_namespaces; exec \"$0\" \"$@\"' {} \"$@\"\n",
        env!("CARGO_BIN_EXE_attache")
    );
    let without_namespaces = wrapper.path().join("attache");
    fs::write(&without_namespaces, script).unwrap();
    fs::set_permissions(&without_namespaces, fs::Permissions::from_mode(0o755)).unwrap();
    let launch = launch_of(ServerLaunch::of(without_namespaces), &model);
    let pipe = Pipe::of(&launch, name);
    let mut server = launch.start().await;
    let mut confined = String::new();
    while !confined.contains("confined ") {
        confined = server.next_line().await.unwrap();
    }
    assert!(confined.contains("Landlock, seccomp); missing"), "{confined}");
    let (id, _stream) = open(&server.client(), "m1", "Run!").await;
    let task = reaches(&server.client(), &id, "INPUT_REQUIRED").await;
    drop_in(&server.client(), message_to(&id, "m2", "yes")).await;
    eventually("the command", || pipe.has_started()).await;
    server.kill().await;
    let server = launch.start().await;
    reaches(&server.client(), &id, "INPUT_REQUIRED").await;
    assert!(pipe.is_over(), "still running when somebody is asked");
    fs::write(work(&launch).join("go"), "").unwrap();
    let done = reply(&server.client(), "m3", &task, "skip").await;
    assert_eq!(state(&done), "TASK_STATE_COMPLETED", "{done:#}");
    assert!(!work(&launch).join("hidden.late").exists());
}

/// The processes that have `parent`.
fn children(parent: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let parent_of = |pid: u32| -> Option<u32> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
    };
    let numbers = processes.into_iter().filter_map(|process| process.file_name().to_str()?.parse().ok());
    numbers.filter(|pid| parent_of(*pid) == Some(parent)).collect()
}

fn signal(name: &str, pids: &[u32]) {
    let pids = pids.iter().map(ToString::to_string);
    assert!(Command::new("kill").arg(name).args(pids).status().unwrap().success());
}

#[tokio::test]
async fn what_outlives_its_watcher_is_found_by_its_mark() {
    // Not the command itself, which dies with its watcher, but a process that the command has left behind.
    let worker = worker("orphan");
    let command = format!("(setsid bash -c '{worker}' < /dev/null > /dev/null 2>&1 &); sleep 300");
    let run = batch([("run_shell_command", json!({"command": command, "unconfined": true}))]);
    let model = ModelServer::with_responses([run, says("I look.")]);
    let launch = launch_with(&model).argument("--approval-mode").argument("yolo");
    let pipe = Pipe::of(&launch, "orphan");
    let server = launch.start().await;
    let (id, _stream) = open(&server.client(), "m1", "Run!").await;
    eventually("the command", || pipe.has_started()).await;
    let watchers: Vec<u32> = children(server.pid()).into_iter().flat_map(children).collect();
    assert_eq!(watchers.len(), 1);
    signal("-STOP", &watchers);
    server.kill().await;
    signal("-KILL", &watchers);
    assert!(!pipe.is_over(), "nothing has ended it");
    let server = launch.start().await;
    let task = reaches(&server.client(), &id, "INPUT_REQUIRED").await;
    assert!(pipe.is_over(), "still running when somebody is asked: {task:#}");
}

/// A server that takes its time for its one tool.
fn slow_server() -> String {
    let answer = |result: Value| json!({"jsonrpc": "2.0", "id": 0, "result": result}).to_string();
    let hello = json!({"protocolVersion": "2025-03-26", "capabilities": {"tools": {}},
        "serverInfo": {"name": "slow", "version": "1"}});
    let tools = json!({"tools": [{"name": "deploy", "inputSchema": {"type": "object"}}]});
    format!(
        "while read -r line; do\n  id=$(sed -n 's/.*\"id\":\\([0-9]*\\).*/\\1/p' <<< \"$line\")\n  case $line in\n\
         *'\"initialize\"'*) sed \"s/\\\"id\\\":0/\\\"id\\\":$id/\" <<< '{}';;\n\
         *'\"tools/list\"'*) sed \"s/\\\"id\\\":0/\\\"id\\\":$id/\" <<< '{}';;\n\
         *'\"tools/call\"'*) setsid -w bash -c '{}';;\n  esac\ndone\n",
        answer(hello),
        answer(tools),
        worker("deploy"),
    )
}

#[tokio::test]
async fn an_mcp_server_has_ended_when_a_person_is_asked_about_a_call_to_it() {
    let model = ModelServer::with_responses([calls("mcp_slow_deploy", json!({})), says("I look.")]);
    let launch = launch_with(&model).argument("--approval-mode").argument("yolo");
    let pipe = Pipe::of(&launch, "deploy");
    let script = launch.write("server.sh", &slow_server());
    let settings = json!({"mcpServers": {"slow": {"command": "bash", "args": [script]}}});
    write(&launch, "work/.gemini/settings.json", &settings.to_string());
    let server = launch.start().await;
    let (id, _stream) = open(&server.client(), "m1", "Deploy!").await;
    eventually("the call", || pipe.has_started()).await;
    server.kill().await;
    let server = launch.start().await;
    let task = reaches(&server.client(), &id, "INPUT_REQUIRED").await;
    assert!(pipe.is_over(), "still running when somebody is asked: {task:#}");
    fs::write(work(&launch).join("go"), "").unwrap();
    let done = reply(&server.client(), "m2", &task, "skip").await;
    assert_eq!(state(&done), "TASK_STATE_COMPLETED", "{done:#}");
    assert!(!work(&launch).join("deploy.late").exists());
}

#[tokio::test]
async fn what_a_finished_command_left_running_ends_with_the_server() {
    // A shell that ends before `nohup` runs takes it along.
    let left = format!(
        "nohup bash -c 'touch up; {}' > /dev/null 2>&1 < /dev/null & until [ -e up ]; do sleep 0.02; done",
        worker("left")
    );
    let calls = [
        ("run_shell_command", json!({"command": left, "unconfined": true})),
        ("run_shell_command", json!({"command": worker("back"), "is_background": true, "unconfined": true})),
    ];
    let model = ModelServer::with_responses([batch(calls), silent(), says("Well.")]);
    let launch = launch_with(&model).argument("--approval-mode").argument("yolo");
    let pipes = ["left", "back"].map(|name| Pipe::of(&launch, name));
    let server = launch.start().await;
    let (id, _stream) = open(&server.client(), "m1", "Run!").await;
    asked(&model, 2).await;
    for pipe in &pipes {
        eventually("both", || pipe.has_started()).await;
    }
    assert!(pipes.iter().all(|pipe| !pipe.is_over()), "they go on after their calls");
    server.kill().await;
    for pipe in &pipes {
        eventually("their end", || pipe.is_over()).await;
    }
    fs::write(work(&launch).join("go"), "").unwrap();
    let server = launch.start().await;
    reaches(&server.client(), &id, "COMPLETED").await;
    assert!(["left.late", "back.late"].iter().all(|name| !work(&launch).join(name).exists()));
}
