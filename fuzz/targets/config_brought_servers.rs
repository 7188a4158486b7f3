#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| attache_workspace::fuzz::brought_servers(bytes));
