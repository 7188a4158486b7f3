//! What is sent, compared with what Google's own client sends: the same file is held against that one.

use std::sync::Arc;

use attache_domain::{
    Base64, CallId, Content, Exchange, ModelPart, ModelPartContent, ProviderData, ToolCall, ToolResult,
};
use attache_model::{LanguageError, LanguageModel, Prompt, ToolDeclaration};
use attache_testkit::model_server::gemini::{self, chunk};
use serde_json::{Value, json};

use super::world::{World, hello, prompt, user};

const GOLDEN: &str = include_str!("../../../../../tests/models/gemini-requests.json");

fn picture() -> Content {
    Content::Bytes { media_type: "image/png".into(), bytes: Base64("iVBORw0K".into()), name: None }
}

fn tool(name: &str, parameters: Value) -> ToolDeclaration {
    ToolDeclaration { name: name.into(), description: "Reads a file.".into(), parameters }
}

/// The prompt that each golden request is for.
fn golden_prompt(name: &str) -> Prompt {
    match name {
        "a text and a tool" => {
            let schema = json!({"$schema": "x", "type": "object", "required": ["path"], "additionalProperties": false,
                "properties": {"path": {"type": "string", "minLength": 1}}});
            Prompt { tools: Arc::new([tool("read_file", schema)]), ..prompt([user("What is in a.txt?")]) }
        }
        "instructions and settings" => {
            Prompt { instructions: Some("Be brief.".into()), temperature: Some(0.5), ..hello() }
        }
        "the result of a call, with a picture" => prompt(looked()),
        "a picture from the user, with a budget for thoughts" => {
            prompt([Exchange::User(vec![Content::Text("What is this?".into()), picture()])])
        }
        other => panic!("no prompt for {other}"),
    }
}

fn looked() -> [Exchange; 3] {
    let input = json!({"path": "a.png"}).as_object().cloned().expect("an object");
    let call = ToolCall { id: CallId("c1".into()), name: "look".into(), input };
    let data = json!({"thoughtSignature": "c2lnbmVk"});
    let opaque = ProviderData { provider: "gemini".into(), model: "gemini-3-flash-preview".into(), data };
    let output = vec![Content::Text("one picture".into()), picture()];
    [
        user("Look at a.png"),
        Exchange::Model(vec![ModelPart { what: ModelPartContent::Call(call), opaque: Some(opaque) }]),
        Exchange::Results(vec![ToolResult {
            call: CallId("c1".into()),
            name: "look".into(),
            output,
            failed: false,
        }]),
    ]
}

async fn sent(model: &str, prompt: Prompt) -> Value {
    let world = World::of(model, [gemini::answer([chunk().text("Yes.").finish("STOP")])]);
    world.ask(prompt).await;
    world.server.received()[0].json()
}

/// Numbers as their worth: one client writes 1 where the other writes 1.0.
fn leveled(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(list) => list.iter().map(leveled).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), leveled(value))).collect(),
        other => other.clone(),
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_is_what_the_official_client_sends() {
    let golden: Vec<Value> = serde_json::from_str(GOLDEN).unwrap();
    for case in golden {
        let (name, model) = (case["name"].as_str().unwrap(), case["model"].as_str().unwrap());
        assert_eq!(leveled(&sent(model, golden_prompt(name)).await), leveled(&case["body"]), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_without_a_proper_name_is_refused_here() {
    let world = World::new([]);
    let told = world.ask(Prompt { tools: Arc::new([tool("no good", json!({}))]), ..hello() }).await;
    assert!(matches!(told.error(), LanguageError::Request { what } if what.contains("no good")), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn an_alias_is_a_name_and_its_model_is_sent() {
    let world = World::of("flash", [gemini::answer([chunk().text("Yes.").finish("STOP")])]);
    world.ask(hello()).await;
    assert_eq!(world.model.name(), "gemini-3.6-flash");
    assert_eq!(world.model.window(), 1_048_576);
    assert!(world.server.received()[0].target.contains("/gemini-3.6-flash:"));
}
