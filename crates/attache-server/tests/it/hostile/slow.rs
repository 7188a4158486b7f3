//! Clients that begin something and let it lie.

use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::world::{World, check_refused, request, send_body};
use attache_testkit::http2_frames::{self as frames, PREFACE};

/// How long the impatient server may take to lose its patience, on a busy machine.
const SOON: Duration = Duration::from_secs(15);

/// Ends when the server closes the connection while the client drips bytes into it.
async fn drips(world: &World, start: &[u8], drop: &[u8]) -> String {
    let mut connection = world.connect().await;
    assert!(connection.say(start).await);
    let began = Instant::now();
    while connection.push(drop).await {
        assert!(began.elapsed() < SOON, "it is still listened to");
        world.others_are_served().await;
        sleep(Duration::from_millis(100)).await;
    }
    connection.text_until_closed().await
}

#[tokio::test]
async fn a_silent_connection_is_closed() {
    let world = World::start().await;
    for beginning in [&b""[..], b"P", b"PRI * HTTP/2.0\r\n", b"POST / HTTP/1.1\r\nhost: localhost\r\n"] {
        let mut connection = world.connect().await;
        assert!(connection.say(beginning).await);
        let began = Instant::now();
        assert_eq!(connection.text_until_closed().await, "", "{beginning:?}");
        assert!(began.elapsed() < SOON, "{beginning:?}");
    }
    world.is_unharmed().await;
}

#[tokio::test]
async fn a_head_that_drips_in_is_cut_off() {
    let world = World::start().await;
    assert_eq!(drips(&world, b"POST / HTTP/1.1\r\nhost: localhost\r\n", b"x-a: b\r\n").await, "");
    assert_eq!(drips(&world, b"GET /", b"a").await, "");
    world.is_unharmed().await;
}

#[tokio::test]
async fn a_body_that_drips_in_is_refused() {
    let world = World::start().await;
    let head = request("", "").replace("content-length: 0", "content-length: 1000");
    let answer = drips(&world, head.as_bytes(), b" ").await;
    assert!(answer.contains("in time") && !answer.contains("\"result\""), "{answer}");
    world.is_unharmed().await;
}

#[tokio::test]
async fn a_client_that_ends_in_the_middle_of_its_body_is_told_or_left() {
    let world = World::start().await;
    let mut connection = world.connect().await;
    let half = request("", &send_body("half"));
    assert!(connection.say(&half.as_bytes()[..half.len() - 10]).await);
    connection.finish_writing().await;
    let answer = connection.text_until_closed().await;
    check_refused("half a body", &answer);
    assert_eq!(world.tasks().await, 1, "half a message is none");
    world.is_unharmed().await;
}

#[tokio::test]
async fn an_http2_connection_without_a_call_is_closed_with_a_word() {
    let world = World::start().await;
    for beginning in [PREFACE.to_vec(), [PREFACE, &frames::settings()].concat()] {
        let mut connection = world.connect().await;
        assert!(connection.say(&beginning).await);
        let began = Instant::now();
        let said = frames::read(&connection.until_closed().await);
        assert!(began.elapsed() < SOON);
        // Who has not even greeted is not told goodbye.
        if beginning.len() > PREFACE.len() {
            assert!(said.iter().any(|frame| frame.kind == frames::GO_AWAY), "{said:?}");
        }
    }
    world.is_unharmed().await;
}

#[tokio::test]
async fn http2_headers_that_never_end_are_cut_off() {
    let world = World::start().await;
    let headers = frames::frame(frames::HEADERS, 0, 1, &frames::get("/health"));
    let start = [PREFACE, &frames::settings(), &headers].concat();
    drips(&world, &start, &frames::frame(frames::CONTINUATION, 0, 1, b"")).await;
    world.is_unharmed().await;
}

#[tokio::test]
async fn a_client_that_asks_for_much_and_reads_nothing_is_cut_off() {
    let world = World::start().await;
    let mut connection = world.connect().await;
    let card = "GET /.well-known/agent-card.json HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(500);
    let began = Instant::now();
    // First the buffers of the sockets fill; later the server closes the connection.
    while connection.push(card.as_bytes()).await || began.elapsed() < Duration::from_secs(1) {
        assert!(began.elapsed() < SOON, "requests are taken for ever");
    }
    world.others_are_served().await;
    world.holds_little();
    world.until_closed_by_server().await;
    world.is_unharmed().await;
}

#[tokio::test]
async fn an_http2_client_that_takes_nothing_is_cut_off() {
    let world = World::start().await;
    let mut connection = world.connect().await;
    // A window of nothing: the server may not send a byte of any answer.
    let settings = frames::frame(frames::SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0]);
    assert!(connection.say(&[PREFACE, &settings].concat()).await);
    for stream in 0..200 {
        let headers = frames::get("/.well-known/agent-card.json");
        let flags = frames::END_HEADERS | frames::END_STREAM;
        connection.push(&frames::frame(frames::HEADERS, flags, 2 * stream + 1, &headers)).await;
    }
    world.others_are_served().await;
    let began = Instant::now();
    connection.until_closed().await;
    assert!(began.elapsed() < SOON);
    world.is_unharmed().await;
}
