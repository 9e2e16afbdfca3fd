//! Collections of the runtimes' libraries, decoded to lists, sets and maps with their entries.
//!
//! `shapes` is a table of classes; no code here depends on a particular class. Chains and trees are
//! followed without recursion and for at most as many steps as the heap has objects, so that
//! damaged and cyclic ones end.

mod entries;
mod shapes;

pub use entries::CollectionEntry;
pub use shapes::CollectionKind;

use crate::model::heap::{FieldValue, Heap, ObjectId, Type, TypeId, Value};
use shapes::{Fill, Shape, Size, known_shapes};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The maximum number of nested wrappers to follow.
const MAX_WRAPPERS: usize = 8;

/// The maximum number of counter cells to add up. The JDK makes no more than there are processors.
const MAX_CELLS: u64 = 4096;

/// The maximum number of objects of a type whose fields are examined. In JavaScript, the prototype of a derived
/// class has the type of the class, but not its fields.
const MOST_EXAMINED: u8 = 3;

/// The smallest table that a hash table has once it is in use: that of java.util.HashMap.
const LEAST_TABLE: u64 = 16;

/// The collections of a heap.
pub struct Collections<'h, 'a> {
    heap: &'h Heap<'a>,
    shapes: Arc<CollectionShapes>,
}

/// The shape of each type of a heap. [`Collections::again`] reuses it.
pub struct CollectionShapes(Vec<Option<&'static Shape>>);

/// The array of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Storage {
    /// The array that stores the entries.
    pub array: ObjectId,
    /// Length of the array, in elements.
    pub capacity: u64,
    /// Elements that the entries take.
    pub used: u64,
    /// Elements that an array made for these entries would not have. A hash table needs the next
    /// power of two above 4/3 of its entries.
    pub spare: u64,
}

impl<'h, 'a> Collections<'h, 'a> {
    /// Finds the types that are collections, by their names and by the classes that declare their
    /// fields.
    pub fn of(heap: &'h Heap<'a>) -> Self {
        let mut shapes: Vec<Option<&'static Shape>> =
            heap.types.iter().map(|type_row| shape(heap, type_row)).collect();
        let declared = declared(heap, &shapes);
        for (row, parent) in declared {
            shapes[row] = parent;
        }
        Self { heap, shapes: Arc::new(CollectionShapes(shapes)) }
    }

    /// Restores the collections of a heap that has not changed.
    pub fn again(heap: &'h Heap<'a>, shapes: &Arc<CollectionShapes>) -> Self {
        Self { heap, shapes: Arc::clone(shapes) }
    }

    /// Returns the data that [`Collections::again`] needs.
    pub fn shapes(&self) -> &Arc<CollectionShapes> {
        &self.shapes
    }

    /// The kind of a collection. `None` if the object is not a known one.
    #[inline]
    pub fn kind(&self, object: ObjectId) -> Option<CollectionKind> {
        Some(self.shape(object)?.kind)
    }

    /// The kind of the collections of a type.
    pub fn kind_of_type(&self, type_id: TypeId) -> Option<CollectionKind> {
        Some(self.shapes.0.get(type_id.0 as usize).copied().flatten()?.kind)
    }

    /// Whether a collection only wraps another one.
    pub fn is_wrapper(&self, object: ObjectId) -> bool {
        self.shape(object).is_some_and(|shape| matches!(shape.size, Size::Of(_)))
    }

    /// The collection that a wrapper represents, or the collection itself.
    pub fn unwrapped(&self, object: ObjectId) -> ObjectId {
        self.wrappers(object).last().unwrap_or(object)
    }

    /// A collection, what it wraps, and so on.
    fn wrappers(&self, object: ObjectId) -> impl Iterator<Item = ObjectId> {
        let inner = |object: &ObjectId| match self.shape(*object) {
            Some(Shape { size: Size::Of(field), .. }) => get(self.heap, *object, field)?.object(),
            _ => None,
        };
        std::iter::successors(Some(object), inner).take(MAX_WRAPPERS + 1)
    }

    /// The number of entries that a collection states. `None` if it states none or an impossible
    /// one.
    pub fn size(&self, object: ObjectId) -> Option<u64> {
        let object = self.unwrapped(object);
        let shape = self.shape(object)?;
        let number = |path| number(self.heap, get(self.heap, object, path)?);
        match shape.size {
            Size::Field(path) => number(path),
            Size::Length { each, deleted } => {
                let Value::Length(length) = self.heap.value(object) else { return None };
                let deleted = if deleted.is_empty() { 0 } else { number(deleted).unwrap_or(0) };
                Some((length / each).saturating_sub(deleted))
            }
            Size::Array => Some(self.heap.array(self.array(object)?)?.length),
            Size::Ring { head, tail } => {
                let capacity = self.heap.array(self.array(object)?)?.length;
                let (head, tail) = (number(head)?, number(tail)?);
                if head >= capacity.max(1) || tail >= capacity.max(1) {
                    return None;
                }
                Some(if tail >= head { tail - head } else { capacity - head + tail })
            }
            Size::Cells { base, cells, cell } => {
                // Cells may be negative; only their sum counts.
                let signed = |object, path| match get(self.heap, object, path) {
                    Some(FieldValue::Integer(value)) => value,
                    _ => 0,
                };
                let mut sum = signed(object, base);
                if let Some(cells) = get(self.heap, object, cells).and_then(FieldValue::object) {
                    self.heap.elements(cells, 0, |index, each| {
                        sum = sum.wrapping_add(each.object().map_or(0, |each| signed(each, cell)));
                        if index < MAX_CELLS {
                            ControlFlow::Continue(())
                        } else {
                            ControlFlow::Break(())
                        }
                    });
                }
                u64::try_from(sum).ok()
            }
            Size::Of(_) | Size::Counted => None,
        }
    }

    /// The array of a collection and how full it is. `None` if the collection has no array, or a
    /// damaged one.
    pub fn storage(&self, object: ObjectId) -> Option<Storage> {
        let shape = self.shape(object)?;
        if shape.storage.is_empty() {
            return None;
        }
        let array = get(self.heap, object, shape.storage)?.object()?;
        let capacity = self.heap.array(array)?.length;
        let size = self.size(object)?;
        let (each, needed) = match shape.fill {
            // A string builder stores two bytes per char if not all of its chars are Latin-1.
            Fill::Full(_) if get(self.heap, object, "coder") == Some(FieldValue::Integer(1)) => {
                (2, size.checked_mul(2)?)
            }
            Fill::Full(each) => (each, size.checked_mul(each)?),
            Fill::Hashed(each) => {
                let places = size.checked_mul(4)?.div_ceil(3).checked_next_power_of_two()?;
                (each, places.max(LEAST_TABLE).checked_mul(each)?)
            }
        };
        let used = size.checked_mul(each)?.min(capacity);
        Some(Storage { array, capacity, used, spare: capacity.saturating_sub(needed) })
    }

    #[inline]
    fn shape(&self, object: ObjectId) -> Option<&'static Shape> {
        self.shapes.0[self.heap.type_id(object).0 as usize]
    }

    /// The array of a shape that is one array.
    fn array(&self, object: ObjectId) -> Option<ObjectId> {
        use shapes::Layout::{Array, Ring};
        match self.shape(object)?.layout {
            Array { array, .. } | Ring { array, .. } => get(self.heap, object, array)?.object(),
            _ => None,
        }
    }
}

/// The shape of a class of this name.
fn shape(heap: &Heap<'_>, type_row: &Type) -> Option<&'static Shape> {
    shape_of(heap.names.text(type_row.name), heap.names.text(type_row.namespace))
}

/// The shape of the classes with a name, in a namespace.
fn shape_of(name: &str, namespace: &str) -> Option<&'static Shape> {
    known_shapes()
        .find(|shape| shape.names.contains(&name) && namespace.starts_with(shape.namespace))
}

/// The shapes of types that inherit the fields of a known collection, by the row of the type.
fn declared(
    heap: &Heap<'_>,
    shapes: &[Option<&'static Shape>],
) -> Vec<(usize, Option<&'static Shape>)> {
    // The number of objects of each type that are still to be examined.
    let mut left: Vec<u8> =
        shapes.iter().map(|shape| if shape.is_some() { 0 } else { MOST_EXAMINED }).collect();
    let mut found = Vec::new();
    for object in heap.objects() {
        let row = heap.type_id(object).0 as usize;
        if left[row] == 0 {
            continue;
        }
        left[row] -= 1;
        if heap.array(object).is_some() {
            continue;
        }
        let namespace = heap.names.text(heap.types[row].namespace);
        let mut shape = None;
        heap.each_field(object, |field| {
            if !field.class.is_empty() {
                // All objects of the type have fields of the same classes.
                left[row] = 0;
                shape = shape_of(field.class, namespace);
            }
            if shape.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if shape.is_some() {
            found.push((row, shape));
        }
    }
    found
}

/// The value at the end of a path of fields: `head.node`, `val|value`.
pub(super) fn get<'h>(heap: &'h Heap<'_>, object: ObjectId, path: &str) -> Option<FieldValue<'h>> {
    let mut value = FieldValue::Object(object);
    for names in path.split('.') {
        let object = value.object()?;
        value = names.split('|').find_map(|name| field(heap, object, name))?;
    }
    Some(value)
}

/// The value of a field whose name may be decorated.
fn field<'h>(heap: &'h Heap<'_>, object: ObjectId, name: &str) -> Option<FieldValue<'h>> {
    if let Some(value) = heap.field(object, name) {
        return Some(value);
    }
    let mut found = None;
    heap.each_field(object, |field| {
        let plain = field.name.rsplit("$$").next().unwrap_or_default();
        if plain != name && plain.trim_matches('_') != name {
            return ControlFlow::Continue(());
        }
        found = field.value.owned();
        ControlFlow::Break(())
    });
    found
}

/// A size or an index, which in Dart may be an object.
fn number(heap: &Heap<'_>, value: FieldValue<'_>) -> Option<u64> {
    match value {
        FieldValue::Object(object) => match heap.value(object) {
            Value::Integer(number) => u64::try_from(number).ok(),
            _ => None,
        },
        value => value.count(),
    }
}
