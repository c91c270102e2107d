#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| catena_profile::fuzz::sheets(data));
