#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| attache_config::fuzz::client_tokens(bytes));
