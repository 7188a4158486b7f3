//! Every error of the table that can be brought about from outside: its code, its text and its details.

use attache_domain::AgentExtension;
use serde_json::{Value, json};
use tonic::{Code, Status};

use super::world::{Grpc, Speaks, info, violations};
use crate::world::launch;

/// A code, the reason of 1.0, and the name that texts of 0.3 begin with.
type Row = (Code, &'static str, &'static str);

const NOT_FOUND: Row = (Code::NotFound, "TASK_NOT_FOUND", "TaskNotFoundError");
const NOT_CANCELABLE: Row = (Code::FailedPrecondition, "TASK_NOT_CANCELABLE", "TaskNotCancelableError");
const UNSUPPORTED: Row = (Code::FailedPrecondition, "UNSUPPORTED_OPERATION", "UnsupportedOperationError");
const WRONG_TYPE: Row = (Code::InvalidArgument, "CONTENT_TYPE_NOT_SUPPORTED", "ContentTypeNotSupportedError");
const NO_EXTENSION: Row =
    (Code::FailedPrecondition, "EXTENSION_SUPPORT_REQUIRED", "ExtensionSupportRequiredError");
const WRONG_VERSION: Row = (Code::FailedPrecondition, "VERSION_NOT_SUPPORTED", "VersionNotSupportedError");
const WRONG_PARAMS: Row = (Code::InvalidArgument, "INVALID_PARAMS", "InvalidParamsError");
const WRONG_REQUEST: Row = (Code::InvalidArgument, "INVALID_REQUEST", "InvalidRequestError");

#[track_caller]
fn check(speaks: Speaks, status: &Status, row: Row) {
    let (code, reason, name) = row;
    assert_eq!(status.code(), code, "{status:?}");
    let info = info(status);
    assert_eq!((info.reason.as_str(), info.domain.as_str()), (reason, "a2a-protocol.org"));
    let begins = status.message().starts_with(&format!("{name}: "));
    assert_eq!(begins, speaks == Speaks::V03, "{}", status.message());
}

async fn refused(grpc: &Grpc, method: &str, params: Value) -> Status {
    grpc.call(method, params).await.unwrap_err()
}

#[tokio::test]
async fn tasks_that_are_not_there_or_over_are_told() {
    let server = launch().start().await;
    for speaks in Speaks::BOTH {
        let grpc = Grpc::to(server.url(), speaks).await;
        for method in ["GetTask", "CancelTask"] {
            let status = refused(&grpc, method, speaks.task("nope")).await;
            check(speaks, &status, NOT_FOUND);
            assert_eq!(info(&status).metadata["taskId"], "nope");
        }
        let status = refused(&grpc, "SendMessage", speaks.text_to("nope", "m0", "x")).await;
        check(speaks, &status, NOT_FOUND);
        let status = grpc.stream(speaks.subscribe(), speaks.task("nope")).await.err().unwrap();
        check(speaks, &status, NOT_FOUND);

        let over = grpc.task_of(speaks.text("m1", "echo x")).await;
        check(speaks, &refused(&grpc, "CancelTask", speaks.task(&over)).await, NOT_CANCELABLE);
        check(speaks, &refused(&grpc, "SendMessage", speaks.text_to(&over, "m2", "x")).await, UNSUPPORTED);
        let followed = grpc.stream(speaks.subscribe(), speaks.task(&over)).await;
        match speaks {
            Speaks::V10 => check(speaks, &followed.err().unwrap(), UNSUPPORTED),
            Speaks::V03 => assert_eq!(followed.unwrap().rest().await.len(), 1, "s9: the task, then the end"),
        }
    }
}

#[tokio::test]
async fn wrong_parameters_are_named() {
    let server = launch().start().await;
    for speaks in Speaks::BOTH {
        let grpc = Grpc::to(server.url(), speaks).await;
        let status = refused(&grpc, "SendMessage", json!({"message": {}})).await;
        check(speaks, &status, WRONG_PARAMS);
        let expected = match speaks {
            Speaks::V03 => ["request.message_id", "request.role", "request.content"],
            Speaks::V10 => ["message.message_id", "message.role", "message.parts"],
        };
        assert_eq!(violations(&status), expected);
        let mut params = speaks.text("m1", "x");
        params["configuration"] = json!({"historyLength": -1});
        check(speaks, &refused(&grpc, "SendMessage", params).await, WRONG_PARAMS);

        let method = grpc.method("GetTask");
        let status = grpc.bytes(&method, vec![0xff; 3]).await.unwrap_err();
        check(speaks, &status, WRONG_REQUEST);
    }
    let grpc = Grpc::to(server.url(), Speaks::V10).await;
    for params in [json!({"pageSize": 0}), json!({"pageSize": 101}), json!({"pageToken": "made up"})] {
        check(Speaks::V10, &refused(&grpc, "ListTasks", params).await, WRONG_PARAMS);
    }
}

#[tokio::test]
async fn b6_parts_that_cannot_be_read_are_refused() {
    let server = launch().card(|card| card.default_input_modes = vec!["text/plain".into()]).start().await;
    for speaks in Speaks::BOTH {
        let grpc = Grpc::to(server.url(), speaks).await;
        let mut params = speaks.text("m1", "x");
        match speaks {
            Speaks::V03 => {
                params["message"]["content"] =
                    json!([{"file": {"fileWithBytes": "AAEC", "mimeType": "video/mp4"}}]);
            }
            Speaks::V10 => {
                params["message"]["parts"] = json!([{"raw": "AAEC", "mediaType": "video/mp4"}]);
            }
        }
        check(speaks, &refused(&grpc, "SendMessage", params).await, WRONG_TYPE);
    }
}

#[tokio::test]
async fn what_the_card_does_not_offer_is_refused() {
    let server = launch().card(|card| card.capabilities.streaming = false).start().await;
    for speaks in Speaks::BOTH {
        let grpc = Grpc::to(server.url(), speaks).await;
        let status = grpc.stream("SendStreamingMessage", speaks.text("m1", "x")).await.err().unwrap();
        check(speaks, &status, UNSUPPORTED);
    }
    let grpc = Grpc::to(server.url(), Speaks::V10).await;
    check(Speaks::V10, &refused(&grpc, "GetExtendedAgentCard", json!({})).await, UNSUPPORTED);
}

#[tokio::test]
async fn e5_a_required_extension_must_be_asked_for() {
    let needed =
        AgentExtension { uri: "urn:example:needed".into(), description: None, required: true, params: None };
    let server = launch().card(|card| card.capabilities.extensions.push(needed)).start().await;
    for speaks in Speaks::BOTH {
        let grpc = Grpc::to(server.url(), speaks).await;
        check(speaks, &refused(&grpc, "SendMessage", speaks.text("m1", "echo x")).await, NO_EXTENSION);
        let grpc = grpc.with("a2a-extensions", "urn:example:needed");
        grpc.call("SendMessage", speaks.text("m1", "echo x")).await.unwrap();
    }
}

#[tokio::test]
async fn v4_the_version_in_metadata_must_be_that_of_the_service() {
    let server = launch().start().await;
    for (speaks, own, other) in [(Speaks::V03, "0.3", "1.0"), (Speaks::V10, "1.0.1", "0.3")] {
        let grpc = Grpc::to(server.url(), speaks).await;
        for wrong in [other, "7.0", "x"] {
            let grpc = grpc.clone().with("a2a-version", wrong);
            let status = refused(&grpc, "SendMessage", speaks.text("m1", "x")).await;
            check(speaks, &status, WRONG_VERSION);
            assert!(info(&status).metadata.contains_key("supportedVersions"));
        }
        let grpc = grpc.with("a2a-version", own);
        grpc.call("SendMessage", speaks.text("m1", "echo x")).await.unwrap();
    }
}

#[tokio::test]
async fn methods_and_services_that_are_not_there_are_unimplemented() {
    let server = launch().start().await;
    let grpc = Grpc::to(server.url(), Speaks::V10).await;
    for path in ["/lf.a2a.v1.A2AService/Nope", "/nope.Service/Nope"] {
        let mut client = tonic::client::Grpc::new(grpc.channel.clone());
        client.ready().await.unwrap();
        let request = tonic::Request::new(Vec::new());
        let path = http::uri::PathAndQuery::from_static(path);
        let status = client.unary(request, path, super::world::Raw).await.unwrap_err();
        assert_eq!(status.code(), Code::Unimplemented, "{status:?}");
    }
}

#[tokio::test]
async fn a4_without_the_token_nothing_is_served_but_health() {
    let token = "correct-horse-battery-staple";
    let server = launch().token(token).start().await;
    for speaks in Speaks::BOTH {
        let grpc = Grpc::to(server.url(), speaks).await;
        for wrong in [None, Some("Bearer wrong"), Some("Basic correct-horse-battery-staple")] {
            let grpc = match wrong {
                Some(wrong) => grpc.clone().with("authorization", wrong),
                None => grpc.clone(),
            };
            let status = refused(&grpc, "SendMessage", speaks.text("m1", "x")).await;
            assert_eq!(status.code(), Code::Unauthenticated, "{status:?}");
        }
        let grpc = grpc.with("authorization", &format!("Bearer {token}"));
        grpc.call("SendMessage", speaks.text("m1", "echo x")).await.unwrap();
    }
    let grpc = Grpc::to(server.url(), Speaks::V10).await;
    let mut health = attache_proto::health::health_client::HealthClient::new(grpc.channel.clone());
    health.check(attache_proto::health::HealthCheckRequest::default()).await.unwrap();
}

#[tokio::test]
async fn unknown_tenants_are_not_found() {
    let server = launch().tenants(&["acme"]).start().await;
    let grpc = Grpc::to(server.url(), Speaks::V10).await;
    let mut params = Speaks::V10.text("m1", "echo x");
    params["tenant"] = "acme".into();
    let task = grpc.task_of(params.clone()).await;
    params["tenant"] = "other".into();
    let status = refused(&grpc, "SendMessage", params).await;
    assert_eq!(status.code(), Code::NotFound, "{status:?}");
    check(Speaks::V10, &refused(&grpc, "GetTask", json!({"id": task})).await, NOT_FOUND);
    grpc.call("GetTask", json!({"tenant": "acme", "id": task})).await.unwrap();
}
