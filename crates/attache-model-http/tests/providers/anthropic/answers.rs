//! What is made of each kind of answer.

use attache_domain::{ModelPartContent, Usage};
use attache_model::{AnswerPiece, Prompt, StopReason, ToolDeclaration};
use attache_testkit::model_server::anthropic::{self, message};
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

/// What goes back of an answer to `scenario`.
async fn echoed(name: &str) -> Value {
    let world = scenario(name, |planned| planned);
    let told = world.ask(hello()).await;
    world.ask(prompt([vec![user("Hello")], answered(told.said()), vec![user("More")]].concat())).await;
    world.server.received()[1].json()["messages"][1]["content"].clone()
}

#[tokio::test(start_paused = true)]
async fn every_scenario_says_the_same_byte_by_byte() {
    for name in scenarios::anthropic::NAMES.iter().filter(|name| **name != "busy") {
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
async fn text_is_joined_and_usage_is_the_last_total() {
    let told = scenario("text", |planned| planned).ask(hello()).await;
    assert_eq!(told.text(), "The quick brown fox jumps over the lazy dog.");
    assert_eq!(told.pieces.len(), 3);
    assert_eq!(told.usage(), Usage { input: 10, cached: 5, output: 11, thoughts: 2 });
    assert_eq!(told.stop(), &StopReason::Done);
}

#[tokio::test(start_paused = true)]
async fn thoughts_are_shown_and_go_back_as_they_came() {
    let told = scenario("thoughts", |planned| planned).ask(hello()).await;
    let thoughts = [AnswerPiece::Thought("**Counting** One, ".into()), AnswerPiece::Thought("two.".into())];
    assert_eq!(told.pieces, [thoughts.as_slice(), &[AnswerPiece::Text("Two.".into())]].concat());
    let text = json!({"type": "text", "text": "Two."});
    let thought = json!({"type": "thinking", "thinking": "**Counting** One, two.", "signature": "c2lnbmVk"});
    assert_eq!(echoed("thoughts").await, json!([thought, text]));
    let redacted = json!({"type": "redacted_thinking", "data": "aGlkZGVu"});
    assert_eq!(echoed("redacted").await, json!([redacted, text]));
    let withheld = json!({"type": "thinking", "thinking": "", "signature": "c2lnbmVk"});
    assert_eq!(echoed("withheld").await, json!([withheld, text]));
}

#[tokio::test(start_paused = true)]
async fn parallel_calls_are_told_whole() {
    let told = scenario("parallel-calls", |planned| planned).ask(hello()).await;
    let expected = [
        call("toolu_a", "read_file", json!({"path": "a.txt"})),
        call("toolu_b", "read_file", json!({"path": "b.txt"})),
    ];
    assert_eq!(calls(&told), expected);
    let told = scenario("empty-input", |planned| planned).ask(hello()).await;
    assert_eq!(calls(&told), [call("toolu_a", "list", json!({}))]);
    let whole = json!({"type": "tool_use", "id": "t", "name": "list", "input": {"p": 1}});
    let told = World::new([message().block(whole, vec![]).stop("tool_use")]).ask(hello()).await;
    assert_eq!(calls(&told), [call("t", "list", json!({"p": 1}))]);
}

#[tokio::test(start_paused = true)]
async fn unknown_values_are_let_through() {
    let told = scenario("unknown", |planned| planned).ask(hello()).await;
    assert_eq!((told.text().as_str(), told.stop()), ("Done.", &StopReason::Done));
    let strange = json!({"type": "brand_new", "data": "x"});
    let told =
        World::new([message().block(strange, vec![]).text(["Done."]).stop("brand_new")]).ask(hello()).await;
    assert_eq!((told.text().as_str(), told.said().len()), ("Done.", 1));
}

#[tokio::test(start_paused = true)]
async fn a_tool_is_called_by_the_name_it_was_sent_under() {
    let tool =
        ToolDeclaration { name: "git.log".into(), description: "Shows.".into(), parameters: json!({}) };
    let world = World::new([message().call("t", "git_log", []).stop("tool_use")]);
    let told = world.ask(Prompt { tools: [tool].into(), ..hello() }).await;
    assert_eq!(calls(&told), [call("t", "git.log", json!({}))]);
    assert_eq!(world.server.received()[0].json()["tools"][0]["input_schema"], json!({"type": "object"}));
}

#[tokio::test(start_paused = true)]
async fn each_end_has_its_meaning() {
    #[track_caller]
    fn check(told: &PromptResult, expected: &StopReason) {
        assert_eq!(told.stop(), expected, "{told:?}");
    }
    check(&scenario("length", |planned| planned).ask(hello()).await, &StopReason::Length);
    check(&scenario("window", |planned| planned).ask(hello()).await, &StopReason::Length);
    check(&scenario("stop-sequence", |planned| planned).ask(hello()).await, &StopReason::Done);
    let why = "the model refuses to answer: that would do harm".into();
    check(&scenario("refused", |planned| planned).ask(hello()).await, &StopReason::Refused { why });
    let refused = message().call("t", "a", ["{}"]).stop("refusal");
    let told = World::new([refused]).ask(hello()).await;
    assert!(told.said().is_empty(), "a call that nobody will answer is not part of the history");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_the_limit_cut_off_is_not_made() {
    let cut = message().call("t", "a", ["{}"]).call("u", "a", ["{\"path\": \"a.t"]).stop("max_tokens");
    let told = World::new([cut]).ask(hello()).await;
    assert_eq!((told.stop(), calls(&told)), (&StopReason::Length, vec![call("t", "a", json!({}))]));
}

#[tokio::test(start_paused = true)]
async fn a_paused_turn_goes_on() {
    let first = message().thinking(["Hm."], "c2ln").text(["First half, "]).usage(10, 20).stop("pause_turn");
    let second = message().text(["second half."]).usage(11, 5).stop("end_turn");
    let world = World::new([first, second]);
    let told = world.ask(hello()).await;
    assert_eq!(told.text(), "First half, second half.");
    assert_eq!(told.usage(), Usage { input: 21, output: 25, ..Usage::default() });
    let last = world.server.received()[1].json()["messages"].as_array().unwrap().last().cloned().unwrap();
    let thought = json!({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"});
    // Anthropic refuses an answer to be continued that ends with a space.
    let text = json!({"type": "text", "text": "First half,"});
    assert_eq!(last, json!({"role": "assistant", "content": [thought, text]}));
    let endless = World::new((0..9).map(|_| message().text(["x"]).stop("pause_turn")));
    assert!(matches!(told.said()[0].what, ModelPartContent::Thought(_)));
    // As long as something is added it goes on; here the plan runs out, which is an error of the server.
    assert_eq!(endless.ask(hello()).await.text(), "");
}

#[tokio::test(start_paused = true)]
async fn arguments_cut_at_every_byte_are_the_same_call() {
    let input = json!({"path": "gr\u{fc}\u{df}e \"x\" \\ \n", "lines": [1, 2.5, null, true]});
    let text = input.to_string();
    let places: Vec<usize> = (0..=text.len()).filter(|place| text.is_char_boundary(*place)).collect();
    let answers = places.iter().map(|place| {
        let (first, second) = text.split_at(*place);
        message().call("t", "write", [first, second]).stop("tool_use")
    });
    let world = World::new(answers.collect::<Vec<_>>());
    for place in places {
        assert_eq!(calls(&world.ask(hello()).await), [call("t", "write", input.clone())], "{place}");
    }
}

#[tokio::test(start_paused = true)]
async fn events_without_a_name_are_known_by_their_type() {
    let events = [
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 2}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Do"}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "ne."}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        json!({"type": "message_stop"}),
    ];
    let body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    let told = World::new([PlannedResponse::stream().bytes(body)]).ask(hello()).await;
    assert_eq!((told.text().as_str(), told.usage().input), ("Done.", 2));
    assert_eq!(anthropic::event(&events[4]), "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_not_streamed() {
    let whole = json!({"type": "message", "stop_reason": "tool_use", "usage": {"input_tokens": 2, "output_tokens": 3},
    "content": [
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "t", "name": "a", "input": {"p": 1}},
    ]});
    let answer = PlannedResponse::text(200, "application/json", &whole.to_string());
    let told = World::new([answer]).ask(hello()).await;
    assert_eq!((told.text().as_str(), calls(&told)), ("I look.", vec![call("t", "a", json!({"p": 1}))]));
    assert_eq!((told.said().len(), told.usage().input), (3, 2));
}
