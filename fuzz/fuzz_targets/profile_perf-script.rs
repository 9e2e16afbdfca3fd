#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dumptool_fuzz::profile(dumptool::input::Format::PerfScript, bytes));
