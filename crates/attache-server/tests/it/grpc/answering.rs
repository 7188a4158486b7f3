//! Answers about calls over gRPC: the same as on the other bindings, in every dialect.

use attache_testkit::model_requests::outputs;
use attache_testkit::model_server::ModelServer;
use attache_testkit::model_server::gemini::says;
use attache_testkit::waiting::eventually;
use serde_json::{Value, json};

use super::world::{Grpc, Speaks};
use crate::agent_world::{AgentLaunch, AgentServer, start, work};
use crate::answering::{Words, asked_in, touches};

fn opening(launch: &AgentLaunch, speaks: Speaks, words: Words) -> Value {
    let mut params = speaks.text(&format!("open-{words:?}"), "Make two!");
    if words == Words::Gemini {
        let workspace = work(launch).display().to_string();
        let settings = json!({"kind": "agent-settings", "workspacePath": workspace});
        params["message"]["metadata"] = json!({ "coderAgent": settings });
    }
    params
}

fn answering(speaks: Speaks, words: Words, task: &str, id: &str, answer: (&str, &str)) -> Value {
    let mut params = speaks.text_to(task, &format!("{id}-{words:?}"), "");
    let data = words.chosen(answer.0, answer.1);
    match speaks {
        Speaks::V03 => params["message"]["content"] = json!([{"data": {"data": data}}]),
        Speaks::V10 => params["message"]["parts"] = json!([{ "data": data }]),
    }
    params
}

async fn client(server: &AgentServer, speaks: Speaks, words: Words) -> Grpc {
    let grpc = Grpc::to(server.url(), speaks).await;
    match (words, speaks) {
        (Words::Rfc, Speaks::V03) => grpc.with("x-a2a-extensions", attache_wire::devtool::URI),
        (Words::Rfc, Speaks::V10) => grpc.with("a2a-extensions", attache_wire::devtool::URI),
        _ => grpc,
    }
}

fn status(item: &Value) -> &Value {
    let inner = item.get("task").or_else(|| item.get("statusUpdate")).unwrap_or(item);
    &inner["status"]
}

#[tokio::test]
async fn one_answer_at_a_time_and_what_was_approved_runs() {
    for speaks in Speaks::BOTH {
        for words in Words::ALL {
            let name = format!("{speaks:?} {words:?}");
            let model = ModelServer::with_responses([touches(&["one", "two"]), says("Done.")]);
            let (launch, server) = start(&model).await;
            let grpc = client(&server, speaks, words).await;
            let stream = |params: Value| async {
                grpc.stream("SendStreamingMessage", params).await.unwrap().rest().await
            };
            let first = stream(opening(&launch, speaks, words)).await;
            let task = first[0]["task"]["id"].as_str().unwrap().to_owned();
            let both = asked_in(&first.iter().cloned().collect());
            assert_eq!(both.len(), 2, "{name}: {first:#?}");
            let second = stream(answering(speaks, words, &task, "m2", (&both[0], "cancel"))).await;
            assert_eq!(asked_in(&second.iter().cloned().collect()), [both[1].clone()], "{name}: {second:#?}");
            let last = second.last().unwrap();
            assert_eq!(status(last)["state"], "TASK_STATE_INPUT_REQUIRED", "{name}: {second:#?}");
            assert!(speaks == Speaks::V10 || last["statusUpdate"]["final"] == true, "{name}: {last:#}");
            assert_eq!(status(&second[0])["state"], "TASK_STATE_WORKING", "{name}: {second:#?}");
            let third = stream(answering(speaks, words, &task, "m3", (&both[1], "proceed_once"))).await;
            assert_eq!(status(&third[0])["state"], "TASK_STATE_WORKING", "{name}: {third:#?}");
            assert!(third.iter().any(|item| item.to_string().contains("Done.")), "{name}: {third:#?}");
            let heard = outputs(&model);
            let refused = heard.iter().filter(|(_, text)| text.contains("did not agree to this")).count();
            assert_eq!((heard.len(), refused), (2, 1), "{name}: {heard:#?}");
        }
    }
}

#[tokio::test]
async fn an_approval_of_one_leaves_the_other_question_and_both_run_in_the_end() {
    for speaks in Speaks::BOTH {
        for words in Words::ALL {
            let name = format!("{speaks:?} {words:?}");
            let model = ModelServer::with_responses([touches(&["one", "two"]), says("Done.")]);
            let (launch, server) = start(&model).await;
            let grpc = client(&server, speaks, words).await;
            let stream = |params: Value| async {
                grpc.stream("SendStreamingMessage", params).await.unwrap().rest().await
            };
            let first = stream(opening(&launch, speaks, words)).await;
            let task = first[0]["task"]["id"].as_str().unwrap().to_owned();
            let both = asked_in(&first.iter().cloned().collect());
            let second = stream(answering(speaks, words, &task, "m2", (&both[0], "proceed_once"))).await;
            assert_eq!(asked_in(&second.iter().cloned().collect()), [both[1].clone()], "{name}: {second:#?}");
            let last = second.last().unwrap();
            assert!(last.get("statusUpdate").is_some(), "{name}: {second:#?}");
            assert!(speaks == Speaks::V10 || last["statusUpdate"]["final"] == true, "{name}: {last:#}");
            // Named by its context alone, a clear answer goes to the task that asks; and is seen at once.
            let mut params = speaks.text_at_once(&format!("m3-{words:?}"), "yes");
            params["message"]["contextId"] = first[0]["task"]["contextId"].clone();
            let sent = grpc.call("SendMessage", params).await.unwrap();
            assert_eq!(sent["task"]["id"], *task, "{name}: {sent:#}");
            let seen = grpc.call("GetTask", speaks.task(&task)).await.unwrap();
            assert!(asked_in(&seen).is_empty(), "{name}: {seen:#}");
            eventually("both files", || ["one", "two"].iter().all(|file| work(&launch).join(file).exists()))
                .await;
        }
    }
}
