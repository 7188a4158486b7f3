//! Commands over A2A: the real binary, a scripted Gemini server, real files and shell commands.

mod agents;
mod built_in;
mod busy;
mod command_events;
mod confirming;
mod conversing;
mod custom;
mod gemini_routes;
mod listing;
mod projects;
mod starting;
mod world;
