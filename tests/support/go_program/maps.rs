//! A program with a Swiss map, and a dump of one.

use super::{Build, HEAP, TEXT, TYPES};

impl Build {
    /// A program with the type `map[int]int`, and a dump with one: `{1: 10, 2: 20, 3: 30}` in a
    /// table of two groups, the last of which has the third entry.
    pub(crate) fn map(self) -> (Vec<u8>, Vec<u8>) {
        let w = self.word as u64;
        let [map, control, slots, slot, group] =
            [0x4c0, 0x540, 0x5c0, 0x640, 0x6c0].map(|at| TYPES + at);
        let int = TYPES + 0x140;
        let names = [
            (0x780, "map[int]int"),
            (0x7a0, "uint64"),
            (0x7c0, "[8]struct { key int; elem int }"),
            (0x800, "struct { key int; elem int }"),
            (0x840, "map.group[int]int"),
            (0x860, "ctrl"),
            (0x870, "slots"),
            (0x880, "key"),
            (0x890, "elem"),
        ];
        let mut image = self.image();
        for (offset, name) in names {
            image.put(TYPES + offset, &[0, name.len() as u8]);
            image.put(TYPES + offset + 2, name.as_bytes());
        }
        let own = 4 * w + 16;
        let group_size = 8 + 16 * w;
        image.descriptor(map, (w, w, 0, 21 | 32, 0x780));
        for (word, of) in [(0, int), (1, int), (2, group)] {
            image.pointer(map + own + word * w, of);
        }
        image.descriptor(control, (8, 0, 0, 11, 0x7a0));
        image.descriptor(slots, (16 * w, 0, 0, 17, 0x7c0));
        image.pointer(slots + own, slot);
        image.word(slots + own + 2 * w, 8);
        image.descriptor(slot, (2 * w, 0, 0, 25, 0x800));
        image.structure(slot, TEXT, 2);
        image.field(TEXT, TYPES + 0x880, int, 0);
        image.field(TEXT + 3 * w, TYPES + 0x890, int, w);
        image.descriptor(group, (group_size, 0, 0, 25, 0x840));
        image.structure(group, TEXT + 0x80, 2);
        image.field(TEXT + 0x80, TYPES + 0x860, control, 0);
        image.field(TEXT + 0x80 + 3 * w, TYPES + 0x870, slots, 8);

        let [directory, table, groups] = [1, 2, 3].map(|number| HEAP + 0x1000 * number);
        // used, seed, directory, its length, depth and flags, sequence.
        let header = [self.wide(3), vec![5, directory, 1, 0], self.wide(0)].concat();
        // used, capacity and growth left, index, groups, their number less one.
        let parts = [self.wide(0), vec![0, groups], self.wide(1)].concat();
        let entry = |key: u64| [key, 10 * key];
        let empty = |slots: usize| vec![0; 2 * slots];
        let both = [
            self.wide(0x8080_8080_8080_1112),
            [entry(1), entry(2)].concat(),
            empty(6),
            self.wide(0x8080_8080_1380_8080),
            empty(3),
            entry(3).to_vec(),
            empty(4),
        ];
        let before_directory = self.wide(0).len() + 1;
        let before_groups = self.wide(0).len() + 1;
        let objects = [
            (HEAP, header, 1 << before_directory),
            (directory, [table, 0][..8 / self.word].to_vec(), 1),
            (table, parts, 1 << before_groups),
            (groups, both.concat(), 0),
        ];
        (image.finish(), self.dump_of(map, &objects))
    }

    /// The words of a number of 64 bits.
    fn wide(self, value: u64) -> Vec<u64> {
        let (high, low) = (value >> 32, value & 0xffff_ffff);
        match (self.word, self.big_endian) {
            (8, _) => vec![value],
            (_, true) => vec![high, low],
            (_, false) => vec![low, high],
        }
    }
}
