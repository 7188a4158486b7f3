//! Proposals, and input that cannot be used.

use attache_tool::{Effect, Preview};
use serde_json::json;

use crate::world::{World, card, input};

#[tokio::test]
async fn a_proposal_says_who_is_asked_what_and_where() {
    let world = World::new([card(true)]);
    let proposal = world.tool.propose(&input("@helper", "Work!"), &world.context).await.unwrap();
    let origin = world.agent.url();
    assert_eq!(proposal.effects, [Effect::Delegate { agent: "helper".into(), origin: origin.clone() }]);
    let shown =
        Preview::Agent { agent: "helper".into(), url: origin, prompt: "Work!".into(), files: Vec::new() };
    assert_eq!(proposal.shown, shown);
    assert!(world.agent.received().is_empty(), "nothing was sent");
    let empty = world.tool.propose(&input("helper", " "), &world.context).await.unwrap();
    assert_eq!(empty.input["prompt"], "Get Started!");
}

#[tokio::test]
async fn an_approval_holds_for_one_place() {
    let (world, other) = (World::new([card(true)]), World::new([card(true)]));
    let proposal = world.tool.propose(&input("helper", "Work!"), &world.context).await.unwrap();
    let tool = other.tool.resumable().unwrap();
    let error = tool.run_from(proposal, other.start(), &other.context).await.unwrap_err();
    let expected = format!(
        "helper is not asked: the call was approved for {}, and the agent is at {} now",
        world.agent.url(),
        other.agent.url()
    );
    assert!(error.message.starts_with(&expected), "{error}");
    assert!(other.agent.received().is_empty() && world.agent.received().is_empty());
}

#[tokio::test]
async fn wrong_input_is_named() {
    let world = World::new([card(true)]);
    for (input, part) in [
        (input("unknown", "x"), "there is no agent \"unknown\"; there are: helper, other"),
        (json!({"agent_name": "helper"}).as_object().unwrap().clone(), "prompt is missing"),
        (json!({"agent_name": 1, "prompt": "x"}).as_object().unwrap().clone(), "agent_name must be text"),
        (input("helper", &"x".repeat((1 << 20) + 1)), "at most 1048576 bytes"),
    ] {
        let error = world.tool.propose(&input, &world.context).await.unwrap_err();
        assert!(error.message.contains(part), "{error}");
    }
}
