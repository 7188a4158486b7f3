//! Public clients of Gemini CLI's A2A server, imitated in how they call and in what they read: the server is the one they
//! expect, without a change to them.
//!
//! Each test names the client. What they have in common: JSON-RPC at `/`, streams only, no `A2A-Version`.

mod bridge;
mod helper;
mod without_settings;
