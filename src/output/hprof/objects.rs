//! The second pass: every object, in the order of the heap.

use super::classes::Classes;
use super::ids::IdSpace;
use super::layout::Layout;
use super::plan::{Field, Form, Key, Plan, Plans, ValueKind, is_weak};
use super::records::{Basic, Out, TRACE, sub};
use super::report::{Losses, Lost, Report};
use super::strings;
use crate::model::heap::{Heap, LabelKind, ObjectId, Value};
use std::io::{self, Write};

/// Everything that writing objects needs.
pub(super) struct Objects<'o, 'a, W> {
    pub(super) heap: &'o Heap<'a>,
    pub(super) layout: &'o Layout,
    pub(super) plans: &'o Plans,
    pub(super) classes: &'o Classes,
    pub(super) ids: &'o mut IdSpace,
    pub(super) out: &'o mut Out<W>,
    pub(super) report: &'o mut Report,
    pub(super) losses: &'o mut Losses,
    pub(super) scratch: Scratch,
}

/// Lists that are used again for each object.
#[derive(Default)]
pub(super) struct Scratch {
    /// References with their keys, sorted.
    edges: Vec<(Key, ObjectId)>,
    /// The id for each key of the plan.
    slots: Vec<u64>,
    /// `WeakReference`s to write after the object, and what they refer to.
    weak: Vec<(u64, ObjectId)>,
    /// The last array's id and end, to not look like compressed references.
    last_array: Option<(u64, u64)>,
}

impl<W: Write> Objects<'_, '_, W> {
    pub(super) fn write(mut self) -> io::Result<()> {
        let (plans, heap) = (self.plans, self.heap);
        let mut external = heap.external.iter().filter(|(_, bytes)| *bytes > 0).peekable();
        for object in heap.objects() {
            let external = external.next_if(|(owner, _)| *owner == object).map(|&(_, bytes)| (self.ids.fresh(), bytes));
            let row = plans.of[object.index()];
            let plan = &plans.plans[row as usize];
            let class = self.ids.class(self.classes.of_plan(row));
            match plan.form {
                Form::Fields | Form::Mixed => self.instance(object, plan, class, external.map(|(id, _)| id))?,
                Form::Array => self.array(object, plan, class, external.map(|(id, _)| id))?,
                Form::Bytes => self.bytes(object)?,
                Form::Numbers(basic) => self.numbers(object, basic)?,
                Form::Text => self.text(object)?,
            }
            if let Some((id, bytes)) = external {
                self.external(id, bytes)?;
            }
            self.weak_references()?;
        }
        Ok(())
    }

    fn instance(&mut self, object: ObjectId, plan: &Plan, class: u64, external: Option<u64>) -> io::Result<()> {
        let references = self.fill_slots(object, plan);
        let value = if plan.reads_value() { self.heap.value(object) } else { Value::None };
        self.out.instance(self.ids.object(object), class, plan.length as u32)?;
        let (before, after) = (&plan.fields[..plan.pads.start as usize], &plan.fields[plan.pads.end as usize..]);
        for field in before {
            match *field {
                Field::Reference(row) => self.out.id(self.scratch.slots[row as usize]),
                Field::External => self.out.id(external.unwrap_or(0)),
                Field::Contents(offset, count, basic) => self.contents(&value, offset as usize, count.into(), basic),
                Field::Value(basic) => self.number(&value, basic),
                Field::Pad(..) => {}
            }
        }
        self.out.small_zeros(plan.padding as usize);
        for field in after {
            if let Field::Reference(row) = *field {
                self.out.id(self.scratch.slots[row as usize]);
            }
        }
        self.report.add(plan.size, references + u64::from(external.is_some()));
        self.losses.add_bytes(Lost::RoundedInstance, self.layout.instance_size(plan.length).saturating_sub(plan.size));
        self.losses.add_bytes(Lost::Contents, plan.unwritten);
        self.losses.add(Lost::Value, plan.loses_value().into());
        Ok(())
    }

    /// Puts the ids of an object's references where the plan has them. Returns how many references there are.
    fn fill_slots(&mut self, object: ObjectId, plan: &Plan) -> u64 {
        let Scratch { edges, slots, weak, .. } = &mut self.scratch;
        if plan.keys.is_empty() {
            return 0;
        }
        let rows = self.heap.references.range(object);
        if plan.is_exact(self.heap, rows.clone()) {
            slots.clear();
            slots.extend(self.heap.references.target[rows].iter().map(|&target| self.ids.object(target)));
            return slots.len() as u64;
        }
        edges.clear();
        for reference in self.heap.references.of(object) {
            let weak = reference.weak && is_weak(self.heap, object, &reference);
            self.losses.add(Lost::Ephemeron, (reference.weak && !weak).into());
            edges.push(((reference.label, weak), reference.target));
        }
        if !edges.is_sorted_by_key(|(key, _)| *key) {
            edges.sort_by_key(|(key, _)| *key);
        }
        slots.clear();
        slots.resize(plan.keys.len(), 0);
        let mut row = 0;
        for &(key, target) in edges.iter() {
            while plan.keys.get(row).is_some_and(|&known| known < key) {
                row += 1;
            }
            let Some(slot) = slots.get_mut(row) else { break };
            *slot = self.ids.object(target);
            if key.1 && plan.referent == Some(row as u32) {
                self.losses.add(Lost::WeakLabel, (key.0.kind() != LabelKind::None).into());
            } else if key.1 {
                *slot = self.ids.fresh();
                weak.push((*slot, target));
            }
            row += 1;
        }
        edges.len() as u64
    }

    /// Numbers out of the memory of an object, in hprof's byte order. Memory that is not there counts as 0.
    fn contents(&mut self, value: &Value<'_>, offset: usize, count: usize, basic: Basic) {
        let width = basic.width() as usize;
        let bytes = match value {
            Value::Bytes(bytes) => bytes.get(offset..).unwrap_or_default(),
            _ => &[],
        };
        let known = &bytes[..bytes.len().min(count * width) / width * width];
        match (self.heap.big_endian, basic) {
            (true, _) => self.out.bytes(known),
            (false, Basic::Long) => self.out.swapped::<8>(known),
            (false, Basic::Int) => self.out.swapped::<4>(known),
            (false, Basic::Short) => self.out.swapped::<2>(known),
            (false, _) => self.out.bytes(known),
        }
        self.out.small_zeros(count * width - known.len());
    }

    fn number(&mut self, value: &Value<'_>, basic: Basic) {
        match (value, basic) {
            (Value::Integer(value), Basic::Long) => self.out.u8(*value as u64),
            (Value::Float(value), Basic::Double) => self.out.u8(value.to_bits()),
            (Value::Boolean(value), Basic::Boolean) => self.out.u1((*value).into()),
            (Value::Length(value), Basic::Long) => self.out.u8(*value),
            (Value::Length(value), Basic::Int) => self.out.u4((*value).min(i32::MAX as u64) as u32),
            _ => {
                self.losses.add(Lost::Value, 1);
                self.zero(basic);
            }
        }
    }

    fn zero(&mut self, basic: Basic) {
        match basic {
            Basic::Object => self.out.id(0),
            Basic::Boolean | Basic::Byte => self.out.u1(0),
            Basic::Char | Basic::Short => self.out.u2(0),
            Basic::Float | Basic::Int => self.out.u4(0),
            Basic::Double | Basic::Long => self.out.u8(0),
        }
    }

    fn array(&mut self, object: ObjectId, plan: &Plan, class: u64, external: Option<u64>) -> io::Result<()> {
        let heap = self.heap;
        let size = heap.shallow.get(object.index());
        let fitting = self.layout.array_length(size);
        let longest = (1 << 30) / self.layout.reference() * 3;
        let edges = heap.references.range(object).len() as u64;
        let kept = edges.min(longest - 1);
        self.losses.add(Lost::Reference, edges - kept);
        let count = kept + u64::from(external.is_some());
        let length = count.max(fitting);
        let id = self.ids.object(object);
        self.keep_apart(id, length)?;
        let by_index = kept == edges && self.indexed(object, count, length);
        self.out.begin(sub::OBJECT_ARRAY, 9 + 2 * self.layout.reference() + length * self.layout.reference())?;
        self.out.id(id);
        self.out.u4(TRACE);
        self.out.u4(length as u32);
        self.out.id(class);
        let mut written = 0;
        for reference in heap.references.of(object).take(kept as usize) {
            let weak = is_weak(heap, object, &reference);
            self.losses.add(Lost::Ephemeron, (reference.weak && !weak).into());
            match reference.label.kind() {
                LabelKind::None => {}
                LabelKind::Index(index) if by_index => {
                    // Elements come in order: null up to this one.
                    self.out.zeros((u64::from(index) - written) * self.layout.reference())?;
                    written = index.into();
                }
                LabelKind::Index(index) => self.losses.add(Lost::ArrayIndex, (u64::from(index) != written).into()),
                LabelKind::Field(_) | LabelKind::Offset(_) => self.losses.add(Lost::ArrayLabel, 1),
            }
            if by_index && !matches!(reference.label.kind(), LabelKind::Index(_)) {
                continue;
            }
            let target = self.target(reference.target, weak);
            self.out.id(target);
            self.out.relieve()?;
            written += 1;
        }
        if by_index {
            for reference in heap.references.of(object).filter(|reference| !matches!(reference.label.kind(), LabelKind::Index(_))) {
                let weak = is_weak(heap, object, &reference);
                let target = self.target(reference.target, weak);
                self.out.id(target);
                self.out.relieve()?;
                written += 1;
            }
        }
        if let Some(external) = external {
            self.out.id(external);
            written += 1;
        }
        self.out.zeros((length - written) * self.layout.reference())?;
        let shown = self.layout.array_size(length * self.layout.reference());
        self.report.add(shown, count);
        self.sized(shown, size);
        if plan.value == ValueKind::Bytes {
            self.losses.add_bytes(Lost::Contents, size.saturating_sub(edges * u64::from(heap.pointer_size)));
        } else {
            // A number of elements is no loss: an array has one.
            let is_lost = !matches!(plan.value, ValueKind::None | ValueKind::Length);
            self.losses.add(Lost::Value, is_lost.into());
        }
        Ok(())
    }

    /// Whether the elements of an array can stand at their indexes, with everything else behind them.
    fn indexed(&self, object: ObjectId, count: u64, length: u64) -> bool {
        let mut next = 0;
        let mut elements = 0;
        for reference in self.heap.references.of(object) {
            if let LabelKind::Index(index) = reference.label.kind() {
                if u64::from(index) < next {
                    return false;
                }
                next = u64::from(index) + 1;
                elements += 1;
            }
        }
        elements > 0 && elements <= count && next + (count - elements) <= length
    }

    /// The id to write for a reference, which may be that of a new `WeakReference`.
    fn target(&mut self, target: ObjectId, weak: bool) -> u64 {
        if !weak {
            return self.ids.object(target);
        }
        let id = self.ids.fresh();
        self.scratch.weak.push((id, target));
        id
    }

    /// MAT takes references for 4 bytes wide once an array of references begins where the one before would still go on if
    /// they were 8 bytes wide. An empty array elsewhere keeps two such arrays from following each other.
    fn keep_apart(&mut self, id: u64, length: u64) -> io::Result<()> {
        if !self.layout.wide {
            return Ok(());
        }
        let end = id + 16 + 8 * length;
        if self.scratch.last_array.is_some_and(|(start, end)| start < id && id < end) {
            let between = self.ids.fresh();
            self.out.begin(sub::OBJECT_ARRAY, 25)?;
            self.out.id(between);
            self.out.u4(TRACE);
            self.out.u4(0);
            self.out.id(self.ids.class(self.classes.required.object_array));
            self.report.add(self.layout.array_size(0), 0);
        }
        self.scratch.last_array = Some((id, end));
        Ok(())
    }

    fn bytes(&mut self, object: ObjectId) -> io::Result<()> {
        let size = self.heap.shallow.get(object.index());
        let contents = match self.heap.value(object) {
            Value::Bytes(bytes) => bytes,
            _ => &[],
        };
        let length = self.layout.bytes_length(size, contents.len() as u64);
        self.number_array(self.ids.object(object), Basic::Byte, length, contents)?;
        let shown = self.layout.array_size(length);
        self.report.add(shown, 0);
        self.sized(shown, size);
        self.losses.add(Lost::BytesType, 1);
        self.losses.add_bytes(Lost::Contents, size.saturating_sub(length));
        Ok(())
    }

    fn external(&mut self, id: u64, bytes: u64) -> io::Result<()> {
        let length = self.layout.bytes_length(bytes, 0);
        self.number_array(id, Basic::Byte, length, &[])?;
        let shown = self.layout.array_size(length);
        self.report.add(shown, 0);
        self.sized(shown, bytes);
        Ok(())
    }

    /// An array of Java's, with the elements that it has. Where headers are smaller here than in the JVM it came from, some more
    /// make its size right.
    fn numbers(&mut self, object: ObjectId, basic: Basic) -> io::Result<()> {
        let width = u64::from(basic.width());
        let size = self.heap.shallow.get(object.index());
        let value = self.heap.value(object);
        let (contents, known) = match value {
            Value::Bytes(bytes) => (bytes, bytes.len() as u64 / width),
            Value::Length(length) => (&[][..], length),
            _ => (&[][..], 0),
        };
        let longest = self.layout.bytes_length(size, contents.len() as u64) / width;
        let fitting = self.layout.least_bytes(size).div_ceil(width).min(longest);
        let length = known.min(longest.max(contents.len() as u64 / width)).max(fitting);
        self.number_array(self.ids.object(object), basic, length, contents)?;
        let shown = self.layout.array_size(length * width);
        self.report.add(shown, 0);
        self.sized(shown, size);
        self.losses.add_bytes(Lost::Lengthened, length.saturating_sub(known) * width);
        Ok(())
    }

    fn number_array(&mut self, id: u64, basic: Basic, length: u64, contents: &[u8]) -> io::Result<()> {
        let bytes = length * u64::from(basic.width());
        self.out.begin(sub::PRIM_ARRAY, 10 + self.layout.reference() + bytes)?;
        self.out.id(id);
        self.out.u4(TRACE);
        self.out.u4(length as u32);
        self.out.u1(basic as u8);
        let known = &contents[..contents.len().min(bytes as usize)];
        self.out.stream(known)?;
        self.out.zeros(bytes - known.len() as u64)
    }

    fn text(&mut self, object: ObjectId) -> io::Result<()> {
        let (text, known) = match self.heap.value(object) {
            Value::Text { text, .. } => (text, true),
            _ => ("".into(), false),
        };
        let id = self.ids.object(object);
        let (shown, cut) = strings::write(&text, id, self.layout, self.classes, self.ids, self.out, self.report)?;
        self.losses.add(Lost::StringType, 1);
        self.losses.add(Lost::CutText, cut.into());
        self.losses.add(Lost::Value, (!known).into());
        self.losses.add_bytes(Lost::StringSize, shown.abs_diff(self.heap.shallow.get(object.index())));
        Ok(())
    }

    fn weak_references(&mut self) -> io::Result<()> {
        let id = self.layout.reference();
        for index in 0..self.scratch.weak.len() {
            let (weak, target) = self.scratch.weak[index];
            self.out.instance(weak, self.ids.class(self.classes.required.weak_reference), id as u32)?;
            self.out.id(self.ids.object(target));
            self.report.add(self.layout.instance_size(id), 1);
        }
        self.scratch.weak.clear();
        Ok(())
    }

    /// Compares the size that readers show for an array with the true one.
    fn sized(&mut self, shown: u64, size: u64) {
        self.losses.add_bytes(Lost::RoundedArray, shown.saturating_sub(size));
        self.losses.add_bytes(Lost::CutSize, size.saturating_sub(shown));
    }
}
