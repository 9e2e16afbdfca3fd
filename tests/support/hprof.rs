//! Writes tiny hprof files.
#![allow(dead_code, unreachable_pub)]

/// A file in the making.
#[derive(Clone)]
pub struct File {
    pub bytes: Vec<u8>,
    pub id_size: usize,
    strings: u64,
    serial: u32,
}

/// The first id of strings: they are kept apart from objects, which tests number from 8 on.
const STRINGS: u64 = 1 << 20;

impl File {
    /// The header.
    pub fn new(version: &str, id_size: usize) -> Self {
        let mut bytes = format!("JAVA PROFILE {version}\0").into_bytes();
        bytes.extend((id_size as u32).to_be_bytes());
        bytes.extend(1_700_000_000_123u64.to_be_bytes());
        Self { bytes, id_size, strings: STRINGS, serial: 0 }
    }

    /// An id.
    pub fn id(&self, id: u64) -> Vec<u8> {
        id.to_be_bytes()[8 - self.id_size..].to_vec()
    }

    /// A record with an envelope.
    pub fn record(&mut self, tag: u8, body: &[&[u8]]) -> &mut Self {
        let body = body.concat();
        self.bytes.push(tag);
        self.bytes.extend(7u32.to_be_bytes());
        self.bytes.extend((body.len() as u32).to_be_bytes());
        self.bytes.extend(body);
        self
    }

    /// A string; its id.
    pub fn string(&mut self, text: &str) -> u64 {
        self.strings += 1;
        let id = self.id(self.strings);
        self.record(0x01, &[&id, text.as_bytes()]);
        self.strings
    }

    /// A loaded class; its serial.
    pub fn load(&mut self, class: u64, name: &str) -> u32 {
        let name = self.string(name);
        self.serial += 1;
        let (class, name) = (self.id(class), self.id(name));
        self.record(0x02, &[&self.serial.to_be_bytes(), &class, &1u32.to_be_bytes(), &name]);
        self.serial
    }

    /// Several classes.
    pub fn loads(&mut self, classes: &[(u64, &str)]) -> &mut Self {
        for (class, name) in classes {
            self.load(*class, name);
        }
        self
    }

    /// A class of the heap: fields and static fields are a string id, a type, and for static ones
    /// the value.
    pub fn class(
        &self,
        id: u64,
        parent: u64,
        size: u32,
        statics: &[(u64, u8, Vec<u8>)],
        fields: &[(u64, u8)],
    ) -> Vec<u8> {
        let mut class =
            [vec![0x20], self.id(id), vec![0; 4], self.id(parent), vec![0; 5 * self.id_size]]
                .concat();
        class.extend(size.to_be_bytes());
        class.extend([0, 0]);
        class.extend((statics.len() as u16).to_be_bytes());
        for (name, kind, value) in statics {
            class.extend([self.id(*name), vec![*kind], value.clone()].concat());
        }
        class.extend((fields.len() as u16).to_be_bytes());
        for (name, kind) in fields {
            class.extend([self.id(*name), vec![*kind]].concat());
        }
        class
    }

    pub fn instance(&self, id: u64, class: u64, values: &[&[u8]]) -> Vec<u8> {
        let values = values.concat();
        let length = (values.len() as u32).to_be_bytes();
        [&[0x21][..], &self.id(id), &[0; 4], &self.id(class), &length, &values].concat()
    }

    pub fn objects(&self, id: u64, class: u64, elements: &[u64]) -> Vec<u8> {
        let ids: Vec<u8> = elements.iter().flat_map(|&element| self.id(element)).collect();
        [
            &[0x22][..],
            &self.id(id),
            &[0; 4],
            &(elements.len() as u32).to_be_bytes(),
            &self.id(class),
            &ids,
        ]
        .concat()
    }

    pub fn array(&self, id: u64, kind: u8, count: u32, contents: &[u8]) -> Vec<u8> {
        [&[0x23][..], &self.id(id), &[0; 4], &count.to_be_bytes(), &[kind], contents].concat()
    }

    /// A root: its tag, the object and what follows.
    pub fn root(&self, tag: u8, object: u64, rest: &[u8]) -> Vec<u8> {
        [&[tag][..], &self.id(object), rest].concat()
    }

    /// A segment.
    pub fn segment(&mut self, records: &[Vec<u8>]) -> &mut Self {
        let records = records.concat();
        self.record(0x1c, &[&records])
    }

    /// The end of segments.
    pub fn end(&mut self) -> Vec<u8> {
        self.record(0x2c, &[]);
        self.bytes.clone()
    }
}
