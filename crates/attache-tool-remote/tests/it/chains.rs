//! Agents that delegate to each other come to an end.

use std::sync::Arc;

use attache_tool::{Delegation, ToolContext};

use crate::world::{World, card, input, tool};

async fn refusal(world: &World, own: Option<&str>, delegation: Delegation) -> Option<String> {
    let context = ToolContext { delegation: Arc::new(delegation), ..world.context.clone() };
    let tool = tool(&world.agent.url(), &["helper"], true, own);
    tool.propose(&input("helper", "Work!"), &context).await.err().map(|error| error.message)
}

#[tokio::test]
async fn what_came_far_or_would_go_round_is_refused() {
    let world = World::new([card(true)]);
    let url = world.agent.url();
    let came = |depth: u32, chain: &[String]| Delegation { depth, chain: chain.to_vec() };
    assert_eq!(refusal(&world, None, came(2, &["https://a.example#".into()])).await, None);
    let far = refusal(&world, None, came(3, &[])).await.unwrap();
    assert!(far.contains("3 agents have delegated"), "{far}");
    for link in
        [format!("{url}#helper"), format!("{url}#"), format!("{}#", url.replace("127.0.0.1", "localhost"))]
    {
        let round = refusal(&world, None, came(1, &[link])).await.unwrap();
        assert!(round.contains("go round in circles"), "{round}");
    }
    assert_eq!(
        refusal(&world, None, came(1, &[format!("{url}#other")])).await,
        None,
        "another agent of that place"
    );
    let own = refusal(&world, Some(&url), Delegation::default()).await.unwrap();
    assert!(own.contains("leads back to this server"), "{own}");
}
