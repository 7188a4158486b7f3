//! Configurations are kept, found, replaced and let go, each by its owner alone.

use std::sync::Arc;
use std::time::Duration;

use attache_domain::*;
use attache_store::Stores;
use attache_store::memory::MemoryStore;
use futures_util::FutureExt;

use super::fake_push_sender::*;
use crate::world::*;

fn stores() -> Stores {
    Stores::of(Arc::new(MemoryStore::default()))
}

fn waiting() -> Arc<Actor> {
    Actor::of(vec![vec![Act::Wait, ask(), Act::Wait, end(TurnOutcome::Completed)]])
}

#[tokio::test(start_paused = true)]
async fn a_configuration_is_found_by_name_listed_in_pages_and_seen_by_its_owner_only() {
    let session = start(&stores(), &waiting(), &FakePushSender::new(), |_| {}).await;
    let opened = task(session.send(&scope(), at_once("m1")).await.unwrap());
    for id in ["b", "a", "c"] {
        assert_eq!(create(&session, &opened.task, id).await.config, config(id));
    }
    let list = |size: Option<usize>, token: &str| ListPushConfigs {
        task: opened.task.clone(),
        page_size: size,
        page_token: token.into(),
    };
    let all = session.push_configs(&scope(), &list(None, "")).await.unwrap();
    let ids = |page: &PushConfigPage| {
        page.configs.iter().map(|kept| kept.config.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!((ids(&all), all.next_page_token.as_str()), (vec!["a".into(), "b".into(), "c".into()], ""));
    let first = session.push_configs(&scope(), &list(Some(2), "")).await.unwrap();
    let rest = session.push_configs(&scope(), &list(Some(2), &first.next_page_token)).await.unwrap();
    assert_eq!((ids(&first).len(), ids(&rest), rest.next_page_token.as_str()), (2, vec!["c".into()], ""));
    let bad = session.push_configs(&scope(), &list(None, "rubbish")).await.unwrap_err();
    assert_eq!(bad, Fault::BadPageToken);

    let first = session.push_config(&scope(), &opened.task, None).await.unwrap();
    assert_eq!(first.config.id.as_str(), "a", "none is named like the task");
    let missing = session.push_config(&scope(), &opened.task, Some(&"x".into())).await.unwrap_err();
    assert!(matches!(missing, Fault::PushConfigNotFound { .. }), "{missing}");
    for stranger in [Scope::new("", "you"), Scope::new("other", "me")] {
        let none = Fault::TaskNotFound { task: opened.task.clone() };
        let create = new_config("d", PushShape::EachUpdate);
        assert_eq!(session.push_config(&stranger, &opened.task, None).await.unwrap_err(), none);
        assert_eq!(session.push_configs(&stranger, &list(None, "")).await.unwrap_err(), none);
        assert_eq!(session.create_push_config(&stranger, &opened.task, create).await.unwrap_err(), none);
        assert_eq!(session.delete_push_config(&stranger, &opened.task, &"a".into()).await.unwrap_err(), none);
    }
}

#[tokio::test(start_paused = true)]
async fn a_nameless_one_gets_a_name_after_the_habits_of_its_version() {
    let session = start(&stores(), &waiting(), &FakePushSender::new(), |_| {}).await;
    let opened = task(session.send(&scope(), at_once("m1")).await.unwrap());
    let create = async |shape| {
        let config = PushConfig { id: "".into(), ..config("nameless") };
        session
            .create_push_config(&scope(), &opened.task, NewPushConfig { config, shape })
            .await
            .unwrap()
            .config
            .id
    };
    assert_eq!(create(PushShape::WholeTask).await.as_str(), opened.task.as_str());
    assert_eq!(create(PushShape::WholeTask).await.as_str(), opened.task.as_str());
    let (one, two) = (create(PushShape::EachUpdate).await, create(PushShape::EachUpdate).await);
    assert!(one != two && one.as_str().len() == 36, "{one} {two}");
    let meant = session.push_config(&scope(), &opened.task, None).await.unwrap();
    assert_eq!(meant.config.id.as_str(), opened.task.as_str());
}

#[tokio::test(start_paused = true)]
async fn a_deleted_one_is_told_nothing_more_and_deleting_again_is_no_error() {
    let (actor, sender) = (waiting(), FakePushSender::new());
    let session = start(&stores(), &actor, &sender, |_| {}).await;
    let opened = task(session.send(&scope(), with_push(at_once("m1"), "c")).await.unwrap());
    sender.until("c", 1).await;
    for _ in 0..2 {
        session.delete_push_config(&scope(), &opened.task, &"c".into()).await.unwrap();
    }
    actor.go.add_permits(2);
    read_from(&session, &opened.task, Some(Seq(1))).await;
    at_rest(&session).await;
    assert_eq!(sender.tries(), 1);
    assert!(session.push_config(&scope(), &opened.task, Some(&"c".into())).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_deletion_waits_for_what_is_under_way_but_not_for_ever() {
    let (actor, sender) = (waiting(), FakePushSender::gated());
    let session = start(&stores(), &actor, &sender, |_| {}).await;
    let opened = task(session.send(&scope(), with_push(at_once("m1"), "c")).await.unwrap());
    while sender.tries() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let (me, id) = (scope(), PushConfigId::from("c"));
    let mut deleting = std::pin::pin!(session.delete_push_config(&me, &opened.task, &id));
    for _ in 0..50 {
        assert!(deleting.as_mut().now_or_never().is_none(), "it returned with a notification under way");
        tokio::task::yield_now().await;
    }
    tokio::time::timeout(Duration::from_secs(3), deleting).await.expect("it ends").unwrap();
    sender.gate.as_ref().unwrap().add_permits(9);
    actor.go.add_permits(2);
    read_from(&session, &opened.task, Some(Seq(1))).await;
    assert_eq!((sender.tries(), sender.seqs("c").len()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn one_in_place_of_another_goes_on_where_that_one_was() {
    let (actor, sender) = (waiting(), FakePushSender::new());
    let session = start(&stores(), &actor, &sender, |_| {}).await;
    let opened = task(session.send(&scope(), with_push(at_once("m1"), "c")).await.unwrap());
    sender.until("c", 1).await;
    sender.plan("c", [failed("503")]);
    actor.go.add_permits(1);
    while session.counters().snapshot().push_failed == 0 {
        tokio::task::yield_now().await;
    }
    let mut other = new_config("c", PushShape::EachUpdate);
    other.config.url = "https://other.test".into();
    session.create_push_config(&scope(), &opened.task, other).await.unwrap();
    actor.go.add_permits(1);
    sender.until("c", 3).await;
    let delivered: Vec<_> = sender
        .delivered
        .lock()
        .unwrap()
        .iter()
        .map(|delivered| (delivered.url.clone(), delivered.seq))
        .collect();
    let (old, new) = ("https://c.test".to_owned(), "https://other.test".to_owned());
    assert_eq!(delivered, [(old, 2), (new.clone(), 3), (new, 4)]);
    let list = ListPushConfigs { task: opened.task.clone(), page_size: None, page_token: "".into() };
    assert_eq!(session.push_configs(&scope(), &list).await.unwrap().configs.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_task_takes_so_many_and_no_more() {
    let session =
        start(&stores(), &waiting(), &FakePushSender::new(), |options| options.max_per_task = 2).await;
    let opened = task(session.send(&scope(), with_push(at_once("m1"), "a")).await.unwrap());
    create(&session, &opened.task, "b").await;
    let one_more =
        session.create_push_config(&scope(), &opened.task, new_config("c", PushShape::EachUpdate)).await;
    assert!(one_more.unwrap_err().to_string().contains("has 2 push configurations"));
    create(&session, &opened.task, "b").await;
    session.delete_push_config(&scope(), &opened.task, &"a".into()).await.unwrap();
    create(&session, &opened.task, "c").await;
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_reached_is_refused_before_anything_else_happens() {
    let (actor, sender) = (waiting(), FakePushSender::new());
    let session = start(&stores(), &actor, &sender, |_| {}).await;
    let mut send = with_push(at_once("m1"), "c");
    send.configuration.push.as_mut().unwrap().config.url = "bad:is not public".into();
    let refused = session.send(&scope(), send).await.err().unwrap();
    assert_eq!(refused, Fault::invalid("url", "is not public"));
    assert_eq!(session.counters().snapshot().tasks_opened, 0);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_is_refused_leaves_no_configuration_behind() {
    let actor = Actor::of(vec![vec![end(TurnOutcome::Completed)]]);
    let session = start(&stores(), &actor, &FakePushSender::new(), |_| {}).await;
    let done = task(session.send(&scope(), message("m1", None)).await.unwrap());
    let late = with_push(message("m2", Some(done.task.clone())), "c");
    assert!(matches!(session.send(&scope(), late).await.err(), Some(Fault::TaskFinished { .. })));
    let list = ListPushConfigs { task: done.task.clone(), page_size: None, page_token: "".into() };
    assert_eq!(session.push_configs(&scope(), &list).await.unwrap().configs, []);
}

#[tokio::test(start_paused = true)]
async fn without_a_sender_there_is_no_push() {
    let session = session(&stores(), &waiting()).await;
    let refused = session.send(&scope(), with_push(at_once("m1"), "c")).await.err();
    assert_eq!(refused, Some(Fault::PushNotSupported));
}
