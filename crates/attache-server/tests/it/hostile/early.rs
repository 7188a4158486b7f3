//! Requests that are answered before their body has come: the client goes on sending for a while, and has to see the
//! answer all the same, without the server listening for ever.

use std::time::{Duration, Instant};

use attache_testkit::WAIT_TIMEOUT;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use super::world::World;
use attache_testkit::http2_frames::{
    self as frames, DATA, END_HEADERS, END_STREAM, HEADERS, PREFACE, RESET, frame,
};

/// Sends the whole body in pieces, as clients do that do not look for an answer before, and then reads to the end.
async fn send_all(world: &World, head: &str, length: usize) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(world.server().address()).await?;
    stream.set_nodelay(true)?;
    stream.write_all(head.as_bytes()).await?;
    let piece = vec![b' '; 20_000];
    for _ in 0..length / piece.len() {
        stream.write_all(&piece).await?;
        // The server has answered by now; a closed connection shows with the next piece.
        sleep(Duration::from_millis(5)).await;
    }
    let mut answer = String::new();
    timeout(WAIT_TIMEOUT, stream.read_to_string(&mut answer)).await??;
    Ok(answer)
}

fn head(verb_and_path: &str, headers: &str, length: usize) -> String {
    format!("{verb_and_path} HTTP/1.1\r\nhost: localhost\r\n{headers}content-length: {length}\r\n\r\n")
}

#[tokio::test]
async fn a_client_that_sends_its_whole_body_first_sees_the_answer() {
    let world = World::start_with_time_for_bodies().await;
    let json = "content-type: application/json\r\n";
    for (request, headers, length, status) in [
        ("POST /nothing", json, 200_000, "404"),
        ("POST /health", json, 200_000, "405"),
        ("PUT /", json, 200_000, "405"),
        ("DELETE /executeCommand", json, 200_000, "405"),
        ("POST /", "content-encoding: gzip\r\n", 200_000, "415"),
        ("POST /message:send", "a2a-version: 9.9\r\n", 200_000, "400"),
        ("POST /", "origin: https://elsewhere.example\r\n", 200_000, "403"),
        ("POST /", json, 3_000_000, "413"),
        ("POST /executeCommand", json, 3_000_000, "413"),
        ("GET /health", json, 200_000, "200"),
    ] {
        let answer = send_all(&world, &head(request, headers, length), length).await;
        let answer = answer.unwrap_or_else(|error| panic!("{request}: {error} instead of {status}"));
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request}: {answer}");
        assert!(answer.contains("\r\nconnection: close\r\n"), "{request}: {answer}");
    }
    world.is_unharmed().await;
}

#[tokio::test]
async fn a_head_that_is_no_request_is_answered_while_more_comes() {
    let world = World::start().await;
    let answer = send_all(&world, "BREW coffee\r\n\r\n", 200_000).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    world.is_unharmed().await;
}

#[tokio::test]
async fn a_short_unread_body_costs_no_connection() {
    let world = World::start().await;
    let chunked =
        "POST /nothing HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n".to_owned();
    for (head, body) in
        [(head("POST /nothing", "", 300), " ".repeat(300)), (chunked, "3\r\nabc\r\n0\r\n\r\n".into())]
    {
        let mut connection = world.connect().await;
        for _ in 0..3 {
            assert!(connection.say(head.as_bytes()).await);
            sleep(Duration::from_millis(20)).await;
            assert!(connection.say(body.as_bytes()).await);
            let answer = String::from_utf8(connection.some().await.expect("an answer")).unwrap();
            assert!(answer.starts_with("HTTP/1.1 404 ") && !answer.contains("connection: close"), "{answer}");
        }
    }
}

#[tokio::test]
async fn a_client_that_asks_before_it_sends_is_not_told_to_go_on() {
    let world = World::start().await;
    for (path, length, status) in [("/nothing", 100, "404"), ("/", 99_999_999, "413")] {
        let head = head(&format!("POST {path}"), "expect: 100-continue\r\n", length);
        let mut connection = world.connect().await;
        assert!(connection.say(head.as_bytes()).await);
        let answer = connection.text_until_closed().await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
    world.is_unharmed().await;
}

#[tokio::test]
async fn a_client_that_never_stops_sending_is_not_listened_to_for_ever() {
    let world = World::start().await;
    // One drips and one says nothing more.
    let mut quiet = world.connect().await;
    assert!(quiet.say(head("POST /nothing", "", 1_000_000).as_bytes()).await);
    let mut connection = world.connect().await;
    assert!(connection.say(head("POST /nothing", "", 1_000_000_000).as_bytes()).await);
    let began = Instant::now();
    while connection.push(b" ").await {
        assert!(began.elapsed() < WAIT_TIMEOUT, "it is still listened to");
        sleep(Duration::from_millis(50)).await;
    }
    // Both are gone, though one of the clients still has its side open.
    world.is_unharmed().await;
    assert!(quiet.text_until_closed().await.starts_with("HTTP/1.1 404 "));
}

#[tokio::test]
async fn over_http2_only_the_call_ends_and_without_an_error() {
    let world = World::start().await;
    let mut connection = world.connect().await;
    let nothing = [&[0x83, 0x86][..], &frames::literal(4, "/nothing"), &frames::literal(1, "localhost")];
    let call = |stream, flags| frame(HEADERS, END_HEADERS | flags, stream, &nothing.concat());
    let data = |stream| frame(DATA, 0, stream, &[b' '; 16_000]);
    assert!(connection.say(&[PREFACE, &frames::settings(), &call(1, 0), &data(1)].concat()).await);
    let mut received = Vec::new();
    let find = |received: &[u8], kind, stream| {
        frames::read(received).into_iter().find(|frame| frame.kind == kind && frame.stream == stream)
    };
    while find(&received, RESET, 1).is_none() {
        received.extend(connection.some().await.expect("the connection goes on"));
    }
    let reset = find(&received, RESET, 1).expect("it was just found");
    assert_eq!(reset.payload, [0; 4], "no error is meant");
    assert!(find(&received, HEADERS, 1).is_some(), "the answer comes before");
    // What was on its way does no harm, also when in the end it is more than a client may send ahead.
    for stream in (3..125).step_by(2) {
        assert!(connection.say(&[data(stream - 2), call(stream, 0), data(stream)].concat()).await);
        while find(&received, RESET, stream).is_none() {
            received.extend(connection.some().await.expect("the connection goes on"));
        }
    }
    assert!(connection.say(&call(125, END_STREAM)).await);
    while find(&received, HEADERS, 125).is_none() {
        received.extend(connection.some().await.expect("the connection goes on"));
    }
    drop(connection);
    world.is_unharmed().await;
}
