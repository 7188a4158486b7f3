//! Push notifications with a sender that does what a test tells it.

mod delivering;
mod failing;
mod fake_push_sender;
mod keeping;
mod opening;
mod restarting;
mod unreadable;
