//! Commands with real processes, and the tools that speak with a person or remember.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod shell {
    mod background;
    mod conversation;
    mod ending;
    mod environment;
    mod hostile_git;
    mod output;
    mod terminal;
    mod world;
}
