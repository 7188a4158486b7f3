//! Push notifications with a sender that does what a test tells it.

mod configurations;
mod delivering;
mod failing;
mod fake_push_sender;
mod opening;
mod restarting;
mod unreadable;
