//! Bodies that are larger than they may be, than they say, or than they look.

use super::world::{World, check_refused, request, send_body};
use attache_testkit::http2_frames::{self as frames, DATA, END_HEADERS, HEADERS, PREFACE, RESET, frame};

/// More than the limit of the server here.
const LARGE: usize = 3 << 20;

#[tokio::test]
async fn a_body_larger_than_allowed_is_refused_however_it_comes() {
    let world = World::start_with_time_for_bodies().await;
    let large = "x".repeat(LARGE);
    let head = request("", "");
    let chunked = head.replace("content-length: 0", "transfer-encoding: chunked");
    for (what, bytes) in [
        ("as it says", request("", &large)),
        ("only said", head.replace("content-length: 0", "content-length: 99999999999")),
        ("in one chunk", format!("{chunked}{LARGE:x}\r\n{large}\r\n0\r\n\r\n")),
        (
            "in small chunks",
            format!("{chunked}{}", "16\r\n                      \r\n".repeat(LARGE / 22 + 1)),
        ),
    ] {
        let mut connection = world.connect().await;
        connection.say(bytes.as_bytes()).await;
        connection.finish_writing().await;
        let answer = connection.text_until_closed().await;
        assert!(answer.starts_with("HTTP/1.1 413"), "{what}: {answer}");
        world.holds_little();
    }
    world.is_unharmed().await;
}

#[tokio::test]
async fn a_body_in_tiny_chunks_is_read_like_any_other() {
    let world = World::start_with_time_for_bodies().await;
    let spaces = 100_000;
    let body = send_body("tiny");
    let head =
        request("", "").replace("content-length: 0", "connection: close\r\ntransfer-encoding: chunked");
    let chunks = "1\r\n \r\n".repeat(spaces);
    let bytes = format!("{head}{chunks}{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let mut connection = world.connect().await;
    assert!(connection.say(bytes.as_bytes()).await);
    let answer = connection.text_until_closed().await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    world.is_unharmed().await;
}

#[tokio::test]
async fn a_body_of_another_length_than_said_does_not_spoil_the_next_request() {
    let world = World::start().await;
    let body = send_body("short");
    let said = |length: usize| {
        request("", "").replace("content-length: 0", &format!("content-length: {length}")) + &body
    };
    let mut connection = world.connect().await;
    // What is beyond the length said is taken for the next request, and is none.
    connection.say(said(body.len() - 3).as_bytes()).await;
    connection.finish_writing().await;
    let answer = connection.text_until_closed().await;
    assert!(!answer.contains("\"result\""), "{answer}");
    let mut connection = world.connect().await;
    connection.say(said(body.len() + 3).as_bytes()).await;
    connection.finish_writing().await;
    let answer = connection.text_until_closed().await;
    assert!(!answer.contains("\"result\""), "{answer}");
    assert_eq!(world.tasks().await, 1);
    world.is_unharmed().await;
}

#[tokio::test]
async fn many_large_bodies_at_once_wait_for_room() {
    let world = World::start().await;
    let mut connections = Vec::new();
    let part = " ".repeat(1 << 20);
    for _ in 0..64 {
        let mut connection = world.connect().await;
        let head = request("", "").replace("content-length: 0", "content-length: 2000000");
        connection.push(format!("{head}{part}").as_bytes()).await;
        connections.push(connection);
    }
    world.others_are_served().await;
    world.holds_little();
    for mut connection in connections {
        let answer = connection.text_until_closed().await;
        check_refused("half a body", &answer);
    }
    world.is_unharmed().await;
}

#[tokio::test]
async fn packed_bodies_are_refused_unread() {
    let world = World::start().await;
    for coding in ["gzip", "deflate", "br", "zstd", "identity, gzip", "gzip, gzip"] {
        // What begins here would unpack to as much as anybody likes.
        let body = "\x1f\x7b\x08\0\0\0\0\0";
        let headers = format!("connection: close\r\ncontent-encoding: {coding}\r\n");
        let mut connection = world.connect().await;
        connection.say(request(&headers, body).as_bytes()).await;
        let answer = connection.text_until_closed().await;
        assert!(answer.starts_with("HTTP/1.1 415") && answer.contains("packed"), "{coding}: {answer}");
    }
    world.is_unharmed().await;
}

#[tokio::test]
async fn json_that_is_deep_or_broken_is_refused_at_once() {
    let world = World::start().await;
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(100_000), close.repeat(100_000));
    for body in [
        deep("[", "]"),
        deep("{\"a\":", "}"),
        "[".repeat(1 << 20),
        format!("\"{}", "\\u".repeat(1 << 19)),
        format!("{{\"a\":{}}}", "9".repeat(1 << 20)),
        "\u{feff}{}".to_owned(),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"SendMessage\",\"params\":\u{0}}".to_owned(),
    ] {
        let mut connection = world.connect().await;
        connection.say(request("connection: close\r\n", &body).as_bytes()).await;
        let answer = connection.text_until_closed().await;
        let start: String = body.chars().take(20).collect();
        assert!(answer.starts_with("HTTP/1.1 ") && answer.contains("\"error\""), "{start}: {answer}");
        world.others_are_served().await;
    }
    world.is_unharmed().await;
}

#[tokio::test]
async fn an_http2_body_larger_than_allowed_ends_its_call_only() {
    let world = World::start().await;
    let mut connection = world.connect().await;
    let start = [PREFACE, &frames::settings(), &frame(HEADERS, END_HEADERS, 1, &frames::post())].concat();
    assert!(connection.say(&start).await);
    let piece = frame(DATA, 0, 1, &[b' '; 16_000]);
    let mut received = Vec::new();
    let ended = |received: &[u8]| {
        let of_call = |frame: &frames::Frame| frame.stream == 1 && matches!(frame.kind, HEADERS | RESET);
        frames::read(received).iter().any(of_call)
    };
    for _ in 0..20_000 {
        if ended(&received) || !connection.push(&piece).await {
            break;
        }
    }
    while !ended(&received) {
        match connection.some().await {
            Some(bytes) => received.extend(bytes),
            None => break,
        }
    }
    world.holds_little();
    drop(connection);
    world.is_unharmed().await;
}
