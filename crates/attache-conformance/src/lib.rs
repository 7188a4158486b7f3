//! A conformance suite for A2A servers: every rule of 0.3 and 1.0 that can be seen from outside, as a named check.
//!
//! It knows nothing about attache: it fetches the card of any server, speaks every pair of version and binding that
//! the card offers, and steers the agent by words in messages (see the README). What the agent cannot be steered to is
//! not applicable, never a failure. Not here: starting servers, and what the results should be for which server.

mod check;
mod checks;
mod dialect;
mod events;
mod fault;
mod framing;
mod grpc;
mod http;
mod pair;
mod receiver;
mod refusal;
mod report;
mod request;
mod run;
mod shape;
mod sse;
mod steering;
mod subject;
mod text;
mod words;

pub use check::{Outcome, Stop, Strength};
pub use report::{Cell, Report, Row};
pub use run::{Options, run};
pub use words::{Binding, Version};
