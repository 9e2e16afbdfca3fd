//! Reads hprof by itself and insists on everything that VisualVM, Eclipse MAT, hprof-slurp or shark
//! insist on.
#![allow(unreachable_pub, reason = "a module of one test")]

use std::collections::{BTreeMap, BTreeSet};

/// A file, taken apart.
#[derive(Default)]
pub struct Dump {
    pub id_size: u64,
    pub classes: BTreeMap<u64, Class>,
    pub objects: BTreeMap<u64, Object>,
    /// Ids of object arrays in the order of the file, with their lengths.
    pub arrays: Vec<(u64, u64)>,
    pub roots: Vec<(u8, u64)>,
    pub locals: Vec<(u64, u32, u32)>,
    pub threads: BTreeMap<u32, (u64, String)>,
    pub traces: BTreeMap<u32, Vec<u64>>,
    pub frames: BTreeMap<u64, (String, String, i32)>,
    pub segments: Vec<u64>,
    names: BTreeMap<u64, String>,
    loaded: BTreeMap<u64, String>,
}

pub struct Class {
    pub name: String,
    pub parent: u64,
    pub size: u64,
    /// Name, type, and value of objects and longs.
    pub statics: Vec<(String, u8, u64)>,
    pub fields: Vec<(String, u8)>,
}

pub enum Object {
    Instance { class: u64, fields: Vec<u8> },
    Array { class: u64, elements: Vec<u64> },
    Numbers { basic: u8, bytes: Vec<u8> },
}

struct Bytes<'a>(&'a [u8], u64);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: u64) -> &'a [u8] {
        let (taken, rest) =
            self.0.split_at_checked(count as usize).expect("the file ends too early");
        self.0 = rest;
        taken
    }

    fn number(&mut self, width: u64) -> u64 {
        self.take(width).iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    fn u1(&mut self) -> u8 {
        self.number(1) as u8
    }

    fn u4(&mut self) -> u32 {
        self.number(4) as u32
    }

    fn id(&mut self) -> u64 {
        self.number(self.1)
    }
}

impl Dump {
    /// Reads and checks a file.
    pub fn of(bytes: &[u8]) -> Self {
        let rest = bytes.strip_prefix(b"JAVA PROFILE 1.0.2\0").expect("the magic");
        let mut bytes = Bytes(rest, 4);
        let id_size = bytes.id();
        assert!(id_size == 4 || id_size == 8);
        bytes.take(8);
        bytes.1 = id_size;
        let mut dump = Self { id_size, ..Self::default() };
        let mut ended = false;
        while !bytes.0.is_empty() {
            assert!(!ended, "nothing follows the end");
            let tag = bytes.u1();
            bytes.u4();
            let length = u64::from(bytes.u4());
            assert!(length > 0 || tag == 0x2c, "VisualVM refuses empty records");
            let mut body = Bytes(bytes.take(length), id_size);
            match tag {
                0x1c => {
                    dump.segments.push(length);
                    while !body.0.is_empty() {
                        dump.sub_record(&mut body);
                    }
                }
                0x2c => ended = true,
                _ => {
                    assert!(dump.segments.is_empty(), "segments follow each other");
                    dump.record(tag, &mut body);
                    assert!(body.0.is_empty(), "record {tag:#x} is longer than its fields");
                }
            }
        }
        assert!(ended, "VisualVM refuses segments without an end");
        dump.check();
        dump
    }

    fn record(&mut self, tag: u8, body: &mut Bytes<'_>) {
        match tag {
            0x01 => {
                let id = body.id();
                let text =
                    String::from_utf8(body.take(body.0.len() as u64).to_vec()).expect("UTF-8");
                assert!(!text.contains('\0'));
                assert!(self.names.insert(id, text).is_none(), "a name twice");
            }
            0x02 => {
                assert_ne!(body.u4(), 0, "class serial numbers begin at 1");
                let class = body.id();
                body.u4();
                let name = self.name(body.id());
                self.loaded.insert(class, name);
            }
            0x04 => {
                let id = body.id();
                let (function, _, file) =
                    (self.name(body.id()), self.name(body.id()), self.name(body.id()));
                body.u4();
                self.frames.insert(id, (function, file, body.u4() as i32));
            }
            0x05 => {
                let serial = body.u4();
                body.u4();
                let frames: Vec<u64> = (0..body.u4()).map(|_| body.id()).collect();
                assert!(frames.iter().all(|frame| self.frames.contains_key(frame)));
                assert!(self.traces.insert(serial, frames).is_none());
            }
            0x0a => {
                let (serial, object, trace) = (body.u4(), body.id(), body.u4());
                assert!(self.traces.contains_key(&trace));
                let name = self.name(body.id());
                body.id();
                body.id();
                self.threads.insert(serial, (object, name));
            }
            _ => panic!("record {tag:#x}"),
        }
    }

    fn sub_record(&mut self, body: &mut Bytes<'_>) {
        match body.u1() {
            tag @ (0x05 | 0xff) => self.roots.push((tag, body.id())),
            0x03 => {
                let (object, thread, frame) = (body.id(), body.u4(), body.u4());
                assert!(
                    self.roots
                        .iter()
                        .any(|(tag, id)| *tag == 0x08 && *id == self.threads[&thread].0),
                    "MAT needs the thread first"
                );
                self.roots.push((0x03, object));
                self.locals.push((object, thread, frame));
            }
            0x08 => {
                let object = body.id();
                assert_eq!(self.threads[&body.u4()].0, object);
                assert!(self.traces.contains_key(&body.u4()));
                self.roots.push((0x08, object));
            }
            0x20 => self.class(body),
            0x21 => {
                let (id, _, class) = (body.id(), body.u4(), body.id());
                let length = body.u4();
                let fields = body.take(length.into()).to_vec();
                self.add(id, Object::Instance { class, fields });
            }
            0x22 => {
                let (id, _, length) = (body.id(), body.u4(), body.u4());
                let class = body.id();
                assert!(length <= i32::MAX as u32);
                self.arrays.push((id, length.into()));
                let elements = (0..length).map(|_| body.id()).collect();
                self.add(id, Object::Array { class, elements });
            }
            0x23 => {
                let (id, _, length, basic) = (body.id(), body.u4(), body.u4(), body.u1());
                let bytes = body.take(u64::from(length) * self.width(basic)).to_vec();
                self.add(id, Object::Numbers { basic, bytes });
            }
            tag => panic!("sub-record {tag:#x}"),
        }
    }

    fn class(&mut self, body: &mut Bytes<'_>) {
        let (id, _, parent) = (body.id(), body.u4(), body.id());
        let name = self.loaded.get(&id).expect("LOAD_CLASS before CLASS_DUMP").clone();
        (0..5).for_each(|_| assert_eq!(body.id(), 0));
        let size = body.u4().into();
        assert_eq!(body.number(2), 0, "no constants");
        let count = body.number(2);
        assert!(count <= 32_767, "VisualVM reads the number of static fields as signed");
        let statics = (0..count).map(|_| {
            let (name, basic) = (self.name(body.id()), body.u1());
            (name, basic, body.number(self.width(basic)))
        });
        let statics = statics.collect();
        let count = body.number(2);
        assert!(count <= 32_767);
        let fields = (0..count).map(|_| (self.name(body.id()), body.u1())).collect();
        assert!(self.objects.is_empty(), "classes before objects");
        assert!(self.classes.insert(id, Class { name, parent, size, statics, fields }).is_none());
    }

    fn add(&mut self, id: u64, object: Object) {
        assert!(self.objects.insert(id, object).is_none(), "{id:#x} is there twice");
    }

    fn name(&self, id: u64) -> String {
        self.names.get(&id).expect("a name before its use").clone()
    }

    fn width(&self, basic: u8) -> u64 {
        match basic {
            2 => self.id_size,
            4 | 8 => 1,
            5 | 9 => 2,
            6 | 10 => 4,
            7 | 11 => 8,
            _ => panic!("type {basic}"),
        }
    }

    /// A class and its superclasses.
    fn chain(&self, class: u64) -> impl Iterator<Item = &Class> {
        std::iter::successors(self.classes.get(&class), |class| self.classes.get(&class.parent))
    }

    /// Fields of an instance: name, type, value.
    pub fn fields(&self, id: u64) -> Vec<(String, u8, u64)> {
        let Object::Instance { class, fields } = &self.objects[&id] else {
            panic!("{id:#x} is an array")
        };
        let mut bytes = Bytes(fields, self.id_size);
        let all = self.chain(*class).flat_map(|class| &class.fields);
        let values = all
            .map(|(name, basic)| (name.clone(), *basic, bytes.number(self.width(*basic))))
            .collect();
        assert!(
            bytes.0.is_empty(),
            "an instance of {} is longer than its fields",
            self.classes[class].name
        );
        values
    }

    pub fn field(&self, id: u64, name: &str) -> u64 {
        self.fields(id)
            .into_iter()
            .find(|(field, ..)| field == name)
            .unwrap_or_else(|| panic!("no field {name}"))
            .2
    }

    pub fn class_name(&self, id: u64) -> &str {
        match &self.objects[&id] {
            Object::Instance { class, .. } | Object::Array { class, .. } => {
                &self.classes[class].name
            }
            Object::Numbers { basic: 5, .. } => "[C",
            Object::Numbers { .. } => "[B",
        }
    }

    pub fn classes_named<'d>(&'d self, name: &'d str) -> impl Iterator<Item = &'d Class> {
        self.classes.values().filter(move |class| class.name == name)
    }

    pub fn references(&self, id: u64) -> Vec<u64> {
        let targets: Vec<u64> = match &self.objects[&id] {
            Object::Instance { .. } => self
                .fields(id)
                .into_iter()
                .filter(|(_, basic, _)| *basic == 2)
                .map(|(.., value)| value)
                .collect(),
            Object::Array { elements, .. } => elements.clone(),
            Object::Numbers { .. } => Vec::new(),
        };
        targets.into_iter().filter(|target| *target != 0).collect()
    }

    /// The size that VisualVM shows: instances as their class says, everything rounded up to 8
    /// otherwise.
    pub fn size(&self, id: u64) -> u64 {
        let array = |bytes: usize| (2 * self.id_size + 4 + bytes as u64).next_multiple_of(8);
        match &self.objects[&id] {
            Object::Instance { class, .. } => self.classes[class].size,
            Object::Array { elements, .. } => array(elements.len() * self.id_size as usize),
            Object::Numbers { bytes, .. } => array(bytes.len()),
        }
    }

    /// The size that MAT shows, with the alignment and the width of references that it guesses.
    pub fn mat_size(&self, id: u64) -> u64 {
        let header = 2 * self.id_size;
        let start = (header + 4).next_multiple_of(self.id_size);
        let size = match &self.objects[&id] {
            Object::Instance { class, .. } => {
                let mut levels: Vec<_> = self.chain(*class).collect();
                assert_eq!(levels.pop().expect("a root class").name, "java/lang/Object");
                levels.iter().rev().fold(header, |size, class| {
                    (size + class.fields.iter().map(|(_, basic)| self.width(*basic)).sum::<u64>())
                        .next_multiple_of(self.id_size)
                })
            }
            Object::Array { elements, .. } => start + elements.len() as u64 * self.id_size,
            Object::Numbers { bytes, .. } => start + bytes.len() as u64,
        };
        size.next_multiple_of(8)
    }

    /// Static fields of the class that holds the roots of a group.
    pub fn holder(&self, group: &str) -> Vec<(String, u64)> {
        let name = format!("GC roots: {group}");
        let class = self
            .classes
            .values()
            .find(|class| class.name == name)
            .unwrap_or_else(|| panic!("no class {name}"));
        class.statics.iter().map(|(name, _, value)| (name.clone(), *value)).collect()
    }

    pub fn text(&self, id: u64) -> String {
        match &self.objects[&self.field(id, "value")] {
            Object::Numbers { basic: 8, bytes } => {
                bytes.iter().map(|&byte| char::from(byte)).collect()
            }
            Object::Numbers { basic: 5, bytes } => String::from_utf16(
                &bytes
                    .chunks(2)
                    .map(|unit| u16::from_be_bytes([unit[0], unit[1]]))
                    .collect::<Vec<_>>(),
            )
            .unwrap(),
            _ => panic!("no text"),
        }
    }

    fn check(&self) {
        self.check_required();
        self.check_ids();
        self.check_classes();
        for id in self.objects.keys() {
            if let Object::Instance { class, .. } | Object::Array { class, .. } = &self.objects[id]
            {
                assert!(self.classes.contains_key(class), "a class for every object");
            }
            for target in self.references(*id) {
                assert!(
                    self.objects.contains_key(&target),
                    "{id:#x} refers to {target:#x}, which does not exist"
                );
            }
        }
        for (tag, id) in &self.roots {
            assert!(if *tag == 0x05 {
                self.classes.contains_key(id)
            } else {
                self.objects.contains_key(id)
            });
        }
        for (_, thread, frame) in &self.locals {
            let thread = self
                .roots
                .iter()
                .filter(|(tag, _)| *tag == 0x08)
                .position(|(_, id)| *id == self.threads[thread].0);
            assert!(thread.is_some() && *frame < i32::MAX as u32);
        }
        assert!(
            self.roots.iter().any(|(tag, _)| *tag == 0x05),
            "without a sticky class MAT makes all classes roots"
        );
    }

    /// What readers look up by name and fail without.
    fn check_required(&self) {
        let named = |wanted: &str| {
            self.classes
                .values()
                .find(|class| class.name == wanted)
                .unwrap_or_else(|| panic!("class {wanted} is missing"))
        };
        for name in [
            "[Z",
            "[C",
            "[F",
            "[D",
            "[B",
            "[S",
            "[I",
            "[J",
            "[Ljava/lang/Object;",
            "java/lang/Class",
            "java/lang/ClassLoader",
        ] {
            named(name);
        }
        assert!(
            named("java/lang/ref/Reference")
                .fields
                .iter()
                .any(|(name, basic)| name == "referent" && *basic == 2)
        );
        for kind in ["Weak", "Soft", "Final", "Phantom"] {
            assert_eq!(
                self.classes[&named(&format!("java/lang/ref/{kind}Reference")).parent].name,
                "java/lang/ref/Reference"
            );
        }
        assert!(named("java/lang/String").fields.iter().any(|(name, _)| name == "value"));
        assert!(named("java/lang/Thread").fields.iter().any(|(name, _)| name == "name"));
        assert_eq!(
            named("java/lang/Object").size,
            2 * self.id_size,
            "or VisualVM asks java.lang.System"
        );
    }

    fn check_ids(&self) {
        assert!(
            self.classes.keys().all(|id| !self.objects.contains_key(id)),
            "a class is no instance"
        );
        let ids: BTreeSet<u64> = self.classes.keys().chain(self.objects.keys()).copied().collect();
        assert!(!ids.contains(&0) && ids.iter().all(|id| *id <= i64::MAX as u64));
        let gaps = ids.iter().zip(ids.iter().skip(1)).map(|(a, b)| b - a);
        let alignment = gaps.map(u64::trailing_zeros).min().unwrap_or(0);
        assert!(alignment <= 3, "MAT would round sizes up to {}", 1u64 << alignment);
        if self.id_size == 8 {
            for pair in self.arrays.windows(2) {
                let end = pair[0].0 + 16 + 8 * pair[0].1;
                assert!(
                    !(pair[0].0 < pair[1].0 && pair[1].0 < end),
                    "MAT would take references for compressed ones"
                );
            }
        }
    }

    fn check_classes(&self) {
        for class in self.classes.values() {
            assert_eq!(
                class.parent == 0,
                class.name == "java/lang/Object",
                "{} has the superclass {:#x}",
                class.name,
                class.parent
            );
            assert!(class.parent == 0 || self.classes.contains_key(&class.parent));
            let array = class.name.starts_with('[');
            assert!(
                !array || class.name.len() == 2 || class.name.ends_with(';'),
                "{} is no array",
                class.name
            );
            assert!(!class.name.ends_with("[]") && !class.name.is_empty());
            let names: BTreeSet<_> = class.fields.iter().map(|(name, _)| name).collect();
            assert_eq!(names.len(), class.fields.len(), "fields of {} with one name", class.name);
            let names: BTreeSet<_> = class.statics.iter().map(|(name, ..)| name).collect();
            assert_eq!(
                names.len(),
                class.statics.len(),
                "static fields of {} with one name",
                class.name
            );
        }
    }
}
