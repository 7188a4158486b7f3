#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| attache_credentials::fuzz::google_token(bytes));
