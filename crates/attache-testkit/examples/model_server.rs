//! Serves the scenarios of fake providers until its input ends, for clients in other languages.
//!
//! The first line it prints is its URL. A model's name chooses the scenario; `GET /requests` gives every
//! request of before as JSON, and any unknown model answers with a short text.

use std::io::{Read, Write};
use std::sync::{Arc, Mutex, PoisonError};

use attache_testkit::model_server::{
    ModelServer, PlannedResponse, ReceivedRequest, anthropic, gemini, openai, scenarios,
};
use serde_json::{Value, json};

fn main() -> std::io::Result<()> {
    let seen: Arc<Mutex<Vec<Value>>> = Arc::default();
    let server = ModelServer::with_handler(move |received| {
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        if received.target == "/requests" {
            return PlannedResponse::text(200, "application/json", &Value::from(seen.clone()).to_string());
        }
        seen.push(shown(received));
        scenarios::by_model(received).unwrap_or_else(|| yes(received))
    });
    let mut output = std::io::stdout();
    writeln!(output, "{}", server.url())?;
    output.flush()?;
    // The parent process keeps the input open as long as it needs the server.
    std::io::stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

fn yes(received: &ReceivedRequest) -> PlannedResponse {
    if received.target.ends_with("/chat/completions") {
        return openai::answer([openai::chunk().text("Yes.").finish("stop"), openai::usage(1, 1)]);
    }
    if received.target.contains("/v1/messages") {
        return anthropic::message().text(["Yes."]).stop("end_turn");
    }
    gemini::answer([gemini::chunk().text("Yes.").finish("STOP").usage(1, 1)])
}

fn shown(received: &ReceivedRequest) -> Value {
    let headers: serde_json::Map<String, Value> =
        received.headers.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    json!({"target": received.target, "headers": headers, "body": received.json()})
}
