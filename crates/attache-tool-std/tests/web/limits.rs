use std::time::Duration;

use attache_testkit::model_server::PlannedResponse;
use attache_tool::ToolErrorKind;
use attache_tool_std::WebFetchOptions;

use super::world::{World, page};

fn options() -> WebFetchOptions {
    WebFetchOptions { most_bytes: 10_000, most_characters: 1_000, ..WebFetchOptions::default() }
}

#[tokio::test]
async fn a_host_is_asked_ten_times_a_minute() {
    let world = World::new(|_| page("text/plain", "fine"));
    let urls =
        |count: usize| (0..count).map(|number| world.at("a.test", &format!("/{number}"))).collect::<Vec<_>>();
    let text = world.text(&urls(11).join(" ")).await;
    assert_eq!(text.matches("\nfine\n").count(), 10);
    assert!(text.contains("/10 could not be fetched: a.test was asked 10 times in a minute"), "{text}");
    let error = world.fetch(&urls(1)[0]).await.unwrap_err();
    assert_eq!(error.kind, ToolErrorKind::WebFetchFallbackFailed);
    assert!(world.text(&world.at("b.test", "/")).await.contains("fine"), "another host has its own count");
    assert_eq!(world.server.received().len(), 11);
}

#[tokio::test]
async fn long_pages_share_what_there_is() {
    let world = World::with(options(), |received| match received.target.as_str() {
        "/short" => page("text/plain", "short"),
        _ => page("text/plain", &"é".repeat(4_000)),
    });
    let prompt = ["/a", "/short", "/b"].map(|path| world.at("a.test", path)).join(" ");
    let text = world.text(&prompt).await;
    assert_eq!(text.matches('é').count(), 995);
    assert_eq!(text.matches("the rest of the page was left out").count(), 2);
    assert!(text.contains("\nshort\n"), "{text}");
}

#[tokio::test]
async fn a_page_that_is_too_large_is_not_read() {
    let world = World::with(options(), |_| page("text/plain", &"x".repeat(10_001)));
    let error = world.fetch(&world.at("a.test", "/")).await.unwrap_err();
    assert!(error.message.contains("larger than 10000 bytes"), "{error}");
}

#[tokio::test]
async fn a_page_that_takes_too_long_is_given_up() {
    let options = WebFetchOptions { timeout: Duration::from_millis(300), ..options() };
    // Each piece is in time, and all together are not.
    let slow = |pieces| {
        (0..pieces).fold(page("text/plain", ""), |page: PlannedResponse, _| {
            page.bytes("x").pause(Duration::from_millis(50))
        })
    };
    let world = World::with(options, move |_| slow(1_000));
    let error = world.fetch(&world.at("a.test", "/")).await.unwrap_err();
    assert!(error.message.contains("took longer than 0.3 s"), "{error}");
}

#[tokio::test]
async fn a_cancelled_call_lets_go_of_its_connections() {
    let world = World::new(|_| page("text/plain", "a").hold());
    let prompt = world.at("a.test", "/");
    let cancel = async {
        while world.server.received().is_empty() {
            tokio::task::yield_now().await;
        }
        world.context.cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(world.fetch(&prompt), cancel);
    assert!(outcome.unwrap_err().message.contains("cancelled"));
    world.server.until_abandoned().await;
}
