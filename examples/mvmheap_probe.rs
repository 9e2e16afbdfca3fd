//! Runs the MoarVM reader on a file: `info`, `quick`, `cat` or `check`.
use dumptool::input::{Options, mvmheap};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let source = dumptool::source::Source::open(args[2].as_ref()).unwrap();
    let options = Options { quick: args[1] == "quick", ..Options::default() };
    match args[1].as_str() {
        "check" => println!("{:#?}", mvmheap::check(source.bytes(), options).unwrap()),
        _ => println!("{}", serde_json::to_string_pretty(&mvmheap::info(source.bytes(), options).unwrap()).unwrap()),
    }
}
