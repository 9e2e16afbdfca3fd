//! A small sound file of each format whose fixtures are large, with something of everything in it.
//! Damage is done to these thousands of times where a fixture takes too long.

use super::dart::{Snapshot, string};
use super::hprof::File;
use super::{jfr, mvmheap};
use dumptool::input::load::ProfileOptions;
use dumptool::input::{self, Format};
use dumptool::output::hprof::write_profile;

/// The dumps, with a name for each.
pub fn dumps() -> Vec<(&'static str, Format, Vec<u8>)> {
    let columns =
        mvmheap::Writer::new().snapshot(&mvmheap::world()).snapshot(&mvmheap::world()).close();
    let lines = mvmheap::version_2(mvmheap::Dialect::A, &[mvmheap::world()]);
    vec![
        ("small-v3.mvmheap", Format::Mvmheap, columns),
        ("small-v2.mvmheap", Format::Mvmheap, lines),
        ("small.dartheap", Format::Dart, dart()),
        ("small.heapsnapshot", Format::Heapsnapshot, super::heapsnapshot::world().bytes()),
        ("small-ruby.json", Format::Ruby, super::ruby::shop()),
        ("small.pyheap", Format::Pyheap, super::pyheap::APP.into()),
        ("small.pmat", Format::Pmat, super::pmat::shop(true)),
        ("small-8.hprof", Format::Hprof, hprof("1.0.2", 8)),
        ("small-4.hprof", Format::Hprof, hprof("1.0.1", 4)),
        ("small-profile.hprof", Format::Hprof, hprof_profile()),
        ("small.jfr", Format::Jfr, recording()),
    ]
}

/// Two isolates, fields, a list, a text, external memory, and weak things of all kinds.
fn dart() -> Vec<u8> {
    let text = |text: &str| {
        [vec![5, text.len() as u8, text.len() as u8], text.as_bytes().to_vec()].concat()
    };
    Snapshot::empty()
        .class("Root", "", &[])
        .class("Read-Only Pages", "", &[])
        .class("Isolate", "", &[(0, "cache")])
        .class("", "", &[])
        .class("_GrowableList", "dart:core", &[(0, "type_arguments_"), (1, "length_"), (2, "data")])
        .class("Node", "package:app/node.dart", &[(2, "right"), (0, "left")])
        .class("_WeakProperty", "dart:core", &[(0, "key_"), (1, "value_"), (2, "next_")])
        .class("_WeakReference", "dart:core", &[(0, "target_")])
        .class("WeakArray", "", &[(0, "length_")])
        .class("_OneByteString", "dart:core", &[])
        .object(1, 0, [0], &[5, 2, 3, 4])
        .object(2, 0, [0], &[])
        .object(3, 0, [vec![8], string("111")].concat(), &[6, 7, 8, 9])
        .object(3, 0, [vec![8], string("222")].concat(), &[10])
        .object(5, 32, [7, 2], &[0, 6, 7, 11])
        .object(6, 24, [0], &[6, 5, 7])
        .object(7, 32, [0], &[8, 9, 6])
        .object(8, 16, [0], &[9])
        .object(9, 16, [0], &[6, 5, 7])
        .object(10, 40, text("hello"), &[])
        .object(10, 40, text("hello"), &[])
        .property(6, 1000, "buffer")
        .hashes(&[0, 0, 0, 0, 17, 18, 18, 0, 0, 19, 20])
        .bytes()
}

/// Events with stacks, classes and weights, and sampled objects with those that hold them.
fn recording() -> Vec<u8> {
    [jfr::async_profiler().bytes(), jfr::old_objects(5, 0, 5).bytes()].concat()
}

/// What a recording looks like as a profile of Java.
fn hprof_profile() -> Vec<u8> {
    let recording = super::read(&super::fixture("mojo/tiny-4.0.0-full-gc-mem.mojo"));
    let loaded = input::load_profile(Format::Mojo, &recording, ProfileOptions::default())
        .expect("the recording has a header");
    let mut out = Vec::new();
    write_profile(&loaded.profile, &|_| true, None, &mut out).expect("memory takes everything");
    out
}

const OBJECT: u64 = 8;
const NODE: u64 = 16;
const STRING: u64 = 24;
const ARRAY: u64 = 32;
const WEAK: u64 = 40;
const REFERENCE: u64 = 48;

/// Classes with static and other fields, two nodes in a ring, arrays, a text, a weak reference, a
/// thread with a frame.
fn hprof(version: &str, id_size: usize) -> Vec<u8> {
    let mut file = File::new(version, id_size);
    file.loads(&[
        (OBJECT, "java/lang/Object"),
        (NODE, "app/Node"),
        (STRING, "java/lang/String"),
        (ARRAY, "[Ljava/lang/Object;"),
        (WEAK, "java/lang/ref/WeakReference"),
        (REFERENCE, "java/lang/ref/Reference"),
    ]);
    let [next, count, value, referent, first] =
        ["next", "count", "value", "referent", "first"].map(|name| file.string(name));
    let id = |id: u64| file.id(id);
    let heap = [
        file.class(OBJECT, 0, 0, &[], &[]),
        file.class(NODE, OBJECT, 16, &[(first, 2, id(80))], &[(next, 2), (count, 10)]),
        file.class(STRING, OBJECT, 16, &[], &[(value, 2)]),
        file.class(ARRAY, OBJECT, 0, &[], &[]),
        file.class(REFERENCE, OBJECT, 16, &[], &[(referent, 2)]),
        file.class(WEAK, REFERENCE, 16, &[], &[]),
        file.instance(80, NODE, &[&id(96), &[0, 0, 0, 7]]),
        file.instance(96, NODE, &[&id(80), &[0xff; 4]]),
        file.objects(112, ARRAY, &[80, 144, 0, 176]),
        file.array(160, 8, 5, b"hello"),
        file.instance(144, STRING, &[&id(160)]),
        file.instance(176, WEAK, &[&id(96)]),
        file.array(192, 10, 2, &[0, 0, 0, 1, 0, 0, 0, 2]),
        file.root(0x05, NODE, &[]),
        file.root(0x08, 112, &[0, 0, 0, 1, 0, 0, 0, 0]),
        file.root(0x03, 112, &[0, 0, 0, 1, 0, 0, 0, 0]),
        file.root(0xff, 144, &[]),
    ];
    match version {
        "1.0.1" => file.record(0x0c, &[&heap.concat()]).bytes.clone(),
        _ => file.segment(&heap).end(),
    }
}
