//! A conformance suite for A2A servers: every observable rule of 0.3 and 1.0 as a named check.
//!
//! The suite does not know attache. It fetches the card of any server, tests every offered pair of version and
//! binding, and requests behaviours by words in messages (see the README). A check whose behaviour the agent does not
//! support is not applicable. The suite starts no servers and expects no particular results.

mod behaviour;
mod check;
mod checks;
mod error_response;
mod events;
mod expected_error;
mod framing;
mod grpc;
mod http;
mod json_form;
mod pair;
mod protocol;
mod receiver;
mod report;
mod request;
mod run;
mod shape;
mod sse;
mod subject;
mod text;

pub use check::{CheckResult, Stop, Strength};
pub use protocol::{Binding, Version};
pub use report::{CheckOutcome, Report, ReportRow};
pub use run::{Options, run};
