//! The development-tool extension as an editor lives with it: thoughts, calls and approvals over real sockets, every
//! event held against the published schema.

mod activating;
mod appendix_a;
mod confirming;
mod continuing;
mod losing;
mod plain_clients;
mod resuming;
mod sharing;
mod showing;
mod unannounced_clients;
mod world;
