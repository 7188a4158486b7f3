//! The development-tool extension as an editor lives with it: thoughts, calls and approvals over real sockets, every
//! event held against the published schema.

mod activating;
mod appendix_a;
mod confirming;
mod going_on;
mod losing;
mod plainly;
mod resuming;
mod sharing;
mod showing;
mod without_a_sign;
mod world;
