//! The development-tool extension in the dialect of the RFC, and its description for machines.

mod calls;
mod described;
mod documented;
mod events;
mod hidden;
mod live;
mod options;
mod rest_api;
mod stories;
pub(crate) mod world;
