//! Asks any A2A agent something, and prints what it answers.
//!
//!     cargo run -p attache-client --example ask -- http://127.0.0.1:41242 "What can you do?"
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for people")]

use std::error::Error;
use std::process::ExitCode;

use attache_client::{Client, ClientOptions, OutgoingMessage, StreamEvent, TaskState, artifact_text};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, question] = &arguments[..] else { return Err("usage: ask URL QUESTION".into()) };
    let client = Client::connect(address, ClientOptions::default()).await?;
    eprintln!("{} at {} speaks {}", client.card().name, client.url(), client.protocol().name());
    // An id that no other message has.
    let id = format!("ask-{}", std::process::id());
    let mut events = client.stream(OutgoingMessage::text(id, question)).await?;
    let mut state = None;
    while let Some(event) = events.next().await {
        let event = event?;
        state = event.status().map_or(state, |status| status.state);
        match event {
            StreamEvent::ArtifactUpdate(update) => print!("{}", artifact_text(&update.artifact)),
            StreamEvent::Message(message) => {
                message.parts.iter().filter_map(|part| part.as_text()).for_each(|text| print!("{text}"));
                state = Some(TaskState::Completed);
            }
            // The whole task, which an agent without streams shows from time to time.
            StreamEvent::Task(task) if task.status.is_terminal() && !client.card().capabilities.streaming => {
                task.artifacts.iter().for_each(|artifact| print!("{}", artifact_text(artifact)));
            }
            StreamEvent::Task(_) | StreamEvent::StatusUpdate(_) => {}
        }
    }
    println!();
    Ok(if state == Some(TaskState::Completed) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
