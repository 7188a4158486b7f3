//! Request heads that could mean two things, or name another host.

use std::time::Duration;

use attache_testkit::{RawConnection, check_refused, raw_request as request};
use bytes::Bytes;
use http_body_util::Empty;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::json;
use tokio::net::TcpStream;

use crate::world::{TestServer, launch, message};

async fn start() -> TestServer {
    let server = launch().limits(|limits| limits.idle_timeout = Duration::from_secs(1)).start().await;
    others_are_served(&server).await;
    server
}

async fn others_are_served(server: &TestServer) {
    let answer = server.client().rpc("SendMessage", message("m1", "echo x")).await;
    assert!(answer["result"]["task"].is_object(), "{answer}");
}

async fn tasks(server: &TestServer) -> u64 {
    server.client().get("/health").await.json()["totalTasks"].as_u64().expect("a count")
}

fn send_body(id: &str) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": message(id, "echo x")}).to_string()
}

/// The status line and all that came after it, until the server closed the connection.
async fn answer(server: &TestServer, bytes: &[u8]) -> String {
    let mut connection = RawConnection::open(server.address()).await;
    connection.say(bytes).await;
    connection.text_until_closed().await
}

#[tokio::test]
async fn heads_that_mean_two_things_are_refused_and_nothing_is_smuggled() {
    let server = start().await;
    let inner = request("", &send_body("smuggled"));
    let chunk = format!("{:x}\r\n{inner}\r\n0\r\n\r\n", inner.len());
    let before = tasks(&server).await;
    let shapes = [
        ("both lengths", format!("transfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n{chunk}")),
        ("two lengths", format!("content-length: 0\r\ncontent-length: {}\r\n\r\n{inner}", inner.len())),
        ("a list of lengths", format!("content-length: 0, {}\r\n\r\n{inner}", inner.len())),
        ("a signed length", format!("content-length: +0\r\n\r\n{inner}")),
        ("no number", format!("content-length: zero\r\n\r\n{inner}")),
        ("an unknown coding", format!("transfer-encoding: xchunked\r\n\r\n0\r\n\r\n{inner}")),
        ("chunked and more", format!("transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n{inner}")),
        (
            "a blank before the colon",
            format!("transfer-encoding : chunked\r\ncontent-length: 0\r\n\r\n{inner}"),
        ),
        ("a folded line", format!("x: y\r\n z\r\ncontent-length: 0\r\n\r\n{inner}")),
        ("a bare return", format!("x: y\rtransfer-encoding: chunked\r\ncontent-length: 0\r\n\r\n{inner}")),
        ("a NUL in a value", format!("x: a\0b\r\ncontent-length: 0\r\n\r\n{inner}")),
        ("a NUL in a name", format!("x\0y: a\r\ncontent-length: 0\r\n\r\n{inner}")),
    ];
    for (what, rest) in shapes {
        let head = "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
        let answer = answer(&server, format!("{head}{rest}").as_bytes()).await;
        check_refused(what, &answer);
    }
    assert_eq!(tasks(&server).await, before, "nothing of that had an effect");
    others_are_served(&server).await;
}

#[tokio::test]
async fn a_target_that_names_a_host_is_held_to_the_rules_for_hosts() {
    let server = start().await;
    for (target, host, expected) in [
        ("http://localhost/health", "localhost", "200"),
        ("http://evil.example/health", "evil.example", "403"),
        ("http://localhost/health", "evil.example", "400"),
        ("http://evil.example/health", "localhost", "400"),
        ("http://localhost:80/health", "localhost:81", "400"),
        ("http://user@localhost/health", "localhost", "400"),
        ("http://LOCALHOST:80/health", "localhost:80", "200"),
        ("*", "localhost", "4"),
        ("health", "localhost", "4"),
        ("/health\0", "localhost", "4"),
        ("//evil.example/health", "localhost", "4"),
        ("/.well-known/../tasks", "localhost", "4"),
    ] {
        let head = format!("GET {target} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        let answer = answer(&server, head.as_bytes()).await;
        let status = answer.split(' ').nth(1).unwrap_or("none");
        assert!(status.starts_with(expected), "{target:?} for {host}: {answer}");
    }
    for wrong in
        ["GET /health HTTP/9.9\r\n\r\n", "\0\0\0\0\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\r\n\r\n"]
    {
        let answer = answer(&server, wrong.as_bytes()).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{wrong:?}: {answer}");
    }
    others_are_served(&server).await;
}

#[tokio::test]
async fn two_hosts_are_refused_even_when_they_agree() {
    let server = start().await;
    let before = tasks(&server).await;
    for (first, second) in
        [("localhost", "localhost"), ("localhost", "evil.example"), ("evil.example", "localhost")]
    {
        let request = request("", &send_body("two-hosts"));
        let hosts = format!("host: {first}\r\nhost: {second}\r\nconnection: close\r\n");
        let request = request.replacen("host: localhost\r\n", &hosts, 1);
        let answer = answer(&server, request.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{first} and {second}: {answer}");
        assert!(answer.contains("Host"), "{answer}");
    }
    let no_host = "POST http://localhost/ HTTP/1.1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let answer = answer(&server, no_host.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert_eq!(tasks(&server).await, before, "nothing of that had an effect");
}

#[tokio::test]
async fn lines_that_end_in_a_bare_line_feed_are_refused() {
    let server = start().await;
    let before = tasks(&server).await;
    let whole = request("", &send_body("bare"));
    let (head, body) = whole.split_once("\r\n\r\n").expect("a head");
    let first = request("", &send_body("first"));
    let mut heads = vec![
        ("everywhere", format!("{}\n\n{body}", head.replace("\r\n", "\n"))),
        ("at the end", format!("{head}\r\n\n{body}")),
        ("after the last header", format!("{head}\n\r\n{body}")),
        ("before the request", format!("\n{whole}")),
    ];
    for (place, _) in head.match_indices("\r\n") {
        let (before, after) = head.split_at(place);
        heads.push(("in one line", format!("{before}{}\r\n\r\n{body}", &after[1..])));
    }
    for (what, bytes) in &heads {
        let answer = answer(&server, bytes.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{what}: {answer}");
        check_refused(what, &answer);
    }
    assert_eq!(tasks(&server).await, before, "nothing of that had an effect");
    // Also in the second request of a connection, however the first was framed and wherever the bytes are cut.
    let (first_head, first_body) = first.split_once("\r\n\r\n").expect("a head");
    let length = format!("content-length: {}", first_body.len());
    let chunked = first_head.replace(&length, "Transfer-Encoding:  Chunked");
    let chunked = format!("{chunked}\r\n\r\n{:x}\r\n{first_body}\r\n0\r\nx: y\r\n\r\n", first_body.len());
    for first in [&first, &chunked, "GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n"] {
        for (what, second) in &heads {
            let both = format!("{first}{second}");
            for size in [both.len(), 7] {
                let mut connection = RawConnection::open(server.address()).await;
                for piece in both.as_bytes().chunks(size) {
                    connection.say(piece).await;
                }
                let answer = connection.text_until_closed().await;
                assert!(answer.starts_with("HTTP/1.1 200 "), "{what}: {answer}");
                assert!(answer.contains("HTTP/1.1 400 "), "{what} in the second request: {answer}");
            }
        }
    }
    others_are_served(&server).await;
}

#[tokio::test]
async fn line_feeds_in_bodies_are_not_looked_at() {
    let server = start().await;
    let body = send_body("lines").replace(',', ",\n").replace('{', "{\n\n");
    let request = request("connection: close\r\n", &body);
    let mut connection = RawConnection::open(server.address()).await;
    for piece in request.as_bytes().chunks(11) {
        connection.say(piece).await;
    }
    let answer = connection.text_until_closed().await;
    assert!(answer.contains("\"result\""), "{answer}");
}

#[tokio::test]
async fn over_http2_the_authority_and_a_host_have_to_agree() {
    let server = start().await;
    let stream = TcpStream::connect(server.address()).await.unwrap();
    let handshake = hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream));
    let (mut client, connection) = handshake.await.unwrap();
    let mut connections = tokio::task::JoinSet::new();
    connections.spawn(connection);
    for (authority, host, expected) in [
        ("localhost", None, 200),
        ("localhost", Some("localhost"), 200),
        ("evil.example", None, 403),
        ("evil.example", Some("evil.example"), 403),
        ("localhost", Some("evil.example"), 400),
        ("evil.example", Some("localhost"), 400),
        ("localhost:80", Some("localhost:81"), 400),
    ] {
        let mut request = http::Request::get(format!("http://{authority}/health"));
        if let Some(host) = host {
            request = request.header("host", host);
        }
        let request = request.body(Empty::<Bytes>::new()).unwrap();
        let answer = client.send_request(request).await.unwrap();
        assert_eq!(answer.status().as_u16(), expected, "{authority} and {host:?}");
    }
    drop((client, connections));
    others_are_served(&server).await;
}
