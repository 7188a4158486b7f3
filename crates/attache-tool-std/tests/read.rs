//! The tools that only look, against real folders.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod read {
    mod glob;
    mod grep_search;
    mod list_directory;
    mod mentions;
    mod patterns;
    mod read_file;
    mod world;
}
