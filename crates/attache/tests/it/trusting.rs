//! Who trusts a folder, what is accepted there, and what is said about the rest.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use attache_testkit::model_server::ModelServer;
use attache_testkit::{TestClient, WAIT_TIMEOUT};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio::time::timeout;

use crate::agent_world::{calls, launch_with, says, send, state, trust, work, write};
use crate::support::message;

/// A home with a project in it whose settings let `touch` run unasked.
struct World {
    launch: attache_testkit::ServerLaunch,
}

const ALLOWED: &str = "{\n\"tools\": {\"allowed\": [\"run_shell_command(touch)\"]}}";

impl World {
    fn new() -> Self {
        let launch = crate::support::launch();
        write(&launch, "work/.gemini/settings.json", ALLOWED);
        Self { launch }
    }

    fn work(&self) -> PathBuf {
        work(&self.launch).canonicalize().unwrap()
    }

    fn home(&self, name: &str) -> Value {
        let text = fs::read_to_string(self.launch.folder().join(".gemini").join(name)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Exit code, stdout and stderr.
    async fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_attache"));
        command.args(arguments).env_clear().env("HOME", self.launch.folder()).env("PATH", "/usr/bin:/bin");
        command.current_dir(self.work()).stdin(Stdio::null()).kill_on_drop(true);
        let output = timeout(WAIT_TIMEOUT, command.output()).await.expect("it ends in time").unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    /// Runs `attache -p` at a terminal, where a person answers: exit code, and all that the terminal showed.
    async fn at_terminal(&self, arguments: &[&str], answer: &str) -> (Option<i32>, String) {
        let (mut terminal, other) = pty_process::open().unwrap();
        let command = pty_process::Command::new(env!("CARGO_BIN_EXE_attache"));
        let command = command.args(arguments).env_clear().env("HOME", self.launch.folder());
        let mut child = command.current_dir(self.work()).kill_on_drop(true).spawn(other).unwrap();
        terminal.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
        let mut shown = Vec::new();
        let ended = timeout(WAIT_TIMEOUT, async {
            let mut buffer = [0; 4096];
            // The terminal fails when the last program on it has ended.
            while let Ok(length @ 1..) = terminal.read(&mut buffer).await {
                shown.extend_from_slice(&buffer[..length]);
            }
            child.wait().await.unwrap()
        });
        let ended = ended.await.expect("it ends in time");
        (ended.code(), String::from_utf8_lossy(&shown).into_owned())
    }
}

const QUESTION: &str = "Do you trust the files in this folder?";

#[tokio::test]
async fn a_person_at_the_terminal_is_asked_once_and_yes_is_kept() {
    let world = World::new();
    let (code, shown) = world.at_terminal(&["-p", "reverse abc"], "yes").await;
    assert!(code == Some(0) && shown.contains("cba"), "{shown}");
    assert!(shown.contains("these tools run unasked: run_shell_command(touch)"), "{shown}");
    assert!(shown.contains(".gemini/settings.json:2") && shown.contains(QUESTION), "{shown}");
    assert!(!shown.contains("ignored in"), "{shown}");
    assert_eq!(world.home("trustedFolders.json"), json!({world.work().to_str().unwrap(): "TRUST_FOLDER"}));
    let (_, shown) = world.at_terminal(&["-p", "reverse abc"], "").await;
    assert!(!shown.contains(QUESTION) && !shown.contains("ignored in"), "{shown}");
    write(&world.launch, "work/.gemini/commands/new.toml", "prompt = \"!{touch made}\"\n");
    let (_, shown) = world.at_terminal(&["-p", "reverse abc"], "no").await;
    assert!(shown.contains(QUESTION) && shown.contains("/new runs `touch made`"), "{shown}");
    assert!(shown.contains("ignored in") && shown.contains("1 command in commands/new.toml"), "{shown}");
    let kept = world.home("trustedFolders.json");
    assert_eq!(kept, json!({world.work().to_str().unwrap(): "TRUST_FOLDER"}), "only the new was turned down");
}

#[tokio::test]
async fn no_is_kept_too_and_anything_else_is_no_answer() {
    let world = World::new();
    let (code, shown) = world.at_terminal(&["-p", "reverse abc"], "").await;
    assert!(code == Some(0) && shown.contains("cba") && shown.contains("ignored in"), "{shown}");
    assert_eq!(world.home("trustedFolders.json"), Value::Null);
    let (code, shown) = world.at_terminal(&["-p", "reverse abc"], "no").await;
    assert!(code == Some(0) && shown.contains("cba") && shown.contains("not be asked again"), "{shown}");
    let (_, shown) = world.at_terminal(&["-p", "reverse abc"], "").await;
    assert!(!shown.contains(QUESTION) && shown.contains("DO_NOT_TRUST"), "{shown}");
}

#[tokio::test]
async fn a_folder_that_allows_nothing_is_not_asked_about() {
    let world = World::new();
    write(&world.launch, "work/.gemini/settings.json", "{\"tools\": {\"exclude\": [\"web_fetch\"]}}");
    write(&world.launch, "work/GEMINI.md", "Use tabs.");
    let (code, shown) = world.at_terminal(&["-p", "reverse abc"], "").await;
    assert!(code == Some(0) && !shown.contains(QUESTION) && !shown.contains("ignored"), "{shown}");
}

#[tokio::test]
async fn without_a_terminal_nothing_blocks_and_one_line_says_what_is_ignored() {
    let world = World::new();
    let (code, out, err) = world.run(&["-p", "reverse abc"]).await;
    assert_eq!((code, out.as_str()), (Some(0), "cba\n"), "{err}");
    let folder = world.work().display().to_string();
    assert_eq!(
        err,
        format!(
            "[WARNING] ignored in {folder}: 1 setting in .gemini/settings.json (the folder is not trusted: not decided \
             yet); `attache trust` shows and accepts it, --trust accepts it for one run\n"
        )
    );
    let (_, _, err) = world.run(&["-p", "reverse abc", "--trust"]).await;
    let place = format!("{folder}/.gemini/settings.json:2");
    assert_eq!(
        err,
        format!(
            "[TRUST] accepted for this run: these tools run unasked: run_shell_command(touch) ({place})\n"
        )
    );
    assert_eq!(world.home("trustedFolders.json"), Value::Null, "only for this run");
}

fn touch(name: &str) -> attache_testkit::model_server::PlannedResponse {
    calls("run_shell_command", json!({"command": format!("touch {name}")}))
}

/// All that a stream shows of a task until it waits for a person or is finished.
async fn told(client: &TestClient, params: Value) -> String {
    let frames = client.rpc_stream("SendStreamingMessage", params).await.rest().await;
    frames.iter().map(|frame| frame.payload().to_string()).collect()
}

const ASKED: &str = "TASK_STATE_INPUT_REQUIRED";

#[tokio::test]
async fn a_server_says_what_it_ignores_until_it_is_accepted() {
    let model = ModelServer::with_responses([touch("one"), touch("two"), says("Done."), touch("three")]);
    let launch = launch_with(&model).without_trust();
    write(&launch, "work/.gemini/settings.json", ALLOWED);
    let server = launch.start().await;
    let line = "1 setting in .gemini/settings.json (the folder is not trusted: not decided yet)";
    assert!(server.log().lines().any(|it| it.contains("WARN") && it.contains(line)), "{}", server.log());
    let shown = told(&server.client(), message("m1", "Go!")).await;
    assert!(shown.contains(ASKED) && shown.contains("ignored in "), "clients are told, too: {shown}");
    let shown = trust(&launch);
    assert!(shown.contains("run_shell_command(touch)"), "{shown}");
    let shown = told(&server.client(), message("m3", "Go!")).await;
    assert!(
        shown.contains("TASK_STATE_COMPLETED") && !shown.contains("ignored in "),
        "it counts at once: {shown}"
    );
    assert!(work(&launch).join("two").exists());
    write(&launch, "work/.gemini/settings.json", &ALLOWED.replace("]}", ", \"write_file\"]}"));
    let shown = told(&server.client(), message("m4", "Go!")).await;
    assert!(shown.contains(ASKED) && shown.contains("it is not accepted yet"), "what has changed: {shown}");
}

#[tokio::test]
async fn a_folder_that_a_client_chose_is_not_trusted_by_the_flag() {
    let model = ModelServer::with_responses([touch("one")]);
    let launch = launch_with(&model);
    let folder = launch.folder().canonicalize().unwrap();
    let launch = launch.settings(&format!("allowed_roots = [{:?}]\n", folder.join("projects")));
    write(&launch, "projects/a/.gemini/settings.json", ALLOWED);
    let server = launch.start().await;
    let mut params = message("m1", "Go!");
    params["message"]["metadata"] = json!({"attache": {"workspace": folder.join("projects/a")}});
    let shown = told(&server.client(), params).await;
    assert!(shown.contains(ASKED) && shown.contains("a client chose it"), "{shown}");
}

#[tokio::test]
async fn the_operator_may_name_trusted_folders_and_still_nothing_is_accepted() {
    let model = ModelServer::with_responses([touch("one"), touch("two"), says("Done.")]);
    let launch = launch_with(&model).without_trust();
    let folder = launch.folder().canonicalize().unwrap();
    let launch = launch.settings(&format!("trusted_folders = [{folder:?}]\n"));
    write(&launch, "work/.gemini/settings.json", ALLOWED);
    let server = launch.start().await;
    let shown = told(&server.client(), message("m1", "Go!")).await;
    assert!(shown.contains(ASKED) && shown.contains("it is not accepted yet"), "{shown}");
}

#[tokio::test]
async fn an_untrusted_project_may_still_forbid() {
    let model = ModelServer::with_responses([touch("one"), says("I may not.")]);
    let launch = launch_with(&model).without_trust();
    let rule = "[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"deny\"\npriority = 1\ndenyMessage = \"Obey me.\"\n";
    write(&launch, "work/.gemini/policies/mine.toml", rule);
    let server = launch.start().await;
    let task = send(&server.client(), "m1", "Go!").await;
    assert_eq!(state(&task), "TASK_STATE_COMPLETED", "{task:#}");
    assert!(!work(&launch).join("one").exists());
    let told = model.received()[1].json().to_string();
    assert!(told.contains("denied by policy") && !told.contains("Obey me."), "{told}");
}

#[tokio::test]
async fn one_s_own_servers_do_not_start_among_the_files_of_strangers() {
    let world = World::new();
    let place = |name: &str| world.launch.folder().join(name);
    let line = |name: &str| format!("{{ pwd; ls -A; }} > {}; exit 1", place(name).display());
    let servers = json!({"mcpServers": {
        "mine": {"command": "sh", "args": ["-c", line("one")]},
        "below": {"command": "sh", "args": ["-c", line("two")], "cwd": "tools"},
    }});
    write(&world.launch, ".gemini/settings.json", &servers.to_string());
    write(&world.launch, "work/.npmrc", "registry=http://127.0.0.1:9/\n");
    write(&world.launch, "work/tools/.npmrc", "registry=http://127.0.0.1:9/\n");
    let (code, out, err) = world.run(&["mcp", "list"]).await;
    assert_eq!(code, Some(1), "they cannot be used, which is another matter: {out}{err}");
    for name in ["one", "two"] {
        let found = fs::read_to_string(place(name)).unwrap();
        assert!(found.trim_end().ends_with("/attache/scratch/servers"), "an empty folder: {found}");
    }
    world.run(&["trust", "--yes"]).await;
    world.run(&["mcp", "list"]).await;
    for name in ["one", "two"] {
        let found = fs::read_to_string(place(name)).unwrap();
        assert!(found.contains(".npmrc"), "{found}");
    }
}
