//! The development-tool extension, where settings or MCP servers take part. `attache-server` tests the rest.

mod confirming;
mod settings;
mod unannounced_clients;
mod world;
