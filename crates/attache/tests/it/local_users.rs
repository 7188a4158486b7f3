//! A server without a token serves the operating-system user who runs it, and no other user of the machine.
//!
//! The kernel gives a socket the filesystem user id of the thread that opens it, so a thread of this test can open one as
//! another user. Only root may do that: without root, those tests say so and stop; the rules themselves are tested in
//! `attache-server`.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};

use attache_testkit::{PATIENCE, ServerProcess};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::json;

use crate::support::{SCRIPT, launch, message};

const OTHER_USER: u32 = 65533;
const TOKEN: &str = "correct-horse-battery-staple";

/// One path of each entrance that is not public.
const ENTRANCES: [(&str, &str); 10] = [
    ("POST", "/"),
    ("POST", "/message:send"),
    ("GET", "/tasks"),
    ("POST", "/v1/message:send"),
    ("GET", "/v1/tasks/x"),
    ("POST", "/tasks"),
    ("GET", "/tasks/metadata"),
    ("GET", "/listCommands"),
    ("POST", "/executeCommand"),
    ("GET", "/metrics"),
];

#[expect(clippy::print_stdout, reason = "says why a test did nothing")]
fn skip() {
    println!("skipped: only root can open a connection as another user");
}

/// A connection of another user; `None`, with a printed reason, where this test may not be one.
fn connect_as_other_user(server: &ServerProcess) -> Option<TcpStream> {
    if !nix::unistd::geteuid().is_root() {
        skip();
        return None;
    }
    let address = server.address().to_owned();
    let connecting = std::thread::spawn(move || {
        nix::unistd::setfsuid(OTHER_USER.into());
        TcpStream::connect(address).expect("the server accepts")
    });
    Some(connecting.join().expect("the thread ends"))
}

fn request(method: &str, path: &str, headers: &str, body: &str) -> String {
    format!(
        "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{headers}\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

fn send_body(id: &str) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": message(id, "echo x")}).to_string()
}

/// Sends `request` and returns the answer, head and body.
fn ask(stream: &mut TcpStream, request: &str) -> String {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(request.as_bytes()).expect("the server reads");
    let mut answer = String::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some((head, body)) = answer.split_once("\r\n\r\n") {
            let length = head.to_ascii_lowercase();
            let length = length.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return answer;
            }
        }
        let read = stream.read(&mut buffer).expect("an answer in time");
        assert!(read > 0, "the connection ended after {answer:?}");
        answer.push_str(&String::from_utf8_lossy(&buffer[..read]));
    }
}

async fn tasks(server: &ServerProcess) -> u64 {
    server.client().get("/health").await.json()["totalTasks"].as_u64().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn another_user_of_this_machine_is_refused_at_every_entrance_and_told_how_to_get_in() {
    let server = launch().forgetful().script(SCRIPT).start().await;
    for (method, path) in ENTRANCES {
        let Some(mut stream) = connect_as_other_user(&server) else { return };
        let body = if method == "POST" { send_body("m1") } else { String::new() };
        let answer = ask(&mut stream, &request(method, path, "", &body));
        assert!(answer.starts_with("HTTP/1.1 401 "), "{method} {path}: {answer}");
        assert!(answer.to_ascii_lowercase().contains("\r\nwww-authenticate: bearer"), "{answer}");
        for word in ["token", "--token-file", "ATTACHE_TOKEN", "Authorization: Bearer"] {
            assert!(answer.contains(word), "{word:?} is not in {answer}");
        }
    }
    assert_eq!(tasks(&server).await, 0, "nothing of that had an effect");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_public_stays_public_to_another_user_and_opens_nothing_else() {
    let server = launch().forgetful().script(SCRIPT).start().await;
    let Some(mut stream) = connect_as_other_user(&server) else { return };
    for _ in 0..2 {
        for path in ["/health", "/.well-known/agent-card.json"] {
            let answer = ask(&mut stream, &request("GET", path, "", ""));
            assert!(answer.starts_with("HTTP/1.1 200 "), "{path}: {answer}");
        }
        let answer = ask(&mut stream, &request("GET", "/tasks", "", ""));
        assert!(answer.starts_with("HTTP/1.1 401 "), "on the same connection: {answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_user_is_refused_over_http2_and_grpc() {
    let server = launch().forgetful().script(SCRIPT).start().await;
    let Some(stream) = connect_as_other_user(&server) else { return };
    stream.set_nonblocking(true).unwrap();
    let stream = TokioIo::new(tokio::net::TcpStream::from_std(stream).unwrap());
    let (mut sender, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), stream).await.unwrap();
    let connection = tokio::task::JoinSet::from_iter([connection]);
    let base = server.url();
    for (path, media_type) in
        [("/", "application/json"), ("/lf.a2a.v1.A2AService/SendMessage", "application/grpc")]
    {
        let request = http::Request::post(format!("{base}{path}"))
            .header("content-type", media_type)
            .body(Full::new(Bytes::from(send_body("m1"))))
            .unwrap();
        let answer = sender.send_request(request).await.unwrap();
        let (head, body) = answer.into_parts();
        let body = body.collect().await.unwrap();
        match media_type {
            "application/json" => assert_eq!(head.status, 401),
            _ => {
                let trailers = body.trailers().cloned().unwrap_or(head.headers);
                assert_eq!(trailers["grpc-status"], "16", "{trailers:?}");
            }
        }
    }
    drop(connection);
    assert_eq!(tasks(&server).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_token_the_token_counts_and_not_the_user() {
    let server = launch().forgetful().script(SCRIPT).variable("ATTACHE_TOKEN", TOKEN).start().await;
    let mut own = TcpStream::connect(server.address()).unwrap();
    let answer = ask(&mut own, &request("GET", "/tasks", "", ""));
    assert!(answer.starts_with("HTTP/1.1 401 "), "the same user without the token: {answer}");
    let Some(mut stream) = connect_as_other_user(&server) else { return };
    let authorization = format!("authorization: Bearer {TOKEN}\r\n");
    let answer = ask(&mut stream, &request("POST", "/", &authorization, &send_body("m1")));
    assert!(answer.starts_with("HTTP/1.1 200 "), "another user with the token: {answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_user_needs_no_token_over_ipv4_ipv6_and_ipv4_in_ipv6() {
    for host in ["127.0.0.1", "::1"] {
        let server = launch().forgetful().script(SCRIPT).argument("--host").argument(host).start().await;
        let address: SocketAddr = server.address().parse().unwrap();
        let mapped = SocketAddr::new(Ipv4Addr::LOCALHOST.to_ipv6_mapped().into(), address.port());
        for address in [address, if host == "::1" { address } else { mapped }] {
            let mut stream = TcpStream::connect(address).unwrap();
            for id in ["m1", "m2"] {
                let answer = ask(&mut stream, &request("POST", "/", "", &send_body(id)));
                assert!(answer.starts_with("HTTP/1.1 200 "), "{address}: {answer}");
            }
        }
    }
}
