//! libFuzzer's entrance to `tidegate_fuzz::trace::json`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tidegate_fuzz::trace::json(data));
