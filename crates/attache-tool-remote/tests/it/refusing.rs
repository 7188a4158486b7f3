//! Proposals, and input that cannot be used.

use attache_testkit::model_server::ModelServer;
use attache_tool::{Effect, Preview, Proposal};
use serde_json::json;

use crate::world::{
    World, card, card_to, finished, input, piece, refusal, said, status, stream, task, tool_allowing,
};

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

#[track_caller]
fn shown_origin(proposal: &Proposal) -> &str {
    let Preview::Agent { url, .. } = &proposal.shown else { panic!("{proposal:?}") };
    let bound = proposal.agent().unwrap().1;
    assert_eq!(bound, url);
    url
}

#[tokio::test]
async fn a_person_sees_and_approves_where_the_card_leads() {
    let done = || stream(&[task("WORKING"), piece("done"), status("COMPLETED", None)]);
    let there = ModelServer::with_responses([done(), done()]);
    // Its card cannot be read at first, at neither of its two paths.
    let world = World::new([refusal(-32000, "no"), refusal(-32000, "no"), card_to(&there.url())]);
    let (here, called) = (world.agent.url(), there.url());
    let tool = tool_allowing(&here, &called, None);
    let propose = async || tool.propose(&input("helper", "Work!"), &world.context).await;
    let run =
        async |proposal| tool.resumable().unwrap().run_from(proposal, world.start(), &world.context).await;
    let unknown = propose().await.unwrap();
    assert_eq!(shown_origin(&unknown), format!("{here} or {called}"));
    assert_eq!(finished(run(unknown.clone()).await.unwrap()), said("done"));
    let known = propose().await.unwrap();
    assert_eq!(shown_origin(&known), called);
    assert_eq!(finished(run(known).await.unwrap()), said("done"));
    // Approved for the card's origin only.
    let other = World::new([card_to(&called)]);
    let approved = other.tool.propose(&input("helper", "Work!"), &other.context).await.unwrap();
    let moved = tool_allowing(&other.agent.url(), &called, None);
    let start = other.start();
    let error = moved.resumable().unwrap().run_from(approved, start, &other.context).await.unwrap_err();
    let expected = format!("approved for {}, and the agent is at {called} now", other.agent.url());
    assert!(error.message.contains(&expected), "{error}");
    assert_eq!(there.received().len(), 2, "nothing was sent");
}

#[tokio::test]
async fn a_card_that_leads_back_to_this_server_is_refused() {
    let own = World::new([]);
    let world = World::new([card_to(&own.agent.url()), card_to(&own.agent.url())]);
    let elsewhere = tool_allowing(&world.agent.url(), &own.agent.url(), None);
    let proposal = elsewhere.propose(&input("helper", "Work!"), &world.context).await.unwrap();
    let tool = tool_allowing(&world.agent.url(), &own.agent.url(), Some(&own.agent.url()));
    let start = world.start();
    let error = tool.resumable().unwrap().run_from(proposal, start, &world.context).await.unwrap_err();
    assert!(error.message.contains("its card leads back to"), "{error}");
    let error = tool.propose(&input("helper", "Work!"), &world.context).await.unwrap_err();
    assert!(error.message.contains("its card leads back to this server"), "{error}");
    assert!(own.agent.received().is_empty());
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
