#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| catena_compress::fuzz::encode(data));
