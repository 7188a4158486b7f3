//! HTTP/2 clients that keep the server busy with frames that cost them nothing.

use std::time::{Duration, Instant};

use super::world::{Connection, World};
use attache_testkit::http2_frames::{
    self as frames, CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, PING, PREFACE, PRIORITY, RESET,
    SETTINGS, WINDOW_UPDATE, frame,
};

/// Far more frames than any flood here is let through with, and more than fit into the sockets between.
const MANY: usize = 2_000_000;
const AT_ONCE: usize = 500;
const SOON: Duration = Duration::from_secs(60);

async fn greeted(world: &World) -> Connection {
    let mut connection = world.connect().await;
    assert!(connection.say(&[PREFACE, &frames::settings()].concat()).await);
    connection
}

/// Sends one frame after the other until the server has had enough of it.
async fn floods(world: &World, connection: &mut Connection, mut next: impl FnMut(u32) -> Vec<u8>) {
    let began = Instant::now();
    let mut number = 0;
    loop {
        let mut bytes = Vec::new();
        for _ in 0..AT_ONCE {
            bytes.extend(next(number));
            number += 1;
        }
        if !connection.say(&bytes).await {
            break;
        }
        assert!((number as usize) < MANY && began.elapsed() < SOON, "{number} frames were let through");
    }
    connection.until_closed().await;
    world.is_unharmed().await;
}

/// A call that stays open: it is a connection in use that the floods come on.
fn open_call(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, stream, &frames::post())
}

fn whole_call(stream: u32) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, stream, &frames::get("/health"))
}

#[tokio::test]
async fn floods_of_control_frames_are_cut_off() {
    let world = World::start().await;
    let floods_of: [(&str, Vec<u8>); 6] = [
        ("ping", frame(PING, 0, 0, &[0; 8])),
        ("settings", frame(SETTINGS, 0, 0, &[0, 3, 0, 0, 0, 100])),
        ("empty settings", frame(SETTINGS, 0, 0, b"")),
        ("window", frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1])),
        ("priority", frame(PRIORITY, 0, 3, &[0, 0, 0, 0, 1])),
        ("unknown", frame(0xbb, 0, 0, b"")),
    ];
    for (_, flood) in floods_of {
        let mut connection = greeted(&world).await;
        assert!(connection.say(&open_call(1)).await);
        floods(&world, &mut connection, |_| flood.clone()).await;
    }
}

#[tokio::test]
async fn floods_of_empty_and_tiny_data_are_cut_off() {
    let world = World::start().await;
    for crumb in [&b""[..], b" "] {
        let mut connection = greeted(&world).await;
        assert!(connection.say(&open_call(1)).await);
        floods(&world, &mut connection, |_| frame(DATA, 0, 1, crumb)).await;
    }
}

#[tokio::test]
async fn calls_that_are_taken_back_at_once_are_cut_off() {
    let world = World::start().await;
    let mut connection = greeted(&world).await;
    floods(&world, &mut connection, |number| {
        let stream = 2 * number + 1;
        [whole_call(stream), frame(RESET, 0, stream, &[0, 0, 0, 8])].concat()
    })
    .await;
}

#[tokio::test]
async fn calls_that_are_faulty_on_purpose_are_cut_off() {
    let world = World::start().await;
    let mut connection = greeted(&world).await;
    // A window update of nothing is a fault of the stream, which the server resets itself.
    floods(&world, &mut connection, |number| {
        let stream = 2 * number + 1;
        [open_call(stream), frame(WINDOW_UPDATE, 0, stream, &[0; 4])].concat()
    })
    .await;
}

#[tokio::test]
async fn headers_in_endless_pieces_are_cut_off() {
    let world = World::start().await;
    for piece in [Vec::new(), [0x82; 100].to_vec(), frames::kept("x-filler", &"a".repeat(100))] {
        let mut connection = greeted(&world).await;
        assert!(connection.say(&frame(HEADERS, 0, 1, &frames::get("/health"))).await);
        floods(&world, &mut connection, |_| frame(CONTINUATION, 0, 1, &piece)).await;
    }
}

#[tokio::test]
async fn a_header_list_that_unpacks_to_much_is_refused() {
    let world = World::start().await;
    let mut connection = greeted(&world).await;
    // One long value goes into the table, and then a byte each stands for it.
    let mut block = frames::get("/health");
    block.extend(frames::kept("x-bomb", &"b".repeat(100)));
    block.extend(std::iter::repeat_n(0xbe, 10_000));
    assert!(connection.say(&frame(HEADERS, END_HEADERS | END_STREAM, 1, &block)).await);
    let mut received = Vec::new();
    while let Some(bytes) = connection.some().await {
        received.extend(bytes);
        let told = frames::read(&received).into_iter().find(|frame| {
            frame.stream == 1 && matches!(frame.kind, HEADERS | RESET) || frame.kind == frames::GO_AWAY
        });
        if let Some(told) = told {
            // 431 is no status of HPACK's own table: it is spelled out.
            let refused = told.payload.windows(3).any(|digits| digits == b"431") || told.kind != HEADERS;
            assert!(refused || told.flags & END_STREAM != 0, "{told:?}");
            break;
        }
    }
    drop(connection);
    world.is_unharmed().await;
}

#[tokio::test]
async fn a_table_of_headers_that_churns_holds_little() {
    let world = World::start().await;
    let mut connection = greeted(&world).await;
    for number in 0..500 {
        let mut block = frames::get("/health");
        for entry in 0..20 {
            block.extend(frames::kept(&format!("x-{number}-{entry}"), &"v".repeat(100)));
        }
        if !connection.push(&frame(HEADERS, END_HEADERS | END_STREAM, 2 * number + 1, &block)).await {
            break;
        }
    }
    drop(connection);
    world.is_unharmed().await;
}

#[tokio::test]
async fn more_calls_at_once_than_allowed_are_refused_one_by_one() {
    let world = World::start().await;
    let mut connection = greeted(&world).await;
    let calls: Vec<u8> = (0..400).flat_map(|number| open_call(2 * number + 1)).collect();
    assert!(connection.say(&calls).await);
    world.others_are_served().await;
    let mut received = Vec::new();
    let refused = |received: &[u8]| {
        frames::read(received).iter().any(|frame| frame.kind == RESET && frame.payload == [0, 0, 0, 7])
    };
    while !refused(&received) {
        received.extend(connection.some().await.expect("a refusal before the end"));
    }
    drop(connection);
    world.is_unharmed().await;
}

/// A ping that the server never sent is acknowledged.
#[tokio::test]
async fn floods_are_counted() {
    const ACK: u8 = 1;
    const CONNECTIONS: usize = 5;
    let world = World::start().await;
    for number in 0..CONNECTIONS {
        let mut connection = greeted(&world).await;
        floods(&world, &mut connection, |_| frame(PING, ACK, 0, &[number as u8; 8])).await;
    }
    let metrics = world.server().client().get("/metrics").await.text();
    let counted = format!("attache_connections_ended_total{{reason=\"flood\"}} {CONNECTIONS}\n");
    assert!(metrics.contains(&counted), "{metrics}");
}
