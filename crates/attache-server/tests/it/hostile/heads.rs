//! Request heads and chunks that are too long or broken. What heads may mean is tested in `attache-server`.

use super::world::{World, check_refused, send_body};

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
