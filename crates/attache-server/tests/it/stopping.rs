//! A stop: connections without a call do not hold it up, and calls under way get an answer.

use std::time::{Duration, Instant};

use attache_testkit::{WAIT_TIMEOUT, raw_request};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::world::{launch, message};

#[tokio::test]
async fn idle_connections_do_not_hold_up_a_stop() {
    let server = launch().start().await;
    let silent = TcpStream::connect(server.address()).await.expect("the server accepts");
    let mut kept = TcpStream::connect(server.address()).await.expect("the server accepts");
    kept.write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n").await.expect("a request");
    let mut byte = [0; 12];
    kept.read_exact(&mut byte).await.expect("an answer");
    assert_eq!(&byte, b"HTTP/1.1 200");
    let began = Instant::now();
    server.ended().await;
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    drop((silent, kept));
}

#[tokio::test]
async fn a_call_under_way_is_told_that_the_server_stops() {
    let server = launch().limits(|limits| limits.shutdown_timeout = Duration::from_secs(1)).start().await;
    let body = json!({"jsonrpc": "2.0", "id": 7, "method": "SendMessage", "params": message("m1", "slow")})
        .to_string();
    let mut socket = TcpStream::connect(server.address()).await.expect("the server accepts");
    socket.write_all(raw_request("", &body).as_bytes()).await.expect("a request");
    // The task is there, so the call is waiting for it.
    let begun = Instant::now();
    let mut health = server.client().get("/health").await.json();
    while health["totalTasks"] == 0 {
        assert!(begun.elapsed() < WAIT_TIMEOUT, "no task is opened: {health:#}");
        health = server.client().get("/health").await.json();
    }
    server.ended().await;
    let mut text = String::new();
    socket.read_to_string(&mut text).await.expect("no reset");
    assert!(text.starts_with("HTTP/1.1 503"), "an answer rather than a closed connection: {text:?}");
    assert!(text.contains("\"id\":7") && text.contains("UNAVAILABLE"), "{text}");
}
