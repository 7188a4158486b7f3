//! Calls of one conversation go on with the conversation that the agent knows.

use attache_testkit::model_server::{ModelServer, PlannedResponse, ReceivedRequest};
use serde_json::{Value, json};

use crate::world::{World, answer, card, piece, refusal, run, status, stream, task};

fn done() -> PlannedResponse {
    stream(&[task("WORKING"), piece("done"), status("COMPLETED", None)])
}

fn message(request: &ReceivedRequest) -> Value {
    request.json()["params"]["message"].clone()
}

#[tokio::test]
async fn the_next_call_is_in_the_same_context_and_a_new_task() {
    let world = World::new([card(true), done(), done()]);
    world.call("First").await.unwrap();
    world.call("Second").await.unwrap();
    let second = message(&world.requests()[1]);
    assert_eq!((&second["contextId"], second.get("taskId")), (&json!("c-1"), None), "{second}");
}

#[tokio::test]
async fn an_agent_without_tasks_goes_on_in_its_context() {
    let answer = [json!({"message": {
        "messageId": "a", "contextId": "c-7", "role": "ROLE_AGENT", "parts": [{"text": "hello"}],
    }})];
    let world = World::new([card(true), stream(&answer), stream(&answer)]);
    world.call("First").await.unwrap();
    world.call("Second").await.unwrap();
    assert_eq!(message_of(&world, 1)["contextId"], "c-7");
}

fn message_of(world: &World, number: usize) -> Value {
    message(&world.requests()[number])
}

#[tokio::test]
async fn calls_at_the_same_time_have_contexts_of_their_own() {
    let world = World::with(
        ModelServer::with_handler(|request| match request.method.as_str() {
            "GET" => card(true),
            _ => done(),
        }),
        true,
    );
    world.call("Before").await.unwrap();
    let context = &world.context;
    let calls = ["One", "Two", "Three"]
        .map(|prompt| run(world.tool.as_ref(), "helper", prompt, world.start(), context));
    for end in futures(calls).await {
        end.unwrap();
    }
    let going_on = world.requests()[1..].iter().filter(|it| message(it).get("contextId").is_some()).count();
    assert_eq!(going_on, 1, "one of them goes on, the others begin");
}

async fn futures<T>(calls: [impl Future<Output = T>; 3]) -> [T; 3] {
    let [one, two, three] = calls;
    let (one, two, three) = tokio::join!(one, two, three);
    [one, two, three]
}

#[tokio::test]
async fn a_task_that_takes_no_more_messages_is_replaced_by_a_new_one() {
    let over = json!({"error": {"code": -32004, "message": "it is over"}});
    // Some agents say it in a stream.
    let in_stream = PlannedResponse::stream().bytes(format!("data: {over}\n\n"));
    for refusal in [answer(&over), in_stream] {
        let world = World::new([card(true), refusal, done()]);
        let kept = json!({"origin": world.agent.url(), "context": "c-1", "task": "t-0"});
        world.memory.kept.lock().unwrap().insert("agent:helper".into(), kept);
        world.call("Go on").await.unwrap();
        let sent = world.requests();
        assert_eq!((&message(&sent[0])["taskId"], message(&sent[1]).get("taskId")), (&json!("t-0"), None));
        assert_eq!(message(&sent[1])["contextId"], "c-1");
        assert_ne!(message(&sent[0])["messageId"], message(&sent[1])["messageId"]);
    }
}

#[tokio::test]
async fn ids_of_another_place_are_not_sent() {
    let world = World::new([card(true), done()]);
    let kept = json!({"origin": "https://other.example", "context": "c-0", "task": "t-0"});
    world.memory.kept.lock().unwrap().insert("agent:helper".into(), kept);
    world.call("Begin").await.unwrap();
    let sent = message(&world.requests()[0]);
    assert!(sent.get("contextId").is_none() && sent.get("taskId").is_none(), "{sent}");
}

/// It was restarted, and has its conversations in memory only.
#[tokio::test]
async fn an_agent_that_has_forgotten_the_conversation_begins_a_new_one() {
    for (code, words, kept) in [
        (-32602, "unknown contextId c-1", json!({"context": "c-1"})),
        (-32001, "Task t-0 not found", json!({"context": "c-1", "task": "t-0"})),
    ] {
        let mut responses = vec![card(true), refusal(code, words)];
        responses.extend(kept.get("task").map(|_| refusal(-32602, "Context not found")));
        responses.extend([done(), done()]);
        let world = World::new(responses);
        let mut kept = kept;
        kept["origin"] = world.agent.url().into();
        world.memory.kept.lock().unwrap().insert("agent:helper".into(), kept);
        let text = world.call("Go on").await.unwrap();
        let told = "The agent does not know the earlier conversation any more: this call began a new one.";
        assert!(text.contains(told), "{text}");
        let last = message(world.requests().last().unwrap());
        assert!(last.get("contextId").is_none() && last.get("taskId").is_none(), "{last}");
        let text = world.call("And on").await.unwrap();
        assert!(!text.contains(told), "{text}");
        assert_eq!(message(world.requests().last().unwrap())["contextId"], "c-1");
    }
}

#[tokio::test]
async fn a_refusal_for_another_reason_is_not_tried_again() {
    let world = World::new([card(true), refusal(-32602, "the prompt is too long")]);
    let kept = json!({"origin": world.agent.url(), "context": "c-1"});
    world.memory.kept.lock().unwrap().insert("agent:helper".into(), kept);
    world.call("Go on").await.unwrap_err();
    assert_eq!(world.requests().len(), 1);
}
