//! Commands that run when the server is killed: a person is asked about them.

use std::fs;

use attache_testkit::model_server::ModelServer;
use attache_testkit::{ServerLaunch, ServerProcess};
use serde_json::{Value, json};

use crate::agent_world::{answer_text, calls, launch_with, reply, says, state, work};
use crate::watching::{batch, eventually, lives, open, outputs, reaches};

/// Notes that it runs, and goes on until there is a file `go`, though not for ever.
fn waiting(name: &str) -> Value {
    let wait = "for i in $(seq 1000); do [ -e go ] && break; sleep 0.02; done";
    json!({"command": format!("echo ran >> {name}; {wait}")})
}

fn careless(model: &ModelServer) -> ServerLaunch {
    launch_with(model).argument("--approval-mode").argument("yolo")
}

/// Kills the server once the files have something in them, and starts another.
async fn crash(launch: &ServerLaunch, server: ServerProcess, files: &[&str]) -> ServerProcess {
    eventually("what the calls do", || files.iter().all(|file| runs(launch, file) > 0)).await;
    server.kill().await;
    launch.start().await
}

fn runs(launch: &ServerLaunch, name: &str) -> usize {
    fs::read_to_string(work(launch).join(name)).unwrap_or_default().lines().count()
}

fn question(task: &Value) -> &str {
    task["status"]["message"]["parts"][0]["text"].as_str().unwrap()
}

/// A command that was lost, and the question about it.
async fn lost(model: &ModelServer) -> (ServerLaunch, ServerProcess, Value) {
    let launch = careless(model);
    let server = launch.start().await;
    let (id, _stream) = open(&server.client(), "m1", "Run!").await;
    let server = crash(&launch, server, &["runs"]).await;
    let task = reaches(&server.client(), &id, "INPUT_REQUIRED").await;
    assert!(question(&task).contains("not known whether it took effect"), "{task:#}");
    assert!(question(&task).contains("Answer with one of: run_again, skip, cancel"), "{task:#}");
    (launch, server, task)
}

#[tokio::test]
async fn a_lost_command_runs_again_when_a_person_says_so() {
    let model = ModelServer::with_responses([calls("run_shell_command", waiting("runs")), says("Twice.")]);
    let (launch, server, task) = lost(&model).await;
    // The question survives the next crash, too.
    server.kill().await;
    let server = launch.start().await;
    assert_eq!(runs(&launch, "runs"), 1, "not by itself");
    fs::write(work(&launch).join("go"), "").unwrap();
    let refused = reply(&server.client(), "m2", &task, "yes").await;
    assert!(refused["error"].to_string().contains("run_again, skip, cancel"), "{refused:#}");
    assert_eq!(runs(&launch, "runs"), 1, "nor by a word that does not clearly say so");
    let done = reply(&server.client(), "m3", &task, "run again").await;
    assert_eq!((state(&done), answer_text(&done).as_str()), ("TASK_STATE_COMPLETED", "Twice."));
    assert_eq!(runs(&launch, "runs"), 2);
}

#[tokio::test]
async fn a_lost_command_can_be_left_as_it_is() {
    let model = ModelServer::with_responses([calls("run_shell_command", waiting("runs")), says("I look.")]);
    let (launch, server, task) = lost(&model).await;
    let done = reply(&server.client(), "m2", &task, "skip").await;
    assert_eq!((state(&done), answer_text(&done).as_str()), ("TASK_STATE_COMPLETED", "I look."));
    assert!(outputs(&model)[0].1.contains("not known whether"), "{:?}", outputs(&model));
    fs::write(work(&launch).join("go"), "").unwrap();
    assert_eq!(runs(&launch, "runs"), 1);
}

#[tokio::test]
async fn a_lost_command_can_be_the_end_of_the_turn() {
    let model = ModelServer::with_responses([calls("run_shell_command", waiting("runs")), says("Fine.")]);
    let (launch, server, task) = lost(&model).await;
    let rests = reply(&server.client(), "m2", &task, "cancel").await;
    assert_eq!(state(&rests), "TASK_STATE_INPUT_REQUIRED", "{rests:#}");
    assert_eq!(rests["status"]["message"]["metadata"]["reason"], "declined", "{rests:#}");
    assert_eq!(model.received().len(), 1, "the person speaks next");
    let done = reply(&server.client(), "m3", &task, "Never mind.").await;
    assert_eq!(answer_text(&done), "Fine.");
    fs::write(work(&launch).join("go"), "").unwrap();
    assert_eq!(runs(&launch, "runs"), 1);
}

#[tokio::test]
async fn of_a_batch_only_what_was_running_is_asked_about() {
    let write = ("write_file", json!({"file_path": "made.txt", "content": "once\n"}));
    let model = ModelServer::with_responses([
        batch([write, ("run_shell_command", waiting("runs")), ("run_shell_command", waiting("other"))]),
        says("Done."),
    ]);
    let launch = careless(&model);
    let server = launch.start().await;
    let (id, _stream) = open(&server.client(), "m1", "Go!").await;
    let server = crash(&launch, server, &["made.txt", "runs", "other"]).await;
    let client = server.client();
    let task = reaches(&client, &id, "INPUT_REQUIRED").await;
    assert_eq!(
        question(&task).matches("Answer with one of: run_again, skip, cancel").count(),
        2,
        "both commands: {task:#}"
    );
    assert!(!question(&task).contains("write_file"), "{task:#}");
    let asked: Vec<_> = question(&task)
        .split("run_shell_command (")
        .skip(1)
        .map(|it| it.split_once(')').unwrap().0.to_owned())
        .collect();
    fs::write(work(&launch).join("go"), "").unwrap();
    let half = reply(&client, "m2", &task, &format!("{}: skip", asked[0])).await;
    assert_eq!(state(&half), "TASK_STATE_INPUT_REQUIRED", "{half:#}");
    let done = reply(&client, "m3", &task, &format!("{}: run again", asked[1])).await;
    assert_eq!((state(&done), answer_text(&done).as_str()), ("TASK_STATE_COMPLETED", "Done."));
    assert_eq!((runs(&launch, "made.txt"), runs(&launch, "runs"), runs(&launch, "other")), (1, 1, 2));
    let outputs = outputs(&model);
    let names: Vec<_> = outputs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["write_file", "run_shell_command", "run_shell_command"]);
    assert!(
        outputs[1].1.contains("not known whether") && !outputs[2].1.contains("not known"),
        "{outputs:#?}"
    );
}

#[tokio::test]
async fn of_commands_side_by_side_the_one_that_had_ended_is_not_run_again() {
    // Whether the end of the quick one was written down before the crash is a race; that it ran once is not.
    let quick = ("run_shell_command", json!({"command": "echo ran >> quick"}));
    let model =
        ModelServer::with_responses([batch([quick, ("run_shell_command", waiting("runs"))]), says("Done.")]);
    let launch = careless(&model);
    let server = launch.start().await;
    let (id, _stream) = open(&server.client(), "m1", "Go!").await;
    let server = crash(&launch, server, &["quick", "runs"]).await;
    let client = server.client();
    let task = reaches(&client, &id, "INPUT_REQUIRED").await;
    fs::write(work(&launch).join("go"), "").unwrap();
    let done = reply(&client, "m2", &task, "skip").await;
    assert_eq!(state(&done), "TASK_STATE_COMPLETED", "{done:#}");
    assert_eq!((runs(&launch, "quick"), runs(&launch, "runs")), (1, 1));
    assert_eq!(outputs(&model).len(), 2);
}

#[tokio::test]
async fn a_server_that_is_told_to_stop_takes_its_commands_with_it_and_asks_about_them_later() {
    let command = json!({"command": "echo $$ >> runs; sleep 321"});
    let model = ModelServer::with_responses([calls("run_shell_command", command), says("I look.")]);
    let launch = careless(&model);
    let server = launch.start().await;
    let (id, _stream) = open(&server.client(), "m1", "Run!").await;
    eventually("the command", || runs(&launch, "runs") > 0).await;
    let pid = fs::read_to_string(work(&launch).join("runs")).unwrap();
    assert_eq!(server.terminate().await, Some(0));
    // It is killed with the server; the kernel may take a moment to clear it away.
    eventually("the command's end", || !lives(pid.trim().parse().unwrap())).await;
    let server = launch.start().await;
    let task = reaches(&server.client(), &id, "INPUT_REQUIRED").await;
    assert!(question(&task).contains("not known whether it took effect"), "{task:#}");
    let done = reply(&server.client(), "m2", &task, "skip").await;
    assert_eq!(answer_text(&done), "I look.");
    assert_eq!(runs(&launch, "runs"), 1);
}
