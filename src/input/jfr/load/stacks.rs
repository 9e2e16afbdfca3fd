//! The stacks of events.

use super::super::values::{Tables, Value};
use super::{Known, Loader};
use crate::model::names::{NameId, Names};
use crate::model::profile::{FrameId, FrameKind, ProfileFrame, StackId};

impl Loader<'_> {
    /// The stack with a number. Recordings may refer to stacks that they do not contain.
    pub(super) fn stack<'a>(
        &mut self,
        tables: &Tables<'a>,
        stack: Value<'a>,
        known: &mut Known,
    ) -> StackId {
        let Value::Pooled(_, id) = stack else { return StackId::EMPTY };
        if let Some(&known) = known.stacks.get(&id) {
            return known;
        }
        let read = self.read_stack(tables, stack, known).unwrap_or(StackId::EMPTY);
        known.stacks.insert(id, read);
        read
    }

    fn read_stack<'a>(
        &mut self,
        tables: &Tables<'a>,
        stack: Value<'a>,
        known: &mut Known,
    ) -> Option<StackId> {
        let is_truncated = tables.field(stack, "truncated").is_some_and(|cut| cut.number() != 0);
        let (frames, cursor) = tables.field_at(stack, "frames")?;
        let (count, mut cursor) = tables.array(frames, cursor).ok().filter(|_| frames.is_array)?;
        let class = tables.types.class(frames.class)?;
        let places = ["method", "lineNumber", "type"].map(|name| class.position(name));
        let (mut all, mut values) = (Vec::new(), Vec::new());
        for _ in 0..count {
            if frames.is_pooled {
                let element = tables.element(frames, &mut cursor).ok()?;
                let (class, mut fields) = tables.resolve(element)?;
                tables.values(class, &mut fields, &mut values).ok()?;
            } else {
                tables.values(frames.class, &mut cursor, &mut values).ok()?;
            }
            self.add_frame(tables, places, &values, known, &mut all);
        }
        // The file begins with the innermost frame.
        if is_truncated {
            self.cut = self.cut.saturating_add(1);
            all.push(self.truncated);
        }
        all.reverse();
        let id = self.builder.push_all(StackId::EMPTY, &all);
        self.builder.count_cut();
        Some(id)
    }

    /// Appends a frame, and those around it if its method was inlined.
    fn add_frame<'a>(
        &mut self,
        tables: &Tables<'a>,
        places: [Option<usize>; 3],
        values: &[Value<'a>],
        known: &mut Known,
        all: &mut Vec<FrameId>,
    ) {
        let value = |at: Option<usize>| at.and_then(|at| values.get(at)).copied();
        let id = |value: Option<Value<'a>>| match value {
            Some(Value::Pooled(_, id) | Value::Number(id)) => id,
            _ => 0,
        };
        let [method, line, kind] = places.map(value);
        let builder = &mut self.builder;
        let Known { frames, methods, around, .. } = known;
        let key = [method, line, kind].map(id);
        let innermost = *frames.entry(key).or_insert_with(|| {
            let mut original = method
                .map_or_else(Vec::new, |method| tables.original_frames(method, id(line) as u32))
                .into_iter()
                .map(|original| {
                    let function = format!("{}.{}", original.class, original.method);
                    let function = builder.name(function.as_bytes());
                    let line = builder.line(original.line.into());
                    builder.frame(frame(function, line, FrameKind::Code))
                });
            if let Some(innermost) = original.next() {
                let others: Vec<FrameId> = original.collect();
                if !others.is_empty() {
                    around.insert(key, others);
                }
                return innermost;
            }
            let function = *methods.entry(id(method)).or_insert_with(|| {
                let name = method.and_then(|method| tables.method_name(method)).unwrap_or_default();
                builder.name(name.as_bytes())
            });
            let line = builder.line((id(line) as i32).max(0).into());
            let kind = match kind.and_then(|kind| tables.word(kind)).as_deref() {
                Some("Native" | "C++") => FrameKind::Native,
                Some("Kernel") => FrameKind::Kernel,
                _ => FrameKind::Code,
            };
            builder.frame(frame(function, line, kind))
        });
        all.push(innermost);
        all.extend(around.get(&key).into_iter().flatten());
    }
}

pub(super) fn frame(function: NameId, line: u32, kind: FrameKind) -> ProfileFrame {
    ProfileFrame { function, file: Names::EMPTY, line, kind }
}
