//! What a scripted Gemini model was asked.

use serde_json::Value;

use crate::model_server::ModelServer;
use crate::waiting::eventually;

/// Waits until the model has been asked so many times.
pub async fn asked(model: &ModelServer, times: usize) {
    eventually("the question to the model", || model.received().len() >= times).await;
}

/// All of the first request.
#[track_caller]
pub fn first_told(model: &ModelServer) -> String {
    model.received().first().expect("a request").json().to_string()
}

/// The contents of the last request, without what is said about the workspace at the beginning.
#[track_caller]
pub fn told(model: &ModelServer) -> Vec<Value> {
    last_contents(model).split_off(1)
}

/// The result of the call that the last request ends with.
#[track_caller]
pub fn last_output(model: &ModelServer) -> String {
    let contents = last_contents(model);
    let part = &contents.last().expect("contents")["parts"][0]["functionResponse"]["response"];
    let text = part.get("output").or_else(|| part.get("error")).unwrap_or(part);
    text.as_str().map_or_else(|| text.to_string(), str::to_owned)
}

/// The results in the last request, in order: tool and text.
#[track_caller]
pub fn outputs(model: &ModelServer) -> Vec<(String, String)> {
    let contents = last_contents(model);
    let parts = contents.last().expect("contents")["parts"].as_array().expect("parts").clone();
    let responses = parts.iter().filter_map(|part| part.get("functionResponse"));
    responses
        .map(|it| (it["name"].as_str().expect("a name").to_owned(), it["response"].to_string()))
        .collect()
}

#[track_caller]
fn last_contents(model: &ModelServer) -> Vec<Value> {
    let request = model.received().pop().expect("a request").json();
    request["contents"].as_array().expect("contents").clone()
}
