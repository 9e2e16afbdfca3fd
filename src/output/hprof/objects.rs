//! The second pass: every object, in the order of the heap.

use super::Writer;
use super::ephemerons::is_weak;
use super::instances::{Instance, Instances, Surroundings};
use super::plan::{Form, ValueKind};
use super::records::{put_id, width};
use super::report::LossKind;
use super::spill::{External, INSIDE};
use crate::java::FieldType;
use crate::model::heap::{Label, LabelKind, ObjectId, Reference, Value};
use std::borrow::Cow;
use std::io::{self, Write};

impl<W: Write> Writer<'_, '_, W> {
    pub(super) fn objects(&mut self) -> io::Result<()> {
        let (plans, heap) = (self.plans, self.heap);
        let mut instances = Instances::of(plans, self.classes, &self.ids, &self.layout);
        let mut external = heap.external.iter().filter(|(_, bytes)| *bytes > 0).peekable();
        for object in heap.objects() {
            let bytes =
                external.next_if(|(owner, _)| *owner == object).map_or(0, |(_, bytes)| *bytes);
            instances.expect(&plans.of, object);
            let row = plans.of[object.index()] as usize;
            let external = if bytes == 0 {
                None
            } else {
                self.begin_external(bytes, plans.plans[row].external)
            };
            let instance = instances.get(row);
            match instance.form {
                Form::Fields | Form::Mixed => {
                    self.instance(object, row, &mut instances, external.map(|(id, _)| id))?
                }
                Form::Array => self.array(object, instance, external.map(|(id, _)| id))?,
                Form::Bytes => self.bytes(object)?,
                Form::Numbers(basic) => self.numbers(object, basic)?,
                Form::Text => self.text(object)?,
            }
            if let Some((id, bytes)) = external {
                match plans.plans[row].external {
                    of_plan if of_plan.holds() => self.spilled(object, id, bytes, of_plan)?,
                    _ => self.external(id, bytes)?,
                }
            }
            if !self.scratch.weak.is_empty() {
                self.weak_references()?;
            }
        }
        instances.account(plans, &self.layout, &mut self.report, &mut self.losses);
        Ok(())
    }

    /// The id of the array for external bytes, if there is one.
    fn begin_external(&mut self, bytes: u64, external: External) -> Option<(u64, u64)> {
        if external.has_array() {
            return Some((self.ids.fresh(), bytes));
        }
        self.losses.add_bytes(LossKind::Inside, bytes);
        if external == External::Inside {
            self.losses.add_bytes(LossKind::RoundedArray, INSIDE - bytes);
        }
        None
    }

    #[inline]
    fn instance(
        &mut self,
        object: ObjectId,
        row: usize,
        instances: &mut Instances,
        external: Option<u64>,
    ) -> io::Result<()> {
        let instance = instances.get(row);
        let reads_value = instance.reads_value;
        let fields =
            self.out.instance(self.ids.object(object), instance.class, instance.length as usize)?;
        let mut around = Surroundings {
            heap: self.heap,
            wide: self.layout.wide,
            ids: &mut self.ids,
            losses: &mut self.losses,
            scratch: &mut self.scratch,
        };
        let references =
            instances.fill_references(object, row, &self.plans.plans[row], fields, &mut around);
        if reads_value || external.is_some() {
            let value = if reads_value { self.heap.value(object) } else { Value::None };
            instances.fill_values(row, &value, external, fields, &mut around);
        }
        self.report.references += references + u64::from(external.is_some());
        Ok(())
    }

    fn array(
        &mut self,
        object: ObjectId,
        instance: &Instance,
        external: Option<u64>,
    ) -> io::Result<()> {
        let heap = self.heap;
        let size = heap.shallow.get(object.index());
        let fitting = self.layout.array_length(self.filling.size(heap, object));
        let longest = (1 << 30) / self.layout.reference() * 3;
        debug_assert!(
            !self.plans.plans[self.plans.of[object.index()] as usize].external.holds(),
            "references are elsewhere"
        );
        let edges = heap.fields_of(object).len() as u64;
        let kept = edges.min(longest - 1);
        self.losses.add(LossKind::Reference, edges - kept);
        let count = kept + u64::from(external.is_some());
        let length = count.max(fitting);
        let id = self.ids.object(object);
        self.keep_apart(id, length)?;
        let elements = if kept == edges { self.elements(object, count, length) } else { None };
        self.out.object_array(id, instance.class, length)?;
        // Ids for weak references are given in the order of the elements, which is only known at
        // the end.
        let given_in_order =
            elements.is_none() || !heap.references.any_weak(heap.fields_of(object));
        let area =
            if given_in_order { self.out.area(length * self.layout.reference()) } else { None };
        match area {
            Some(area) => {
                let around = Surroundings {
                    heap,
                    wide: self.layout.wide,
                    ids: &mut self.ids,
                    losses: &mut self.losses,
                    scratch: &mut self.scratch,
                };
                fill_elements(object, elements, external, area, around);
            }
            None => {
                self.stream_elements(object, kept as usize, elements.is_some(), length, external)?
            }
        }
        self.sized(length * self.layout.reference(), count, size, LossKind::CutSize);
        if instance.value == ValueKind::Bytes {
            self.losses.add_bytes(
                LossKind::Contents,
                size.saturating_sub(edges * u64::from(heap.pointer_size)),
            );
        } else {
            // A number of elements is not lost: it is the length of the array.
            let is_lost = !matches!(instance.value, ValueKind::None | ValueKind::Length);
            self.losses.add(LossKind::Value, is_lost.into());
        }
        Ok(())
    }

    /// Writes the elements one after the other, in order.
    fn stream_elements(
        &mut self,
        object: ObjectId,
        kept: usize,
        by_index: bool,
        length: u64,
        external: Option<u64>,
    ) -> io::Result<()> {
        let heap = self.heap;
        let mut written = 0;
        let all = || heap.references_at(object, heap.fields_of(object)).take(kept);
        // With indexes, all other references follow the elements.
        let is_first = |reference: &Reference| {
            !by_index || matches!(reference.label.kind(), LabelKind::Index(_))
        };
        for reference in all().filter(is_first).chain(all().filter(|other| !is_first(other))) {
            match reference.label.kind() {
                LabelKind::None => {}
                LabelKind::Index(index) if by_index => {
                    // Elements come in order: those up to this one are null.
                    self.out.zeros((u64::from(index) - written) * self.layout.reference())?;
                    written = index.into();
                }
                LabelKind::Index(index) => {
                    self.losses.add(LossKind::ArrayIndex, (u64::from(index) != written).into())
                }
                LabelKind::Field(_) | LabelKind::Offset(_) => {
                    self.losses.add(LossKind::ArrayLabel, 1)
                }
            }
            self.element(object, &reference)?;
            written += 1;
        }
        if let Some(external) = external {
            self.out.id(external);
            written += 1;
        }
        self.out.zeros((length - written) * self.layout.reference())
    }

    /// The end of the elements of an array, if they fit at their indexes with all other references
    /// after them.
    fn elements(&self, object: ObjectId, count: u64, length: u64) -> Option<u64> {
        let mut next = 0;
        let mut elements = 0;
        for label in self.heap.labels(object, self.heap.fields_of(object)).iter() {
            if let LabelKind::Index(index) = label.kind() {
                if u64::from(index) < next {
                    return None;
                }
                next = u64::from(index) + 1;
                elements += 1;
            }
        }
        (elements > 0 && elements <= count && next + (count - elements) <= length).then_some(next)
    }

    /// Writes a reference of an object as an element: the target, or a new `WeakReference` to it.
    pub(super) fn element(&mut self, object: ObjectId, reference: &Reference) -> io::Result<()> {
        let weak = is_weak(self.heap, object, reference);
        self.losses.add(LossKind::Ephemeron, (reference.weak && !weak).into());
        let id = if weak { self.ids.fresh() } else { self.ids.object(reference.target) };
        if weak {
            self.scratch.weak.push((id, reference.target));
        }
        self.out.id(id);
        self.out.relieve()
    }

    /// MAT concludes that references take 4 bytes if an array of references begins before the end
    /// that the previous one would have with 8-byte references. An empty array of another type
    /// separates two such arrays.
    pub(super) fn keep_apart(&mut self, id: u64, length: u64) -> io::Result<()> {
        if !self.layout.wide {
            return Ok(());
        }
        let end = id + 16 + 8 * length;
        if self.last_array.is_some_and(|(start, end)| start < id && id < end) {
            let between = self.ids.fresh();
            self.out.object_array(
                between,
                self.ids.class(self.classes.required.object_array),
                0,
            )?;
            self.report.add(self.layout.array_size(0), 0);
        }
        self.last_array = Some((id, end));
        Ok(())
    }

    fn bytes(&mut self, object: ObjectId) -> io::Result<()> {
        let size = self.heap.shallow.get(object.index());
        let contents = match self.heap.value(object) {
            Value::Bytes(bytes) => bytes,
            _ => Cow::default(),
        };
        let length = self.layout.bytes_length(self.filling.size(self.heap, object));
        self.number_array(self.ids.object(object), FieldType::Byte, length, &contents)?;
        self.sized(length, 0, size, LossKind::CutSize);
        self.losses.add(LossKind::BytesType, 1);
        self.losses.add_bytes(LossKind::Contents, size.saturating_sub(length));
        Ok(())
    }

    fn external(&mut self, id: u64, bytes: u64) -> io::Result<()> {
        let length = self.layout.bytes_length(bytes.min(self.filling.limit));
        self.number_array(id, FieldType::Byte, length, &[])?;
        self.sized(length, 0, bytes, LossKind::CutExternal);
        Ok(())
    }

    /// Writes a Java array with its elements. Where headers are smaller here than in the JVM that
    /// wrote the dump, additional elements make up for the size.
    fn numbers(&mut self, object: ObjectId, basic: FieldType) -> io::Result<()> {
        let width = u64::from(width(basic));
        let size = self.heap.shallow.get(object.index());
        let value = self.heap.value(object);
        let (contents, known) = match value {
            Value::Bytes(bytes) => {
                let known = bytes.len() as u64 / width;
                (bytes, known)
            }
            Value::Length(length) => (Cow::default(), length),
            _ => (Cow::default(), 0),
        };
        let size_to_fill = self.filling.size(self.heap, object);
        let longest = self.layout.bytes_length(size_to_fill) / width;
        let fitting = self.layout.least_bytes(size_to_fill).div_ceil(width).min(longest);
        let length = known.min(longest.max(contents.len() as u64 / width)).max(fitting);
        self.number_array(self.ids.object(object), basic, length, &contents)?;
        self.sized(length * width, 0, size, LossKind::CutSize);
        self.losses.add_bytes(LossKind::Lengthened, length.saturating_sub(known) * width);
        Ok(())
    }

    fn number_array(
        &mut self,
        id: u64,
        basic: FieldType,
        length: u64,
        contents: &[u8],
    ) -> io::Result<()> {
        let bytes = self.out.number_array(id, basic, length)?;
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
        let kept = self.filling.text(&text, || self.heap.text_identity(object, &text));
        let cut_here = kept.len() < text.len();
        let (shown, cut) = self.string(kept, id)?;
        self.losses.add(LossKind::StringType, 1);
        self.losses.add(LossKind::CutText, (cut || cut_here).into());
        self.losses.add(LossKind::Value, (!known).into());
        self.losses
            .add_bytes(LossKind::StringSize, shown.abs_diff(self.heap.shallow.get(object.index())));
        Ok(())
    }

    fn weak_references(&mut self) -> io::Result<()> {
        let id = self.layout.reference();
        for index in 0..self.scratch.weak.len() {
            let (weak, target) = self.scratch.weak[index];
            let class = self.ids.class(self.classes.required.weak_reference);
            let fields = self.out.instance(weak, class, id as usize)?;
            put_id(fields, 0, self.ids.object(target), self.layout.wide);
            self.report.add(self.layout.instance_size(id), 1);
        }
        self.scratch.weak.clear();
        Ok(())
    }

    /// Counts an array of that many bytes of elements, and compares the size that readers show for
    /// it with the true one, of which a part may be `cut`.
    pub(super) fn sized(&mut self, bytes: u64, references: u64, size: u64, cut: LossKind) {
        let shown = self.layout.array_size(bytes);
        self.report.add(shown, references);
        self.losses.add_bytes(LossKind::RoundedArray, shown.saturating_sub(size));
        self.losses.add_bytes(cut, size.saturating_sub(shown));
    }
}

/// Fills in the elements of an array that is written in one piece.
fn fill_elements(
    object: ObjectId,
    elements: Option<u64>,
    external: Option<u64>,
    area: &mut [u8],
    around: Surroundings<'_, '_>,
) {
    let references = &around.heap.references;
    let rows = around.heap.fields_of(object);
    let labels = around.heap.labels(object, rows.clone());
    let any_weak = references.any_weak(rows.clone());
    let width = if around.wide { 8 } else { 4 };
    // Other references follow the elements. Without elements, all references keep their order.
    let mut next = elements.unwrap_or(0);
    let mut labelled = 0;
    for (row, &target) in rows.clone().zip(&references.target[rows.clone()]) {
        let label = labels.get(row - rows.start).copied().unwrap_or(Label::NONE);
        let place = match (label.kind(), elements) {
            (LabelKind::Index(index), Some(_)) => index.into(),
            (kind, _) => {
                match kind {
                    LabelKind::None => {}
                    LabelKind::Index(index) => {
                        around.losses.add(LossKind::ArrayIndex, (u64::from(index) != next).into())
                    }
                    LabelKind::Field(_) | LabelKind::Offset(_) => labelled += 1,
                }
                next += 1;
                next - 1
            }
        };
        let mut id = around.ids.object(target);
        if any_weak && references.is_weak(row) {
            if is_weak(around.heap, object, &Reference { target, label, weak: true }) {
                id = around.ids.fresh();
                around.scratch.weak.push((id, target));
            } else {
                around.losses.add(LossKind::Ephemeron, 1)
            }
        }
        put_id(area, place as usize * width, id, around.wide);
    }
    around.losses.add(LossKind::ArrayLabel, labelled);
    if let Some(external) = external {
        put_id(area, next as usize * width, external, around.wide);
    }
}
