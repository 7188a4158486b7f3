//! A stream of a prompt with a confirmation, for a client that was cut off.

use attache_testkit::SseFrame;
use attache_testkit::rest_tasks::{answer, create, is_question, pending};
use serde_json::{Value, json};

use super::confirming::model;
use crate::agent_world::launch_with;

fn ids_and_data(frames: &[SseFrame]) -> Vec<(Option<String>, Value)> {
    frames.iter().map(|frame| (frame.id_text.clone(), frame.data.clone())).collect()
}

#[tokio::test]
async fn it_is_read_on_after_each_of_its_events_and_shows_no_question_twice() {
    let model = model();
    let server = launch_with(&model).start().await;
    let client = server.client();
    let task = create(&client, &json!({})).await;
    let path = format!("/tasks/{task}/execute");
    let prompt = json!({"message": "Make it", "messageId": "m-1"});
    let mut stream = client.post_stream(&path, &prompt).await;
    let mut whole = stream.until(is_question).await;
    let question = whole.last().unwrap().data.clone();
    pending(&client, &task).await;
    let taken =
        client.post(&format!("/tasks/{task}/confirmations"), &answer(&question, "proceed_once")).await;
    assert_eq!(taken.status, 200, "{}", taken.text());
    whole.extend(stream.rest().await);
    let whole = ids_and_data(&whole);
    assert_eq!(whole.last().unwrap().1["state"], "completed", "{whole:#?}");
    for (index, (cursor, _)) in whole.iter().enumerate() {
        let resumed = client.with("Last-Event-ID", cursor.as_deref().unwrap());
        let rest = resumed.post_stream(&path, &prompt).await.rest().await;
        assert_eq!(ids_and_data(&rest), whole[index + 1..], "after {cursor:?}");
    }
}
