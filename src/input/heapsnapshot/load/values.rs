//! Texts and names of nodes, decoded from the file when they are requested.

use super::locations::Locations;
use crate::input::heapsnapshot::strings::Strings;
use crate::model::heap::{Heap, ObjectId, ObjectValues, SourceLocation, TypeKind, Value};

/// The string of each node.
pub(super) struct NodeNames<'a> {
    pub(super) strings: Strings<'a>,
    pub(super) name: Vec<u32>,
    pub(super) locations: Locations<'a>,
}

impl ObjectValues for NodeNames<'_> {
    fn value<'v>(&'v self, heap: &'v Heap<'_>, object: ObjectId) -> Value<'v> {
        let Some(&name) = self.name.get(object.index()) else { return Value::None };
        let text = self.strings.text(name.into());
        match heap.type_of(object).kind {
            TypeKind::Text => Value::Text { length: text.encode_utf16().count() as u64, text },
            _ if text.is_empty() || text == heap.type_name(object) => Value::None,
            _ => Value::Name(text),
        }
    }

    fn location(&self, heap: &Heap<'_>, object: ObjectId) -> Option<SourceLocation> {
        self.locations.of_object(heap, object)
    }
}
