//! More large bodies at once than there is room for: a client without room is asked to retry, in the form of its binding.

use std::time::Duration;

use attache_server::BodyBudget;
use bytes::Bytes;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::sleep;
use tokio_stream::wrappers::UnboundedReceiverStream;

use super::world::{Connection, World};

/// Room for one body, half of which goes to each of two.
async fn world() -> World {
    World::with(|limits| {
        limits.body_timeout = Duration::from_secs(3);
        limits.body_bytes = MAX_BODY_BYTES;
        limits.body_budget = BodyBudget::new(MAX_BODY_BYTES);
    })
    .await
}

const MAX_BODY_BYTES: usize = 1 << 20;
const LENGTH: usize = 1_000_000;
const FIRST: usize = 300_000;

const WHY: &str = "as many large bodies as it has room for";

fn head(path: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\na2a-version: 1.0\r\n\
         content-length: {LENGTH}\r\n\r\n"
    )
}

/// What has to be received before anybody goes on, on a busy machine.
const MOMENT: Duration = Duration::from_millis(500);

/// Takes the other half of the room.
async fn other_half(world: &World) -> Connection {
    let mut other = world.connect().await;
    assert!(other.say(head("/").as_bytes()).await);
    assert!(other.say(&[b' '; FIRST]).await);
    sleep(MOMENT).await;
    other
}

/// Waits for room as well, so that it does not give up its half before the first has given up.
async fn wait_too(other: &mut Connection) {
    sleep(MOMENT).await;
    assert!(other.say(&[b' '; FIRST]).await);
}

#[tokio::test]
async fn a_body_without_room_is_told_to_come_again_over_http() {
    let world = world().await;
    for path in ["/", "/message:send", "/executeCommand"] {
        let mut connection = world.connect().await;
        assert!(connection.say(head(path).as_bytes()).await);
        assert!(connection.say(&[b' '; FIRST]).await);
        let mut other = other_half(&world).await;
        assert!(connection.say(&[b' '; FIRST]).await);
        wait_too(&mut other).await;
        let answer = connection.text_until_closed().await;
        assert!(answer.starts_with("HTTP/1.1 503 "), "{path}: {answer}");
        assert!(answer.contains("\r\nretry-after: 2\r\n"), "{path}: {answer}");
        assert!(answer.contains(WHY), "{path}: {answer}");
    }
    world.is_unharmed().await;
}

#[tokio::test]
async fn a_body_without_room_is_told_to_come_again_over_grpc() {
    let world = world().await;
    let stream = TcpStream::connect(world.server().address()).await.unwrap();
    let handshake =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    let (mut client, connection) = handshake;
    let mut connections = tokio::task::JoinSet::new();
    connections.spawn(connection);
    let (pieces, receiver) = mpsc::unbounded_channel();
    let frames = StreamBody::new(UnboundedReceiverStream::new(receiver));
    let request = http::Request::post("http://localhost/lf.a2a.v1.A2AService/SendMessage");
    let request = request.header("content-type", "application/grpc").header("te", "trailers");
    let piece = |bytes: Vec<u8>| Ok::<_, std::io::Error>(Frame::data(Bytes::from(bytes)));
    pieces.send(piece([&[0][..], &u32::try_from(LENGTH).unwrap().to_be_bytes()].concat())).unwrap();
    pieces.send(piece(vec![b' '; FIRST])).unwrap();
    let answering = client.send_request(request.body(frames).unwrap());
    let others = async {
        sleep(MOMENT).await;
        let mut other = other_half(&world).await;
        pieces.send(piece(vec![b' '; FIRST])).unwrap();
        wait_too(&mut other).await;
        other
    };
    let (answer, _other) = tokio::join!(answering, others);
    let answer = answer.unwrap();
    let said = |name: &str| answer.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
    assert_eq!(said("grpc-status").as_deref(), Some("14"), "{answer:?}");
    assert!(said("grpc-message").is_some_and(|text| text.contains(WHY)), "{answer:?}");
    assert!(answer.into_body().collect().await.unwrap().to_bytes().is_empty());
}

/// Room for four bodies that are more than half of the largest, and all the time there is for a body.
async fn patient_world() -> World {
    World::with(|limits| {
        limits.body_bytes = MAX_BODY_BYTES;
        limits.body_budget = BodyBudget::new(4 * MAX_BODY_BYTES);
    })
    .await
}

const MORE_THAN_HALF: usize = 530_000;
/// Far less than the minute that a body has.
const PROMPT: Duration = Duration::from_secs(15);

fn head_of(length: usize) -> String {
    head("/").replace(&format!("content-length: {LENGTH}"), &format!("content-length: {length}"))
}

/// A large message of another client is answered soon.
async fn a_large_message_is_answered(world: &World, id: &str) {
    let began = std::time::Instant::now();
    let text = format!("echo {}", "x".repeat(300_000));
    let send = crate::world::message(id, &text);
    loop {
        let answer = world.server().client().post("/message:send", &send).await;
        assert!(began.elapsed() < PROMPT, "it took {:?}", began.elapsed());
        // Retries when asked to.
        if answer.status != 503 {
            assert!(answer.json()["task"].is_object(), "{:.300}", answer.text());
            return;
        }
    }
}

#[tokio::test]
async fn uploads_that_stall_do_not_keep_others_waiting() {
    let world = patient_world().await;
    let mut stalled = Vec::new();
    for _ in 0..16 {
        let mut upload = world.connect().await;
        assert!(upload.say(head_of(MAX_BODY_BYTES).as_bytes()).await);
        upload.push(&vec![b' '; MORE_THAN_HALF]).await;
        stalled.push(upload);
    }
    a_large_message_is_answered(&world, "large").await;
    drop(stalled);
    world.is_unharmed().await;
}

/// Each holds a part of the room and wants more of it.
#[tokio::test]
async fn uploads_that_wait_for_each_other_do_not_keep_others_waiting() {
    let world = patient_world().await;
    let mut uploads = Vec::new();
    for _ in 0..16 {
        let mut upload = world.connect().await;
        assert!(upload.say(head_of(MAX_BODY_BYTES).as_bytes()).await);
        upload.push(&vec![b' '; MORE_THAN_HALF / 2]).await;
        uploads.push(upload);
    }
    for upload in &mut uploads {
        upload.push(&vec![b' '; MORE_THAN_HALF / 2]).await;
    }
    a_large_message_is_answered(&world, "large").await;
    drop(uploads);
    world.is_unharmed().await;
}
