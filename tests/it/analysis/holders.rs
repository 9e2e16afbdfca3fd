//! Roots hold the same in real dumps, however it is found out.

use super::properties::assert_same_holders;
use crate::support::{fixture, read};
use dumptool::input::load::LoadOptions;
use dumptool::input::{self, Format};

#[test]
fn roots_of_fixtures_hold_the_same_with_dominators_and_without() {
    for (format, name) in [
        (Format::Hprof, "hprof/small_java17.hprof.zst"),
        (Format::Mvmheap, "mvmheap/tiny-nqp.mvmheap"),
        (Format::Heapsnapshot, "heapsnapshot/sessions-node24-small.heapsnapshot.zst"),
        (Format::Ruby, "ruby/shop-small.json.zst"),
    ] {
        let bytes = read(&fixture(name));
        assert_same_holders(&input::load(format, &bytes, LoadOptions::default()).unwrap().heap);
    }
}
