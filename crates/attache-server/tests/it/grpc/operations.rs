//! Every operation, in both versions.

use serde_json::json;

use super::world::{Grpc, Speaks};
use crate::world::launch;

#[tokio::test]
async fn every_operation_is_served_in_both_versions() {
    let server = launch().start().await;
    for speaks in Speaks::BOTH {
        let grpc = Grpc::to(server.url(), speaks).await;

        let sent = grpc.call("SendMessage", speaks.text("m1", "echo hello")).await.unwrap();
        assert_eq!(sent["task"]["status"]["state"], "TASK_STATE_COMPLETED");
        assert_eq!(sent["task"]["artifacts"][0]["parts"][0]["text"], "hello");
        let task = sent["task"]["id"].as_str().unwrap();

        let read = grpc.call("GetTask", speaks.task(task)).await.unwrap();
        assert_eq!(read, sent["task"]);

        let items =
            grpc.stream("SendStreamingMessage", speaks.text("m2", "stream")).await.unwrap().rest().await;
        assert!(items[0].get("task").is_some() && items.len() > 3, "{items:#?}");
        let last = &items.last().unwrap()["statusUpdate"];
        assert_eq!(last["status"]["state"], "TASK_STATE_COMPLETED");
        assert_eq!(last.get("final").is_some(), speaks == Speaks::V03);

        let slow = grpc.task_of(speaks.text_at_once("m3", "slow")).await;
        let mut followed = grpc.stream(speaks.subscribe(), speaks.task(&slow)).await.unwrap();
        assert_eq!(followed.next().await.unwrap().unwrap()["task"]["id"], slow.as_str());
        let canceled = grpc.call("CancelTask", speaks.task(&slow)).await.unwrap();
        let name = if speaks == Speaks::V03 { "TASK_STATE_CANCELLED" } else { "TASK_STATE_CANCELED" };
        assert_eq!(canceled["status"]["state"], name);
        let seen = followed.rest().await;
        assert_eq!(seen.last().unwrap()["statusUpdate"]["status"]["state"], name);
    }
}

#[tokio::test]
async fn a_question_is_answered_on_the_same_task() {
    let server = launch().start().await;
    for speaks in Speaks::BOTH {
        let grpc = Grpc::to(server.url(), speaks).await;
        let asked = grpc.call("SendMessage", speaks.text("m1", "ask")).await.unwrap();
        assert_eq!(asked["task"]["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
        let task = asked["task"]["id"].as_str().unwrap();
        let answered = grpc.call("SendMessage", speaks.text_to(task, "m2", "Ada")).await.unwrap();
        assert_eq!(answered["task"]["id"], task);
        assert_eq!(answered["task"]["artifacts"][0]["parts"][0]["text"], "Hello, Ada!");
    }
}

#[tokio::test]
async fn a_bare_message_is_the_whole_answer() {
    let server = launch().start().await;
    for speaks in Speaks::BOTH {
        let grpc = Grpc::to(server.url(), speaks).await;
        let parts = if speaks == Speaks::V03 { "content" } else { "parts" };
        let sent = grpc.call("SendMessage", speaks.text("m1", "bare")).await.unwrap();
        assert_eq!(sent["message"][parts][0]["text"], "Just a message.");
        let items =
            grpc.stream("SendStreamingMessage", speaks.text("m2", "bare")).await.unwrap().rest().await;
        assert_eq!(items.len(), 1);
        assert_eq!(items[0]["message"][parts][0]["text"], "Just a message.");
    }
}

#[tokio::test]
async fn b3_whether_to_wait_is_asked_as_each_version_does() {
    let server = launch().start().await;
    let grpc = Grpc::to(server.url(), Speaks::V03).await;
    let state = async |id: &str, configuration| {
        let mut params = Speaks::V03.text(id, "stream");
        params["configuration"] = configuration;
        grpc.call("SendMessage", params).await.unwrap()["task"]["status"]["state"].clone()
    };
    assert_eq!(state("m1", json!(null)).await, "TASK_STATE_COMPLETED");
    assert_eq!(state("m2", json!({"blocking": true})).await, "TASK_STATE_COMPLETED");
    assert_ne!(state("m3", json!({})).await, "TASK_STATE_COMPLETED");
}

#[tokio::test]
async fn tasks_are_listed_page_by_page() {
    let server = launch().start().await;
    let grpc = Grpc::to(server.url(), Speaks::V10).await;
    for number in 0..3 {
        grpc.task_of(Speaks::V10.text(&format!("m{number}"), "artifacts")).await;
    }
    let first = grpc.call("ListTasks", json!({"pageSize": 2})).await.unwrap();
    assert_eq!((&first["totalSize"], &first["pageSize"]), (&json!(3), &json!(2)));
    assert_eq!(first["tasks"].as_array().unwrap().len(), 2);
    assert_eq!(first["tasks"][0].get("artifacts"), None);
    let token = first["nextPageToken"].as_str().unwrap();
    let params = json!({"pageSize": 2, "pageToken": token, "includeArtifacts": true});
    let last = grpc.call("ListTasks", params).await.unwrap();
    assert_eq!(last["tasks"].as_array().unwrap().len(), 1);
    assert_eq!(last["tasks"][0]["artifacts"][0]["artifactId"], "text");
    assert_eq!(last.get("nextPageToken"), None);
}

#[tokio::test]
async fn k3_clients_of_0_3_get_the_public_card_where_there_is_no_other() {
    let server = launch().start().await;
    let card = Grpc::to(server.url(), Speaks::V03).await.call("GetAgentCard", json!({})).await.unwrap();
    assert_eq!(card["protocolVersion"], "0.3.0");
    assert_eq!(card["preferredTransport"], "JSONRPC");
    let interfaces = card["additionalInterfaces"].as_array().unwrap();
    let grpc = interfaces.iter().find(|interface| interface["transport"] == "GRPC").unwrap();
    assert!(grpc["url"].as_str().unwrap().starts_with(server.url()), "{grpc}");
}

#[tokio::test]
async fn calls_are_counted_and_numbered() {
    let server = launch().start().await;
    let grpc = Grpc::to(server.url(), Speaks::V10).await;
    let answer = grpc.answered("SendMessage", Speaks::V10.text("m1", "echo x")).await.unwrap();
    assert!(answer.metadata().get("x-request-id").is_some());
    let metrics = server.client().get("/metrics").await.text().to_owned();
    let line = "attache_calls_total{binding=\"grpc\",version=\"1.0\",operation=\"send\",outcome=\"ok\"} 1";
    assert!(metrics.contains(line), "{metrics}");
}

#[tokio::test]
async fn e2_e4_extensions_are_asked_for_and_confirmed_in_metadata() {
    let server = launch().start().await;
    let uri = attache_wire::devtool::URI;
    for (speaks, name) in [(Speaks::V03, "x-a2a-extensions"), (Speaks::V10, "a2a-extensions")] {
        let grpc = Grpc::to(server.url(), speaks).await.with(name, uri);
        let answer = grpc.answered("SendMessage", speaks.text("m1", "echo x")).await.unwrap();
        assert_eq!(answer.metadata().get(name).unwrap(), uri);

        let items =
            grpc.stream("SendStreamingMessage", speaks.text("m2", "stream")).await.unwrap().rest().await;
        let kinds: Vec<_> = items.iter().map(|item| &item["statusUpdate"]["metadata"][uri]["kind"]).collect();
        assert!(kinds.contains(&&json!("TEXT_CONTENT")), "{items:#?}");
        assert!(kinds.contains(&&json!("STATE_CHANGE")), "{items:#?}");
    }
}
