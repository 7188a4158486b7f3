//! Streams: who goes away, who comes late, and how they end.

use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::Value;
use tonic::Code;

use super::world::{Grpc, Items, Speaks, encode, path};
use crate::world::launch;
use attache_testkit::pairs::{Ask, Pair};

/// The first text that the agent says on a stream.
async fn first_words(items: &mut Items) -> String {
    loop {
        let item = items.next().await.unwrap().expect("the stream goes on");
        if let Some(text) = item["artifactUpdate"]["artifact"]["parts"][0]["text"].as_str() {
            return text.to_owned();
        }
    }
}

#[tokio::test]
async fn a_client_that_goes_away_leaves_the_task_alone() {
    let server = launch().start().await;
    for speaks in Speaks::BOTH {
        let grpc = Grpc::to(server.url(), speaks).await;
        let params = speaks.text("slow-1", "slow");
        let mut items = grpc.stream("SendStreamingMessage", params).await.unwrap();
        let task = items.next().await.unwrap().unwrap()["task"]["id"].as_str().unwrap().to_owned();
        assert_eq!(first_words(&mut items).await, "Started.");
        drop(items);
        // Another call on the same connection is behind the reset of the stream.
        assert_eq!(grpc.state_of(&task).await, "TASK_STATE_WORKING");
        let mut again = grpc.stream(speaks.subscribe(), speaks.task(&task)).await.unwrap();
        assert_eq!(again.next().await.unwrap().unwrap()["task"]["status"]["state"], "TASK_STATE_WORKING");
        grpc.call("CancelTask", speaks.task(&task)).await.unwrap();
    }
}

#[tokio::test]
async fn a_deadline_ends_the_call_and_not_the_task() {
    let server = launch().start().await;
    for speaks in Speaks::BOTH {
        let patient = Grpc::to(server.url(), speaks).await;
        let hasty = patient.clone().within(Duration::from_millis(300));
        let params = speaks.text("slow-1", "slow");
        // Sent again it is the same message, so it leads to the task that the first has opened.
        let status = hasty.call("SendMessage", params.clone()).await.unwrap_err();
        assert!(matches!(status.code(), Code::DeadlineExceeded | Code::Cancelled), "{status:?}");
        let mut configured = params.clone();
        configured["configuration"] = speaks.text_at_once("", "")["configuration"].clone();
        let task = patient.task_of(configured).await;
        assert_eq!(patient.state_of(&task).await, "TASK_STATE_WORKING");

        let mut items = hasty.stream(speaks.subscribe(), speaks.task(&task)).await.unwrap();
        let status = loop {
            match items.next().await {
                Ok(item) => assert!(item.is_some(), "the stream ended well"),
                Err(status) => break status,
            }
        };
        assert!(matches!(status.code(), Code::DeadlineExceeded | Code::Cancelled), "{status:?}");
        assert_eq!(patient.state_of(&task).await, "TASK_STATE_WORKING");
        patient.call("CancelTask", speaks.task(&task)).await.unwrap();
    }
}

/// What a call ends with, in the hands of a client that never loses patience.
async fn end_of(address: &str, grpc: &Grpc, method: &str, params: Value, timeout: &str) -> HeaderMap {
    let method = grpc.method(method);
    let message = encode(method.input(), &params);
    let mut body = vec![0];
    body.extend_from_slice(&u32::try_from(message.len()).unwrap().to_be_bytes());
    body.extend_from_slice(&message);
    let request = http::Request::post(format!("http://{address}{}", path(&method)))
        .header("content-type", "application/grpc")
        .header("grpc-timeout", timeout)
        .body(Full::new(Bytes::from(body)));
    let socket = TokioIo::new(tokio::net::TcpStream::connect(address).await.unwrap());
    let (mut sender, connection) = http2::handshake(TokioExecutor::new(), socket).await.unwrap();
    let asking = async {
        let response = sender.send_request(request.unwrap()).await.unwrap();
        let head = response.headers().clone();
        response.into_body().collect().await.unwrap().trailers().cloned().unwrap_or(head)
    };
    tokio::select! {
        ended = connection => panic!("the connection ended: {ended:?}"),
        end = asking => end,
    }
}

#[tokio::test]
async fn the_server_itself_tells_that_the_deadline_has_passed() {
    let server = launch().start().await;
    let grpc = Grpc::to(server.url(), Speaks::V10).await;
    for (method, id) in [("SendMessage", "slow-1"), ("SendStreamingMessage", "slow-2")] {
        let params = Speaks::V10.text(id, "slow");
        let end = end_of(server.address(), &grpc, method, params, "300m").await;
        assert_eq!(end["grpc-status"], "4", "{method}: {end:?}");
        assert!(end["grpc-message"].to_str().unwrap().contains("goes on"));
    }
    let params = Speaks::V10.text("m1", "echo x");
    let end = end_of(server.address(), &grpc, "SendMessage", params.clone(), "soon").await;
    assert_eq!(end["grpc-status"], "3", "{end:?}");
    let end = end_of(server.address(), &grpc, "SendMessage", params, "99999999H").await;
    assert_eq!(end["grpc-status"], "0", "{end:?}");
}

#[tokio::test]
async fn s3_all_readers_of_a_task_see_the_same() {
    let server = launch().start().await;
    let mut readers = Vec::new();
    let client = server.client();
    let sent = Pair::Rpc10.result(&client, &Ask::Send(Pair::Rpc10.text("m1", "ask"))).await;
    let task = sent["task"]["id"].as_str().unwrap().to_owned();
    for speaks in [Speaks::V10, Speaks::V10, Speaks::V03, Speaks::V03] {
        let grpc = Grpc::to(server.url(), speaks).await;
        let mut items = grpc.stream(speaks.subscribe(), speaks.task(&task)).await.unwrap();
        let first = items.next().await.unwrap().unwrap();
        assert_eq!(first["task"]["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
        readers.push((speaks, items));
    }
    // Answered over JSON-RPC, followed over gRPC.
    Pair::Rpc10.result(&client, &Ask::Send(Pair::Rpc10.text_to(&task, "m2", "Ada"))).await;
    let mut seen = Vec::new();
    for (speaks, items) in readers {
        seen.push((speaks, items.rest().await));
    }
    assert!(seen[0].1.len() >= 3, "{seen:#?}");
    assert_eq!(seen[0].1, seen[1].1);
    assert_eq!(seen[2].1, seen[3].1);
    assert_eq!(seen[0].1.len(), seen[2].1.len());
}

#[tokio::test]
async fn a_stream_goes_on_where_it_was_cut_off() {
    let server = launch().start().await;
    let client = server.client();
    let sent = Pair::Rest10.result(&client, &Ask::Send(Pair::Rest10.text("m1", "stream"))).await;
    let task = sent["task"]["id"].as_str().unwrap();
    let grpc = Grpc::to(server.url(), Speaks::V03).await;
    let whole = grpc.clone().with("last-event-id", "1");
    let whole = whole.stream("TaskSubscription", Speaks::V03.task(task)).await.unwrap().rest().await;
    assert!(whole.len() > 3, "{whole:#?}");
    let bad = grpc.with("last-event-id", "yesterday");
    let status = bad.stream("TaskSubscription", Speaks::V03.task(task)).await.err().unwrap();
    assert_eq!(status.code(), Code::InvalidArgument);
}

#[tokio::test]
async fn a_server_that_stops_says_so() {
    let server = launch().start().await;
    let grpc = Grpc::to(server.url(), Speaks::V10).await;
    let mut items = grpc.stream("SendStreamingMessage", Speaks::V10.text("slow-1", "slow")).await.unwrap();
    assert_eq!(first_words(&mut items).await, "Started.");
    server.stop();
    let reading = async {
        loop {
            match items.next().await {
                Ok(item) => assert!(item.is_some(), "the stream ended well"),
                Err(status) => return status,
            }
        }
    };
    let status = reading.await;
    assert_eq!(status.code(), Code::Unavailable, "{status:?}");
}
