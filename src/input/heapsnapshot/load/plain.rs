//! Types of plain objects, by their properties: `{etag, data}`.
//!
//! The rules are those of Chrome DevTools (`inferInterfaceDefinitions` and
//! `applyInterfaceDefinitions` of its `HeapSnapshot.ts`). A definition is a list of properties that
//! at least two objects, and at least one in a thousand, begin with; properties that would make its
//! name longer than 120 characters are left out. An object belongs to the longest definition of
//! which it has all properties, and among several to the most frequent one. Others stay `Object`.

use super::edges::{PROPERTY, PROTOTYPE};
use super::essential::Graph;
use crate::input::heapsnapshot::meta::{Meta, NodeType};
use crate::input::heapsnapshot::strings::Strings;
use crate::model::heap::{Label, LabelKind};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{Hash, Hasher};

/// The most UTF-16 code units of a type name with more than one property.
const LONGEST: usize = 120;
const FEWEST: u64 = 2;
/// A definition needs at least one plain object in this many.
const PROPORTION: u64 = 1000;
/// Bytes of a property's name that count. V8 cuts texts after 1024 characters.
const LONGEST_PROPERTY: usize = 4096;

/// The definitions, and the plain objects that belong to one.
#[derive(Default)]
pub(super) struct PlainObjects {
    pub(super) definitions: Vec<Definition>,
    /// Rows of nodes with the number of their definition, in order.
    pub(super) rows: Vec<(u32, u32)>,
}

/// Properties that many plain objects have.
pub(super) struct Definition {
    /// `{etag, data}`.
    pub(super) name: String,
    properties: Vec<String>,
}

/// The properties of an object in their order, as labels with the numbers of their strings.
#[derive(Clone, Copy)]
struct Properties<'g> {
    kinds: &'g [u8],
    labels: &'g [Label],
}

/// Objects whose properties are the same.
struct Shape<'g> {
    properties: Properties<'g>,
    count: u64,
}

impl PlainObjects {
    /// Finds the definitions. The labels of edges must have the numbers of their strings.
    pub(super) fn of(graph: &Graph<'_>, meta: &Meta, strings: &Strings<'_>) -> Self {
        let (shapes, mut rows) = shapes(graph, meta, strings);
        let definitions = definitions(&shapes, strings, rows.len() as u64);
        let matches = Matcher::of(&definitions, graph, strings).of_all(&shapes);
        rows.retain_mut(|(_, shape)| {
            let definition = matches.get(*shape as usize).copied().flatten();
            *shape = definition.unwrap_or_default();
            definition.is_some()
        });
        Self { definitions, rows }
    }
}

/// The shapes of all plain objects in the order of their first ones, and the shape of each.
fn shapes<'g>(
    graph: &Graph<'g>,
    meta: &Meta,
    strings: &Strings<'_>,
) -> (Vec<Shape<'g>>, Vec<(u32, u32)>) {
    let names =
        strings.containing(b"Object").into_iter().filter(|&name| strings.text(name) == "Object");
    let names: Vec<u32> = names.filter_map(|name| u32::try_from(name).ok()).collect();
    let (mut shapes, mut rows) = (Vec::new(), Vec::new());
    // The default hasher is seeded: a hostile file cannot be made to cause collisions.
    let mut known: HashMap<Properties<'g>, u32> = HashMap::new();
    let nodes = graph.nodes.kind.iter().zip(&graph.nodes.name);
    for (row, (&kind, name)) in (0u32..).zip(nodes) {
        if meta.node_type(kind) != NodeType::Object || names.binary_search(name).is_err() {
            continue;
        }
        let edges = graph.edges_of(row as usize);
        let properties = Properties {
            kinds: graph.edges.kind.get(edges.clone()).unwrap_or_default(),
            labels: graph.edges.label.get(edges).unwrap_or_default(),
        };
        let shape = match known.entry(properties) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(free) => {
                shapes.push(Shape { properties, count: 0 });
                *free.insert(shapes.len().saturating_sub(1) as u32)
            }
        };
        if let Some(shape) = shapes.get_mut(shape as usize) {
            shape.count = shape.count.saturating_add(1);
        }
        rows.push((row, shape));
    }
    (shapes, rows)
}

impl<'g> Properties<'g> {
    /// The numbers of the strings.
    fn names(self) -> impl Iterator<Item = u32> + 'g {
        let named = |(&kind, label): (&u8, &Label)| match label.kind() {
            LabelKind::Field(name) if kind == PROPERTY => Some(name.0),
            _ => None,
        };
        self.kinds.iter().zip(self.labels).filter_map(named)
    }
}

impl PartialEq for Properties<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.names().eq(other.names())
    }
}

impl Eq for Properties<'_> {}

impl Hash for Properties<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.names().for_each(|name| name.hash(state));
    }
}

/// The definitions that enough of `objects` plain objects begin with, the most frequent first.
fn definitions(shapes: &[Shape<'_>], strings: &Strings<'_>, objects: u64) -> Vec<Definition> {
    // The count of each name, and the first shape that has it.
    let mut candidates: HashMap<String, (u64, usize)> = HashMap::new();
    for (at, shape) in shapes.iter().enumerate() {
        let (name, _) = candidate(shape.properties, strings);
        let (count, _) = candidates.entry(name).or_insert((0, at));
        *count = count.saturating_add(shape.count);
    }
    let is_frequent = |count: u64| count >= FEWEST && count.saturating_mul(PROPORTION) >= objects;
    let mut frequent: Vec<(u64, usize)> =
        candidates.into_values().filter(|(count, _)| is_frequent(*count)).collect();
    // Equally frequent shapes are sorted in the order of the file.
    frequent.sort_unstable_by_key(|&(count, shape)| (Reverse(count), shape));
    let defined = frequent.into_iter().filter_map(|(_, shape)| {
        let (name, properties) = candidate(shapes.get(shape)?.properties, strings);
        Some(Definition { name, properties })
    });
    defined.filter(|definition| !definition.properties.is_empty()).collect()
}

/// The name of the definition that an object would make, and the properties in the name.
fn candidate(properties: Properties<'_>, strings: &Strings<'_>) -> (String, Vec<String>) {
    let (mut name, mut length) = (String::from("{"), 1_usize);
    let mut kept = Vec::new();
    for number in properties.names() {
        let property = property(strings, number);
        if property == PROTOTYPE {
            continue;
        }
        let text = quoted(&property);
        let text_length = text.encode_utf16().count();
        if !kept.is_empty() && length.saturating_add(text_length) > LONGEST {
            break;
        }
        if !kept.is_empty() {
            name.push_str(", ");
            length = length.saturating_add(2);
        }
        name.push_str(&text);
        length = length.saturating_add(text_length);
        kept.push(property.into_owned());
    }
    name.push('}');
    (name, kept)
}

fn property<'s>(strings: &'s Strings<'_>, number: u32) -> Cow<'s, str> {
    let text = strings.text(number.into());
    match text.len() {
        0..=LONGEST_PROPERTY => text,
        _ => {
            let end = text.floor_char_boundary(LONGEST_PROPERTY);
            text.get(..end).unwrap_or_default().to_owned().into()
        }
    }
}

/// The name of a property in the name of a definition: quoted, as in JSON, if it could be taken for
/// several.
fn quoted(property: &str) -> Cow<'_, str> {
    if !property.contains([',', '\'', '"', '{', '}']) {
        return property.into();
    }
    serde_json::to_string(property).unwrap_or_default().into()
}

/// Finds the definition of a shape. The k-th occurrence of a property in an object counts as a
/// property of its own.
struct Matcher {
    /// The number of each property that some definition has, by the number of its string.
    property_of: FxHashMap<u32, u32>,
    /// The definitions that have a property at an occurrence.
    having: FxHashMap<(u32, u32), Vec<u32>>,
    /// The number of properties of each definition.
    lengths: Vec<u32>,
}

impl Matcher {
    fn of(definitions: &[Definition], graph: &Graph<'_>, strings: &Strings<'_>) -> Self {
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut having: FxHashMap<(u32, u32), Vec<u32>> = FxHashMap::default();
        for (at, definition) in (0u32..).zip(definitions) {
            let mut occurrences: FxHashMap<u32, u32> = FxHashMap::default();
            for property in &definition.properties {
                let next = numbers.len() as u32;
                let property = *numbers.entry(property).or_insert(next);
                let occurrence = occurrences.entry(property).or_default();
                having.entry((property, *occurrence)).or_default().push(at);
                *occurrence = occurrence.saturating_add(1);
            }
        }
        // A file may have a string twice.
        let named = graph.edges.properties().filter_map(|string| {
            Some((u32::try_from(string).ok()?, *numbers.get(&*property(strings, string as u32))?))
        });
        let property_of = named.collect();
        let lengths = definitions.iter().map(|definition| definition.properties.len() as u32);
        Self { property_of, having, lengths: lengths.collect() }
    }

    fn of_all(&self, shapes: &[Shape<'_>]) -> Vec<Option<u32>> {
        let mut found = vec![0_u32; self.lengths.len()];
        let mut occurrences: FxHashMap<u32, u32> = FxHashMap::default();
        let mut touched: Vec<u32> = Vec::new();
        let of_shape = |shape: &Shape<'_>| {
            let mut best: Option<(u32, Reverse<u32>)> = None;
            for name in shape.properties.names() {
                let Some(&property) = self.property_of.get(&name) else { continue };
                let occurrence = occurrences.entry(property).or_default();
                let having = self.having.get(&(property, *occurrence));
                *occurrence = occurrence.saturating_add(1);
                for &definition in having.into_iter().flatten() {
                    let at = definition as usize;
                    let (Some(found), Some(&length)) = (found.get_mut(at), self.lengths.get(at))
                    else {
                        continue;
                    };
                    if *found == 0 {
                        touched.push(definition);
                    }
                    *found = found.saturating_add(1);
                    if *found == length {
                        best = best.max(Some((length, Reverse(definition))));
                    }
                }
            }
            occurrences.clear();
            for definition in touched.drain(..) {
                if let Some(found) = found.get_mut(definition as usize) {
                    *found = 0;
                }
            }
            best.map(|(_, Reverse(definition))| definition)
        };
        shapes.iter().map(of_shape).collect()
    }
}
