//! Small Perl heap dumps.

/// Writes a dump of Perl 5.36 with threads.
pub struct Pmat {
    pub bytes: Vec<u8>,
    /// Words of 8 bytes in little-endian order; otherwise of 4 in big-endian order.
    wide: bool,
}

impl Pmat {
    pub fn new(wide: bool, roots: &[(&str, u64)], stack: &[u64]) -> Self {
        let word = if wide { 8 } else { 4 };
        let mut file = Self { bytes: b"PMAT".to_vec(), wide };
        file.bytes.extend([if wide { 0x16 } else { 0x11 }, 0, 0, 4]);
        file.u32(0x0524_0000);
        // Common, GLOB, SCALAR, REF, ARRAY, HASH, STASH, CODE.
        let svs = [
            [4 + 2 * word, 1, 0],
            [word, 8, 2],
            [9 + 2 * word, 1, 1],
            [1, 2, 0],
            [word + 1, 0, 0],
            [word, 1, 0],
            [word, 5, 1],
            [5 + 2 * word, 5, 2],
        ];
        let extensions = [[2, 3, 0], [0, 1, 0]];
        let contexts = [[1 + word, 0, 1], [4, 2, 0]];
        for table in [&svs[..], &extensions, &contexts] {
            file.bytes.push(table.len() as u8);
            file.bytes.extend(table.concat());
        }
        file.words(&[1, 2, 3]).u32(roots.len() as u32);
        for (name, address) in roots {
            file.string(name).words(&[*address]);
        }
        file.words(&[stack.len() as u64]).words(stack);
        file
    }

    pub fn u32(&mut self, number: u32) -> &mut Self {
        if self.wide {
            self.bytes.extend(number.to_le_bytes())
        } else {
            self.bytes.extend(number.to_be_bytes())
        }
        self
    }

    pub fn words(&mut self, words: &[u64]) -> &mut Self {
        for word in words {
            if self.wide {
                self.bytes.extend(word.to_le_bytes())
            } else {
                self.bytes.extend((*word as u32).to_be_bytes())
            }
        }
        self
    }

    pub fn string(&mut self, text: &str) -> &mut Self {
        self.words(&[text.len() as u64]).bytes(text.as_bytes())
    }

    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend(bytes);
        self
    }

    /// The type and the common part of an SV.
    pub fn sv(&mut self, kind: u8, address: u64, size: u64, blessed: u64) -> &mut Self {
        self.bytes(&[kind]).words(&[address]).u32(1).words(&[size, blessed])
    }

    pub fn text(&mut self, address: u64, text: &str) -> &mut Self {
        self.sv(2, address, 24 + text.len() as u64, 0).bytes(&[8]).words(&[0]).bytes(&[0; 8]);
        self.words(&[text.len() as u64, 0]).string(text)
    }

    pub fn reference(&mut self, address: u64, to: u64, weak: bool) -> &mut Self {
        self.sv(3, address, 24, 0).bytes(&[weak.into()]).words(&[to, 0])
    }

    pub fn array(&mut self, address: u64, elements: &[u64], unreal: bool) -> &mut Self {
        self.sv(4, address, 64, 0).words(&[elements.len() as u64]).bytes(&[unreal.into()]);
        self.words(elements)
    }

    pub fn hash(&mut self, address: u64, blessed: u64, entries: &[(&str, u64)]) -> &mut Self {
        self.sv(5, address, 120, blessed).words(&[entries.len() as u64, 0]);
        for (key, value) in entries {
            self.string(key).words(&[*value]);
        }
        self
    }

    pub fn stash(&mut self, address: u64, name: &str, entries: &[(&str, u64)]) -> &mut Self {
        self.sv(6, address, 200, 0).words(&[entries.len() as u64, 0, 0, 0, 0, 0]).string(name);
        for (key, value) in entries {
            self.string(key).words(&[*value]);
        }
        self
    }
}

/// A package with a glob, a sub with a pad, an object with a weak reference to itself, an array, and
/// a hash that leaked.
pub fn shop(wide: bool) -> Vec<u8> {
    let mut file =
        Pmat::new(wide, &[("defstash", 0x100), ("envgv", 0x300), ("tmpsv", 0)], &[0x200]);
    file.stash(0x100, "main", &[("shop", 0x140), ("Item::", 0x120)]).stash(0x120, "Item", &[]);
    file.sv(1, 0x140, 60, 0).words(&[7, 0x100, 0, 0x180, 0, 0x160, 0x140, 0, 0]);
    file.string("shop").string("shop.pl");
    file.sv(7, 0x160, 100, 0).words(&[9]).bytes(&[0]).words(&[0]).u32(1);
    file.words(&[0x100, 0x140, 0, 0xbad0, 0]).string("shop.pl").words(&[u64::MAX]);
    file.bytes(&[5]).words(&[1]).string("$item").words(&[0]);
    file.bytes(&[8]).words(&[1, 0x1a0]).bytes(&[0]);
    file.array(0x180, &[0x1c0, 1, 0x200], false).array(0x1a0, &[0x180, 0x1c0, 0x2a0], false);
    file.reference(0x1c0, 0x1e0, false);
    file.hash(0x1e0, 0x120, &[("name", 0x200), ("self", 0x220)]);
    file.text(0x200, "größe").reference(0x220, 0x1e0, true);
    file.hash(0x240, 0, &[("self", 0x260)]).reference(0x260, 0x240, false);
    file.text(0x2a0, "temporary").text(0x300, "only envgv");
    file.bytes(&[0x80]).words(&[0x200]).bytes(b"<\0").words(&[0x280, 0, 0xbad0]);
    file.bytes(&[0x81]).words(&[0x140, 0x200]);
    file.array(0x280, &[0x220], true).bytes(&[0]);
    file.bytes(&[1, 1]).words(&[12]).string("shop.pl").u32(0).words(&[0x160, 0]).bytes(&[0]);
    file.words(&[1, 0x2a0, 0]);
    file.bytes.clone()
}
