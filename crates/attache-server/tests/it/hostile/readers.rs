//! Clients that ask for large answers and take them slowly, or not at all.

use std::ops::Range;
use std::time::Instant;

use attache_server::BodyBudget;
use attache_testkit::WAIT_TIMEOUT;

use super::world::{Connection, World};
use crate::world::message;
use attache_testkit::http2_frames::{self as frames, PREFACE};

/// All the large answers that may be held; what is asked for is far more.
const RESPONSE_BUDGET: usize = 16 << 20;
const TEXT_BYTES: usize = 2_000_000;
const READERS: usize = 60;
/// So many fill the room. Answers wait in the order of their requests, so the client that reads comes next.
const FIRST_READERS: usize = 4;
const CALLS_PER_CONNECTION: u32 = 20;

async fn world() -> World {
    World::with(|limits| limits.response_budget = BodyBudget::new(RESPONSE_BUDGET)).await
}

async fn large_task(world: &World) -> String {
    let text = format!("echo {}", "x".repeat(TEXT_BYTES));
    let answer = world.server().client().rpc("SendMessage", message("large", &text)).await;
    answer["result"]["task"]["id"].as_str().expect("a task").to_owned()
}

/// Each takes the first bytes of its answer and lets the rest lie. The last quarter asks many times, over HTTP/2.
async fn slow_readers(world: &World, path: &str, numbers: Range<usize>) -> Vec<Connection> {
    let mut readers = Vec::new();
    for number in numbers {
        let mut reader = world.connect().await;
        let request = if number >= READERS * 3 / 4 {
            let calls = (0..CALLS_PER_CONNECTION).map(|call| {
                let flags = frames::END_HEADERS | frames::END_STREAM;
                frames::frame(frames::HEADERS, flags, 2 * call + 1, &frames::get(path))
            });
            [PREFACE.to_vec(), frames::settings()].into_iter().chain(calls).collect::<Vec<_>>().concat()
        } else {
            format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").into_bytes()
        };
        assert!(reader.say(&request).await);
        readers.push(reader);
    }
    readers
}

/// A client that reads the answer gets it, though perhaps not at the first attempt.
async fn is_served_a_large_answer(world: &World, path: &str) {
    let began = Instant::now();
    loop {
        let answer = world.server().client().get(path).await;
        if answer.status == 200 {
            assert!(answer.body.len() > TEXT_BYTES, "{} bytes", answer.body.len());
            return;
        }
        assert_eq!((answer.status, answer.header("retry-after")), (503, Some("2")), "{:.300}", answer.text());
        assert!(began.elapsed() < WAIT_TIMEOUT, "{:.300}", answer.text());
    }
}

#[tokio::test]
async fn clients_that_read_a_large_task_slowly_hold_little_and_others_are_served() {
    let world = world().await;
    let path = format!("/tasks/{}", large_task(&world).await);
    let first = slow_readers(&world, &path, 0..FIRST_READERS).await;
    let others = slow_readers(&world, &path, FIRST_READERS..READERS);
    let ((), others) = tokio::join!(is_served_a_large_answer(&world, &path), others);
    world.others_are_served().await;
    world.holds_little();
    drop((first, others));
    world.is_unharmed().await;
}

#[tokio::test]
async fn clients_that_read_large_lists_slowly_hold_little_and_others_are_served() {
    let world = world().await;
    large_task(&world).await;
    let path = "/tasks?includeArtifacts=true";
    let first = slow_readers(&world, path, 0..FIRST_READERS).await;
    let others = slow_readers(&world, path, FIRST_READERS..READERS);
    let ((), others) = tokio::join!(is_served_a_large_answer(&world, path), others);
    world.others_are_served().await;
    world.holds_little();
    drop((first, others));
    world.is_unharmed().await;
}
