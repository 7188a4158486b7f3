//! Performs the steps of a task with a model; is the session's `Agent`.
//!
//! [`CodingAgent`] works with a language model and tools: it asks, proposes, waits for people, runs, and asks again
//! with what came of it. [`ModelAgent`] lets a built-in model perform whole turns by itself. Both know no HTTP, SQL or
//! A2A: they read a task and report facts to the journal.

mod calls;
mod changes;
mod coding_agent;
mod instructions;
mod live;
mod model_agent;
mod performance;
mod policy_referee;
mod prompt;
mod referee;
mod round;
mod toolbox;
mod turn;
mod voice;

pub use coding_agent::{CodingAgent, CodingOptions};
pub use instructions::instructions;
pub use model_agent::ModelAgent;
pub use policy_referee::{PolicyOptions, PolicyReferee};
pub use referee::{Case, Referee, Ruling};
pub use toolbox::Toolbox;
