//! A heap dump of Perl 5.36: a list of blessed hashes, each with a text, a number and an array.

use super::Out;
use std::io::{self, Write};

/// SVs for each object: the reference to it, the hash, three values, the array, and its element.
const SVS: u64 = 7;
const STASH: u64 = 0x100;
const PACKAGE: u64 = 0x200;
const GLOB: u64 = 0x300;
const LIST: u64 = 0x400;
const BASE: u64 = 0x5600_0000_0000;

/// The lengths of the parts of SVs, extensions and contexts: bytes, addresses and texts.
const PARTS: [&[[u8; 3]]; 3] = [
    &[[20, 1, 0], [8, 8, 2], [25, 1, 1], [1, 2, 0], [9, 0, 0], [8, 1, 0], [8, 5, 1], [21, 5, 2]],
    &[[2, 3, 0], [0, 1, 0]],
    &[[9, 0, 1], [4, 2, 0]],
];

/// Writes a dump of about that many SVs.
pub(crate) fn write(svs: u64, file: &mut dyn Write) -> io::Result<()> {
    let objects = svs / SVS;
    let mut dump = Dump(Out::new(file));
    dump.bytes(b"PMAT\x16\0\0\x04").bytes(&0x0524_0000_u32.to_le_bytes());
    for parts in PARTS {
        dump.bytes(&[parts.len() as u8]).bytes(parts.as_flattened());
    }
    dump.words(&[1, 2, 3]).bytes(&1_u32.to_le_bytes()).text("defstash").words(&[STASH, 0]);
    dump.stash(STASH, "main", &[("sessions", GLOB), ("Session::", PACKAGE)]);
    dump.stash(PACKAGE, "Session", &[]);
    dump.sv(1, GLOB, 60, 0).words(&[7, STASH, 0, LIST, 0, 0, GLOB, 0, 0]);
    dump.text("sessions").text("shop.pl");
    let references: Vec<u64> = (0..objects).map(|object| BASE + object * SVS * 64).collect();
    dump.array(LIST, &references);
    for (object, reference) in references.into_iter().enumerate() {
        let [hash, name, count, items, array, item] =
            [1, 2, 3, 4, 5, 6].map(|row| reference + row * 64);
        dump.reference(reference, hash);
        dump.sv(5, hash, 216, PACKAGE).words(&[3, 0]);
        dump.text("name")
            .words(&[name])
            .text("count")
            .words(&[count])
            .text("items")
            .words(&[items]);
        dump.scalar(name, &format!("session {object} of the shop"));
        dump.scalar(count, &object.to_string()).reference(items, array);
        dump.array(array, &[item]).scalar(item, "apples");
        dump.0.spill()?;
    }
    // The end of SVs, no contexts, no temporary values.
    dump.bytes(&[0, 0]).words(&[0]).0.flush()
}

struct Dump<'w>(Out<'w>);

impl Dump<'_> {
    fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.bytes.extend_from_slice(bytes);
        self
    }

    fn words(&mut self, words: &[u64]) -> &mut Self {
        words.iter().for_each(|word| self.0.bytes.extend_from_slice(&word.to_le_bytes()));
        self
    }

    fn text(&mut self, text: &str) -> &mut Self {
        self.words(&[text.len() as u64]).bytes(text.as_bytes())
    }

    /// The type and the common part of an SV.
    fn sv(&mut self, kind: u8, address: u64, size: u64, blessed: u64) -> &mut Self {
        self.bytes(&[kind]).words(&[address]).bytes(&[1, 0, 0, 0]).words(&[size, blessed])
    }

    fn scalar(&mut self, address: u64, text: &str) -> &mut Self {
        let length = text.len() as u64;
        self.sv(2, address, 48 + length, 0).bytes(&[8]).words(&[0, 0, length, 0]).text(text)
    }

    fn reference(&mut self, address: u64, to: u64) -> &mut Self {
        self.sv(3, address, 24, 0).bytes(&[0]).words(&[to, 0])
    }

    fn array(&mut self, address: u64, elements: &[u64]) -> &mut Self {
        let length = elements.len() as u64;
        self.sv(4, address, 64 + 8 * length, 0).words(&[length]).bytes(&[0]).words(elements)
    }

    fn stash(&mut self, address: u64, name: &str, entries: &[(&str, u64)]) {
        self.sv(6, address, 200, 0).words(&[entries.len() as u64, 0, 0, 0, 0, 0]).text(name);
        for (key, value) in entries {
            self.text(key).words(&[*value]);
        }
    }
}
