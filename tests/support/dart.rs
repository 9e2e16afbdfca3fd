//! Writes tiny Dart heap snapshots, and collects what the reader says of them.
#![allow(dead_code, unreachable_pub)]

use dumptool::error::Result;
use dumptool::input::{ReadOptions, Visitor, dart};
use dumptool::model::fields::{FieldSink, Record};
use serde_json::{Map, Value, json};
use std::ops::ControlFlow;

/// A number as unsigned LEB128.
pub fn uleb(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// A length and the bytes.
pub fn string(text: impl AsRef<[u8]>) -> Vec<u8> {
    [uleb(text.as_ref().len() as u64), text.as_ref().to_vec()].concat()
}

/// A snapshot in the making. The counts are those of the parts unless they are set.
#[derive(Clone, Default)]
pub struct Snapshot {
    pub flags: u64,
    pub shallow_size: u64,
    pub capacity: u64,
    pub class_count: Option<u64>,
    pub reference_count: Option<u64>,
    pub object_count: Option<u64>,
    pub property_count: Option<u64>,
    pub classes: Vec<Vec<u8>>,
    pub objects: Vec<Vec<u8>>,
    pub references: u64,
    pub properties: Vec<Vec<u8>>,
    pub hashes: Vec<u64>,
    pub tail: Vec<u8>,
}

impl Snapshot {
    /// Nothing yet: not even the classes that modern VMs put in front.
    pub fn empty() -> Self {
        Self { shallow_size: 1000, capacity: 4096, ..Self::default() }
    }

    /// With the classes 1 to 3 (Root, Read-Only Pages, Isolate).
    pub fn modern() -> Self {
        Self::empty().class("Root", "", &[]).class("Read-Only Pages", "", &[]).class(
            "Isolate",
            "",
            &[],
        )
    }

    /// A class and its fields with their slots. Two empty strings and no fields make a hole.
    pub fn class(self, name: &str, uri: &str, fields: &[(u64, &str)]) -> Self {
        let library = uri.rsplit('/').next().unwrap_or("");
        let fields = fields
            .iter()
            .flat_map(|(index, name)| [uleb(1), uleb(*index), string(name), string("")].concat());
        let fields: Vec<u8> = fields.collect();
        let count = fields_count(&fields);
        self.raw_class(
            [uleb(0), string(name), string(library), string(uri), string(""), uleb(count), fields]
                .concat(),
        )
    }

    pub fn raw_class(mut self, bytes: Vec<u8>) -> Self {
        self.classes.push(bytes);
        self
    }

    /// An object: class, size, tag and data, references.
    pub fn object(
        mut self,
        class: u64,
        size: u64,
        data: impl AsRef<[u8]>,
        references: &[u64],
    ) -> Self {
        let ids: Vec<u8> = references.iter().flat_map(|&id| uleb(id)).collect();
        self.references += references.len() as u64;
        let count = uleb(references.len() as u64);
        self.objects.push([uleb(class), uleb(size), data.as_ref().to_vec(), count, ids].concat());
        self
    }

    pub fn raw_object(mut self, bytes: Vec<u8>) -> Self {
        self.objects.push(bytes);
        self
    }

    pub fn property(mut self, object: u64, size: u64, name: &str) -> Self {
        self.properties.push([uleb(object), uleb(size), string(name)].concat());
        self
    }

    /// The identity hash codes. None are written unless this is called.
    pub fn hashes(mut self, hashes: &[u64]) -> Self {
        self.hashes = hashes.to_vec();
        self
    }

    /// Bytes behind everything.
    pub fn tail(mut self, bytes: &[u8]) -> Self {
        self.tail = bytes.to_vec();
        self
    }

    /// Zeros up to the size of a DevTools export.
    pub fn padded(mut self) -> Self {
        self.tail = vec![0; dart::tail::EXPORT_CHUNK - self.bytes().len()];
        self
    }

    pub fn bytes(&self) -> Vec<u8> {
        let count =
            |given: Option<u64>, parts: &[Vec<u8>]| uleb(given.unwrap_or(parts.len() as u64));
        let mut bytes = b"dartheap".to_vec();
        bytes.extend(
            [
                uleb(self.flags),
                string("main"),
                uleb(self.shallow_size),
                uleb(self.capacity),
                uleb(64),
            ]
            .concat(),
        );
        bytes.extend(count(self.class_count, &self.classes));
        bytes.extend(self.classes.concat());
        bytes.extend(uleb(self.reference_count.unwrap_or(self.references)));
        bytes.extend(count(self.object_count, &self.objects));
        bytes.extend(self.objects.concat());
        bytes.extend(count(self.property_count, &self.properties));
        bytes.extend(self.properties.concat());
        bytes.extend(self.hashes.iter().flat_map(|&hash| uleb(hash)));
        bytes.extend(&self.tail);
        bytes
    }
}

/// Fields as [`Snapshot::class`] writes them end with their empty reserved string.
fn fields_count(mut fields: &[u8]) -> u64 {
    let mut count = 0;
    while let [1, _, length, rest @ ..] = fields {
        fields = &rest[*length as usize + 1..];
        count += 1;
    }
    count
}

/// Every record as JSON, and how the reading ended.
pub fn cat(bytes: &[u8], contents: bool) -> (Vec<Value>, Result<()>) {
    struct Collect {
        records: Vec<Value>,
        contents: bool,
    }
    impl Visitor for Collect {
        fn record<R: Record>(&mut self, offset: u64, record: &R) -> ControlFlow<()> {
            let mut sink = JsonSink { map: Map::new(), contents: self.contents };
            sink.map.insert("offset".into(), offset.into());
            sink.map.insert("record".into(), record.name().into());
            record.fields(&mut sink);
            self.records.push(Value::Object(sink.map));
            ControlFlow::Continue(())
        }
    }
    let mut collect = Collect { records: Vec::new(), contents };
    let result = dart::for_each_record(bytes, ReadOptions::default(), &mut collect);
    (collect.records, result)
}

struct JsonSink {
    map: Map<String, Value>,
    contents: bool,
}

impl JsonSink {
    fn put(&mut self, name: &str, value: Value) {
        assert!(self.map.insert(name.to_string(), value).is_none(), "{name} was said twice");
    }
}

impl FieldSink for JsonSink {
    fn unsigned(&mut self, name: &str, value: u64) {
        self.put(name, value.into());
    }
    fn signed(&mut self, name: &str, value: i128) {
        self.put(name, i64::try_from(value).unwrap().into());
    }
    fn address(&mut self, name: &str, value: u64) {
        self.put(name, format!("{value:#x}").into());
    }
    fn float(&mut self, name: &str, value: f64) {
        self.put(name, value.into());
    }
    fn boolean(&mut self, name: &str, value: bool) {
        self.put(name, value.into());
    }
    fn text(&mut self, name: &str, value: &[u8]) {
        self.put(name, String::from_utf8_lossy(value).into());
    }
    fn contents(&mut self, name: &str, value: &[u8]) {
        self.put(name, json!(value));
    }
    fn list<T>(&mut self, name: &str, items: impl Iterator<Item = T>, each: impl Fn(T, &mut Self)) {
        let items = items.map(|item| {
            let mut sink = JsonSink { map: Map::new(), contents: self.contents };
            each(item, &mut sink);
            Value::Object(sink.map)
        });
        let items = items.collect();
        self.put(name, items);
    }
    fn wants_contents(&self) -> bool {
        self.contents
    }
}
