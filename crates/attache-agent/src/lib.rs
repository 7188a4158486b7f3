//! Performs the steps of a task with a model; is the session's `Agent`.
//!
//! Knows no HTTP, SQL or A2A: it reads a task, asks a model, and reports facts to the journal.

mod model_agent;
mod turn;

pub use model_agent::ModelAgent;
