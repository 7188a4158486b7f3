//! A client of a coding agent, in Rust. What is typed at the terminal answers what the agent asks.
//!
//!     cargo run --example develop -- http://127.0.0.1:41242 FOLDER "Make the greeting friendlier"
#![allow(clippy::print_stdout, reason = "a program for people")]

use std::{collections::BTreeMap, fs, io, mem};

use anyhow::{Context as _, bail};
use attache_client::{Client, ClientOptions, OutgoingMessage, Part, PartContent, StreamEvent};
use serde_json::{Value, json};

const EXTENSION: &str =
    "https://github.com/google-gemini/gemini-cli/blob/main/docs/a2a/developer-profile/v0/spec.md";
const CUT_AFTER: usize = 2; // So many events are read before the stream is cut on purpose.

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, folder, prompt] = &arguments[..] else { bail!("usage: develop URL FOLDER PROMPT") };
    // The card says what the agent can do. Naming the extension in a header of every call activates it.
    let options = ClientOptions { extensions: vec![EXTENSION.to_owned()], ..ClientOptions::default() };
    let client = Client::connect(address, options).await?;
    client.card().extension(EXTENSION).context("the agent does not offer the development-tool extension")?;
    println!("connected to {}", client.card().name);
    // The first message of a conversation carries AgentSettings: which folder to work in.
    let settings = json!({"workspace_path": fs::canonicalize(folder)?});
    let message = OutgoingMessage::text(uuid::Uuid::new_v4(), prompt).with_metadata(EXTENSION, settings);
    let mut events = client.stream(message).await?;
    let (mut task, mut context, mut seen, mut screen) = (String::new(), String::new(), 0, Screen::default());
    loop {
        while let Some(event) = events.next().await {
            let event = event?;
            match &event {
                // The current task: at the beginning, and again wherever its stream is resumed.
                StreamEvent::Task(it) => (task, context) = (it.id.to_string(), it.context.to_string()),
                StreamEvent::StatusUpdate(it) => screen.show(&event.to_json(), it.status.state_name()),
                StreamEvent::Message(_) | StreamEvent::ArtifactUpdate(_) => {}
            }
            seen += 1;
            if seen == CUT_AFTER {
                // A lost connection is resumed by the client. A program that was away names the last event it saw.
                let last = events.last_event_id().unwrap_or_default().to_owned();
                println!("-- cut after event {} --", last.rsplit('.').next().unwrap_or_default());
                events = client.subscribe(&task, Some(&last)).await?;
            }
        }
        if screen.asked.is_empty() {
            return Ok(()); // Another message to the task would go on with it.
        }
        let answers = mem::take(&mut screen.asked).into_values().map(|call| Part::new(ask(&call)));
        let message = OutgoingMessage::parts(uuid::Uuid::new_v4(), answers.collect());
        events = client.stream(message.to_task(&task).in_context(&context)).await?;
    }
}

#[derive(Default)]
struct Screen {
    in_text: bool,
    asked: BTreeMap<String, Value>, // The calls that wait for an answer, by their ids.
}

impl Screen {
    fn show(&mut self, event: &Value, state: &str) {
        let update = &event["statusUpdate"];
        let part = &update["status"]["message"]["parts"][0];
        let (kind, data) = (&update["metadata"][EXTENSION]["kind"], &part["data"]);
        let text = part["text"].as_str().unwrap_or_default();
        if mem::replace(&mut self.in_text, kind == "TEXT_CONTENT") && !self.in_text {
            println!();
        }
        let word = |name: &str| data[name].as_str().unwrap_or_default();
        match kind.as_str() {
            Some("TEXT_CONTENT") => print!("{text}"),
            Some("THOUGHT") => println!("({}: {})", word("subject"), word("description")),
            Some("TOOL_CALL_UPDATE") => {
                println!("{}: {}", word("tool_name"), word("status"));
                // Every update has the whole call: the latest is all there is to know about it.
                self.asked.remove(word("tool_call_id"));
                if let Some(request) = data.get("confirmation_request") {
                    let diff = request["file_edit_details"]["formatted_diff"].as_str();
                    println!("{}", diff.unwrap_or(word("description")).trim_end());
                    self.asked.insert(word("tool_call_id").to_owned(), data.clone());
                }
            }
            _ => println!("{}", format!("[{state}] {text}").trim_end()),
        }
    }
}

fn ask(call: &Value) -> PartContent {
    println!("Allow {}? y, n, or a line to add to the file:", call["tool_name"].as_str().unwrap_or("it"));
    let line = io::stdin().lines().next().and_then(Result::ok).unwrap_or_default();
    // A change of the person's own is written instead of what was proposed.
    let content = call["confirmation_request"]["file_edit_details"]["new_content"].as_str();
    let change = content.filter(|_| line.len() > 1).map(|it| json!({"new_content": format!("{it}{line}\n")}));
    let option = if line == "y" || change.is_some() { "proceed_once" } else { "cancel" };
    let id = &call["tool_call_id"];
    PartContent::Data(json!({"tool_call_id": id, "selected_option_id": option, "file_details": change}))
}
