#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| catena_hang::fuzz::wait(data));
