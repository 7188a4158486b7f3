//! A stop in peace: streams end whole, calls are told, tasks go on after the next start.

use std::process::Stdio;
use std::time::{Duration, Instant};

use attache_testkit::model_server::ModelServer;
use attache_testkit::{ServerProcess, WAIT_TIMEOUT};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::agent_world::{says, start};
use crate::support::{SCRIPT, launch, message};
use crate::watching::stuck;

#[tokio::test]
async fn a_server_whose_output_is_not_read_serves_and_stops() {
    let folder = launch();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_attache"));
    command.args(["serve", "-m", "offline", "--store", "memory:", "--port", &port.to_string()]);
    command.env_clear().env("HOME", folder.folder()).current_dir(folder.folder()).kill_on_drop(true);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop((child.stdout.take(), child.stderr.take()));
    let serves = async {
        let mut socket = loop {
            if let Ok(socket) = TcpStream::connect(("127.0.0.1", port)).await {
                break socket;
            }
            assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
            tokio::task::yield_now().await;
        };
        // The port is there before anybody answers on it.
        let request = format!("GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).await.unwrap();
        assert!(answer.contains("healthy"), "{answer}");
    };
    timeout(WAIT_TIMEOUT, serves).await.expect("it serves");
    let pid = child.id().unwrap().to_string();
    assert!(tokio::process::Command::new("kill").args(["-TERM", &pid]).status().await.unwrap().success());
    let ended = timeout(WAIT_TIMEOUT, child.wait()).await.expect("it stops").unwrap();
    assert_eq!(ended.code(), Some(0));
}

#[tokio::test]
async fn a_stop_ends_streams_cleanly_and_the_task_goes_on_after_a_restart() {
    let model = ModelServer::with_responses([stuck("one"), says("one two")]);
    let (launch, server) = start(&model).await;
    let params = message("m1", "x");
    let request =
        json!({"jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage", "params": params}).to_string();
    let mut rpc = open_stream(&server, "/", &request).await;
    let (head, task) = read_until_said(&mut rpc, "one").await;
    let subscribe = format!("/v1/tasks/{task}:subscribe");
    let mut rest = open_stream(&server, &subscribe, "").await;
    let (rest_head, _) = read_until_said(&mut rest, &task).await;
    assert_eq!(server.terminate().await, Some(0));
    for (mut socket, mut text) in [(rpc, head), (rest, rest_head)] {
        socket.read_to_string(&mut text).await.expect("no reset");
        assert!(text.ends_with("\r\n0\r\n\r\n"), "the last chunk is there: {text:?}");
        let (body, _) = text.rsplit_once("\r\n0\r\n\r\n").expect("as above");
        assert!(body.ends_with("\n\n"), "the last frame is whole: {body:?}");
        assert!(!body.contains("two"), "the stop came in between");
    }
    let server = launch.start().await;
    let client = server.client();
    let frames = client.rpc_stream("SubscribeToTask", json!({"id": task})).await.rest().await;
    let last = frames.last().expect("an end").payload();
    let read = client.rpc("GetTask", json!({"id": task})).await;
    assert_eq!(last["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED", "{read:#}");
    assert_eq!(crate::support::parts(&read["result"]["artifacts"][0]), "one two");
}

pub(super) async fn open_stream(server: &ServerProcess, path: &str, body: &str) -> TcpStream {
    let mut socket = TcpStream::connect(server.address()).await.expect("the server accepts");
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    socket.write_all(format!("{head}{body}").as_bytes()).await.expect("a request");
    socket
}

/// Reads until `what` has come; returns everything so far and the id of the task.
pub(super) async fn read_until_said(socket: &mut TcpStream, what: &str) -> (String, String) {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    while !text.contains(what) || !text.ends_with("\n\n\r\n") {
        let count = tokio::time::timeout(attache_testkit::WAIT_TIMEOUT, socket.read(&mut buffer)).await;
        let count = count.expect("in time").expect("bytes");
        assert_ne!(count, 0, "it ended early: {text}");
        text.push_str(std::str::from_utf8(&buffer[..count]).expect("text"));
    }
    let (_, rest) = text.split_once("\"id\":\"").expect("a task");
    let task = rest.split('"').next().expect("an id").to_owned();
    (text, task)
}

/// The setting says 3 seconds. What is said last to the clients and what is written last could take 2 more if they came on
/// top of it.
#[tokio::test]
async fn a_reader_that_hangs_does_not_make_a_stop_longer_than_the_setting_says() {
    let mut times = Vec::new();
    while times.last().is_none_or(|took| *took > Duration::from_millis(4500)) {
        // A busy machine may be slow once, or twice.
        assert!(times.len() < 3, "{times:?}");
        times.push(stop_with_hanging_reader().await);
    }
    assert!(times.iter().all(|took| *took >= Duration::from_secs(1)), "it did hang: {times:?}");
}

/// How long a stop takes with a reader that takes nothing, of an answer that is larger than what is kept for it.
async fn stop_with_hanging_reader() -> Duration {
    let launch = launch().durable().script(SCRIPT).settings("[limits]\nshutdown_seconds = 3\n");
    let server = launch.start().await;
    let large = "x".repeat(8 << 20);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": message("m1", &format!("echo {large}"))});
    let mut reader = open_stream(&server, "/", &body.to_string()).await;
    let mut first = [0; 64];
    reader.read_exact(&mut first).await.expect("the beginning of the answer");
    let began = Instant::now();
    assert_eq!(server.terminate().await, Some(0));
    began.elapsed()
}

#[tokio::test]
async fn after_a_stop_no_socket_listens_and_the_store_is_whole() {
    let launch = launch().durable().script(SCRIPT);
    let server = launch.start().await;
    let client = server.client();
    let mut made = Vec::new();
    for number in 0..20 {
        let sent = client.rpc("SendMessage", message(&format!("m{number}"), "echo x")).await;
        made.push(sent["result"]["task"].clone());
    }
    let address = server.address().to_owned();
    assert_eq!(server.terminate().await, Some(0));
    assert!(TcpStream::connect(&address).await.is_err());
    let server = launch.start().await;
    for task in made {
        let read = server.client().rpc("GetTask", json!({"id": task["id"]})).await;
        assert_eq!(read["result"], task);
    }
}
