//! What is made of each kind of answer.

use attache_domain::{ModelPart, ModelPartContent, Usage};
use attache_model::{AnswerPiece, Prompt, StopReason, ToolDeclaration};
use attache_testkit::model_server::openai::{self, chunk};
use attache_testkit::model_server::{PlannedResponse, scenarios};
use serde_json::{Value, json};

use super::world::{PromptResult, World, answered, hello, prompt, scenario, user};

fn calls(told: &PromptResult) -> Vec<(String, String, Value)> {
    let calls = told.said().iter().filter_map(|said| match &said.what {
        ModelPartContent::Call(call) => {
            Some((call.id.0.clone(), call.name.clone(), Value::Object(call.input.clone())))
        }
        _ => None,
    });
    calls.collect()
}

fn call(id: &str, name: &str, input: Value) -> (String, String, Value) {
    (id.into(), name.into(), input)
}

#[tokio::test(start_paused = true)]
async fn every_scenario_says_the_same_byte_by_byte() {
    for name in scenarios::openai::NAMES.iter().filter(|name| **name != "busy") {
        let [whole, bytewise] =
            [scenario(name, |planned| planned), scenario(name, PlannedResponse::bytewise)];
        let shown = async |world: &World| {
            // The address is part of whose opaque data it is.
            world.ask(hello()).await.shown().replace(&world.server.url(), "here")
        };
        assert_eq!(shown(&bytewise).await, shown(&whole).await, "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn text_is_joined_and_usage_told_once() {
    let told = scenario("text", |planned| planned).ask(hello()).await;
    assert_eq!(told.text(), "The quick brown fox jumps over the lazy dog.");
    assert_eq!(told.pieces.len(), 3);
    assert_eq!(told.usage(), Usage { input: 10, cached: 4, output: 11, thoughts: 2 });
    assert_eq!(told.stop(), &StopReason::Done);
    let text = ModelPartContent::Text("The quick brown fox jumps over the lazy dog.".into());
    assert_eq!(told.said(), [ModelPart { what: text, opaque: None }]);
    assert_eq!(scenario("no-usage", |planned| planned).ask(hello()).await.usage(), Usage::default());
}

#[tokio::test(start_paused = true)]
async fn thoughts_are_apart_under_either_name() {
    let told = scenario("thoughts", |planned| planned).ask(hello()).await;
    let thoughts = [AnswerPiece::Thought("**Counting** One, ".into()), AnswerPiece::Thought("two.".into())];
    assert_eq!(told.pieces, [thoughts.as_slice(), &[AnswerPiece::Text("Two.".into())]].concat());
    assert_eq!(told.said().len(), 2);
    let other = openai::answer([chunk().reasoning("Hm."), chunk().text("Two.").finish("stop")]);
    let told = World::new([other]).ask(hello()).await;
    assert_eq!(told.pieces[0], AnswerPiece::Thought("Hm.".into()));
    // The same thought under both names is one.
    let both =
        openai::answer([chunk().reasoning("Hm.").reasoning_content("Hm."), chunk().text("x").finish("stop")]);
    assert_eq!(World::new([both]).ask(hello()).await.pieces.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn parallel_calls_are_told_whole() {
    let told = scenario("parallel-calls", |planned| planned).ask(hello()).await;
    let expected = [
        call("call_a", "read_file", json!({"path": "a.txt"})),
        call("call_b", "read_file", json!({"path": "b.txt"})),
    ];
    assert_eq!(calls(&told), expected);
    let told = scenario("interleaved-calls", |planned| planned).ask(hello()).await;
    assert_eq!(
        calls(&told),
        [call("call_a", "list", json!({"folder": "src"})), call("call_b", "list", json!({}))]
    );
    let told = scenario("empty-arguments", |planned| planned).ask(hello()).await;
    assert_eq!(calls(&told), [call("call_a", "list", json!({}))]);
}

#[tokio::test(start_paused = true)]
async fn a_call_goes_back_with_its_result() {
    let world = scenario("parallel-calls", |planned| planned);
    let told = world.ask(hello()).await;
    world.ask(prompt([vec![user("Hello")], answered(told.said())].concat())).await;
    let messages = world.server.received()[1].json()["messages"].clone();
    let function = |path: &str| json!({"name": "read_file", "arguments": format!("{{\"path\":\"{path}\"}}")});
    assert_eq!(
        messages,
        json!([
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "I will look.", "tool_calls": [
                {"id": "call_a", "type": "function", "function": function("a.txt")},
                {"id": "call_b", "type": "function", "function": function("b.txt")},
            ]},
            {"role": "tool", "tool_call_id": "call_a", "content": "fine"},
            {"role": "tool", "tool_call_id": "call_b", "content": "fine"},
        ])
    );
}

#[tokio::test(start_paused = true)]
async fn what_a_gateway_adds_to_a_call_goes_back_with_it() {
    let extra = json!({"google": {"thought_signature": "c2ln"}});
    let piece = json!({"index": 0, "id": "c", "type": "function", "extra_content": extra,
        "function": {"name": "a", "arguments": "{}"}});
    let answer = || openai::answer([chunk().call_piece(piece.clone()).finish("tool_calls")]);
    let world = World::new([answer(), answer()]);
    let told = world.ask(hello()).await;
    let again = world.ask(prompt([vec![user("Hello")], answered(told.said())].concat())).await;
    assert_eq!(world.server.received()[1].json()["messages"][1]["tool_calls"][0]["extra_content"], extra);
    // The id is taken by then.
    assert_ne!(calls(&told)[0].0, calls(&again)[0].0);
}

#[tokio::test(start_paused = true)]
async fn a_tool_is_called_by_the_name_it_was_sent_under() {
    let tool = ToolDeclaration {
        name: "git.log".into(),
        description: "Shows.".into(),
        parameters: json!({"$schema": "x"}),
    };
    let world = World::new([openai::answer([chunk().call(0, "c", "git_log", "{}").finish("tool_calls")])]);
    let told = world.ask(Prompt { tools: [tool].into(), ..hello() }).await;
    assert_eq!(calls(&told), [call("c", "git.log", json!({}))]);
    let sent = &world.server.received()[0].json()["tools"][0]["function"];
    assert_eq!(sent["name"], "git_log");
    assert_eq!(sent["parameters"], json!({"type": "object", "properties": {}}));
}

#[tokio::test(start_paused = true)]
async fn length_and_refusals_are_ends_and_no_errors() {
    #[track_caller]
    fn check_why(stop: &StopReason, expected: &str) {
        assert!(matches!(stop, StopReason::Refused { why } if why.contains(expected)), "{stop:?}");
    }
    assert_eq!(scenario("length", |planned| planned).ask(hello()).await.stop(), &StopReason::Length);
    check_why(scenario("filtered", |planned| planned).ask(hello()).await.stop(), "content_filter");
    check_why(scenario("refused", |planned| planned).ask(hello()).await.stop(), "I cannot help with that.");
    let called = openai::answer([chunk().call(0, "c", "a", "{}").finish("content_filter")]);
    let told = World::new([called]).ask(hello()).await;
    assert!(told.said().is_empty(), "a call that nobody will answer is not part of the history");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_the_limit_cut_off_is_not_made() {
    let cut = openai::answer([
        chunk().call(0, "c", "a", "{}"),
        chunk().call(1, "d", "a", "{\"path\": \"a.t"),
        chunk().finish("length"),
    ]);
    let told = World::new([cut]).ask(hello()).await;
    assert_eq!((told.stop(), calls(&told)), (&StopReason::Length, vec![call("c", "a", json!({}))]));
}

#[tokio::test(start_paused = true)]
async fn arguments_cut_at_every_byte_are_the_same_call() {
    let input = json!({"path": "gr\u{fc}\u{df}e \"x\" \\ \n", "lines": [1, 2.5, null, true]});
    let text = input.to_string();
    let places: Vec<usize> = (0..=text.len()).filter(|place| text.is_char_boundary(*place)).collect();
    let answers = places.iter().map(|place| {
        let (first, second) = text.split_at(*place);
        openai::answer([
            chunk().call(0, "c", "write", first),
            chunk().arguments(0, second),
            chunk().finish("tool_calls"),
        ])
    });
    let world = World::new(answers.collect::<Vec<_>>());
    for place in places {
        assert_eq!(calls(&world.ask(hello()).await), [call("c", "write", input.clone())], "{place}");
    }
}
