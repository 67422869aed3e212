//! libFuzzer's entrance to `tidegate_fuzz::hosts::run`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tidegate_fuzz::hosts::run(data));
