//! The types of a chunk: its metadata event describes every class and its fields.

mod steps;

pub(super) use steps::Step;

use super::wire::{Text, varint};
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use rustc_hash::FxHashMap;
use steps::steps_of;

/// The maximum depth of classes inside classes. Real recordings have three levels.
pub(super) const DEEPEST: u32 = 16;

/// The position of a class in [`Types::classes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ClassId(pub(super) u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// One byte: `byte` and `boolean`.
    Byte,
    /// A number of up to nine bytes: `short`, `char`, `int` and `long`.
    Number,
    Float,
    Double,
    Text,
    /// Fields of its own, one after the other.
    Fields,
}

/// A class: the type of events, of pooled values or of fields.
#[derive(Debug)]
pub(super) struct Class {
    /// The number that events and pools use.
    pub(super) id: u64,
    /// The name, such as `jdk.ExecutionSample` or `java.lang.Thread`.
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) fields: Vec<Field>,
    /// The steps over the bytes of a value.
    pub(super) steps: Vec<Step>,
    /// The minimum size of a value in bytes.
    least: u64,
}

#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) class: ClassId,
    /// Whether the value is the number of a value in the pool of the class.
    pub(super) is_pooled: bool,
    /// Whether the value is a count followed by that many values.
    pub(super) is_array: bool,
    pub(super) unit: FieldUnit,
}

/// The unit of a field's numbers, by the field's annotations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum FieldUnit {
    /// A bare number.
    #[default]
    None,
    /// A point in time in ticks.
    TimestampTicks,
    /// A point in time in milliseconds since 1970.
    TimestampMillis,
    /// A duration in ticks.
    Ticks,
    /// A duration, in nanoseconds per unit of the number.
    Nanoseconds(u64),
}

#[derive(Debug, Default)]
pub(super) struct Types {
    pub(super) classes: Vec<Class>,
    by_id: FxHashMap<u64, ClassId>,
}

impl Types {
    /// Reads a metadata event after its time and its number. The event begins at `offset`. Fails if
    /// the event is cut, or its classes nest without end.
    pub(super) fn read(mut cursor: Cursor<'_>, offset: u64) -> Result<Self> {
        let count = varint(&mut cursor, "the number of strings")?;
        let mut strings = Vec::new();
        for _ in 0..count {
            strings.push(Text::read(&mut cursor)?.decode().unwrap_or_default().into_owned());
        }
        let mut types = Tree::new(&strings).read(&mut cursor)?;
        types.measure(offset)?;
        Ok(types)
    }

    /// The class with a number of the file.
    #[inline]
    pub(super) fn find(&self, id: u64) -> Option<ClassId> {
        self.by_id.get(&id).copied()
    }

    #[inline]
    pub(super) fn class(&self, class: ClassId) -> Option<&Class> {
        self.classes.get(class.0 as usize)
    }

    /// The name of the type of events with a number of the file.
    pub(super) fn name(&self, id: u64) -> Option<&str> {
        self.class(self.find(id)?).map(|class| class.name.as_str())
    }

    /// The number in the file of the class with this name.
    pub(super) fn number_of(&self, name: &str) -> Option<u64> {
        self.class(self.named(name)?).map(|class| class.id)
    }

    pub(super) fn named(&self, name: &str) -> Option<ClassId> {
        self.classes
            .iter()
            .zip(0..)
            .find(|(class, _)| class.name == name)
            .map(|(_, id)| ClassId(id))
    }

    /// Computes the steps over values and their least sizes, level by level.
    fn measure(&mut self, offset: u64) -> Result<()> {
        for _ in 0..DEEPEST {
            let mut changed = false;
            for at in 0..self.classes.len() {
                let Some(class) = self.classes.get(at) else { continue };
                let (least, steps) = (self.least_of(class), steps_of(class, &self.classes));
                if let Some(class) = self.classes.get_mut(at) {
                    changed |= class.least != least || class.steps != steps;
                    (class.least, class.steps) = (least, steps);
                }
            }
            if !changed {
                return Ok(());
            }
        }
        Err(Error::corrupt(offset, "metadata with classes that contain each other")
            .expected(format!("at most {DEEPEST} levels")))
    }

    fn least_of(&self, class: &Class) -> u64 {
        let of_field = |field: &Field| {
            if field.is_array || field.is_pooled {
                1
            } else {
                self.class(field.class).map_or(0, |class| class.least)
            }
        };
        match class.kind {
            Kind::Byte | Kind::Number | Kind::Text => 1,
            Kind::Float => 4,
            Kind::Double => 8,
            Kind::Fields => class.fields.iter().map(of_field).fold(0, u64::saturating_add),
        }
    }
}

impl Class {
    /// The position of the field with this name.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name == name)
    }
}

/// The tree of elements of a metadata event.
struct Tree<'s> {
    strings: &'s [String],
    classes: Vec<Class>,
    /// For each class, the numbers of its fields' classes.
    field_classes: Vec<Vec<u64>>,
    /// Annotations of fields: class, field, number of the annotation's class, and its value.
    annotations: Vec<(usize, usize, u64, String)>,
}

impl<'s> Tree<'s> {
    fn new(strings: &'s [String]) -> Self {
        Self { strings, classes: Vec::new(), field_classes: Vec::new(), annotations: Vec::new() }
    }

    fn string(&self, number: u64) -> &'s str {
        usize::try_from(number).ok().and_then(|at| self.strings.get(at)).map_or("", String::as_str)
    }

    fn read(mut self, cursor: &mut Cursor<'_>) -> Result<Types> {
        // Elements whose children are being read: how many are left, and whether it is a field.
        let mut open: Vec<(u64, bool)> = Vec::new();
        loop {
            let name = self.string(varint(cursor, "an element of metadata")?);
            let count = varint(cursor, "the number of attributes")?;
            let mut attributes = Vec::new();
            for _ in 0..count {
                let key = self.string(varint(cursor, "an attribute")?);
                attributes.push((key, self.string(varint(cursor, "an attribute")?)));
            }
            let in_field = open.last().is_some_and(|(_, is_field)| *is_field);
            self.element(name, &attributes, in_field);
            let children_left = varint(cursor, "the number of elements")?;
            open.push((children_left, name == "field"));
            while let Some((left, _)) = open.last_mut() {
                if let Some(less) = left.checked_sub(1) {
                    *left = less;
                    break;
                }
                open.pop();
            }
            if open.is_empty() {
                return Ok(self.finish());
            }
        }
    }

    fn element(&mut self, name: &str, attributes: &[(&str, &str)], in_field: bool) {
        let get = |wanted: &str| {
            attributes.iter().find(|(key, _)| *key == wanted).map_or("", |(_, value)| value)
        };
        let number = |wanted: &str| get(wanted).parse::<u64>().unwrap_or(u64::MAX);
        let last = self.classes.len().wrapping_sub(1);
        match name {
            "class" => {
                let name = get("name").to_owned();
                let kind = kind_of(&name);
                self.classes.push(Class {
                    id: number("id"),
                    name,
                    kind,
                    fields: Vec::new(),
                    steps: Vec::new(),
                    least: 0,
                });
                self.field_classes.push(Vec::new());
            }
            "field" => {
                let field = Field {
                    name: get("name").to_owned(),
                    class: ClassId(u32::MAX),
                    is_pooled: get("constantPool") == "true",
                    is_array: !matches!(get("dimension"), "" | "0"),
                    unit: FieldUnit::None,
                };
                if let (Some(class), Some(ids)) =
                    (self.classes.last_mut(), self.field_classes.last_mut())
                {
                    class.fields.push(field);
                    ids.push(number("class"));
                }
            }
            "annotation" if in_field => {
                let fields = self.classes.get(last).map_or(0, |class| class.fields.len());
                let value = get("value").to_owned();
                self.annotations.push((last, fields.wrapping_sub(1), number("class"), value));
            }
            _ => {}
        }
    }

    fn finish(mut self) -> Types {
        let ids = self.classes.iter().zip(0..);
        let by_id: FxHashMap<u64, ClassId> =
            ids.map(|(class, number)| (class.id, ClassId(number))).collect();
        for (class, ids) in self.classes.iter_mut().zip(&self.field_classes) {
            for (field, id) in class.fields.iter_mut().zip(ids) {
                field.class = by_id.get(id).copied().unwrap_or(ClassId(u32::MAX));
            }
        }
        for (class, field, annotation, value) in std::mem::take(&mut self.annotations) {
            let Some(name) = by_id.get(&annotation).and_then(|id| self.classes.get(id.0 as usize))
            else {
                continue;
            };
            let Some(unit) = unit_of(&name.name, &value) else { continue };
            let fields = self.classes.get_mut(class).map(|class| &mut class.fields);
            if let Some(field) = fields.and_then(|fields| fields.get_mut(field)) {
                field.unit = unit;
            }
        }
        Types { classes: self.classes, by_id }
    }
}

fn kind_of(name: &str) -> Kind {
    match name {
        "boolean" | "byte" => Kind::Byte,
        "short" | "char" | "int" | "long" => Kind::Number,
        "float" => Kind::Float,
        "double" => Kind::Double,
        "java.lang.String" => Kind::Text,
        _ => Kind::Fields,
    }
}

fn unit_of(annotation: &str, value: &str) -> Option<FieldUnit> {
    Some(match (annotation, value) {
        ("jdk.jfr.Timestamp", "TICKS") => FieldUnit::TimestampTicks,
        ("jdk.jfr.Timestamp", _) => FieldUnit::TimestampMillis,
        ("jdk.jfr.Timespan", "TICKS") => FieldUnit::Ticks,
        ("jdk.jfr.Timespan", "MICROSECONDS") => FieldUnit::Nanoseconds(1_000),
        ("jdk.jfr.Timespan", "MILLISECONDS") => FieldUnit::Nanoseconds(1_000_000),
        ("jdk.jfr.Timespan", "SECONDS") => FieldUnit::Nanoseconds(1_000_000_000),
        ("jdk.jfr.Timespan", _) => FieldUnit::Nanoseconds(1),
        _ => return None,
    })
}
