//! libFuzzer's entrance to `tidegate_fuzz::trace::sizes`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tidegate_fuzz::trace::sizes(data));
