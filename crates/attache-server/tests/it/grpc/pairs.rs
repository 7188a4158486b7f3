//! A task made over gRPC reads the same on every other way in, and the other way round.

use serde_json::Value;

use super::world::{Grpc, Speaks};
use crate::world::launch;
use attache_testkit::pairs::canonical;
use attache_testkit::pairs::{Ask, Pair};

/// Protobuf has only floating numbers, and its JSON leaves a fraction of nothing out.
fn alike(value: &Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().into(),
        Value::String(text) => text.replace(".000Z", "Z").into(),
        Value::Array(items) => items.iter().map(alike).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), alike(value))).collect(),
        other => other.clone(),
    }
}

/// The JSON of the same definitions.
fn twin(speaks: Speaks) -> Pair {
    match speaks {
        Speaks::V03 => Pair::Rest03,
        Speaks::V10 => Pair::Rest10,
    }
}

const TEXTS: [&str; 6] = ["echo hi", "artifacts", "ask", "reject", "fail", "status"];

#[tokio::test]
async fn m8_a_task_made_over_grpc_reads_the_same_on_every_pair() {
    let server = launch().start().await;
    let client = server.client();
    for speaks in Speaks::BOTH {
        let grpc = Grpc::to(server.url(), speaks).await;
        for text in TEXTS {
            let sent =
                grpc.call("SendMessage", speaks.text(&format!("{speaks:?}-{text}"), text)).await.unwrap();
            let made = alike(&canonical::task(twin(speaks), &sent["task"]));
            let task = sent["task"]["id"].as_str().unwrap().to_owned();
            for pair in Pair::ALL {
                let read = pair.result(&client, &Ask::Get(task.clone())).await;
                assert_eq!(alike(&canonical::task(pair, &read)), made, "{text} of {speaks:?} on {pair:?}");
            }
        }
    }
}

#[tokio::test]
async fn m8_a_task_made_on_any_pair_reads_the_same_over_grpc() {
    let server = launch().start().await;
    let client = server.client();
    for pair in Pair::ALL {
        for text in TEXTS {
            let sent = pair.result(&client, &Ask::Send(pair.text(&format!("{pair:?}-{text}"), text))).await;
            let made = canonical::item(pair, &sent)["task"].take();
            let task = made["id"].as_str().unwrap();
            for speaks in Speaks::BOTH {
                let read =
                    Grpc::to(server.url(), speaks).await.call("GetTask", speaks.task(task)).await.unwrap();
                let read = canonical::task(twin(speaks), &read);
                assert_eq!(alike(&read), alike(&made), "{text} of {pair:?} on {speaks:?}");
            }
        }
    }
}
