//! Tokens that end, are refused, or are replaced.

use super::*;
use attache_testkit::model_server::ResponseEnd;

#[tokio::test]
async fn a_token_is_refreshed_five_minutes_before_it_ends() {
    let world = World::signed_in().await;
    let source = world.source(Person::refuses());
    world.advance(3299);
    assert_eq!(ask(&source).await.unwrap(), "token-1");
    world.advance(1);
    assert_eq!(ask(&source).await.unwrap(), "token-2");
    assert_eq!(field(&world.last_request(), "refresh_token"), "refresh-1");
    assert_eq!(world.stored()["token"]["refreshToken"], "refresh-2", "the new one counts");
    world.advance(3600);
    assert_eq!(ask(&source).await.unwrap(), "token-3");
    assert_eq!(field(&world.last_request(), "refresh_token"), "refresh-2");
}

#[tokio::test]
async fn a_token_that_ended_while_no_process_ran_is_refreshed() {
    let world = World::signed_in().await;
    world.advance(86_400 * 30);
    assert_eq!(ask(&world.source(Person::refuses())).await.unwrap(), "token-2");
    assert_eq!(world.grants(), ["authorization_code", "refresh_token"]);
}

#[tokio::test]
async fn a_refresh_token_that_is_not_replaced_is_kept() {
    let world = World::signed_in().await;
    world.plan(json_answer(200, &json!({"access_token": "plain", "expires_in": 3600})));
    world.advance(4000);
    assert_eq!(ask(&world.source(Person::refuses())).await.unwrap(), "plain");
    assert_eq!(world.stored()["token"]["refreshToken"], "refresh-1");
    assert_eq!(world.stored()["token"]["expiresAt"], json!((NOW + 7600) * 1000));
}

#[tokio::test]
async fn a_refused_refresh_leads_to_a_new_sign_in() {
    let world = World::signed_in().await;
    world.advance(4000);
    world.plan(refusal("invalid_grant"));
    let person = Person::agrees();
    assert_eq!(ask(&world.source(person.clone())).await.unwrap(), "token-2");
    assert_eq!(world.grants(), ["authorization_code", "refresh_token", "authorization_code"]);
    assert_eq!(person.asked.lock().unwrap().len(), 1);
    world.plan(refusal("invalid_grant"));
    world.advance(4000);
    ask(&world.source(Person::refuses())).await.unwrap_err();
    assert_eq!(world.stored(), Value::Null, "what is refused is forgotten");
}

#[tokio::test]
async fn trouble_with_the_server_forgets_nothing() {
    let world = World::signed_in().await;
    let cut = || PlannedResponse::text(503, "text/plain", "busy");
    let source = world.source(Person::refuses());
    world.advance(3400);
    world.plan(cut());
    assert_eq!(ask(&source).await.unwrap(), "token-1", "it is good for some minutes more");
    world.advance(300);
    world.plan(cut());
    let error = ask(&source).await.unwrap_err();
    assert!(error.contains("it answers 503"), "{error}");
    world.plan(PlannedResponse::text(200, "application/json", "").ending(ResponseEnd::Reset));
    ask(&source).await.unwrap_err();
    assert_eq!(ask(&source).await.unwrap(), "token-2");
}

#[tokio::test]
async fn a_refused_token_is_refreshed_and_then_signed_in_for_once() {
    let world = World::signed_in().await;
    let person = Person::agrees();
    let source = world.source(person.clone());
    assert_eq!(ask(&source).await.unwrap(), "token-1");
    assert_eq!(ask_after(&source, Some("token-1"), None).await.unwrap().as_deref(), Some("token-2"));
    assert_eq!(
        ask_after(&source, Some("token-1"), None).await.unwrap().as_deref(),
        Some("token-2"),
        "renewed already"
    );
    world.plan(refusal("invalid_grant"));
    assert_eq!(ask_after(&source, Some("token-2"), None).await.unwrap().as_deref(), Some("token-3"));
    assert_eq!(person.asked.lock().unwrap().len(), 1);
    world.plan(refusal("invalid_grant"));
    assert_eq!(
        ask_after(&source, Some("token-3"), None).await.unwrap(),
        None,
        "the person is not asked again"
    );
}

#[tokio::test]
async fn many_calls_wait_for_one_refresh() {
    let world = World::signed_in().await;
    let source = world.source(Person::refuses());
    world.advance(4000);
    let all = futures_util::future::join_all((0..20).map(|_| ask(&source))).await;
    assert!(all.iter().all(|token| token.as_deref() == Ok("token-2")), "{all:?}");
    assert_eq!(world.grants().len(), 2);
}

#[tokio::test]
async fn processes_that_refresh_at_once_lose_no_token() {
    let world = World::signed_in().await;
    world.advance(4000);
    // Sources share nothing but the file, as processes do.
    let sources: Vec<_> = (0..8).map(|_| world.source(Person::refuses())).collect();
    let all = futures_util::future::join_all(sources.iter().map(ask)).await;
    assert!(all.iter().all(|token| token.as_deref() == Ok("token-2")), "{all:?}");
    assert_eq!(world.grants(), ["authorization_code", "refresh_token"]);
}

#[tokio::test]
async fn a_call_that_is_given_up_loses_no_replaced_token() {
    let world = World::signed_in().await;
    world.advance(4000);
    let held = PlannedResponse::stream().hold().bytes(tokens(9).to_string());
    world.plan(held);
    let source = world.source(Person::refuses());
    let mut asking = Box::pin(ask(&source));
    while world.grants().len() < 2 {
        tokio::select! {
            biased;
            found = &mut asking => panic!("{found:?}"),
            () = tokio::time::sleep(Duration::from_millis(1)) => {}
        }
    }
    drop(asking);
    world.server.release();
    assert_eq!(ask(&source).await.unwrap(), "token-9");
    assert_eq!(world.stored()["token"]["refreshToken"], "refresh-9");
}

#[tokio::test]
async fn a_token_without_an_end_is_used_until_it_is_refused() {
    let world = World::new();
    world.plan(json_answer(200, &json!({"access_token": "endless"})));
    let source = world.source(Person::agrees());
    assert_eq!(ask(&source).await.unwrap(), "endless");
    world.advance(86_400 * 365);
    assert_eq!(ask(&source).await.unwrap(), "endless");
    assert_eq!(ask(&world.source(Person::refuses())).await.unwrap(), "endless");
}
