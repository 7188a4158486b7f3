//! Hostile and slow clients of the live endpoint's WebSocket: the others notice nothing.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use attache_testkit::TestClient;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use crate::live_socket::{Socket, activity, connect, live, next, prompt, send, texts};
use crate::world::TestServer;

const KEY: &str = "AAAAAAAAAAAAAAAAAAAAAA==";

/// The request that opens a socket, with lines added and replaced.
fn handshake(server: &TestServer, lines: &[(&str, &str)]) -> String {
    let mut headers = vec![
        ("Host", server.address()),
        ("Connection", "Upgrade"),
        ("Upgrade", "websocket"),
        ("Sec-WebSocket-Version", "13"),
        ("Sec-WebSocket-Key", KEY),
    ];
    headers.retain(|(name, _)| !lines.iter().any(|(other, _)| name == other));
    headers.extend(lines.iter().filter(|(_, value)| !value.is_empty()));
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("GET /ws HTTP/1.1\r\n{headers}\r\n")
}

/// What comes back until the server closes the connection, or says the first thing after its head.
async fn answer(server: &TestServer, bytes: &[u8]) -> Vec<u8> {
    let mut connection = TcpStream::connect(server.address()).await.unwrap();
    connection.write_all(bytes).await.unwrap();
    let mut read = Vec::new();
    let reading = async {
        while !read.windows(4).any(|end| end == b"\r\n\r\n") {
            if connection.read_buf(&mut read).await.unwrap() == 0 {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(10), reading).await.expect("an answer in time");
    read
}

async fn status(server: &TestServer, request: &str) -> String {
    let answer = answer(server, request.as_bytes()).await;
    String::from_utf8_lossy(&answer).split(' ').nth(1).unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_handshake_must_be_one() {
    let server = live().start().await;
    for (lines, expected) in [
        (&[][..], "101"),
        (&[("Connection", "keep-alive, Upgrade")], "101"),
        (&[("Connection", "UPGRADE")], "101"),
        (&[("Upgrade", "WebSocket")], "101"),
        (&[("Sec-WebSocket-Extensions", "permessage-deflate")], "101"),
        (&[("Content-Length", "0")], "101"),
        (&[("Connection", "keep-alive")], "400"),
        (&[("Upgrade", "h2c")], "400"),
        (&[("Upgrade", "")], "400"),
        (&[("Sec-WebSocket-Version", "8")], "400"),
        (&[("Sec-WebSocket-Version", "13"), ("Sec-WebSocket-Version", "13")], "400"),
        (&[("Sec-WebSocket-Key", "")], "400"),
        (&[("Sec-WebSocket-Key", "short")], "400"),
        (&[("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA!=")], "400"),
        (&[("Sec-WebSocket-Key", KEY), ("Sec-WebSocket-Key", KEY)], "400"),
        (&[("Transfer-Encoding", "chunked")], "400"),
        (&[("Origin", "null")], "403"),
        (&[("Origin", "https://evil.example")], "403"),
        (&[("Sec-Fetch-Site", "cross-site")], "403"),
        (&[("Host", "evil.example")], "403"),
    ] {
        assert_eq!(status(&server, &handshake(&server, lines)).await, expected, "{lines:?}");
    }
    let other_verb = handshake(&server, &[]).replacen("GET", "POST", 1);
    assert_eq!(status(&server, &other_verb).await, "400");
    let old = handshake(&server, &[]).replacen("HTTP/1.1", "HTTP/1.0", 1);
    assert_ne!(status(&server, &old).await, "101");
}

#[tokio::test]
async fn a_handshake_that_takes_too_long_is_given_up() {
    let header_timeout = Duration::from_secs(1);
    let server = live().limits(move |limits| limits.header_timeout = header_timeout).start().await;
    let whole = handshake(&server, &[]).into_bytes();
    let mut connection = TcpStream::connect(server.address()).await.unwrap();
    let began = Instant::now();
    // A byte now and then keeps the connection from being silent, and does not keep it alive.
    let (mut reading, mut writing) = connection.split();
    let dribbling = async {
        for byte in &whole[..whole.len() - 2] {
            if writing.write_all(&[*byte]).await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        std::future::pending::<()>().await
    };
    let mut read = Vec::new();
    let ended = async { reading.read_to_end(&mut read).await };
    let ended = tokio::time::timeout(Duration::from_secs(15), async {
        tokio::select! { ended = ended => ended, () = dribbling => unreachable!("it waits for ever") }
    });
    let _ = ended.await.expect("the server closes the connection");
    assert!(began.elapsed() >= header_timeout, "not before the time is over");
    let answer = String::from_utf8_lossy(&read);
    assert!(!answer.contains("101 Switching"), "{answer}");
    // Others are served.
    let mut socket = connect(&server, "/ws").await;
    send(&mut socket, &prompt("echo here")).await;
    assert_eq!(texts(&activity(&mut socket).await), "here");
}

#[tokio::test]
async fn a_body_is_not_taken_for_frames() {
    let server = live().start().await;
    let with_body = handshake(&server, &[("Content-Length", "3")]) + "abc";
    assert_eq!(status(&server, &with_body).await, "400");
}

/// A masked text frame.
fn frame(first: u8, text: &[u8]) -> Vec<u8> {
    let length = u8::try_from(text.len()).unwrap();
    [&[first, 0x80 | length, 0, 0, 0, 0][..], text].concat()
}

#[tokio::test]
async fn frames_that_come_with_the_handshake_end_the_connection() {
    let server = live().start().await;
    let mut bytes = handshake(&server, &[]).into_bytes();
    bytes.extend(frame(0x81, b"{\"text\":\n\"echo smuggled\"}"));
    let mut connection = TcpStream::connect(server.address()).await.unwrap();
    connection.write_all(&bytes).await.unwrap();
    let mut read = Vec::new();
    let reading = connection.read_to_end(&mut read);
    let _ = tokio::time::timeout(Duration::from_secs(10), reading).await.expect("it is closed");
    assert!(!String::from_utf8_lossy(&read).contains("kind"), "{}", String::from_utf8_lossy(&read));
    let tasks = server.client().with("a2a-version", "1.0").get("/tasks").await.json();
    assert_eq!(tasks["totalSize"], 0, "nothing was taken: {tasks:#}");
}

async fn close_frame(socket: &mut Socket) -> CloseFrame {
    let reading = async {
        loop {
            match socket.next().await {
                Some(Ok(Message::Close(Some(frame)))) => return frame,
                Some(Ok(_)) => {}
                other => panic!("no reason: {other:?}"),
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(10), reading).await.expect("a close in time")
}

#[tokio::test]
async fn what_is_not_the_protocol_ends_the_connection_with_a_reason() {
    let server = live().start().await;
    for (bytes, code) in [
        // Compressed, although that was not agreed on.
        (frame(0xc1, b"{}"), CloseCode::Protocol),
        // Not masked.
        (vec![0x81, 2, b'{', b'}'], CloseCode::Protocol),
        // A continuation of nothing.
        (frame(0x80, b"{}"), CloseCode::Protocol),
        // A kind of frame that there is not.
        (frame(0x83, b"{}"), CloseCode::Protocol),
        // A ping in two pieces.
        (frame(0x09, b""), CloseCode::Protocol),
        (frame(0x81, &[0xff, 0xfe]), CloseCode::Invalid),
        // A gigabyte is announced.
        (vec![0x81, 0xff, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0], CloseCode::Size),
    ] {
        let mut socket = connect(&server, "/ws").await;
        socket.get_mut().write_all(&bytes).await.unwrap();
        assert_eq!(close_frame(&mut socket).await.code, code, "{bytes:?}");
    }
}

#[tokio::test]
async fn a_message_in_pieces_is_one_message() {
    let server = live().start().await;
    let mut socket = connect(&server, "/ws").await;
    let ping = frame(0x89, b"p");
    for piece in [frame(0x01, b"{\"text\":"), ping, frame(0x00, b"\"echo "), frame(0x80, b"whole\"}")] {
        socket.get_mut().write_all(&piece).await.unwrap();
    }
    assert_eq!(texts(&activity(&mut socket).await), "whole");
}

#[tokio::test]
async fn a_message_that_is_too_large_ends_its_connection_only() {
    let server = live().start().await;
    let (mut large, mut other) = (connect(&server, "/ws").await, connect(&server, "/ws").await);
    let text = json!({"text": "x".repeat(2 << 20)}).to_string();
    let _ = large.send(Message::text(text)).await;
    assert_eq!(close_frame(&mut large).await.code, CloseCode::Size);
    send(&mut other, &prompt("echo here")).await;
    assert_eq!(texts(&activity(&mut other).await), "here");
}

async fn session(client: &TestClient) -> String {
    client.post("/tasks", &json!({})).await.json()["taskId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_client_that_reads_nothing_delays_no_other_and_can_come_back() {
    let script =
        "rules: [{text: go, steps: [{say: ['PIECE'], repeat: 400}]}]".replace("PIECE", &"x".repeat(20_000));
    let server =
        live().script(&script).limits(|limits| limits.stall_timeout = Duration::from_secs(1)).start().await;
    let task = session(&server.client()).await;
    let path = format!("/ws?taskId={task}");
    let narrow = TcpSocket::new_v4().unwrap();
    narrow.set_recv_buffer_size(4096).unwrap();
    let narrow = narrow.connect(server.address().parse().unwrap()).await.unwrap();
    let (mut stalled, _) = client_async(format!("ws://{}{path}", server.address()), narrow).await.unwrap();
    let first = next(&mut stalled).await;
    let mut reader = connect(&server, &path).await;
    next(&mut reader).await;
    send(&mut reader, &prompt("go")).await;
    let seen = activity(&mut reader).await;
    assert_eq!(texts(&seen).len(), 400 * 20_000, "the other has all of it");
    // The server gives up on it, which its metrics say.
    let is_dropped = async {
        loop {
            let metrics = server.client().get("/metrics").await.text().to_owned();
            if metrics.lines().any(|line| line.contains("stalled") && line.ends_with(" 1")) {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), is_dropped).await.expect("it is dropped");
    drop(stalled);
    let cursor = first["cursor"].as_str().unwrap();
    let mut again =
        connect(&server, &format!("{path}&after={}", cursor.rsplit_once('.').unwrap().0.to_owned() + ".0"))
            .await;
    assert_eq!(activity(&mut again).await, seen, "it reads on where it was");
}

/// Reads so slowly that several heartbeats pass while its ping waits behind what it has not read yet.
#[tokio::test]
async fn a_client_that_reads_slowly_is_not_taken_for_a_silent_one() {
    let script =
        "rules: [{text: go, steps: [{say: ['PIECE'], repeat: 400}]}]".replace("PIECE", &"x".repeat(20_000));
    let heartbeat = Duration::from_millis(100);
    let server = live().script(&script).limits(move |limits| limits.heartbeat = heartbeat).start().await;
    let task = session(&server.client()).await;
    let path = format!("/ws?taskId={task}");
    let mut quick = connect(&server, &path).await;
    next(&mut quick).await;
    send(&mut quick, &prompt("go")).await;
    let seen = activity(&mut quick).await;
    let mut slow = connect(&server, &format!("{path}&after=0")).await;
    let mut pace = tokio::time::interval(heartbeat / 4);
    let mut pieces = Vec::new();
    while pieces.last().is_none_or(|event: &Value| event["final"] != true) {
        if pieces.len() % 5 == 0 {
            pace.tick().await;
        }
        pieces.push(next(&mut slow).await);
    }
    assert_eq!(texts(&pieces), texts(&seen), "it has read all of it");
}

/// Starts tasks that do not end.
async fn busy(client: &TestClient, count: usize) -> Vec<String> {
    let mut tasks = Vec::new();
    for number in 0..count {
        let message = json!({"message": {"messageId": format!("m{number}"), "role": "ROLE_USER",
            "parts": [{"text": "go"}]}, "configuration": {"returnImmediately": true}});
        let sent = client.rpc("SendMessage", message).await;
        tasks.push(sent["result"]["task"]["id"].as_str().unwrap().to_owned());
    }
    tasks.sort();
    tasks
}

const ENDLESS: &str = "rules: [{steps: [{wait: 60s}]}]";

#[tokio::test]
async fn more_tasks_than_a_page_are_shown_to_a_new_socket() {
    let server = live().script(ENDLESS).start().await;
    let expected = busy(&server.client(), 130).await;
    let mut socket = connect(&server, "/ws").await;
    let mut seen = BTreeSet::new();
    while seen.len() < expected.len() {
        seen.insert(next(&mut socket).await["taskId"].as_str().unwrap().to_owned());
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn a_socket_shows_so_many_tasks_and_says_that_there_are_more() {
    let server = live().script(ENDLESS).start().await;
    let tasks = busy(&server.client(), 1025).await;
    let mut socket = connect(&server, "/ws").await;
    let (mut seen, mut told) = (BTreeSet::new(), false);
    while seen.len() < 1024 || !told {
        let frame = next(&mut socket).await;
        match frame["taskId"].as_str() {
            Some(task) => drop(seen.insert(task.to_owned())),
            None => {
                let message = frame["error"]["message"].as_str().unwrap_or_else(|| panic!("{frame:#}"));
                assert!(message.contains("1024 tasks are shown already"), "{message}");
                told = true;
            }
        }
    }
    // The one that is left is shown alone.
    let left = tasks.iter().find(|task| !seen.contains(*task)).unwrap();
    let mut alone = connect(&server, &format!("/ws?taskId={left}")).await;
    assert_eq!(next(&mut alone).await["taskId"], **left);
}

#[tokio::test]
async fn a_client_that_was_too_slow_for_the_announcements_is_told_so() {
    let script = "rules: [{text: go, steps: [{say: ['PIECE'], repeat: 400}]}, {steps: [{say: x}]}]";
    let server = live().script(&script.replace("PIECE", &"x".repeat(20_000))).start().await;
    let narrow = TcpSocket::new_v4().unwrap();
    narrow.set_recv_buffer_size(4096).unwrap();
    let narrow = narrow.connect(server.address().parse().unwrap()).await.unwrap();
    let (mut slow, _) = client_async(format!("ws://{}/ws", server.address()), narrow).await.unwrap();
    let client = server.client();
    let large = session(&client).await;
    client.post_stream(&format!("/tasks/{large}/messages/stream"), &prompt("go")).await.rest().await;
    // More than are kept for it while it reads nothing.
    let small = session(&client).await;
    for _ in 0..300 {
        client.post_stream(&format!("/tasks/{small}/messages/stream"), &prompt("a")).await.rest().await;
    }
    let told = async {
        loop {
            let event = next(&mut slow).await;
            if event["kind"] == "CONSOLE_LOG" && event["content"]["level"] == "warn" {
                return event;
            }
        }
    };
    let told = tokio::time::timeout(Duration::from_secs(30), told).await.expect("it is told");
    assert!(told["content"]["text"].as_str().unwrap().contains("too slow"), "{told:#}");
    send(&mut slow, &prompt("again")).await;
    let answered = async { while next(&mut slow).await["content"]["text"] != "again" {} };
    tokio::time::timeout(Duration::from_secs(30), answered).await.expect("it goes on");
}
