//! A store that cannot be written: what runs can be stopped, and callers are told what they can do.

use std::fs;

use attache_testkit::model_server::ModelServer;
use attache_testkit::{Answer, Client, Launch, ServerProcess};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::{Value, json};
use tonic::Code;

use crate::agent_world::{calls, launch_with, says, state, work};
use crate::grpc::world::{Grpc, Speaks, info};
use crate::support::{SCRIPT, launch, message};
use crate::watching::{check, eventually, lives, open, reaches, task};

/// The largest file that the server may write from now on: with zero, nothing can be written any more.
fn limit_files(server: &ServerProcess, bytes: Option<u64>) {
    let pid = Pid::from_raw(i32::try_from(server.pid()).unwrap());
    prlimit(pid, Resource::Fsize, Rlimit { current: bytes, maximum: None }).unwrap();
}

/// The signal that comes with the limit is ignored, so that writing fails instead.
fn limitable(launch: Launch) -> Launch {
    launch.through("trap '' XFSZ", "exec")
}

async fn call(client: &Client, method: &str, params: Value) -> Answer {
    client.post("/", &json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})).await
}

/// A command that runs, on a server that cannot write any more; its process, its task, and its readers.
struct Stuck {
    launch: Launch,
    server: ServerProcess,
    id: String,
    stream: attache_testkit::SseStream,
    command: u32,
}

impl Stuck {
    async fn of(model: &ModelServer) -> Self {
        let launch = limitable(launch_with(model).argument("--approval-mode").argument("yolo"));
        let server = launch.start().await;
        let (id, stream) = open(&server.client(), "m1", "Run!").await;
        let file = work(&launch).join("pid");
        let pid = || fs::read_to_string(&file).unwrap_or_default().trim().parse::<u32>().ok();
        eventually("the command", || pid().is_some()).await;
        let command = pid().unwrap();
        limit_files(&server, Some(0));
        Self { launch, server, id, stream, command }
    }

    fn runs(&self) -> usize {
        fs::read_to_string(work(&self.launch).join("runs")).unwrap_or_default().lines().count()
    }
}

fn command() -> attache_testkit::model_server::Planned {
    calls(
        "run_shell_command",
        json!({"command": "echo ran >> runs; echo $$ > pid; while :; do sleep 1; done"}),
    )
}

#[track_caller]
fn says_stopped_but_not_recorded(answer: &Answer, id: &str) {
    assert_eq!(answer.status, 503, "{}", answer.text());
    assert!(answer.header("retry-after").is_some(), "{:?}", answer.headers);
    let error = answer.json()["error"].clone();
    let text = error["message"].as_str().unwrap();
    assert!(text.contains(id) && text.contains("is stopped") && text.contains("recorded"), "{error:#}");
}

#[tokio::test]
async fn a_cancel_stops_the_command_though_it_cannot_be_recorded_and_is_recorded_later() {
    let model = ModelServer::playing([command(), says("Never said.")]);
    let mut stuck = Stuck::of(&model).await;
    let client = stuck.server.client();
    let answer = call(&client, "CancelTask", json!({"id": stuck.id})).await;
    says_stopped_but_not_recorded(&answer, &stuck.id);
    eventually("the end of the command", || !lives(stuck.command)).await;
    assert_eq!(
        state(&task(&client, &stuck.id).await),
        "TASK_STATE_WORKING",
        "nothing that is not recorded is shown"
    );
    let health = client.get("/health").await;
    assert_eq!(health.status, 503, "{}", health.text());
    assert_eq!(health.json()["waitingTasks"], 1, "{}", health.text());
    assert!(client.get("/metrics").await.text().contains("attache_tasks_waiting_for_store 1\n"));
    limit_files(&stuck.server, None);
    reaches(&client, &stuck.id, "CANCELED").await;
    check(&stuck.stream.rest().await, &["WORKING", "CANCELED"]);
    assert_eq!((stuck.runs(), model.received().len()), (1, 1), "nothing went on");
    assert!(client.get("/metrics").await.text().contains("attache_tasks_waiting_for_store 0\n"));
}

#[tokio::test]
async fn a_command_that_was_stopped_and_not_recorded_does_not_run_again_after_a_restart() {
    let model = ModelServer::playing([command(), says("Never said.")]);
    let stuck = Stuck::of(&model).await;
    let answer = call(&stuck.server.client(), "CancelTask", json!({"id": stuck.id})).await;
    says_stopped_but_not_recorded(&answer, &stuck.id);
    eventually("the end of the command", || !lives(stuck.command)).await;
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
        let grpc = Grpc::to(&server, speaks).await;
        let status = grpc.call("SendMessage", speaks.text("m1", "echo x")).await.unwrap_err();
        assert_eq!((status.code(), info(&status).reason.as_str()), (Code::Unavailable, "STORE_UNAVAILABLE"));
    }
    limit_files(&server, None);
    let sent = client.rpc("SendMessage", new).await["result"]["task"].clone();
    assert_eq!(state(&sent), "TASK_STATE_COMPLETED", "{sent:#}");
    let all = client.rpc("ListTasks", json!({})).await;
    assert_eq!(all["result"]["totalSize"], 1, "nothing was kept of what was refused: {all:#}");
}
