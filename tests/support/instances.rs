//! Writes hprof files of instances and arrays, by the names of classes and fields.

use super::hprof::File;
use std::collections::BTreeMap;

pub const OBJECT: u64 = 8;
const ARRAY: u64 = 16;

/// A file in the making.
pub struct Instances {
    file: File,
    records: Vec<Vec<u8>>,
    classes: BTreeMap<String, (u64, Vec<(u64, u8)>)>,
    next: u64,
}

/// A value of a field: a reference, an int or a long.
#[derive(Clone, Copy)]
pub enum Of {
    Id(u64),
    Int(i32),
    Long(i64),
    Bool(bool),
}
pub use Of::{Bool, Id, Int, Long};

impl Of {
    fn kind(self) -> u8 {
        match self {
            Id(_) => 2,
            Int(_) => 10,
            Long(_) => 11,
            Bool(_) => 4,
        }
    }
}

impl Default for Instances {
    fn default() -> Self {
        let mut file = File::new("1.0.2", 8);
        file.loads(&[(OBJECT, "java/lang/Object"), (ARRAY, "[Ljava/lang/Object;")]);
        let records =
            vec![file.class(OBJECT, 0, 0, &[], &[]), file.class(ARRAY, OBJECT, 0, &[], &[])];
        Self { file, records, classes: BTreeMap::new(), next: 24 }
    }
}

impl Instances {
    /// The id that the next object gets.
    pub fn next(&mut self) -> u64 {
        self.next += 8;
        self.next - 8
    }

    /// An array of references.
    pub fn array(&mut self, elements: &[u64]) -> u64 {
        let id = self.next();
        self.array_at(id, elements)
    }

    pub fn array_at(&mut self, id: u64, elements: &[u64]) -> u64 {
        self.records.push(self.file.objects(id, ARRAY, elements));
        id
    }

    /// An instance; the first one of a class says its fields.
    pub fn object(&mut self, class: &str, fields: &[(&str, Of)]) -> u64 {
        let id = self.next();
        self.object_at(id, class, fields)
    }

    pub fn object_at(&mut self, id: u64, class: &str, fields: &[(&str, Of)]) -> u64 {
        if !self.classes.contains_key(class) {
            let of = self.next();
            self.file.load(of, &class.replace('.', "/"));
            let kinds = fields.iter().map(|(name, value)| (*name, value.kind()));
            let own: Vec<_> = kinds.map(|(name, kind)| (self.file.string(name), kind)).collect();
            self.records.push(self.file.class(of, OBJECT, 0, &[], &own));
            self.classes.insert(class.to_owned(), (of, own));
        }
        let of = self.classes[class].0;
        let bytes = fields.iter().flat_map(|(_, value)| match value {
            Id(id) => id.to_be_bytes().to_vec(),
            Int(number) => number.to_be_bytes().to_vec(),
            Long(number) => number.to_be_bytes().to_vec(),
            Bool(value) => vec![u8::from(*value)],
        });
        let bytes: Vec<u8> = bytes.collect();
        self.records.push(self.file.instance(id, of, &[&bytes]));
        id
    }

    /// The ids of all classes so far.
    pub fn classes(&self) -> Vec<u64> {
        self.classes.values().map(|(id, _)| *id).chain([OBJECT, ARRAY]).collect()
    }

    /// A boxed number.
    pub fn number(&mut self, number: i32) -> u64 {
        self.object("java.lang.Integer", &[("value", Int(number))])
    }

    /// A text of Latin-1 characters.
    pub fn text(&mut self, text: &str) -> u64 {
        let bytes = self.next();
        self.records.push(self.file.array(bytes, 8, text.len() as u32, text.as_bytes()));
        self.object("java.lang.String", &[("value", Id(bytes))])
    }

    /// An array of characters.
    pub fn chars(&mut self, text: &str) -> u64 {
        let id = self.next();
        let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        self.records.push(self.file.array(id, 5, bytes.len() as u32 / 2, &bytes));
        id
    }

    /// An array of ints.
    pub fn ints(&mut self, words: &[u32]) -> u64 {
        let id = self.next();
        let bytes = words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<_>>();
        self.records.push(self.file.array(id, 10, words.len() as u32, &bytes));
        id
    }

    /// The file. Roots hold all objects.
    pub fn finish(self) -> Vec<u8> {
        let all: Vec<u64> = (24..self.next).step_by(8).collect();
        self.finish_with_roots(&all)
    }

    /// The file, with roots that hold these objects.
    pub fn finish_with_roots(mut self, roots: &[u64]) -> Vec<u8> {
        self.records.extend(roots.iter().map(|id| self.file.root(0xff, *id, &[])));
        self.file.segment(&self.records).end()
    }
}
