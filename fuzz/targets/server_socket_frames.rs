#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| attache_server::fuzz::socket_frames(bytes));
