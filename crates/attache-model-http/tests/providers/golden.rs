//! Requests that the vendors' own clients send: the same files are held against those.

use std::sync::Arc;

use attache_domain::{Base64, CallId, Content, Exchange, ModelPart, ModelPartContent, ToolCall, ToolResult};
use attache_model::{Prompt, ToolDeclaration};
use serde_json::{Value, json};

use crate::world::{hello, prompt, user};

pub(crate) struct Golden {
    pub(crate) name: String,
    pub(crate) model: String,
    /// The scenario that is heard first.
    pub(crate) hears: Option<String>,
    pub(crate) body: Value,
}

pub(crate) fn all(file: &str) -> Vec<Golden> {
    let cases: Vec<Value> = serde_json::from_str(file).expect("a file of requests");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let golden = |case: Value| Golden {
        name: text(&case["name"]).expect("a name"),
        model: text(&case["body"]["model"]).expect("a model"),
        hears: text(&case["hears"]),
        body: case["body"].clone(),
    };
    cases.into_iter().map(golden).collect()
}

/// The prompt that a golden request is for.
pub(crate) fn prompt_of(name: &str) -> Prompt {
    match name {
        "a text and a tool" => {
            let parameters = json!({"$schema": "x", "type": "object", "required": ["path"],
                "additionalProperties": false, "properties": {"path": {"type": "string"}}});
            let tool =
                ToolDeclaration { name: "read_file".into(), description: "Reads a file.".into(), parameters };
            Prompt { tools: Arc::new([tool]), ..prompt([user("What is in a.txt?")]) }
        }
        "instructions and settings" => {
            Prompt { instructions: Some("Be brief.".into()), temperature: Some(0.5), ..hello() }
        }
        "a model that takes no temperature" => Prompt { temperature: Some(0.5), ..hello() },
        "a picture and a document from the user" => prompt([Exchange::User(vec![
            Content::Text("What is this?".into()),
            picture(),
            Content::Bytes {
                media_type: "application/pdf".into(),
                bytes: Base64("JVBERi0x".into()),
                name: Some("a.pdf".into()),
            },
        ])]),
        "the result of a call, with a picture" => prompt(looked()),
        "the results of calls that were heard" => hello(),
        other => panic!("no prompt for {other}"),
    }
}

fn picture() -> Content {
    Content::Bytes { media_type: "image/png".into(), bytes: Base64("iVBORw0K".into()), name: None }
}

fn looked() -> [Exchange; 3] {
    let input = json!({"path": "a.png"}).as_object().cloned().expect("an object");
    let call = ToolCall { id: CallId("c1".into()), name: "look".into(), input };
    let result = ToolResult {
        call: CallId("c1".into()),
        name: "look".into(),
        output: vec![Content::Text("one picture".into()), picture()],
        failed: false,
    };
    let called = ModelPart { what: ModelPartContent::Call(call), opaque: None };
    [user("Look at a.png"), Exchange::Model(vec![called]), Exchange::Results(vec![result])]
}
