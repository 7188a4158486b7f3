//! Commands over A2A: how they are listed, started and followed. The standard ones are there, in no workspace.

mod listing;
mod starting;
mod world;
