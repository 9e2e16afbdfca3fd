//! The contents of an object: fields, elements, and the entries of a collection.

use super::retains;
use crate::analysis::collections::{CollectionEntry, CollectionKind, Collections};
use crate::cli::heap::{Analysed, value};
use crate::cli::print::{Align, Table, Value as Json};
use crate::cli::session::Session;
use crate::cli::size::{count, left_out, plural};
use crate::cli::terminal::shown;
use crate::model::heap::{Array, FieldValue, LabelKind, ObjectId, Reference, Value};
use crate::model::{ObjectField, StoredValue};
use rustc_hash::FxHashSet;
use std::ops::ControlFlow;

/// The default number of entries and of elements.
const SHOWN: u64 = 20;
/// Number of numeric elements on a line.
const NUMBERS: usize = 10;

/// The contents of an object that are shown.
pub(super) struct Contents<'c, 'h, 'a> {
    analysed: &'c Analysed<'h, 'a>,
    collections: Collections<'h, 'a>,
    fields: Vec<ObjectField<'c>>,
    /// The maximum number of fields to show.
    most_fields: usize,
    array: Option<Array>,
    elements: Vec<(u64, StoredValue)>,
    all_elements: u64,
    collection: Option<Collection>,
}

struct Collection {
    kind: CollectionKind,
    /// The number of entries. `None` if the entries were not counted to the end.
    size: Option<u64>,
    entries: Vec<(Option<StoredValue>, StoredValue)>,
}

impl<'c, 'h, 'a> Contents<'c, 'h, 'a> {
    /// Reads the contents of an object with at most `entries` entries and elements; 0 reads all. In
    /// a dict of Python, fields are keys and values, so they are limited, too.
    pub(super) fn of(
        analysed: &'c Analysed<'h, 'a>,
        collections: Collections<'h, 'a>,
        object: ObjectId,
        entries: Option<u64>,
    ) -> Self {
        let heap = analysed.heap;
        let most = match entries {
            Some(0) => u64::MAX,
            entries => entries.unwrap_or(SHOWN),
        };
        let fields: Vec<_> = heap.fields(object).collect();
        let array = heap.array(object);
        let mut elements = Vec::new();
        let mut visited = 0;
        heap.elements(object, 0, |index, value| {
            visited += 1;
            if visited <= most {
                elements.push((index, StoredValue::of(value)));
            }
            // If the length is not known, all elements are counted.
            if visited < most || array.is_none() {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        let all_elements = array.map_or(visited, |array| array.length);
        let collection = Collection::of(&collections, object, most);
        let is_dict = matches!(heap.value(object), Value::Length(_));
        let most_fields = if is_dict { most as usize } else { usize::MAX };
        Self {
            analysed,
            collections,
            fields,
            most_fields,
            array,
            elements,
            all_elements,
            collection,
        }
    }

    /// Shows at most `most` fields.
    pub(super) fn limit_fields(&mut self, most: usize) {
        self.most_fields = self.most_fields.min(most);
    }

    fn shown_fields(&self) -> &[ObjectField<'c>] {
        &self.fields[..self.fields.len().min(self.most_fields)]
    }

    /// The number of fields that are left out.
    pub(super) fn omitted_fields(&self) -> u64 {
        self.fields.len().saturating_sub(self.most_fields) as u64
    }

    /// Whether there is nothing to show.
    pub(super) fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.elements.is_empty()
    }

    /// Whether the elements are numbers, which are shown instead of their bytes.
    pub(super) fn has_numbers(&self) -> bool {
        self.array.is_some_and(|array| !matches!(array.element, "" | "object" | "byte" | "char"))
    }

    /// Returns whether a reference is a field or an element.
    pub(super) fn is_part(&self) -> impl Fn(&Reference) -> bool {
        let fields = self.fields.iter().map(|field| (field.name(), field.object()));
        let fields: FxHashSet<_> = fields.collect();
        move |reference| match reference.label.kind() {
            LabelKind::Field(name) => {
                let name = self.analysed.heap.names.text(name);
                let has = |object| fields.contains(&(name, object));
                has(None) || has(Some(reference.target))
            }
            LabelKind::Index(_) => !self.elements.is_empty(),
            LabelKind::None | LabelKind::Offset(_) => false,
        }
    }

    /// The number of elements that are left out.
    pub(super) fn omitted_elements(&self) -> u64 {
        self.all_elements.saturating_sub(self.elements.len() as u64)
    }

    /// The number of entries that are left out. `None` if it is not known.
    pub(super) fn omitted_entries(&self) -> Option<u64> {
        self.collection
            .as_ref()
            .map_or(Some(0), |all| Some(all.size?.saturating_sub(all.entries.len() as u64)))
    }

    /// `map with 12 entries`
    pub(super) fn collection(&self) -> Option<String> {
        let Collection { kind, size, entries } = self.collection.as_ref()?;
        let (one, many) = if *kind == CollectionKind::Map {
            ("entry", "entries")
        } else {
            ("element", "elements")
        };
        Some(match size {
            Some(size) => format!("{} of {}", kind.name(), plural(*size, one, many)),
            None => format!("{} of {} {many} or more", kind.name(), count(entries.len() as u64)),
        })
    }

    pub(super) fn fields_json(&self) -> Json<'_> {
        let fields = self.shown_fields().iter().map(|field| {
            let mut json = vec![
                ("class", Json::non_empty(field.class())),
                ("name", field.name().into()),
                ("type", Json::non_empty(field.type_name())),
            ];
            json.extend(self.json(field.stored()));
            Json::Map(json)
        });
        fields.collect::<Vec<_>>().into()
    }

    pub(super) fn elements_json(&self) -> Json<'_> {
        let elements = self.elements.iter().map(|(index, value)| {
            let mut json = vec![("index", Json::from(*index))];
            json.extend(self.json(value));
            Json::Map(json)
        });
        elements.collect::<Vec<_>>().into()
    }

    pub(super) fn collection_json(&self) -> Json<'_> {
        self.collection
            .as_ref()
            .map(|all| Json::from([("kind", all.kind.name().into()), ("size", all.size.into())]))
            .into()
    }

    pub(super) fn entries_json(&self) -> Json<'_> {
        let entries = self.collection.iter().flat_map(|all| &all.entries).map(|(key, value)| {
            let key = key.as_ref().map(|key| Json::from(self.json(key)));
            Json::from([("key", key.into()), ("value", self.json(value).into())])
        });
        entries.collect::<Vec<_>>().into()
    }

    /// A value in JSON, and the object if the value is a reference to one.
    fn json<'j>(&'j self, value: &'j StoredValue) -> [(&'static str, Json<'j>); 2] {
        let plain = match value.get() {
            FieldValue::Text(text) => text.into(),
            FieldValue::Boolean(value) => value.into(),
            FieldValue::Integer(value) => value.into(),
            FieldValue::Unsigned(value) => value.into(),
            // JSON has no infinities.
            FieldValue::Float(value) if value.is_finite() => value.into(),
            FieldValue::Null | FieldValue::Omitted => Json::Null,
            FieldValue::Object(object) => value::plain(self.analysed.heap, object),
            _ => self.plain(value).into(),
        };
        [
            ("value", plain),
            ("object", value.get().object().map(|object| self.analysed.json(object)).into()),
        ]
    }

    /// A value as text: `20000`, `'x'`, `0xfd5e2430`, `null`. Does not follow references.
    fn plain(&self, value: &StoredValue) -> String {
        value.text(self.analysed.heap)
    }

    /// Tables of entries, fields and elements.
    pub(super) fn text(&self, session: &Session) -> String {
        [self.entries_text(session), self.fields_text(session), self.elements_text(session)]
            .concat()
    }

    /// Returns the columns after a value: type, retained bytes, and text.
    fn beside(&self, value: &StoredValue, type_name: &str, session: &Session) -> [String; 3] {
        let analysed = self.analysed;
        match value.get() {
            FieldValue::Object(object) => {
                [analysed.describe(object), retains(analysed, object, session), self.brief(object)]
            }
            FieldValue::Address(_) => {
                [shown(type_name), String::new(), "not an object of the dump".to_owned()]
            }
            _ => [shown(type_name), String::new(), String::new()],
        }
    }

    /// The value of an object, or the number of its entries.
    fn brief(&self, object: ObjectId) -> String {
        match (self.collections.kind(object), self.collections.size(object)) {
            (Some(CollectionKind::Map), Some(size)) => plural(size, "entry", "entries"),
            (Some(CollectionKind::List | CollectionKind::Set), Some(size)) => {
                plural(size, "element", "elements")
            }
            _ => value::brief(self.analysed.heap, object),
        }
    }

    fn fields_text(&self, session: &Session) -> String {
        if self.fields.is_empty() {
            return String::new();
        }
        let mut table =
            Table::new(&[Align::Left, Align::Right, Align::Left, Align::Right, Align::Left]);
        let fields = self.shown_fields();
        let is_inherited = fields.iter().any(|field| field.class() != fields[0].class());
        let mut class = "";
        for field in fields {
            if is_inherited && field.class() != class {
                class = field.class();
                table.span([shown(class)]);
            }
            let indent = if is_inherited { "  " } else { "" };
            let [type_name, retained, text] =
                self.beside(field.stored(), field.type_name(), session);
            table.row([
                format!("{indent}{}", shown(field.name())),
                self.plain(field.stored()),
                type_name,
                retained,
                text,
            ]);
        }
        let left_out = left_out(fields.len(), self.fields.len(), "field", "fields");
        format!("\n{}\n{}{left_out}", session.terminal.bold("fields"), table.render())
    }

    fn elements_text(&self, session: &Session) -> String {
        if self.elements.is_empty()
            || self.array.is_some_and(|array| matches!(array.element, "byte" | "char"))
        {
            return String::new();
        }
        let mut text = format!("\n{}\n", session.terminal.bold("elements"));
        if self.has_numbers() {
            let mut table = Table::new(&[Align::Right; NUMBERS + 1]);
            for line in self.elements.chunks(NUMBERS) {
                let first = line.first().map(|(index, _)| format!("[{index}]"));
                table.row(first.into_iter().chain(line.iter().map(|(_, value)| self.plain(value))));
            }
            text.push_str(&table.render());
        } else {
            let mut table =
                Table::new(&[Align::Left, Align::Right, Align::Left, Align::Right, Align::Left]);
            for (index, value) in &self.elements {
                let [type_name, retained, brief] = self.beside(value, "", session);
                table.row([format!("[{index}]"), self.plain(value), type_name, retained, brief]);
            }
            text.push_str(&table.render());
        }
        let all = self.all_elements as usize;
        text + &left_out(self.elements.len(), all, "element", "elements")
    }

    fn entries_text(&self, session: &Session) -> String {
        let Some(Collection { size, entries, .. }) = &self.collection else { return String::new() };
        if entries.is_empty() {
            return String::new();
        }
        let is_map = entries.iter().any(|(key, _)| key.is_some());
        let of_map =
            [Align::Left, Align::Right, Align::Left, Align::Left, Align::Right, Align::Right];
        let mut table = Table::new(if is_map { &of_map } else { &of_map[3..] });
        for (key, value) in entries {
            let key = key
                .as_ref()
                .map(|key| self.entry(key))
                .map(|(text, id)| [text, id, "→".to_owned()]);
            let (text, id) = self.entry(value);
            let retained = value
                .get()
                .object()
                .map_or_else(String::new, |object| retains(self.analysed, object, session));
            table.row(key.into_iter().flatten().chain([text, id, retained]));
        }
        let left_out = match size {
            Some(size) => left_out(entries.len(), *size as usize, "entry", "entries"),
            None => format!("  showing the first {}\n", count(entries.len() as u64)),
        };
        format!("\n{}\n{}{left_out}", session.terminal.bold("entries"), table.render())
    }

    /// A key or a value: its text, or its type, and the object.
    fn entry(&self, value: &StoredValue) -> (String, String) {
        let Some(object) = value.get().object() else { return (self.plain(value), String::new()) };
        let text = match (value::brief(self.analysed.heap, object), self.brief(object)) {
            (value, _) if !value.is_empty() => value,
            (_, size) if size.is_empty() => self.analysed.describe(object),
            (_, size) => format!("{} of {size}", self.analysed.describe(object)),
        };
        (text, self.analysed.heap.id(object))
    }
}

impl Collection {
    fn of(collections: &Collections<'_, '_>, object: ObjectId, most: u64) -> Option<Self> {
        let kind = collections.kind(object).filter(|kind| *kind != CollectionKind::Buffer)?;
        let mut entries = Vec::new();
        let mut is_complete = true;
        collections.entries(object, |CollectionEntry { key, value }| {
            if entries.len() as u64 == most {
                is_complete = false;
                return ControlFlow::Break(());
            }
            entries.push((key.map(StoredValue::of), StoredValue::of(value)));
            ControlFlow::Continue(())
        });
        let counted = is_complete.then_some(entries.len() as u64);
        Some(Self { kind, size: collections.size(object).or(counted), entries })
    }
}
