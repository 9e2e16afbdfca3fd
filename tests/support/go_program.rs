//! Writes tiny executables of Go, with the tables that name the types of a dump, and the dump of
//! their process.
#![allow(dead_code)]

#[path = "go_program/maps.rs"]
mod maps;

use super::go::{B, Dump, F, U};

/// The file format of an executable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Container {
    Elf,
    MachO,
    Pe,
}

/// How a program was built.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Build {
    pub container: Container,
    /// Bytes of a pointer.
    pub word: usize,
    pub big_endian: bool,
    /// Addresses are only in relocations, and the process has another one than the file.
    pub position_independent: bool,
    /// There are sections with names. Otherwise the tables have to be searched.
    pub sections: bool,
}

/// The version of Go that the program is of.
pub(crate) const VERSION: &str = "go1.24.1";

/// Link address of the file's first byte. All but the bss segment is stored at its address less
/// this.
const BASE: u64 = 0x40_0000;
const TEXT: u64 = BASE + 0x1000;
const TABLE: u64 = BASE + 0x2000;
const TYPES: u64 = BASE + 0x3000;
const BUILD: u64 = BASE + 0x4000;
const MODULE: u64 = BASE + 0x4100;
const DATA: u64 = BASE + 0x4800;
const END: u64 = BASE + 0x5000;
/// Where the heap begins.
const HEAP: u64 = 0x2000_0000;
/// Bytes of the parts that all descriptors have, with pointers of 8 bytes.
const OWN: u64 = 48;

/// An executable that is being written.
struct Image {
    build: Build,
    bytes: Vec<u8>,
    /// Addresses of words that hold addresses.
    pointers: Vec<(u64, u64)>,
}

impl Build {
    /// Where the process has the image, less where the file says.
    fn slide(self) -> u64 {
        if self.position_independent { 0x10_0000 } else { 0 }
    }

    /// The executable: type `main.Node struct { next *main.Node; value int }`.
    pub(crate) fn executable(self) -> Vec<u8> {
        self.image().finish()
    }

    fn image(self) -> Image {
        let mut image =
            Image { build: self, bytes: vec![0; (END - BASE) as usize], pointers: Vec::new() };
        image.tables();
        image
    }

    /// A dump with two nodes, the first one in an interface in the data segment: `{next: second,
    /// value: 7}`, `{nil, 9}`.
    pub(crate) fn dump(self) -> Vec<u8> {
        self.list(&[7, 9])
    }

    /// A dump with a list of nodes of these values, of which the data segment holds the first one.
    pub(crate) fn list(self, values: &[u64]) -> Vec<u8> {
        let (word, count) = (self.word as u64, values.len() as u64);
        let slot = 2 * word;
        let nodes: Vec<_> = (0..count)
            .zip(values)
            .map(|(number, value)| {
                let address = HEAP + slot * number;
                let next = if number + 1 < count { address + slot } else { 0 };
                (address, vec![next, *value], 1)
            })
            .collect();
        self.dump_of(TYPES + 0x100, &nodes)
    }

    /// A dump in whose data segment an interface says of the first object that it is a value of the
    /// type at a link address. Objects are an address, words, and a bit for each word, from the lowest
    /// on and again after 64, that says whether it is a pointer.
    fn dump_of(self, of: u64, objects: &[(u64, Vec<u64>, u64)]) -> Vec<u8> {
        let word = self.word as u64;
        let words = |words: &[u64]| {
            words.iter().flat_map(|value| self.number(*value, self.word)).collect::<Vec<u8>>()
        };
        let end = objects.iter().map(|(at, words, _)| at + word * words.len() as u64).max();
        let params = [
            U(self.big_endian.into()),
            U(word),
            U(HEAP),
            U(end.unwrap_or(HEAP).next_multiple_of(0x10000)),
            super::go::S("x"),
            super::go::S(VERSION),
            U(1),
        ];
        let mut dump = Dump::empty("1.7").record(6, &params);
        let mut bytes = 0;
        for (address, values, pointers) in objects {
            let is_pointer = |number: &u64| pointers >> (number % 64) & 1 == 1;
            let all = 0..values.len() as u64;
            let fields: Vec<_> = all.filter(is_pointer).map(|number| (1, word * number)).collect();
            dump = dump.record(1, &[U(*address), B(&words(values)), F(&fields)]);
            bytes += word * values.len() as u64;
        }
        let data = words(&[of + self.slide(), HEAP]);
        dump.record(12, &[U(DATA + self.slide()), B(&data), F(&[(1, word)])])
            .record(13, &[U(END + self.slide()), B(&[0; 16]), F(&[])])
            .memstats(objects.len() as u64, bytes)
            .record(0, &[])
            .bytes()
    }

    /// A program with `struct { next []int }`, and its dump: one such struct, whose slice has 2 of
    /// the last 5 of an array's 8 values. For ELF with pointers of 8 bytes.
    pub(crate) fn slice(self) -> (Vec<u8>, Vec<u8>) {
        let array = HEAP + 0x1000;
        let objects = [(HEAP, vec![array + 24, 2, 5], 1), (array, (1..=8).collect(), 0)];
        self.with_slice(TYPES + 0x140, &objects)
    }

    /// As [`Self::slice`], but the slice has the first 2 of the array's values, and its capacity is
    /// limited to these.
    pub(crate) fn limited_slice(self) -> (Vec<u8>, Vec<u8>) {
        let array = HEAP + 0x1000;
        let objects = [(HEAP, vec![array, 2, 2], 1), (array, (1..=8).collect(), 0)];
        self.with_slice(TYPES + 0x140, &objects)
    }

    /// As [`Self::slice`], but the slice has one of the values, and all of the array is zero.
    pub(crate) fn zero_slice(self) -> (Vec<u8>, Vec<u8>) {
        let array = HEAP + 0x1000;
        let objects = [(HEAP, vec![array, 1, 8], 1), (array, vec![0; 8], 0)];
        self.with_slice(TYPES + 0x140, &objects)
    }

    /// A program with `struct { next []*main.Node }`, and its dump: one such struct, whose slice
    /// has the last 2 of an array's 3 nodes. For ELF with pointers of 8 bytes.
    pub(crate) fn queue(self) -> (Vec<u8>, Vec<u8>) {
        let (array, node) = (HEAP + 0x1000, HEAP + 0x2000);
        let nodes = [node, node + 0x10, node + 0x20];
        let slice = [(HEAP, vec![array + 8, 2, 2], 1), (array, nodes.to_vec(), 0b111)];
        let nodes = nodes.map(|node| (node, vec![0, 7], 1));
        self.with_slice(TYPES + 0x100, &[&slice[..], &nodes].concat())
    }

    /// A program with `struct { next []main.Node }`, and its dump: one such struct with so many
    /// nodes by value, each of which points to one of its own. For ELF with pointers of 8 bytes.
    pub(crate) fn values(self, count: u64) -> (Vec<u8>, Vec<u8>) {
        let (array, first) = (HEAP + 0x1000, HEAP + 0x10_0000);
        let leaves = (0..count).map(|number| first + 0x10 * number);
        let nodes = leaves.clone().flat_map(|leaf| [leaf, 7]).collect();
        let own = [(HEAP, vec![array, count, count], 1), (array, nodes, 0x5555_5555_5555_5555)];
        let objects = own.into_iter().chain(leaves.map(|leaf| (leaf, vec![0, 9], 1)));
        self.with_slice(TYPES + 0x40, &objects.collect::<Vec<_>>())
    }

    /// A program with `struct { next [9]*main.Node }`, and its dump: one such struct with eight
    /// nodes behind a nil. For ELF with pointers of 8 bytes.
    pub(crate) fn array(self) -> (Vec<u8>, Vec<u8>) {
        let (w, part, array, name, bitmap) =
            (8, TYPES + 0x4c0, TYPES + 0x540, TYPES + 0x5c0, TYPES + 0x5e0);
        let mut image = self.image();
        image.put(name, b"\0\x0d[9]*main.Node");
        image.put(bitmap, &[0xff, 1]);
        image.descriptor(part, (9 * w, 9 * w, 4, 25, 0x440));
        image.structure(part, TEXT, 1);
        image.field(TEXT, TYPES + 0x460, array, 0);
        image.descriptor(array, (9 * w, 9 * w, 0, 17, 0x5c0));
        image.pointer(array + OWN, TYPES + 0x100);
        image.word(array + OWN + 2 * w, 9);
        for of in [part, array] {
            image.pointer(of + 3 * w + 8, bitmap);
        }
        let nodes: Vec<u64> = (0..8).map(|number| HEAP + 0x1000 + 0x10 * number).collect();
        let each = nodes.iter().map(|node| (*node, vec![0, 7], 1));
        // Nine words are in a slot of ten.
        let objects = [(HEAP, [&[0], &nodes[..], &[0]].concat(), 0x1ff)].into_iter().chain(each);
        (image.finish(), self.dump_of(part, &objects.collect::<Vec<_>>()))
    }

    /// A program with `struct { next *main; value []int }`, and its dump: two such structs, of which
    /// the second one, which the first one points to, has more of the same array of 8 values. For
    /// ELF with pointers of 8 bytes.
    pub(crate) fn slices(self) -> (Vec<u8>, Vec<u8>) {
        let (w, part, slice, pointer) = (8, TYPES + 0x4c0, TYPES + 0x540, TYPES + 0x5c0);
        let mut image = self.image();
        image.descriptor(part, (4 * w, 4 * w, 4, 25, 0x440));
        image.structure(part, TEXT, 2);
        image.field(TEXT, TYPES + 0x460, pointer, 0);
        image.field(TEXT + 3 * w, TYPES + 0x480, slice, w);
        image.descriptor(slice, (3 * w, w, 0, 23, 0x480));
        image.pointer(slice + OWN, TYPES + 0x140);
        image.descriptor(pointer, (w, w, 0, 22 | 32, 0x440));
        image.pointer(pointer + OWN, part);
        let (second, array) = (HEAP + 0x100, HEAP + 0x1000);
        let objects = [
            (HEAP, vec![second, array + 24, 2, 2], 0b11),
            (second, vec![0, array + 8, 7, 7], 0b11),
            (array, (1..=8).collect(), 0),
        ];
        (image.finish(), self.dump_of(part, &objects))
    }

    /// A program with a struct of a slice of an element, and a dump of objects, the first of which
    /// is such a struct.
    fn with_slice(self, element: u64, objects: &[(u64, Vec<u64>, u64)]) -> (Vec<u8>, Vec<u8>) {
        let (w, part, slice) = (8, TYPES + 0x4c0, TYPES + 0x540);
        let mut image = self.image();
        image.descriptor(part, (3 * w, w, 4, 25, 0x440));
        image.structure(part, TEXT, 1);
        image.field(TEXT, TYPES + 0x460, slice, 0);
        image.descriptor(slice, (3 * w, w, 0, 23, 0x480));
        image.pointer(slice + OWN, element);
        (image.finish(), self.dump_of(part, objects))
    }

    /// A program with so many structs that all claim the same list of fields, which all have the
    /// same name of so many bytes; and a dump with a value of the last struct. For ELF with pointers
    /// of 8 bytes.
    pub(crate) fn structs(self, structs: u64, fields: u64, name: u64) -> (Vec<u8>, Vec<u8>) {
        let (first, list) = (TYPES + 0x4c0, TEXT + 0x800);
        let mut image = self.image();
        image.put(TEXT, &[0, name as u8 | 0x80, (name >> 7) as u8]);
        image.put(TEXT + 3, &vec![b'x'; name as usize]);
        for field in 0..fields {
            image.field(list + 24 * field, TEXT, TYPES + 0x140, 0);
        }
        let at = |number: u64| first + (OWN + 32) * number;
        for number in 0..structs {
            image.descriptor(at(number), (16, 0, 4, 25, 0x440));
            image.structure(at(number), list, fields);
        }
        (image.finish(), self.dump_of(at(structs - 1), &[(HEAP, vec![1, 2], 0)]))
    }

    /// The executable, whose types are said to end far behind the file, in a segment that takes as
    /// much memory. For ELF with pointers of 8 bytes.
    pub(crate) fn endless_types(self) -> Vec<u8> {
        let mut image = self.image();
        image.word(MODULE + 38 * 8, TYPES + (1 << 40));
        let mut bytes = image.finish();
        bytes[64 + 40..64 + 48].copy_from_slice(&(1u64 << 44).to_le_bytes());
        bytes
    }

    fn number(self, value: u64, size: usize) -> Vec<u8> {
        if self.big_endian {
            value.to_be_bytes()[8 - size..].to_vec()
        } else {
            value.to_le_bytes()[..size].to_vec()
        }
    }
}

impl Image {
    fn finish(self) -> Vec<u8> {
        match self.build.container {
            Container::Elf => self.elf(),
            Container::MachO => self.mach_o(),
            Container::Pe => self.pe(),
        }
    }

    fn put(&mut self, address: u64, bytes: &[u8]) {
        let at = (address - BASE) as usize;
        self.bytes[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn number(&mut self, address: u64, value: u64, size: usize) {
        self.put(address, &self.build.number(value, size));
    }

    fn word(&mut self, address: u64, value: u64) {
        self.number(address, value, self.build.word);
    }

    fn pointer(&mut self, address: u64, target: u64) {
        self.pointers.push((address, target));
        // Relocations without addends, as those of 386, add to what is there.
        let implicit = self.build.word == 4;
        self.word(address, if self.build.position_independent && !implicit { 0 } else { target });
    }

    fn tables(&mut self) {
        let w = self.build.word as u64;
        self.put(BUILD, b"\xff Go buildinf:");
        self.put(BUILD + 14, &[w as u8, 2]);
        self.put(BUILD + 32, &[VERSION.len() as u8]);
        self.put(BUILD + 33, VERSION.as_bytes());
        // The table of functions: one of them.
        self.number(TABLE, 0xffff_fff1, 4);
        self.put(TABLE + 6, &[1, w as u8]);
        for (word, value) in [(0, 1), (3, 0x100), (7, 0x200)] {
            self.word(TABLE + 8 + word * w, value);
        }
        self.put(TABLE + 0x100, b"main.main\0");
        self.number(TABLE + 0x204, 0x20, 4);
        self.number(TABLE + 0x208, 0x100, 4);
        let ends = [
            (0, TABLE),
            (13, TABLE + 0x200),
            (20, TEXT),
            (21, TEXT + 0x100),
            (22, TEXT),
            (23, TEXT + 0x100),
        ];
        let segments = [
            (26, DATA),
            (27, DATA + 2 * w),
            (28, END),
            (29, END + 16),
            (37, TYPES),
            (38, TYPES + 0x1000),
        ];
        for (word, target) in ends.into_iter().chain(segments) {
            self.pointer(MODULE + word * w, target);
        }
        self.types(w);
    }

    fn types(&mut self, w: u64) {
        let [node, pointer, int] = [TYPES + 0x40, TYPES + 0x100, TYPES + 0x140];
        let names = [
            (0x400, "*main.Node"),
            (0x420, "int"),
            (0x440, "main"),
            (0x460, "next"),
            (0x480, "value"),
        ];
        for (offset, name) in names {
            self.put(TYPES + offset, &[0, name.len() as u8]);
            self.put(TYPES + offset + 2, name.as_bytes());
        }
        self.put(TYPES + 0x4a0, &[1]);
        // Flags: 1 uncommon, 2 the name has a star more, 4 named. 32 in the kind: an interface
        // holds the value itself.
        let list = [
            (node, 2 * w, w, 7, 25, 0x400),
            (pointer, w, w, 0, 22 | 32, 0x400),
            (int, w, 0, 4, 2, 0x420),
        ];
        for (at, size, pointers, flags, kind, name) in list {
            self.descriptor(at, (size, pointers, flags, kind, name));
        }
        let own = 4 * w + 16;
        let fields = TYPES + 0x200;
        self.structure(node, fields, 2);
        self.number(node + own + 4 * w, 0x440, 4);
        self.field(fields, TYPES + 0x460, pointer, 0);
        self.field(fields + 3 * w, TYPES + 0x480, int, w);
        self.pointer(pointer + own, node);
    }

    /// The parts that all descriptors have: size, bytes with pointers, flags, kind, offset of the
    /// name.
    fn descriptor(&mut self, at: u64, parts: (u64, u64, u8, u8, u64)) {
        let (w, (size, pointers, flags, kind, name)) = (self.build.word as u64, parts);
        self.word(at, size);
        self.word(at + w, pointers);
        self.number(at + 2 * w, 0x1234 + at, 4);
        self.put(at + 2 * w + 4, &[flags, w as u8, w as u8, kind]);
        self.pointer(at + 3 * w + 8, TYPES + 0x4a0);
        self.number(at + 4 * w + 8, name, 4);
    }

    /// The part that structs add: their list of fields.
    fn structure(&mut self, at: u64, fields: u64, count: u64) {
        let w = self.build.word as u64;
        let own = at + 4 * w + 16;
        self.pointer(own + w, fields);
        self.word(own + 2 * w, count);
        self.word(own + 3 * w, count);
    }

    fn field(&mut self, at: u64, name: u64, of: u64, offset: u64) {
        let w = self.build.word as u64;
        self.pointer(at, name);
        self.pointer(at + w, of);
        self.word(at + 2 * w, offset);
    }

    /// A header of numbers with their sizes.
    fn header(&mut self, offset: u64, parts: &[(u64, usize)]) -> u64 {
        let mut at = BASE + offset;
        for (value, size) in parts {
            self.number(at, *value, *size);
            at += *size as u64;
        }
        at - BASE
    }

    fn elf(mut self) -> Vec<u8> {
        let Build { word, big_endian, position_independent, sections, .. } = self.build;
        let w = word;
        let (wide, machine) = (
            w == 8,
            if big_endian {
                22
            } else if w == 8 {
                62
            } else {
                3
            },
        );
        self.put(
            BASE,
            &[0x7f, b'E', b'L', b'F', if wide { 2 } else { 1 }, if big_endian { 2 } else { 1 }, 1],
        );
        let sizes = if wide { (64, 56, 64) } else { (52, 32, 40) };
        let after = END - BASE;
        let kind = if position_independent { 3 } else { 2 };
        let count = if sections { 6 } else { 0 };
        let start = [
            (kind, 2),
            (machine, 2),
            (1, 4),
            (TEXT, w),
            (sizes.0, w),
            (if sections { after } else { 0 }, w),
            (0, 4),
        ];
        let rest = [
            (sizes.0, 2),
            (sizes.1, 2),
            (1, 2),
            (sizes.2, 2),
            (count, 2),
            (if sections { 5 } else { 0 }, 2),
        ];
        self.header(16, &[&start[..], &rest].concat());
        let size = END - TEXT;
        let segment: [(u64, usize); 8] = if wide {
            [
                (1, 4),
                (7, 4),
                (TEXT - BASE, 8),
                (TEXT, 8),
                (TEXT, 8),
                (size, 8),
                (size + 0x100, 8),
                (0x1000, 8),
            ]
        } else {
            [
                (1, 4),
                (TEXT - BASE, 4),
                (TEXT, 4),
                (TEXT, 4),
                (size, 4),
                (size + 0x100, 4),
                (7, 4),
                (0x1000, 4),
            ]
        };
        self.header(sizes.0, &segment);
        if !sections {
            return self.bytes;
        }
        let names = b"\0.gopclntab\0.go.buildinfo\0.rela.dyn\0.dynsym\0.shstrtab\0";
        let (strings, relocations) = (after + 6 * sizes.2, after + 6 * sizes.2 + 64);
        let relative = match machine {
            62 => 8,
            22 => 12,
            _ => 0,
        };
        let list = if position_independent && wide { self.pointers.clone() } else { Vec::new() };
        self.bytes.resize((relocations + 24 * list.len() as u64) as usize, 0);
        self.put(BASE + strings, names);
        // Name, type, flags, address, offset, size, link, info, alignment, size of an entry.
        let of = [
            [0; 8],
            [1, 1, TABLE, TABLE - BASE, 0x1000, 0, 0, 0],
            [12, 1, BUILD, BUILD - BASE, 0x100, 0, 0, 0],
            [26, 4, 0, relocations, 24 * list.len() as u64, 4, 0, 24],
            [36, 11, 0, relocations, 0, 5, 0, 24],
            [44, 3, 0, strings, names.len() as u64, 0, 0, 0],
        ];
        for (number, [name, kind, address, offset, size, link, info, entry]) in (0u64..).zip(of) {
            let parts = [
                (name, 4),
                (kind, 4),
                (2, w),
                (address, w),
                (offset, w),
                (size, w),
                (link, 4),
                (info, 4),
                (1, w),
                (entry, w),
            ];
            self.header(after + number * sizes.2, &parts);
        }
        for (number, (address, target)) in (0u64..).zip(list) {
            self.header(relocations + 24 * number, &[(address, 8), (relative, 8), (target, 8)]);
        }
        self.bytes
    }

    fn mach_o(mut self) -> Vec<u8> {
        let name = |text: &str| {
            let mut bytes = [0; 16];
            bytes[..text.len()].copy_from_slice(text.as_bytes());
            bytes
        };
        let fixups = self.build.position_independent;
        let commands = if fixups { 3 } else { 2 };
        let sections: &[(&str, u64, u64)] = if self.build.sections {
            &[("__gopclntab", TABLE, 0x1000), ("__go_buildinfo", BUILD, 0x100)]
        } else {
            &[]
        };
        let length = 72 * 2 + 80 * sections.len() as u64 + if fixups { 16 } else { 0 };
        self.header(
            0,
            &[
                (0xfeed_facf, 4),
                (0x0100_000c, 4),
                (0, 4),
                (2, 4),
                (commands, 4),
                (length, 4),
                (0, 4),
                (0, 4),
            ],
        );
        let mut at = 32;
        for (segment, address, size, count) in
            [("__TEXT", BASE, TEXT - BASE, 0), ("__DATA", TEXT, END - TEXT, sections.len())]
        {
            self.header(at, &[(0x19, 4), (72 + 80 * count as u64, 4)]);
            self.put(BASE + at + 8, &name(segment));
            let room = if count > 0 || segment == "__DATA" { size + 0x1000 } else { size };
            let parts = [
                (address, 8),
                (room, 8),
                (address - BASE, 8),
                (size, 8),
                (7, 4),
                (7, 4),
                (count as u64, 4),
                (0, 4),
            ];
            at = self.header(at + 24, &parts);
            for (section, address, size) in sections.iter().take(count) {
                self.put(BASE + at, &name(section));
                self.put(BASE + at + 16, &name(segment));
                let parts = [
                    (*address, 8),
                    (*size, 8),
                    (address - BASE, 4),
                    (0, 4),
                    (0, 4),
                    (0, 4),
                    (0, 4),
                    (0, 4),
                    (0, 4),
                    (0, 4),
                ];
                at = self.header(at + 32, &parts);
            }
        }
        if !fixups {
            return self.bytes;
        }
        let data = END - BASE;
        self.header(at, &[(0x8000_0034, 4), (16, 4), (data, 4), (0x60, 4)]);
        self.bytes.resize((data + 0x60) as usize, 0);
        let mut list = self.pointers.clone();
        list.sort_unstable();
        let first = list[0].0 - TEXT;
        // Versions and offsets; the segments, of which the second one has a chain; its page.
        self.header(data, &[(0, 4), (0x20, 4), (0x50, 4), (0x50, 4), (0, 4), (1, 4), (0, 4)]);
        self.header(data + 0x20, &[(2, 4), (0, 4), (0x10, 4)]);
        self.header(
            data + 0x30,
            &[(24, 4), (0x4000, 2), (6, 2), (TEXT - BASE, 8), (0, 4), (1, 2), (first, 2)],
        );
        for (number, (address, target)) in list.iter().enumerate() {
            let next = list.get(number + 1).map_or(0, |(next, _)| (next - address) / 4);
            self.number(*address, (target - BASE) | next << 51, 8);
        }
        self.bytes
    }

    fn pe(mut self) -> Vec<u8> {
        self.put(BASE, b"MZ");
        self.number(BASE + 0x3c, 0x80, 4);
        self.put(BASE + 0x80, b"PE\0\0");
        let at =
            self.header(0x84, &[(0x8664, 2), (2, 2), (0, 4), (0, 4), (0, 4), (240, 2), (0x22, 2)]);
        let start = [
            (0x20b, 2),
            (0, 2),
            (0, 4),
            (0, 4),
            (0, 4),
            (TEXT - BASE, 4),
            (TEXT - BASE, 4),
            (BASE, 8),
            (0x1000, 4),
            (0x200, 4),
        ];
        let rest = [
            (0, 8),
            (6, 4),
            (0, 4),
            (0x7000, 4),
            (0x1000, 4),
            (0, 4),
            (3, 4),
            (0, 8),
            (0, 8),
            (0, 8),
            (0, 8),
            (0, 4),
            (16, 4),
        ];
        let at = self.header(at, &[&start[..], &rest].concat()) + 16 * 8;
        for (number, (name, address, size)) in
            (0u64..).zip([(".rdata", TEXT, BUILD - TEXT), (".data", BUILD, END - BUILD)])
        {
            let at = at + 40 * number;
            self.put(BASE + at, name.as_bytes());
            let room = if name == ".data" { size + 0x1000 } else { size };
            self.header(
                at + 8,
                &[
                    (room, 4),
                    (address - BASE, 4),
                    (size, 4),
                    (address - BASE, 4),
                    (0, 8),
                    (0, 4),
                    (0x4000_0040, 4),
                ],
            );
        }
        self.bytes
    }
}
