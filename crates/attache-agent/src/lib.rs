//! Performs the steps of a task with a model and tools; is the session's `Agent`.
//!
//! [`CodingAgent`] asks a model, proposes what it wants done, waits for people, runs, and asks again with what came of
//! it. It knows no HTTP, SQL or A2A: it reads a task and reports facts to the journal. Where a conversation works and
//! with what comes from [`Workplaces`].

mod ahead;
mod asking;
mod built_in;
mod calls;
mod changes;
mod coding_agent;
mod commanding;
mod desk;
mod instructions;
mod live;
mod mind;
mod performance;
mod policy_referee;
mod prompt;
mod reason;
mod reducing;
mod referee;
mod repetition;
mod round;
mod running;
mod showing;
mod tally;
mod tokens;
mod voice;
mod wording;
mod workplace;

pub use coding_agent::CodingAgent;
pub use instructions::instructions;
pub use mind::Mind;
pub use policy_referee::{PolicyOptions, PolicyReferee, RuleKeeper};
pub use referee::{Case, Referee, Ruling};
pub use workplace::{Premises, Refusal, Surroundings, Toolbox, WorkLimits, Workplace, Workplaces, declared};
