//! The references of an SV, with the names and the strength that Devel::MAT gives them.

use super::graph::{Graph, Link, Name};
use super::sv::{Body, Item, Sv, entry, kind, struct_field};

/// Passes on every reference of an SV, except those to its package and of extensions. There may be
/// no object at an address that is not 0.
pub(super) fn for_each<'a>(graph: &Graph<'a>, sv: &Sv<'a>, take: &mut impl FnMut(Link<'a>)) {
    let mut add = |target: u64, name: Name<'a>, weak: bool| {
        if target != 0 {
            take(Link { target, name, weak });
        }
    };
    own_pointers(graph, sv, &mut add);
    body(graph, sv, &mut add);
    if matches!(sv.kind, kind::STASH | kind::CLASS) {
        for (index, name) in STASH {
            add(sv.own.pointers.get(index), Name::Words(name), false);
        }
    }
}

/// Passes the pointers of the part that only SVs of one type have: target, name, and whether the
/// reference is weak.
fn own_pointers<'a>(graph: &Graph<'a>, sv: &Sv<'a>, mut add: impl FnMut(u64, Name<'a>, bool)) {
    let pointer = |index: usize| sv.own.pointers.get(index);
    let flags = sv.flags(graph.layout.words);
    match sv.kind {
        kind::GLOB => {
            for (index, name) in GLOB {
                // The effective glob of a glob is mostly the glob itself.
                add(pointer(index), Name::Words(name), pointer(index) == sv.address);
            }
        }
        kind::SCALAR => add(pointer(0), Name::Words("the our stash"), false),
        kind::REF => {
            add(pointer(0), Name::Words("->"), flags & 1 != 0);
            add(pointer(1), Name::Words("the our stash"), false);
        }
        kind::HASH | kind::STASH | kind::CLASS => {
            // A single reference back is not in a list.
            let (list, single) = (Name::Words("the backrefs list"), Name::Words("a backref"));
            if graph.is_array(pointer(0)) {
                add(pointer(0), list, false)
            } else {
                add(pointer(0), single, true)
            }
        }
        kind::CODE => {
            add(pointer(2), Name::Words("the scope"), flags & 0x08 != 0);
            add(pointer(0), Name::Words("the stash"), true);
            add(pointer(1), Name::Words("the glob"), flags & 0x10 == 0);
            add(pointer(4), Name::Words("the constant value"), false);
            if graph.addresses.at(pointer(3)).is_some() {
                add(pointer(3), Name::Words("the padlist"), false);
            }
        }
        kind::IO => {
            for (index, name) in ["the top GV", "the format GV", "the bottom GV"].iter().enumerate()
            {
                add(pointer(index), Name::Words(name), false);
            }
        }
        kind::LVALUE => add(pointer(0), Name::Words("the target"), false),
        _ => {}
    }
}

/// Passes the pointers of the body in the same way.
fn body<'a>(graph: &Graph<'a>, sv: &Sv<'a>, mut add: impl FnMut(u64, Name<'a>, bool)) {
    let words = graph.layout.words;
    match sv.body {
        Body::None => {}
        Body::Elements(elements) => {
            // An array that is not real does not count as a referrer of its elements.
            let weak = sv.kind == kind::ARRAY && sv.flags(words) & 1 != 0;
            let names = graph.names(sv);
            let is_pad = graph.is_pad(sv);
            for (index, target) in (0u64..).zip(elements.iter()) {
                let name = match names.get(names.partition_point(|(other, _)| *other < index)) {
                    Some((other, name)) if *other == index && !name.is_empty() => Name::Own(name),
                    _ if is_pad && index == 0 => Name::Words("@_"),
                    _ => Name::Index(index),
                };
                add(target, name, weak);
            }
        }
        Body::Entries(count, mut entries) => {
            for _ in 0..count {
                let Ok((key, value)) = entry(&mut entries, words) else { break };
                add(value, Name::Key(key), false);
            }
        }
        Body::Items(mut items) => {
            let has_list = graph.addresses.at(sv.own.pointers.get(3)).is_some();
            while let Ok(Some(item)) = Item::read(&mut items, words) {
                match item {
                    // With threads, constants are in the first pad.
                    Item::Constant(address) if !graph.layout.threads => {
                        add(address, Name::Words("a constant"), false)
                    }
                    Item::Glob(address) if !graph.layout.threads => {
                        add(address, Name::Words("a referenced glob"), false)
                    }
                    Item::PadNames(address) if !has_list => {
                        add(address, Name::Words("the padnames"), false)
                    }
                    Item::Pad(depth @ 1.., address) if !has_list => {
                        add(address, Name::Pad(depth), false)
                    }
                    _ => {}
                }
            }
        }
        Body::Fields(mut fields) => {
            for (name, kind) in graph.struct_fields(sv) {
                let Ok(value) = struct_field(&mut fields, words, *kind) else { break };
                if *kind == 0 {
                    add(value, Name::Own(name), false);
                }
            }
        }
    }
}

/// The pointers of a GLOB that are references.
const GLOB: [(usize, &str); 7] = [
    (1, "the scalar"),
    (2, "the array"),
    (3, "the hash"),
    (4, "the code"),
    (6, "the io"),
    (7, "the form"),
    (5, "the egv"),
];

/// The pointers of a STASH, and the last one of a CLASS.
const STASH: [(usize, &str); 5] = [
    (1, "the mro linear all HV"),
    (2, "the mro linear current"),
    (3, "the mro next::method"),
    (4, "the mro ISA cache"),
    (5, "the ADJUST blocks AV"),
];
