#![no_main]

use std::path::Path;

/// Where what is built and learned is kept, so that nothing is left behind elsewhere.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../target/fuzz/folder");

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| attache_tool_std::fuzz::inputs(Path::new(FOLDER), bytes));
