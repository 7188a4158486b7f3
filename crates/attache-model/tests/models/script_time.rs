//! Waits, by a clock that is moved by hand.

use std::time::Duration;

use attache_model::script::ScriptModel;
use attache_model::{BuiltInModel, ModelRequest};
use futures_util::StreamExt;
use tokio::time::Instant;

use crate::world::{conversation, shown, steps};

/// The transcript with the milliseconds at which each item came.
async fn timed(model: &ScriptModel, request: ModelRequest) -> Vec<(u128, String)> {
    let start = Instant::now();
    let items = model
        .stream(request)
        .map(|item| (start.elapsed().as_millis(), shown(&item.expect("no stream breaks off"))));
    items.collect().await
}

fn at(times: &[(u128, &str)]) -> Vec<(u128, String)> {
    times.iter().map(|(time, item)| (*time, (*item).to_owned())).collect()
}

const YAML: &str = "
- wait: 200ms
- say: [a, b, c]
  every: 50ms
- wait: 1s
- require_auth: { explanation: sign in, resume_after: 2s }
- artifact: { id: x, text: de, chunks: 2, every: 10ms }
- wait: 5ms
";

#[tokio::test(start_paused = true)]
async fn chunks_come_when_the_script_says() {
    assert_eq!(
        timed(&steps(YAML), conversation(&["go"])).await,
        at(&[
            (200, "text a"),
            (250, "text b"),
            (300, "text c"),
            (1300, "credential sign in"),
            (3300, "resumed"),
            (3300, "artifact x: text d"),
            (3310, "artifact x append last: text e"),
            (3315, "completed"),
        ])
    );
}

#[tokio::test(start_paused = true)]
async fn waits_before_recorded_chunks_are_not_repeated() {
    let mut request = conversation(&["go"]);
    request.emitted = 2;
    // The wait between the last recorded chunk and the next one begins again.
    let rest = timed(&steps(YAML), request.clone()).await;
    assert_eq!(rest[..2], at(&[(50, "text c"), (1050, "credential sign in")]));
    request.emitted = 4;
    assert_eq!(timed(&steps(YAML), request).await[0], (2000, "resumed".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_wait_can_come_from_the_caller() {
    let model = crate::world::script(
        "rules:\n  - { text: '^wait (.+)$', steps: [{ wait: '{{1}}' }, { say: done }] }\n",
    );
    assert_eq!(timed(&model, conversation(&["wait 1.5s"])).await[0], (1500, "text done".to_owned()));
    let refused = timed(&model, conversation(&["wait long"])).await;
    assert_eq!(
        refused,
        at(&[(
            0,
            "failed: The script cannot play this turn: `wait` is \"long\", which is not a time of at most 24 hours such \
             as `200ms`, `1.5s` or `2m`."
        )])
    );
}

#[tokio::test(start_paused = true)]
async fn a_dropped_stream_leaves_no_timer_behind() {
    let model = steps("- say: a\n- wait: 30s\n- say: b");
    let mut stream = model.stream(conversation(&["go"]));
    assert!(stream.next().await.is_some());
    assert!(tokio::time::timeout(Duration::from_secs(1), stream.next()).await.is_err());
    drop(stream);
    assert_eq!(tokio::runtime::Handle::current().metrics().num_alive_tasks(), 0);
}

#[test]
fn nothing_happens_before_the_stream_is_polled() {
    // Outside of a runtime a timer cannot even be made.
    drop(steps("- wait: 1s").stream(conversation(&["go"])));
}
