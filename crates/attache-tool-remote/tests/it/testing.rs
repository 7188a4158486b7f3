//! A test and a reload ask the agent itself.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use attache_client::{CardCache, CardSource, ClientOptions};
use attache_testkit::model_server::ModelServer;
use attache_tool::AgentState;
use attache_tool_remote::{AgentAccess, AgentConnections, AgentOptions, OwnOrigin, WarnedAgents};

use crate::world::card;

struct WithCache(CardCache);

#[async_trait]
impl AgentAccess for WithCache {
    async fn client_options(&self) -> Result<ClientOptions, String> {
        Ok(ClientOptions { cards: self.0.clone(), ..ClientOptions::default() })
    }
}

#[tokio::test]
async fn an_agent_is_asked_for_its_card_although_a_cached_one_is_fresh() {
    let agent = ModelServer::with_handler(|_| card(true).header("cache-control", "max-age=600"));
    let agents = AgentConnections::new(
        vec![AgentOptions {
            name: "helper".into(),
            display_name: None,
            description: None,
            card: CardSource::Address(agent.url()),
            access: Arc::new(WithCache(CardCache::default())),
        }],
        OwnOrigin::default(),
        WarnedAgents::default(),
    );
    for asked in 1..=3 {
        let status = agents.test("helper").await.unwrap();
        assert_eq!((status.state, agent.received().len()), (AgentState::Ready, asked));
    }
    agents.reconnect();
    let in_time = tokio::time::timeout(Duration::from_secs(10), async {
        while agent.received().len() < 4 {
            tokio::task::yield_now().await;
        }
    });
    assert!(in_time.await.is_ok());
}
