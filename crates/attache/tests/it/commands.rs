//! Commands over A2A: the real binary, a scripted Gemini server, real files and shell commands. How commands are listed and
//! started, whatever they do, is tested in `attache-server`.

mod agents;
mod built_in;
mod busy;
mod confirming;
mod conversing;
mod custom;
mod gemini_routes;
mod projects;
mod world;
