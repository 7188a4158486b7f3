//! What is made of each kind of answer.

use attache_domain::{ModelPart, ModelPartContent, Usage};
use attache_model::{AnswerPiece, StopReason};
use attache_testkit::model_server::gemini::{self, chunk};
use attache_testkit::model_server::{ModelServer, PlannedResponse, scenarios};
use serde_json::{Value, json};

use super::world::{World, answered, hello, prompt, user};

/// A server that plays the scenario its model is named after, as changed by `change`.
fn scenario(name: &str, change: fn(PlannedResponse) -> PlannedResponse) -> World {
    let server = ModelServer::with_handler(move |received| {
        change(scenarios::by_model(received).expect("a known scenario"))
    });
    World::around(server, name)
}

fn signature(said: &ModelPart) -> Option<&str> {
    said.opaque.as_ref()?.data["thoughtSignature"].as_str()
}

#[tokio::test(start_paused = true)]
async fn every_scenario_says_the_same_byte_by_byte() {
    for name in scenarios::NAMES.iter().filter(|name| **name != "busy") {
        let whole = scenario(name, |planned| planned).ask(hello()).await;
        let bytewise = scenario(name, PlannedResponse::bytewise).ask(hello()).await;
        assert_eq!(bytewise.shown(), whole.shown(), "{name}");
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
}

#[tokio::test(start_paused = true)]
async fn thoughts_are_apart() {
    let told = scenario("thoughts", |planned| planned).ask(hello()).await;
    let thoughts = [AnswerPiece::Thought("**Counting** One, ".into()), AnswerPiece::Thought("two.".into())];
    assert_eq!(told.pieces, [thoughts.as_slice(), &[AnswerPiece::Text("Two.".into())]].concat());
    assert_eq!(told.said().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_signature_goes_back_on_the_call_it_came_with() {
    let world = scenario("parallel-calls", |planned| planned);
    let told = world.ask(hello()).await;
    let signatures: Vec<_> = told.said().iter().map(signature).collect();
    assert_eq!(signatures, [None, Some("c2lnbmVk"), None]);
    world.ask(prompt([vec![user("Hello")], answered(told.said())].concat())).await;
    let body = world.server.received()[1].json();
    assert_eq!(
        body["contents"][1]["parts"],
        json!([
            {"text": "I will look."},
            {"functionCall": {"id": "c1", "name": "read_file", "args": {"path": "a.txt"}}, "thoughtSignature": "c2lnbmVk"},
            {"functionCall": {"id": "c2", "name": "read_file", "args": {"path": "b.txt"}}},
        ])
    );
    assert_eq!(
        body["contents"][2]["parts"],
        json!([
            {"functionResponse": {"id": "c1", "name": "read_file", "response": {"output": "fine"}}},
            {"functionResponse": {"id": "c2", "name": "read_file", "response": {"output": "fine"}}},
        ])
    );
}

#[tokio::test(start_paused = true)]
async fn calls_without_ids_get_some_here_and_lose_them_on_the_way_back() {
    let world = scenario("separate-calls", |planned| planned);
    let told = world.ask(hello()).await;
    let calls: Vec<_> = told
        .said()
        .iter()
        .map(|said| match &said.what {
            ModelPartContent::Call(call) => call,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_ne!(calls[0].id, calls[1].id);
    assert!(calls[0].input.is_empty());
    world.ask(prompt([vec![user("Hello")], answered(told.said())].concat())).await;
    let body = world.server.received()[1].json();
    assert_eq!(
        body["contents"][1]["parts"],
        json!([
            {"functionCall": {"name": "list", "args": {}}},
            {"functionCall": {"name": "list", "args": {"folder": "src"}}},
        ])
    );
    assert_eq!(
        body["contents"][2]["parts"][0],
        json!({"functionResponse": {"name": "list", "response": {"output": "fine"}}})
    );
}

#[tokio::test(start_paused = true)]
async fn an_id_that_is_taken_is_not_used_again() {
    let call = || gemini::answer([chunk().call("a", json!({})).id("c1").finish("STOP")]);
    let world = World::new([call(), call()]);
    let first = world.ask(hello()).await;
    let second = world.ask(prompt([vec![user("Hello")], answered(first.said())].concat())).await;
    let id = |said: &ModelPart| match &said.what {
        ModelPartContent::Call(call) => call.id.0.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(id(&first.said()[0]), "c1");
    assert_ne!(id(&second.said()[0]), "c1");
}

#[tokio::test(start_paused = true)]
async fn a_signature_on_empty_text_is_kept_and_echoed() {
    let world = scenario("signed-end", |planned| planned);
    let told = world.ask(hello()).await;
    assert_eq!(told.said()[1].what, ModelPartContent::Hidden);
    world.ask(prompt([vec![user("Hello")], answered(told.said())].concat())).await;
    let body = world.server.received()[1].json();
    let parts = json!([{"text": "Done."}, {"text": "", "thoughtSignature": "ZW5k"}]);
    assert_eq!(body["contents"][1], json!({"role": "model", "parts": parts}));
}

#[tokio::test(start_paused = true)]
async fn text_with_a_signature_is_not_mixed_with_other_text() {
    let answer = || {
        let chunks = [chunk().text("a"), chunk().text("b").signed("cw=="), chunk().text("c").finish("STOP")];
        gemini::answer(chunks)
    };
    let world = World::new([answer(), answer()]);
    let told = world.ask(hello()).await;
    assert_eq!(told.text(), "abc");
    world.ask(prompt([vec![user("Hello")], answered(told.said())].concat())).await;
    let parts = json!([{"text": "a"}, {"text": "b", "thoughtSignature": "cw=="}, {"text": "c"}]);
    assert_eq!(world.server.received()[1].json()["contents"][1]["parts"], parts);
}

#[tokio::test(start_paused = true)]
async fn unknown_parts_are_returned_unchanged() {
    let part = json!({"executableCode": {"language": "PYTHON", "code": "1+1"}, "thoughtSignature": "eA=="});
    let answer = || gemini::answer([chunk().part(part.clone()).text("2").finish("STOP")]);
    let world = World::new([answer(), answer()]);
    let told = world.ask(hello()).await;
    world.ask(prompt([vec![user("Hello")], answered(told.said())].concat())).await;
    assert_eq!(world.server.received()[1].json()["contents"][1]["parts"], json!([part, {"text": "2"}]));
}

#[tokio::test(start_paused = true)]
async fn a_continued_answer_is_one_answer() {
    let world = scenario("continuation", |planned| planned);
    let told = world.ask(hello()).await;
    assert_eq!(told.text(), "First half, second half.");
    assert_eq!(told.said().len(), 1);
    assert_eq!(told.usage(), Usage { input: 21, output: 25, ..Usage::default() });
    let received = world.server.received();
    let mut continued = received[1].json();
    assert_eq!(continued["continuationToken"].take(), json!("dG9rZW4="));
    continued.as_object_mut().unwrap().remove("continuationToken");
    assert_eq!(continued, received[0].json());
}

#[tokio::test(start_paused = true)]
async fn a_continuation_starts_from_its_own_token_only() {
    let first = gemini::answer([chunk().text("One ").continuation("t").finish("CONTINUATION")]);
    let lost = gemini::answer([chunk().text("two ").finish("CONTINUATION")]);
    let world = World::new([first, lost, gemini::answer([chunk().text("Whole.").finish("STOP")])]);
    let told = world.ask(hello()).await;
    assert_eq!((told.text().as_str(), told.pauses().len()), ("Whole.", 1));
    assert_eq!(world.server.received()[2].json(), world.server.received()[0].json());
}

#[tokio::test(start_paused = true)]
async fn a_continuation_that_leads_nowhere_ends() {
    let empty = || gemini::answer([chunk().continuation("t").finish("CONTINUATION")]);
    let told = World::new((0..9).map(|_| empty())).ask(hello()).await;
    assert!(told.error().to_string().contains("nothing is added"), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn length_and_refusals_are_ends_and_no_errors() {
    #[track_caller]
    fn check_why(stop: &StopReason, expected: &str) {
        assert!(matches!(stop, StopReason::Refused { why } if why.contains(expected)), "{stop:?}");
    }
    assert_eq!(scenario("length", |planned| planned).ask(hello()).await.stop(), &StopReason::Length);
    check_why(scenario("refused", |planned| planned).ask(hello()).await.stop(), "SAFETY");
    let blocked = scenario("blocked", |planned| planned).ask(hello()).await;
    check_why(blocked.stop(), "SAFETY");
    assert_eq!((blocked.said(), blocked.usage().input), ([].as_slice(), 3));
    for reason in ["PROHIBITED_CONTENT", "RECITATION", "SPII", "BLOCKLIST", "LANGUAGE", "MODEL_ARMOR"] {
        let answer = chunk().call("a", json!({})).finish(reason).finish_message("because");
        let told = World::new([gemini::answer([answer])]).ask(hello()).await;
        check_why(told.stop(), "because");
        assert!(told.said().is_empty(), "a call that nobody will answer is not part of the history");
    }
}

#[tokio::test(start_paused = true)]
async fn an_unknown_reason_with_text_is_an_end() {
    let told = World::new([gemini::answer([chunk().text("x").finish("BRAND_NEW")])]).ask(hello()).await;
    assert_eq!(told.stop(), &StopReason::Done);
}

#[tokio::test(start_paused = true)]
async fn a_piece_of_a_call_is_no_call() {
    let piece = |call: Value| gemini::answer([chunk().partial_call(call).finish("STOP")]);
    let named = json!({"name": "write", "id": "c1", "willContinue": true});
    let valued = json!({"name": "write", "partialArgs": [{"jsonPath": "$.text", "stringValue": "ab"}]});
    let world =
        World::new([piece(named), piece(valued), gemini::answer([chunk().text("Done.").finish("STOP")])]);
    let told = world.ask(hello()).await;
    assert_eq!((told.text().as_str(), told.pauses().len(), told.said().len()), ("Done.", 2, 1));
}

#[tokio::test(start_paused = true)]
async fn odd_framing_is_read_all_the_same() {
    let event = |text: &str, end: &str| {
        let finish = if end.is_empty() { "".into() } else { format!(r#","finishReason":"{end}""#) };
        format!(r#"{{"candidates":[{{"content":{{"parts":[{{"text":"{text}"}}]}}{finish}}}]}}"#)
    };
    let (first, last) = (event("a", ""), event("b", "STOP"));
    let pretty = serde_json::to_string_pretty(&serde_json::from_str::<Value>(&first).unwrap()).unwrap();
    let lines: String = pretty.lines().map(|line| format!("data: {line}\n")).collect();
    let bodies = [
        format!("{lines}\ndata:{last}\n\n"),
        format!(": hello\n\nevent: x\n: y\ndata: {first}\r\n\r\ndata: {last}"),
        format!("\u{feff}data: {first}\n\ndata: {{not json\n\ndata: {last}\n\n"),
        format!("data: {first}\n\ndata: {last}\n\ndata: [DONE]\n\n"),
        format!("[{first},\n{last}]"),
        format!("data: [{first}]\n\ndata: {last}\n\n"),
    ];
    for body in bodies {
        let told = World::new([PlannedResponse::stream().bytes(body.clone()).bytewise()]).ask(hello()).await;
        assert_eq!(told.text(), "ab", "{body}");
    }
}
