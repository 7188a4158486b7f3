//! Push notifications with a sender that does what a test tells it.

mod failing;
mod keeping;
mod opening;
mod postman;
mod restarting;
mod telling;
mod unreadable;
