//! The first pass of loading: everything but the contents of objects.

use super::layout::{ClassTable, is};
use super::naming::Strings;
use super::objects::Object;
use super::primitives::IdSize;
use super::records::{Body, HeapRec, Rec, Records};
use super::roots::Root;
use super::sizes::{Compression, Rule};
use super::symbols::{Frame, StartThread, Trace};
use crate::error::{Error, Result};
use crate::input::read::Progress;
use crate::java::FieldType;
use crate::model::addresses::AddressesBuilder;
use rustc_hash::FxHashMap;
use std::num::Saturating;

/// What there is besides objects, and the ids of these.
pub(super) struct Scan<'a> {
    pub ids: IdSize,
    pub strings: Strings<'a>,
    pub classes: ClassTable<'a>,
    /// Classes by serial.
    pub serials: FxHashMap<u32, u64>,
    pub frames: FxHashMap<u64, Frame>,
    pub traces: FxHashMap<u32, Trace<'a>>,
    pub threads: Vec<StartThread>,
    pub roots: Vec<Root>,
    /// Ids of objects and classes.
    pub addresses: AddressesBuilder,
    /// How many were added to `addresses`.
    pub objects: Saturating<u64>,
    pub rule: Rule,
    /// dumptool wrote the file.
    pub ours: bool,
    /// Elements of arrays.
    pub elements: Saturating<u64>,
    /// Classes with an id that another class has.
    pub repeated_classes: Saturating<u64>,
    /// What ended the pass early.
    pub damage: Option<Error>,
}

impl<'a> Scan<'a> {
    /// Reads a file once.
    ///
    /// # Errors
    /// When the header cannot be read.
    pub(super) fn new(bytes: &'a [u8], progress: Progress<'_>) -> Result<Self> {
        Self::with(bytes, progress, Self::add_object)
    }

    /// As [`Self::new`], but with something else done with the objects.
    ///
    /// # Errors
    /// When the header cannot be read.
    pub(super) fn with(bytes: &'a [u8], progress: Progress<'_>, each: impl FnMut(&mut Self, &Object<'a>)) -> Result<Self> {
        let mut records = Records::new(bytes)?;
        let ids = records.header().id_size;
        let mut scan = Self {
            ids,
            strings: Strings::default(),
            classes: ClassTable::default(),
            serials: FxHashMap::default(),
            frames: FxHashMap::default(),
            traces: FxHashMap::default(),
            threads: Vec::new(),
            roots: Vec::new(),
            addresses: AddressesBuilder::default(),
            objects: Saturating(0),
            rule: Rule::HotSpot { pointer: 4, reference: 4, dense: true },
            ours: false,
            elements: Saturating(0),
            repeated_classes: Saturating(0),
            damage: None,
        };
        let mut names = FxHashMap::default();
        let mut compression = Compression::default();
        scan.damage = scan.read(&mut records, &mut names, &mut compression, progress, each).err();
        scan.classes.set_names(&names);
        scan.ours = scan.classes.named("dumptool.Info", &scan.strings).is_some();
        scan.rule = scan.find_rule(compression);
        scan.classes.resolve(ids, scan.rule);
        Ok(scan)
    }

    fn read(
        &mut self,
        records: &mut Records<'a>,
        names: &mut FxHashMap<u64, u64>,
        compression: &mut Compression,
        progress: Progress<'_>,
        mut each: impl FnMut(&mut Self, &Object<'a>),
    ) -> Result<()> {
        let mut next_progress = 0;
        loop {
            while let Some(object) = records.next_object() {
                let (_, object) = object?;
                compression.see(&object);
                each(self, &object);
            }
            let Some(record) = records.next() else { return Ok(()) };
            let (offset, record) = record?;
            if offset >= next_progress {
                // The other passes follow: the bar moves by thirds.
                progress(offset / 3);
                next_progress = offset.saturating_add(1 << 20);
            }
            match record {
                Rec::Heap(HeapRec::Object(object)) => {
                    compression.see(&object);
                    each(self, &object);
                }
                Rec::Heap(HeapRec::Root(root)) => self.roots.push(root),
                Rec::Heap(HeapRec::ClassDump(class)) => match self.classes.add(class, offset) {
                    true => self.add_id(class.id),
                    false => self.repeated_classes += 1,
                },
                Rec::Heap(HeapRec::HeapInfo { .. }) => {}
                Rec::Top { body, .. } => match body {
                    Body::Utf8(string) => {
                        self.strings.add(string.id, string.text);
                    }
                    Body::LoadClass(class) => {
                        names.insert(class.class, class.name);
                        self.serials.insert(class.serial, class.class);
                    }
                    Body::Frame(frame) => {
                        self.frames.insert(frame.id, frame);
                    }
                    Body::Trace(trace) => {
                        self.traces.insert(trace.serial, trace);
                    }
                    Body::StartThread(thread) => self.threads.push(thread),
                    _ => {}
                },
            }
        }
    }

    #[inline]
    fn add_object(&mut self, object: &Object<'_>) {
        if let Object::ObjectArray(array) = object {
            self.elements += u64::from(array.count);
        }
        self.add_id(object.id());
    }

    #[inline]
    fn add_id(&mut self, id: u64) {
        self.addresses.add(id);
        self.objects += 1;
    }

    fn find_rule(&self, compression: Compression) -> Rule {
        let object = self.classes.named("java.lang.Object", &self.strings).and_then(|index| self.classes.get(index));
        let stated = object.map_or(0, |class| class.dump.instance_size);
        let class = self.classes.named("java.lang.Class", &self.strings).and_then(|index| self.classes.get(index));
        let dense = class.is_some_and(|class| class.own_field(b"classData", &self.strings, self.ids).is_some());
        match self.ids {
            _ if stated > 0 => Rule::Stated { object: stated.into(), ours: self.ours },
            IdSize::Four => Rule::HotSpot { pointer: 4, reference: 4, dense },
            IdSize::Eight => Rule::HotSpot { pointer: 8, reference: if compression.seen() { 4 } else { 8 }, dense },
        }
    }

    /// Where a field that all objects of a class inherit from `declaring` stands, counted from the end of their data.
    pub(super) fn inherited_field(&self, declaring: &str, field: &[u8]) -> Option<(usize, FieldType)> {
        let class = self.classes.named(declaring, &self.strings).and_then(|index| self.classes.get(index))?;
        let (offset, kind) = class.own_field(field, &self.strings, self.ids)?;
        Some((usize::try_from(class.data).ok()?.checked_sub(offset)?, kind))
    }

    /// Whether a class is this one or below it.
    pub(super) fn inherits(&self, class: usize, name: &str) -> bool {
        self.classes.chain(class).any(|class| is(self.strings.text(class.name), name))
    }
}
