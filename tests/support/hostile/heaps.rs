//! Heaps whose size varies: V8, Ruby, Java and Go.

use super::super::go::Dump;
use super::super::go_program::{Build, Container};
use super::super::heapsnapshot::Snapshot;
use super::super::hprof::File;
use super::super::pmat::Pmat;
use std::fmt::Write;

/// A chain of objects of two types in turn.
pub(super) fn list_of_v8(size: usize) -> Vec<u8> {
    let mut snapshot = Snapshot::new();
    for object in 0..size {
        let name = if object % 2 == 0 { "Even" } else { "Odd" };
        let node = snapshot.object(name, 16);
        snapshot.edge(node - 1, "property", "next", node);
    }
    snapshot.bytes()
}

/// Objects of as many classes, and as many names of references.
pub(super) fn many_names_of_v8(size: usize) -> Vec<u8> {
    let mut snapshot = Snapshot::new();
    for object in 0..size {
        let node = snapshot.object(&format!("Class{object}"), 16);
        snapshot.edge(1, "property", &format!("property{object}"), node);
    }
    snapshot.bytes()
}

/// Strings of the same long text, which the file has once.
pub(super) fn long_name(length: usize, nodes: usize) -> Vec<u8> {
    let mut snapshot = Snapshot::new();
    for _ in 0..nodes {
        let node = snapshot.node("string", "NAME", 16);
        snapshot.edge(1, "property", "name", node);
    }
    let snapshot = String::from_utf8(snapshot.bytes()).unwrap();
    snapshot.replace("\"NAME\"", &format!("\"{}\"", "n".repeat(length))).into_bytes()
}

/// A snapshot with strings that no node has.
pub(super) fn empty_strings(count: usize) -> Vec<u8> {
    let mut snapshot = Snapshot::new();
    let node = snapshot.object("Last", 16);
    snapshot.edge(1, "property", "last", node);
    let snapshot = String::from_utf8(snapshot.bytes()).unwrap();
    snapshot.replace("\"Last\"", &format!("\"Last\"{}", ",\"\"".repeat(count))).into_bytes()
}

/// A tree of allocations as deep as it has nodes.
pub(super) fn deep_trace(size: usize) -> Vec<u8> {
    let tree: String = (2..size + 2).map(|id| format!("{id},0,1,8,[")).collect();
    let snapshot = String::from_utf8(Snapshot::new().bytes()).unwrap();
    let deep = format!("\"trace_tree\":[1,0,1,8,[{tree}{}]]", "]".repeat(size));
    snapshot.replace("\"trace_tree\":[1,0,2,64,[2,0,1,32,[]]]", &deep).into_bytes()
}

const OBJECT_CLASS: &str =
    r#"{"address":"0x100", "type":"CLASS", "name":"Node", "memsize":600, "flags":{}}"#;

/// A chain of objects.
pub(super) fn list_of_ruby(size: usize) -> Vec<u8> {
    let root = r#"{"type":"ROOT", "root":"vm", "references":["0x100", "0x1000"]}"#;
    let mut file = format!("{root}\n{OBJECT_CLASS}\n");
    for object in 0..size {
        let (address, next) = (0x1000 + 40 * object, 0x1000 + 40 * ((object + 1) % size));
        writeln!(
            file,
            r#"{{"address":"{address:#x}", "type":"OBJECT", "class":"0x100", "references":["{next:#x}"], "memsize":40, "flags":{{}}}}"#
        )
        .unwrap();
    }
    file.into_bytes()
}

/// Classes without names, each below the one before.
pub(super) fn superclasses(size: usize) -> Vec<u8> {
    let root = r#"{"type":"ROOT", "root":"vm", "references":["0x100"]}"#;
    let mut file = format!("{root}\n{OBJECT_CLASS}\n");
    for class in 1..size {
        let (address, superclass) = (0x100 + 8 * class, 0x100 + 8 * (class - 1));
        writeln!(
            file,
            r#"{{"address":"{address:#x}", "type":"CLASS", "superclass":"{superclass:#x}", "references":["{superclass:#x}"], "memsize":40, "flags":{{}}}}"#
        )
        .unwrap();
        let object = 0x10_0000 + 40 * class;
        writeln!(
            file,
            r#"{{"address":"{object:#x}", "type":"OBJECT", "class":"{address:#x}", "memsize":40, "flags":{{}}}}"#
        )
        .unwrap();
    }
    file.into_bytes()
}

/// Texts of a kilobyte, half of which are equal.
pub(super) fn long_texts(size: usize) -> Vec<u8> {
    let holder = (0..size).map(|text| format!("\"{:#x}\"", 0x1000 + 40 * text)).collect::<Vec<_>>();
    let mut file =
        format!("{{\"type\":\"ROOT\", \"root\":\"vm\", \"references\":[{}]}}\n", holder.join(", "));
    for text in 0..size {
        let value = if text % 2 == 0 { "x".repeat(1000) } else { format!("{text:01000}") };
        writeln!(
            file,
            r#"{{"address":"{:#x}", "type":"STRING", "class":"0x100", "bytesize":1000, "value":"{value}", "memsize":1040, "flags":{{}}}}"#,
            0x1000 + 40 * text
        )
        .unwrap();
    }
    file.into_bytes()
}

/// Arrays of bytes with equal contents, each in the field of an object.
pub(super) fn equal_texts(size: usize) -> Vec<u8> {
    const HOLDER: u64 = 8;
    let mut file = File::new("1.0.2", 8);
    file.load(HOLDER, "app/Holder");
    let field = file.string("bytes");
    let mut heap = vec![file.class(HOLDER, 0, 8, &[], &[(field, 2)])];
    for object in 0..size as u64 {
        let (holder, array) = (0x1000 + 0x100 * object, 0x1080 + 0x100 * object);
        heap.push(file.array(array, 8, 40, &[b'x'; 40]));
        heap.push(file.instance(holder, HOLDER, &[&file.id(array)]));
        heap.push(file.root(0xff, holder, &[]));
    }
    file.segment(&heap).end()
}

const PROGRAM: Build = Build {
    container: Container::Elf,
    word: 8,
    big_endian: false,
    position_independent: false,
    sections: true,
};

/// A list whose nodes the program of [`program`] names.
pub(super) fn typed_list(size: usize) -> Vec<u8> {
    PROGRAM.list(&(0..size as u64).collect::<Vec<_>>())
}

/// The program that wrote the Go dumps among the families.
pub(super) fn program() -> Vec<u8> {
    PROGRAM.executable()
}

/// Goroutines with a frame each, and stacks of two kinds.
pub(super) fn goroutines(size: usize) -> Vec<u8> {
    let mut dump = Dump::new("go1.24.1");
    for goroutine in 0..size as u64 {
        let stack = 0x9000_0000 + 0x1000 * goroutine;
        let name = if goroutine % 2 == 0 { "main.even" } else { "main.odd" };
        dump = dump
            .goroutine(0x8000_0000 + 0x200 * goroutine, stack, 4, "chan receive")
            .frame(stack, 0, 0, name);
    }
    dump.finish(0, 0)
}

/// A chain of references of Perl, which the stack holds.
pub(super) fn list_of_perl(size: usize) -> Vec<u8> {
    let mut file = Pmat::new(true, &[], &[0x1000]);
    for number in 0..size as u64 {
        file.reference(0x1000 + 8 * number, 0x1008 + 8 * number, false);
    }
    end(file)
}

/// Subs that all name the lexicals of one pad, each as many as there are subs: `size` names.
pub(super) fn pad_names(size: usize) -> Vec<u8> {
    let size = size.isqrt();
    let mut file = Pmat::new(true, &[("main_cv", 0x1000)], &[]);
    for number in 0..size as u64 {
        file.sv(7, 0x1000 + 8 * number, 100, 0).words(&[9]).bytes(&[0]).words(&[0]).u32(1);
        file.words(&[0, 0, 0, 0, 0]).string("a.pl").words(&[u64::MAX]);
        for index in 1..=size as u64 {
            file.bytes(&[5]).words(&[index]).string("$x").words(&[0]);
        }
        file.bytes(&[8]).words(&[1, 0x100]).bytes(&[0]);
    }
    file.array(0x100, &vec![0x1000; size], false);
    end(file)
}

/// One object with many extensions, each of which holds the object itself.
pub(super) fn magic(size: usize) -> Vec<u8> {
    let mut file = Pmat::new(true, &[], &[0x1000]);
    file.text(0x1000, "magic");
    for _ in 0..size {
        file.bytes(&[0x80]).words(&[0x1000]).bytes(b"~\x01").words(&[0x1000, 0x1000, 0]);
    }
    end(file)
}

/// Ends the heap and the contexts of a dump of Perl.
fn end(mut file: Pmat) -> Vec<u8> {
    file.bytes(&[0, 0]).words(&[0]);
    file.bytes
}
