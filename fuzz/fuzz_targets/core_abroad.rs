#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| catena_core::fuzz::abroad(data));
