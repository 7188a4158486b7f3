//! Streams under load: writes, slow readers, and what the socket holds back.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::world::{TestServer, launch, message};

#[tokio::test]
async fn what_is_ready_goes_out_in_one_write() {
    let script = "rules: [{steps: [{say: [x], repeat: 50}]}]";
    let server = launch().script(script).start().await;
    let mut stream = server.client().rpc_stream("SendStreamingMessage", message("m1", "go")).await;
    let frames = stream.rest().await;
    assert_eq!(frames.len(), 53);
    assert!(stream.chunks <= 6, "{} writes for 53 frames", stream.chunks);
}

#[tokio::test]
async fn an_agent_that_never_waits_loses_no_event() {
    let script = "rules: [{steps: [{say: [x], repeat: 20000}]}]";
    for launch in [launch(), launch().durable()] {
        let server = launch.script(script).start().await;
        let frames =
            server.client().rpc_stream("SendStreamingMessage", message("m1", "go")).await.rest().await;
        let ids: Vec<_> = frames.iter().map(|frame| frame.id.unwrap()).collect();
        assert_eq!(ids, (1..=20_003).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn a_reader_that_does_not_read_loses_nothing_and_delays_no_other() {
    // Far more than sockets and tail hold together, so that the reader falls behind into the log.
    let script = format!(
        "rules: [{{text: go, steps: [{{say: ['{}'], repeat: 6000}}]}}, {{steps: [{{say: hi}}]}}]",
        "y".repeat(4000)
    );
    for launch in [launch(), launch().durable()] {
        let server = launch.script(&script).start().await;
        let client = server.client();
        let mut slow = client.rpc_stream("SendStreamingMessage", message("m1", "go")).await;
        let first = slow.next().await.unwrap();
        let id = &first.payload()["task"]["id"];
        // While it does not read, the task finishes and others are served.
        loop {
            let begun = Instant::now();
            client.rpc("SendMessage", message(&format!("other-{begun:?}"), "hello")).await;
            let read = client.rpc("GetTask", json!({"id": id, "historyLength": 0})).await;
            if read["result"]["status"]["state"] == "TASK_STATE_COMPLETED" {
                break;
            }
        }
        let ids: Vec<_> = slow.rest().await.iter().map(|frame| frame.id.unwrap()).collect();
        assert_eq!(ids, (2..=6003).collect::<Vec<_>>());
    }
}

// Its socket blocks, so the server needs a thread of its own.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn small_frames_are_not_held_back_by_the_socket() {
    // Nagle's algorithm holds a small write back until the one before is acknowledged, and a peer that has
    // just asked and been answered a few times acknowledges 40 ms late: the second write of a stream waits.
    let script = "rules: [{steps: [{say: [x], repeat: 10, every: 3ms}]}]";
    let server = launch().script(script).start().await;
    let mut socket = TcpStream::connect(server.address()).unwrap();
    let mut held_back = Vec::new();
    // Other programs delay something now and then, the socket always.
    for block in 0..10 {
        let mut gaps = Vec::new();
        for round in 0..10 {
            for _ in 0..8 {
                ask(&mut socket, &server, "GET", "/health", "");
                read_until(&mut socket, b"}", &mut Vec::new());
            }
            let say = message(&format!("m{block}-{round}"), "go").to_string();
            ask(&mut socket, &server, "POST", "/message:stream", &say);
            read_until(&mut socket, b"\r\n0\r\n\r\n", &mut gaps);
        }
        held_back.push(gaps.iter().filter(|gap| **gap > Duration::from_millis(30)).count());
        if held_back.last() < Some(&5) {
            return;
        }
    }
    panic!("of 10 streams so many waited, each time: {held_back:?}");
}

fn ask(socket: &mut TcpStream, server: &TestServer, verb: &str, path: &str, body: &str) {
    let head = format!(
        "{verb} {path} HTTP/1.1\r\nhost: {}\r\na2a-version: 1.0\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        server.address(),
        body.len()
    );
    socket.write_all(&[head.as_bytes(), body.as_bytes()].concat()).unwrap();
}

/// Reads up to `end` and notes how long each read took.
fn read_until(socket: &mut TcpStream, end: &[u8], gaps: &mut Vec<Duration>) {
    let mut seen = Vec::new();
    while !seen.ends_with(end) {
        let mut bytes = [0; 65536];
        let before = Instant::now();
        let count = socket.read(&mut bytes).unwrap();
        assert!(count > 0, "the connection stays open");
        gaps.push(before.elapsed());
        seen.extend_from_slice(&bytes[..count]);
    }
}
