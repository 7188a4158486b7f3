//! The tools that look at the web, against sites that are played on this machine.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod web {
    mod fetching;
    mod limits;
    mod searching;
    mod world;
}
