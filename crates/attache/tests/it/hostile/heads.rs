//! Request heads that are too long, too many, or mean two things.

use super::world::{World, check_refused, request, send_body};

/// The status line and all that came after it, until the server closed the connection.
async fn answer(world: &World, bytes: &[u8]) -> String {
    let mut connection = world.connect().await;
    connection.say(bytes).await;
    connection.text_until_closed().await
}

#[tokio::test]
async fn heads_that_are_too_large_are_refused() {
    let world = World::start().await;
    let long = "x".repeat(200 << 10);
    let many: String = (0..500).map(|number| format!("x-{number}: y\r\n")).collect();
    let cases = [
        ("a long value", format!("GET /health HTTP/1.1\r\nhost: localhost\r\nx-long: {long}\r\n\r\n")),
        ("a long name", format!("GET /health HTTP/1.1\r\nhost: localhost\r\n{long}: y\r\n\r\n")),
        ("many headers", format!("GET /health HTTP/1.1\r\nhost: localhost\r\n{many}\r\n")),
        ("a long path", format!("GET /{long} HTTP/1.1\r\nhost: localhost\r\n\r\n")),
        ("a long method", format!("{long} / HTTP/1.1\r\nhost: localhost\r\n\r\n")),
        ("a head without end", format!("GET /health HTTP/1.1\r\n{}", "a: b\r\n".repeat(1 << 20))),
    ];
    for (what, head) in cases {
        let answer = answer(&world, head.as_bytes()).await;
        let status = answer.split(' ').nth(1).unwrap_or("none");
        assert!(matches!(status, "431" | "414" | "400" | "none"), "{what}: {answer}");
        world.holds_little();
    }
    world.is_unharmed().await;
}

#[tokio::test]
async fn heads_that_mean_two_things_are_refused_and_nothing_is_smuggled() {
    let world = World::start().await;
    let inner = request("", &send_body("smuggled"));
    let chunk = format!("{:x}\r\n{inner}\r\n0\r\n\r\n", inner.len());
    let before = world.tasks().await;
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
        let answer = answer(&world, format!("{head}{rest}").as_bytes()).await;
        check_refused(what, &answer);
    }
    assert_eq!(world.tasks().await, before, "nothing of that had an effect");
    world.is_unharmed().await;
}

#[tokio::test]
async fn broken_chunks_are_refused() {
    let world = World::start().await;
    let before = world.tasks().await;
    let body = send_body("chunked");
    let size = body.len();
    for (what, chunks) in [
        ("no size", format!("\r\n{body}\r\n0\r\n\r\n")),
        ("a negative size", format!("-{size:x}\r\n{body}\r\n0\r\n\r\n")),
        ("a size with 0x", format!("0x{size:x}\r\n{body}\r\n0\r\n\r\n")),
        ("a size beyond numbers", format!("fffffffffffffffff\r\n{body}\r\n0\r\n\r\n")),
        ("a size too small", format!("{:x}\r\n{body}\r\n0\r\n\r\n", size - 5)),
        ("an endless extension", format!("{size:x};{}\r\n{body}\r\n0\r\n\r\n", "e".repeat(100_000))),
        ("endless trailers", format!("{size:x}\r\n{body}\r\n0\r\n{}\r\n", "t: u\r\n".repeat(100_000))),
    ] {
        let head = "POST / HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
        let answer = answer(&world, format!("{head}{chunks}").as_bytes()).await;
        check_refused(what, &answer);
    }
    assert_eq!(world.tasks().await, before, "nothing of that had an effect");
    world.is_unharmed().await;
}

#[tokio::test]
async fn a_target_that_names_a_host_is_held_to_the_rules_for_hosts() {
    let world = World::start().await;
    for (target, host, expected) in [
        ("http://localhost/health", "localhost", "200"),
        ("http://evil.example/health", "evil.example", "403"),
        ("http://localhost/health", "evil.example", "403"),
        ("*", "localhost", "4"),
        ("health", "localhost", "4"),
        ("/health\0", "localhost", "4"),
        ("//evil.example/health", "localhost", "4"),
        ("/.well-known/../tasks", "localhost", "4"),
    ] {
        let head = format!("GET {target} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        let answer = answer(&world, head.as_bytes()).await;
        let status = answer.split(' ').nth(1).unwrap_or("none");
        assert!(status.starts_with(expected), "{target:?} for {host}: {answer}");
    }
    for wrong in
        ["GET /health HTTP/9.9\r\n\r\n", "\0\0\0\0\r\n\r\n", "\x16\x03\x01\x02\x00\x01\x00\x01\r\n\r\n"]
    {
        let answer = answer(&world, wrong.as_bytes()).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{wrong:?}: {answer}");
    }
    world.is_unharmed().await;
}
