#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| attache_credentials::fuzz::oauth_token_file(bytes));
