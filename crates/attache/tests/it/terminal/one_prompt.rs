//! `attache -p … --a2a-port`: the endpoint of one prompt, for as long as it runs.

use std::process::Stdio;

use attache_testkit::WAIT_TIMEOUT;
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStderr, Command};
use tokio::time::timeout;

use super::world::{Endpoint, World, address_in};

async fn start(world: &World, prompt: &str) -> (Child, BufReader<ChildStderr>, Endpoint) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_attache"));
    let arguments = world.arguments(&["-p", prompt, "-o", "json", "--a2a-port", "0"]);
    command.args(arguments).env_clear().envs(world.variables()).current_dir(world.work(""));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    timeout(WAIT_TIMEOUT, async {
        while !line.contains("live endpoint at") {
            line.clear();
            assert!(told.read_line(&mut line).await.unwrap() > 0, "it ended");
        }
    })
    .await
    .unwrap();
    (child, told, Endpoint { address: address_in(&line) })
}

#[tokio::test]
async fn a_client_sees_the_run_and_approves_what_it_asks() {
    let world = World::new();
    let (mut child, mut told, endpoint) = start(&world, "make one").await;
    let client = endpoint.client();
    let session = client.post("/tasks", &json!({})).await.json();
    let mut socket = endpoint.socket().await;
    let question = socket.question().await;
    assert_eq!(question["taskId"], session["sessionId"]);
    socket.answer(&question["tool_call_id"], "proceed_once").await;
    let end = socket.until(|event| event["final"] == true).await;
    assert_eq!(end["state"], "completed");
    let mut out = String::new();
    timeout(WAIT_TIMEOUT, child.stdout.take().unwrap().read_to_string(&mut out)).await.unwrap().unwrap();
    let printed: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(printed["session_id"], session["sessionId"]);
    assert!(printed["response"].as_str().unwrap().contains("The result for one is here."), "{out}");
    assert!(world.work("one").exists());
    let ended = timeout(WAIT_TIMEOUT, child.wait()).await.unwrap().unwrap();
    assert_eq!(ended.code(), Some(0));
    let mut rest = String::new();
    told.read_to_string(&mut rest).await.unwrap();
    assert!(TcpStream::connect(&endpoint.address).await.is_err(), "the endpoint ends with the run");
}
