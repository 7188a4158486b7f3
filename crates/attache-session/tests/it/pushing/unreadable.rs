//! A configuration that cannot be read is left out; the others, and their task, go on.

use std::sync::Arc;

use attache_domain::*;
use attache_store::conformance::DamagedStore;
use attache_store::memory::MemoryStore;
use attache_store::{Record, RecordChange, Records, Stores};

use super::fake_push_sender::{FakePushSender, new_config, start};
use crate::world::*;

#[tokio::test(start_paused = true)]
async fn an_unreadable_push_configuration_stops_nothing_else() {
    for damage in ["checksum", "content"] {
        let store = Arc::new(DamagedStore::new(MemoryStore::default()));
        let stores = Stores::of(store.clone());
        let actor = Actor::of(vec![vec![say("a"), Act::Wait, end(TurnOutcome::Completed)]]);
        let sender = FakePushSender::new();
        let first = start(&stores, &actor, &sender, |_| {}).await;
        let mut send = at_once("m1");
        send.configuration.push = Some(Box::new(new_config("sound", PushShape::EachUpdate)));
        let opened = task(first.send(&scope(), send).await.unwrap());
        let damaged = new_config("damaged", PushShape::EachUpdate);
        first.create_push_config(&scope(), &opened.task, damaged).await.unwrap();
        sender.until("sound", 1).await;
        first.shutdown().await;
        let records = store.list_prefix("push", "", None, 9).await.unwrap();
        let key =
            records.iter().map(|record| record.key.clone()).find(|key| key.ends_with("/damaged")).unwrap();
        if damage == "checksum" {
            store.damage_record("push", &key);
        } else {
            let record = Record { key, value: b"{".to_vec() };
            store.change(vec![RecordChange::Put { space: "push", record }]).await.unwrap();
        }

        let delivered = sender.seqs("sound").len();
        let second = start(&stores, &actor, &sender, |_| {}).await;
        actor.go.add_permits(1);
        sender.until("sound", delivered + 1).await;
        let list = ListPushConfigs { task: opened.task.clone(), page_size: None, page_token: String::new() };
        let kept = second.push_configs(&scope(), &list).await.unwrap().configs;
        assert_eq!(
            kept.iter().map(|kept| kept.config.id.as_str()).collect::<Vec<_>>(),
            ["sound"],
            "{damage}"
        );
        let missing = second.push_config(&scope(), &opened.task, Some(&"damaged".into())).await;
        assert!(matches!(missing, Err(Fault::PushConfigNotFound { .. })), "{damage}: {missing:?}");
        assert!(second.counters().snapshot().unreadable_reads > 0, "{damage} is counted");
        // Another of the same name takes its place.
        let again = new_config("damaged", PushShape::EachUpdate);
        second.create_push_config(&scope(), &opened.task, again).await.unwrap();
        assert_eq!(second.push_configs(&scope(), &list).await.unwrap().configs.len(), 2, "{damage}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_unreadable_list_of_push_configurations_stops_nothing_else() {
    let store = Arc::new(DamagedStore::new(MemoryStore::default()));
    let stores = Stores::of(store.clone());
    let actor = Actor::of(vec![vec![say("a"), Act::Wait, end(TurnOutcome::InputRequired)]]);
    let sender = FakePushSender::new();
    let first = start(&stores, &actor, &sender, |_| {}).await;
    let mut send = at_once("m1");
    send.configuration.push = Some(Box::new(new_config("hook", PushShape::EachUpdate)));
    let opened = task(first.send(&scope(), send).await.unwrap());
    sender.until("hook", 1).await;
    first.shutdown().await;
    store.damage_list("push-active");

    let second = start(&stores, &actor, &sender, |_| {}).await;
    assert_eq!(second.counters().snapshot().unreadable_reads, 1);
    // A message to the task reads its configurations.
    let delivered = sender.seqs("hook").len();
    let mut more = at_once("m2");
    more.message.task = Some(opened.task.clone());
    second.send(&scope(), more).await.unwrap();
    actor.go.add_permits(1);
    sender.until("hook", delivered + 1).await;
}
