#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dumptool_fuzz::read(dumptool::input::Format::PerfScript, bytes));
