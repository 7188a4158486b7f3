//! Push configurations over gRPC; what comes of them is the same for every binding.

use serde_json::json;
use tonic::Code;

use super::world::{Grpc, Speaks, info};
use crate::world::{launch, push_to_loopback};

/// No server listens there: these tasks have no more events.
const URL: &str = "http://127.0.0.1:9/hook";

#[tokio::test]
async fn p2_p5_configurations_of_1_0_are_kept_shown_and_deleted() {
    let server = launch().session(|options| options.push = Some(push_to_loopback())).start().await;
    let grpc = Grpc::to(server.url(), Speaks::V10).await;
    let task = grpc.task_of(Speaks::V10.text("m1", "ask")).await;
    let config = json!({
        "taskId": task, "id": "hook-1", "url": URL, "token": "t",
        "authentication": {"scheme": "Bearer", "credentials": "c"},
    });
    let made = grpc.answered("CreateTaskPushNotificationConfig", config.clone()).await.unwrap();
    assert!(made.metadata().get("attache-push-state").is_some());
    assert_eq!(made.into_inner(), config);
    let unnamed = json!({"taskId": task, "url": URL});
    let made = grpc.call("CreateTaskPushNotificationConfig", unnamed).await.unwrap();
    assert!(!made["id"].as_str().unwrap().is_empty());

    let pair = json!({"taskId": task, "id": "hook-1"});
    assert_eq!(grpc.call("GetTaskPushNotificationConfig", pair.clone()).await.unwrap(), config);
    let listed = grpc.call("ListTaskPushNotificationConfigs", json!({"taskId": task})).await.unwrap();
    assert_eq!(listed["configs"].as_array().unwrap().len(), 2);
    for _ in 0..2 {
        assert_eq!(grpc.call("DeleteTaskPushNotificationConfig", pair.clone()).await.unwrap(), json!({}));
    }
    let status = grpc.call("GetTaskPushNotificationConfig", pair).await.unwrap_err();
    assert_eq!((status.code(), info(&status).reason.as_str()), (Code::NotFound, "TASK_NOT_FOUND"));
}

#[tokio::test]
async fn p2_p5_configurations_of_0_3_are_named_by_their_resource() {
    let server = launch().session(|options| options.push = Some(push_to_loopback())).start().await;
    let grpc = Grpc::to(server.url(), Speaks::V03).await;
    let task = grpc.task_of(Speaks::V03.text("m1", "ask")).await;
    let name = format!("tasks/{task}/pushNotificationConfigs/hook-1");
    let config = json!({"id": "hook-1", "url": URL, "authentication": {"schemes": ["Bearer", "Basic"]}});
    let resource = json!({"name": name, "pushNotificationConfig": config});
    let request = json!({"parent": format!("tasks/{task}"), "configId": "hook-1", "config": resource});
    assert_eq!(grpc.call("CreateTaskPushNotificationConfig", request).await.unwrap(), resource);
    let named = json!({"name": name});
    assert_eq!(grpc.call("GetTaskPushNotificationConfig", named.clone()).await.unwrap(), resource);
    let parent = json!({"parent": format!("tasks/{task}")});
    let listed = grpc.call("ListTaskPushNotificationConfig", parent).await.unwrap();
    assert_eq!(listed, json!({"configs": [resource]}));
    assert_eq!(grpc.call("DeleteTaskPushNotificationConfig", named.clone()).await.unwrap(), json!({}));
    let status = grpc.call("GetTaskPushNotificationConfig", named).await.unwrap_err();
    assert_eq!(status.code(), Code::NotFound);
}

#[tokio::test]
async fn p1_an_agent_that_does_not_push_says_so_before_anything_else() {
    let server = launch().without_push().start().await;
    for speaks in Speaks::BOTH {
        let grpc = Grpc::to(server.url(), speaks).await;
        let status = grpc.call("GetTaskPushNotificationConfig", json!({})).await.unwrap_err();
        assert_eq!(status.code(), Code::FailedPrecondition, "{status:?}");
        assert_eq!(info(&status).reason, "PUSH_NOTIFICATION_NOT_SUPPORTED");
    }
}
