#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| attache_server::fuzz::http1_heads(bytes));
