//! One prompt without a terminal: one task in this process, from the prompt to an exit code.
//!
//! The agent is the same as a server's, but no person can be asked, so what needs an approval is denied. Output and exit codes
//! are those that scripts written for Gemini CLI expect. The binary parses the command line and starts the session.

mod denial;
mod failure;
mod input;
mod json;
mod output;
mod output_event;
mod runner;
mod scratch;
mod stats;
mod stream_json;
mod text;

pub use failure::{FailureKind, RunFailure};
pub use input::{PromptInput, read_input};
pub use output::{OutputFormat, RunOutput, RunSummary, output};
pub use output_event::OutputEvent;
pub use runner::{ConnectedClients, HeadlessRunner, HeadlessSession, reserve_task};
pub use scratch::ScratchFolder;
pub use stats::Stats;
