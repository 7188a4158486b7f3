//! Messages that are large, compressed or both.

use serde_json::json;
use tonic::Code;

use super::world::{Grpc, Speaks};
use crate::world::launch;

#[tokio::test]
async fn a7_messages_over_the_limit_are_refused_and_others_go_on() {
    let server = launch().limits(|limits| limits.body_bytes = 100_000).start().await;
    for speaks in Speaks::BOTH {
        let grpc = Grpc::to(server.url(), speaks).await;
        let status = grpc.call("SendMessage", speaks.text("m1", &"x".repeat(200_000))).await.unwrap_err();
        assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
        assert!(status.message().contains("100000 bytes"), "{status:?}");
        grpc.call("SendMessage", speaks.text("m2", &format!("echo {}", "x".repeat(90_000)))).await.unwrap();
    }
}

#[tokio::test]
async fn compressed_messages_are_read_within_the_same_limit() {
    let server = launch().limits(|limits| limits.body_bytes = 100_000).start().await;
    for speaks in Speaks::BOTH {
        let grpc = Grpc::to(server.url(), speaks).await.compressed();
        let text = "x".repeat(90_000);
        let sent = grpc.call("SendMessage", speaks.text("m1", &format!("echo {text}"))).await.unwrap();
        assert_eq!(sent["task"]["artifacts"][0]["parts"][0]["text"], text.as_str());
        // Compressed it is small, and still too large.
        let status = grpc.call("SendMessage", speaks.text("m2", &"x".repeat(10 << 20))).await.unwrap_err();
        assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
    }
}

#[tokio::test]
async fn an_unknown_compression_is_told_what_is_known() {
    let server = launch().start().await;
    let grpc = Grpc::to(server.url(), Speaks::V10).await.with("grpc-encoding", "snappy");
    let status = grpc.call("ListTasks", json!({})).await.unwrap_err();
    assert_eq!(status.code(), Code::Unimplemented, "{status:?}");
    assert_eq!(status.metadata().get("grpc-accept-encoding").unwrap(), "identity,gzip");
}

#[tokio::test]
async fn whatever_ids_are_sent_the_refusal_fits_into_headers() {
    let server = launch().start().await;
    let longest = format!("{}ü%", "x".repeat(1021));
    for speaks in Speaks::BOTH {
        let grpc = Grpc::to(server.url(), speaks).await;
        let status = grpc.call("GetTask", speaks.task(&longest)).await.unwrap_err();
        assert_eq!(status.code(), Code::NotFound, "{status:?}");
    }
}

#[tokio::test]
async fn ids_are_bounded_and_have_no_control_characters() {
    let server = launch().start().await;
    for speaks in Speaks::BOTH {
        let grpc = Grpc::to(server.url(), speaks).await;
        let references = (speaks == Speaks::V10).then_some("referenceTaskIds");
        for bad in ["x".repeat(50_000), "a\u{1b}b".to_owned(), "a\nb".to_owned()] {
            for field in ["messageId", "taskId", "contextId"].into_iter().chain(references) {
                let mut params = speaks.text("m1", "echo x");
                params["message"][field] =
                    if field == "referenceTaskIds" { json!([bad]) } else { json!(bad) };
                let status = grpc.call("SendMessage", params).await.unwrap_err();
                assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
                let field = field.replace("Id", "_id").replace("Task", "_task");
                assert!(status.message().contains(&field), "{field}: {status:?}");
            }
            let status = grpc.call("GetTask", speaks.task(&bad)).await.unwrap_err();
            assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
        }
    }
}

#[tokio::test]
async fn streams_over_the_limit_of_a_caller_are_refused_and_the_others_go_on() {
    for speaks in Speaks::BOTH {
        let server = launch().limits(|limits| limits.streams_per_caller = 2).start().await;
        let grpc = Grpc::to(server.url(), speaks).await;
        let task = grpc.task_of(speaks.text("m1", "input")).await;
        let mut open = Vec::new();
        for _ in 0..2 {
            let mut stream = grpc.stream(speaks.subscribe(), speaks.task(&task)).await.unwrap();
            stream.next().await.expect("the task comes first");
            open.push(stream);
        }
        let status = match grpc.stream(speaks.subscribe(), speaks.task(&task)).await {
            Err(status) => status,
            Ok(_) => panic!("a third stream was opened"),
        };
        assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
        assert!(status.message().contains("2 streams"), "{status:?}");
        assert_eq!(grpc.state_of(&task).await, "TASK_STATE_INPUT_REQUIRED");
        // Another client can still answer.
        grpc.call("SendMessage", speaks.text_to(&task, "m2", "left")).await.unwrap();
        drop(open);
    }
}
