//! A store that cannot be written: what runs can be stopped, and callers are told what they can do.

use std::fs;
use std::time::Duration;

use attache_testkit::model_server::{ModelServer, gemini};
use attache_testkit::{HttpResponse, ServerLaunch, ServerProcess, TestClient, WAIT_TIMEOUT};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use tonic::Code;

use super::stopping::{open_stream, read_until_said};
use crate::agent_world::{answer_text, calls, launch_with, says, state, work};
use crate::grpc::world::{Grpc, Speaks, info};
use crate::support::{SCRIPT, launch, message, message_to};
use crate::watching::{Pipe, check, eventually, open, reaches, task};

/// The largest file that the server may write from now on: with zero, nothing can be written any more.
fn limit_files(server: &ServerProcess, bytes: Option<u64>) {
    let pid = Pid::from_raw(i32::try_from(server.pid()).unwrap());
    prlimit(pid, Resource::Fsize, Rlimit { current: bytes, maximum: None }).unwrap();
}

/// The signal that comes with the limit is ignored, so that writing fails instead.
fn limitable(launch: ServerLaunch) -> ServerLaunch {
    launch.through_shell("trap '' XFSZ", "exec")
}

async fn call(client: &TestClient, method: &str, params: Value) -> HttpResponse {
    client.post("/", &json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})).await
}

/// A command that runs, on a server that cannot write any more; its processes, its task, and its readers.
struct Stuck {
    launch: ServerLaunch,
    server: ServerProcess,
    id: String,
    stream: attache_testkit::SseStream,
    command: Pipe,
}

impl Stuck {
    async fn of(model: &ModelServer) -> Self {
        let launch = limitable(launch_with(model).argument("--approval-mode").argument("yolo"));
        let command = Pipe::of(&launch, "command");
        let server = launch.start().await;
        let (id, stream) = open(&server.client(), "m1", "Run!").await;
        eventually("the command", || command.has_started()).await;
        limit_files(&server, Some(0));
        Self { launch, server, id, stream, command }
    }

    fn runs(&self) -> usize {
        fs::read_to_string(work(&self.launch).join("runs")).unwrap_or_default().lines().count()
    }
}

fn command() -> attache_testkit::model_server::PlannedResponse {
    calls(
        "run_shell_command",
        json!({"command": "echo ran >> runs; exec 9>command.alive; echo started >&9; while :; do sleep 1; done"}),
    )
}

#[track_caller]
fn says_stopped_but_not_recorded(answer: &HttpResponse, id: &str) {
    assert_eq!(answer.status, 503, "{}", answer.text());
    assert!(answer.header("retry-after").is_some(), "{:?}", answer.headers);
    let error = answer.json()["error"].clone();
    let text = error["message"].as_str().unwrap();
    assert!(text.contains(id) && text.contains("is stopped") && text.contains("recorded"), "{error:#}");
}

#[tokio::test]
async fn a_cancel_stops_the_command_though_it_cannot_be_recorded_and_is_recorded_later() {
    let model = ModelServer::with_responses([command(), says("Never said.")]);
    let mut stuck = Stuck::of(&model).await;
    let client = stuck.server.client();
    let answer = call(&client, "CancelTask", json!({"id": stuck.id})).await;
    says_stopped_but_not_recorded(&answer, &stuck.id);
    eventually("the end of the command", || stuck.command.is_over()).await;
    let shown = task(&client, &stuck.id).await;
    assert!(says_that_it_waits(&shown["status"]), "nothing that is not recorded is shown: {shown:#}");
    let health = client.get("/health").await;
    assert_eq!(health.status, 503, "{}", health.text());
    assert_eq!(health.json()["waitingTasks"], 1, "{}", health.text());
    assert!(client.get("/metrics").await.text().contains("attache_tasks_waiting_for_store 1\n"));
    limit_files(&stuck.server, None);
    reaches(&client, &stuck.id, "CANCELED").await;
    check(
        &stuck.stream.rest().await,
        &["WORKING", "WORKING [store_unavailable] This task waits: …", "CANCELED"],
    );
    assert_eq!((stuck.runs(), model.received().len()), (1, 1), "nothing went on");
    assert!(client.get("/metrics").await.text().contains("attache_tasks_waiting_for_store 0\n"));
}

#[tokio::test]
async fn a_command_that_was_stopped_and_not_recorded_does_not_run_again_after_a_restart() {
    let model = ModelServer::with_responses([command(), says("Never said.")]);
    let stuck = Stuck::of(&model).await;
    let answer = call(&stuck.server.client(), "CancelTask", json!({"id": stuck.id})).await;
    says_stopped_but_not_recorded(&answer, &stuck.id);
    eventually("the end of the command", || stuck.command.is_over()).await;
    let Stuck { launch, server, id, .. } = stuck;
    server.kill().await;
    let server = launch.start().await;
    let client = server.client();
    reaches(&client, &id, "INPUT_REQUIRED").await;
    let canceled = client.rpc("CancelTask", json!({"id": id})).await["result"].clone();
    assert_eq!(state(&canceled), "TASK_STATE_CANCELED", "{canceled:#}");
    let runs = fs::read_to_string(work(&launch).join("runs")).unwrap();
    assert_eq!((runs.lines().count(), model.received().len()), (1, 1));
}

/// What a client of each binding is told while the work of its task cannot be recorded.
fn says_that_it_waits(status: &Value) -> bool {
    let text = status.to_string();
    text.contains("TASK_STATE_WORKING")
        && text.contains("store_unavailable")
        && text.contains("cannot be written")
}

#[tokio::test]
async fn readers_are_told_that_a_task_waits_for_the_store() {
    let part = |text: &str| gemini::answer([gemini::chunk().text(text)]);
    let model = ModelServer::with_responses([part("one").hold().then(says(" two"))]);
    let launch = launch_with(&model).settings("[limits]\nheartbeat_seconds = 1\n");
    let server = limitable(launch).start().await;
    let params =
        json!({"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": message("m1", "x")});
    let mut reader = open_stream(&server, "/", &params.to_string()).await;
    let (mut text, task) = read_until_said(&mut reader, "one").await;
    let mut streams = Vec::new();
    for speaks in Speaks::BOTH {
        let grpc = Grpc::to(server.url(), speaks).await;
        let mut items = grpc.stream(speaks.subscribe(), speaks.task(&task)).await.unwrap();
        items.next().await.unwrap().expect("the task");
        streams.push((speaks, grpc, items));
    }
    limit_files(&server, Some(0));
    model.release();
    for (speaks, grpc, items) in &mut streams {
        let told = tokio::time::timeout(WAIT_TIMEOUT, items.next()).await.expect("in time");
        let told = told.unwrap().expect("a notice");
        assert!(says_that_it_waits(&told["statusUpdate"]["status"]), "{speaks:?}: {told:#}");
        let read = grpc.call("GetTask", speaks.task(&task)).await.unwrap();
        assert!(says_that_it_waits(&read["status"]), "{speaks:?}: {read:#}");
    }
    let read = server.client().rpc("GetTask", json!({"id": task})).await["result"].clone();
    assert!(says_that_it_waits(&read["status"]), "{read:#}");
    let (comment, mut freed, mut buffer) = (": keep-alive; the store cannot be written", false, [0; 4096]);
    while !text.contains("TASK_STATE_COMPLETED") {
        let count = tokio::time::timeout(WAIT_TIMEOUT, reader.read(&mut buffer)).await;
        let count = count.expect("in time").expect("bytes");
        assert_ne!(count, 0, "it ended early: {text}");
        text.push_str(&String::from_utf8_lossy(&buffer[..count]));
        if !freed && text.contains(comment) && text.contains("store_unavailable") {
            assert!(!text.contains("two"), "nothing that is not recorded is shown: {text}");
            limit_files(&server, None);
            freed = true;
        }
    }
    assert!(freed, "{text}");
    let notices: Vec<_> = text.split("\n\n").filter(|frame| frame.contains("store_unavailable")).collect();
    assert!(
        notices.len() == 1 && !notices[0].contains("id: "),
        "once, and nobody resumes after it: {notices:#?}"
    );
    for (speaks, grpc, items) in streams {
        let rest = items.rest().await;
        assert!(rest.last().unwrap().to_string().contains("COMPLETED"), "{speaks:?}: {rest:#?}");
        let read = grpc.call("GetTask", speaks.task(&task)).await.unwrap();
        assert!(
            !read.to_string().contains("store_unavailable"),
            "it is over, and was not recorded: {read:#}"
        );
    }
}

#[tokio::test]
async fn metrics_show_a_store_that_cannot_be_written_without_any_write() {
    let server = limitable(launch().durable().script(SCRIPT)).start().await;
    let client = server.client();
    limit_files(&server, Some(0));
    let told = client.get("/metrics").await.text();
    assert!(told.contains("attache_store_writable 0\n"), "{told}");
    limit_files(&server, None);
    let begun = std::time::Instant::now();
    let mut told = client.get("/metrics").await.text();
    while !told.contains("attache_store_writable 1\n") {
        assert!(begun.elapsed() < WAIT_TIMEOUT, "{told}");
        told = client.get("/metrics").await.text();
    }
}

/// Sends until it is taken.
async fn insist(client: &TestClient, params: Value) -> Value {
    let begun = std::time::Instant::now();
    loop {
        let answer = call(client, "SendMessage", params.clone()).await;
        if answer.status != 503 {
            return answer.json()["result"]["task"].clone();
        }
        assert!(begun.elapsed() < WAIT_TIMEOUT, "it is never taken: {}", answer.text());
    }
}

#[tokio::test]
async fn a_disk_that_fills_and_empties_all_the_time_costs_time_and_nothing_else() {
    // A folder needs no room in a file, so the command itself is not in trouble.
    let make = calls("run_shell_command", json!({"command": "mkdir made-$$"}));
    let model = ModelServer::with_handler(move |request| {
        match request.json().to_string().contains("functionResponse") {
            true => says("Done."),
            false => make.clone(),
        }
    });
    let launch = limitable(launch_with(&model));
    let server = launch.start().await;
    let client = server.client();
    let work_on_it = async {
        let mut params = message("m1", "Make it!");
        params["configuration"] = json!({"returnImmediately": true});
        let id = insist(&client, params).await["id"].as_str().unwrap().to_owned();
        reaches(&client, &id, "INPUT_REQUIRED").await;
        let mut answer = message_to(&id, "m2", "yes");
        answer["configuration"] = json!({"returnImmediately": true});
        insist(&client, answer).await;
        reaches(&client, &id, "COMPLETED").await
    };
    let trouble = async {
        for number in 0.. {
            limit_files(&server, Some(0));
            tokio::time::sleep(Duration::from_millis(7 + number * 5 % 60)).await;
            limit_files(&server, None);
            tokio::time::sleep(Duration::from_millis(20 + number * 7 % 80)).await;
        }
    };
    let done = tokio::select! {
        done = work_on_it => done,
        () = trouble => unreachable!("it does not end by itself"),
    };
    assert_eq!(answer_text(&done), "Done.", "{done:#}");
    let made = fs::read_dir(work(&launch)).unwrap().flatten();
    let made = made.filter(|entry| entry.file_name().to_string_lossy().starts_with("made-")).count();
    assert_eq!(made, 1, "once: {done:#}");
}

#[tokio::test]
async fn a_message_that_cannot_be_kept_is_refused_so_that_it_can_be_sent_again() {
    let server = limitable(launch().durable().script(SCRIPT)).start().await;
    let client = server.client();
    limit_files(&server, Some(0));
    let new = message("m1", "echo x");
    let answer = call(&client, "SendMessage", new.clone()).await;
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("5")), "{}", answer.text());
    let error = answer.json()["error"].clone();
    assert_eq!(error["code"], -32603, "{error:#}");
    assert_eq!(error["data"][0]["reason"], "STORE_UNAVAILABLE", "{error:#}");
    assert!(error["message"].as_str().unwrap().contains("again"), "{error:#}");
    let rest = client.with("a2a-version", "1.0").post("/message:send", &new).await;
    assert_eq!((rest.status, rest.header("retry-after")), (503, Some("5")), "{}", rest.text());
    assert_eq!(rest.json()["error"]["status"], "UNAVAILABLE", "{}", rest.text());
    let old = json!({"message": {"kind": "message", "messageId": "m1", "role": "user",
        "parts": [{"kind": "text", "text": "echo x"}]}});
    let answer = call(&client, "message/send", old).await;
    assert_eq!((answer.status, answer.header("retry-after")), (503, Some("5")), "{}", answer.text());
    assert_eq!(answer.json()["error"]["data"]["store"], "unavailable", "{}", answer.text());
    for speaks in Speaks::BOTH {
        let grpc = Grpc::to(server.url(), speaks).await;
        let status = grpc.call("SendMessage", speaks.text("m1", "echo x")).await.unwrap_err();
        assert_eq!((status.code(), info(&status).reason.as_str()), (Code::Unavailable, "STORE_UNAVAILABLE"));
    }
    limit_files(&server, None);
    let sent = client.rpc("SendMessage", new).await["result"]["task"].clone();
    assert_eq!(state(&sent), "TASK_STATE_COMPLETED", "{sent:#}");
    let all = client.rpc("ListTasks", json!({})).await;
    assert_eq!(all["result"]["totalSize"], 1, "nothing was kept of what was refused: {all:#}");
}
