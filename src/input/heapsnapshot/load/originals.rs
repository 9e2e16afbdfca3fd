//! The original names of a snapshot's functions and classes, where a source map has them.
//!
//! V8 names an object by its constructor, found through the property `constructor` of the object or
//! of one of its prototypes. The place of a function in the script comes from `locations`.

use super::essential::Graph;
use super::locations::{ASKED, Location, Locations};
use super::nodes::Nodes;
use crate::input::heapsnapshot::meta::{Meta, NodeType};
use crate::input::heapsnapshot::strings::Strings;
use crate::model::heap::{LabelKind, SourceLocation};
use crate::names::{Original, ShortNames, SourceMaps, looks_short};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;

/// The most prototypes of an object that are examined for a constructor.
const PROTOTYPES: usize = 16;

/// The nodes of functions and classes with original names, in order, each with the number of its
/// function or class.
#[derive(Default)]
pub(super) struct Originals {
    pub(super) of: Vec<(u32, u32)>,
    pub(super) functions: Vec<OriginalFunction>,
}

/// A function or class.
pub(super) struct OriginalFunction {
    pub(super) name: String,
    /// The name that the snapshot has.
    pub(super) generated: String,
    pub(super) location: SourceLocation,
}

/// The numbers of the strings with one of some texts. A file may contain a text several times.
struct Labels(Vec<u32>);

impl Labels {
    fn of(strings: &Strings<'_>, names: &[&str]) -> Self {
        let found = names.iter().flat_map(|name| {
            let all = strings.containing(name.as_bytes()).into_iter();
            all.filter(move |&number| strings.text(number) == *name)
        });
        let mut numbers: Vec<u32> = found.filter_map(|number| u32::try_from(number).ok()).collect();
        numbers.sort_unstable();
        Self(numbers)
    }

    /// The target of a node's first edge that one of the strings names.
    fn target(&self, graph: &Graph<'_>, node: u32) -> Option<u32> {
        let edges = graph.edges_of(node as usize);
        let labels = graph.edges.label.get(edges.clone())?;
        let is_meant = |label: &crate::model::heap::Label| match label.kind() {
            LabelKind::Field(name) => self.0.binary_search(&name.0).is_ok(),
            _ => false,
        };
        let place = labels.iter().position(is_meant)?;
        let target = graph.edges.target.get(edges.start.checked_add(place)?)?;
        (target.index() < graph.nodes.len()).then_some(target.0)
    }
}

/// The scripts whose functions and classes mostly have short names, those with most names first.
pub(super) fn short_names_by_script(
    nodes: &Nodes,
    strings: &Strings<'_>,
    rows: Vec<Location>,
) -> Vec<(u64, ShortNames)> {
    let mut seen = FxHashSet::default();
    let mut by_script: FxHashMap<u64, ShortNames> = FxHashMap::default();
    for Location { object, script, .. } in rows {
        let script = u64::from(script);
        let kind = nodes.kind.get(object.index()).copied();
        if seen.insert((script, kind, nodes.name.get(object.index()).copied())) {
            let is_short = looks_short(&name(nodes, strings, object.0));
            by_script.entry(script).or_default().add(is_short);
        }
    }
    let mut found: Vec<_> = by_script.into_iter().filter(|(_, names)| names.are_most()).collect();
    found.sort_unstable_by_key(|(script, names)| (Reverse(names.all), *script));
    found
}

fn name(nodes: &Nodes, strings: &Strings<'_>, node: u32) -> String {
    let name = nodes.name.get(node as usize).copied();
    name.map_or_else(String::new, |name| strings.text(name.into()).into_owned())
}

/// The parts of a snapshot that are needed to find original names.
pub(super) struct Finder<'f, 'a> {
    pub(super) graph: &'f Graph<'f>,
    pub(super) meta: &'f Meta,
    pub(super) strings: &'f Strings<'a>,
    pub(super) locations: &'f Locations<'a>,
    pub(super) maps: Option<&'f SourceMaps>,
}

impl Finder<'_, '_> {
    /// Finds the functions and classes that a source map names. The labels of edges must still have
    /// the numbers of their strings.
    pub(super) fn find(&self) -> Originals {
        let mut originals = Originals::default();
        let of_functions = self.of_functions(&mut originals);
        self.of_shared(&of_functions, &mut originals);
        self.of_objects(&of_functions, &mut originals);
        originals.of.sort_unstable();
        originals.of.dedup_by_key(|(row, _)| *row);
        originals
    }

    /// The first of these scripts that has no source map, with its names.
    pub(super) fn minified(&self, scripts: Vec<(u64, ShortNames)>) -> Option<(String, ShortNames)> {
        let urls = self.scripts();
        scripts.into_iter().find_map(|(script, names)| {
            let url = urls.get(&script).filter(|url| !url.starts_with("node:"))?;
            let has_map = self.maps.is_some_and(|maps| maps.has(url));
            (!has_map).then(|| (url.clone(), names))
        })
    }

    fn kind(&self, node: u32) -> Option<NodeType> {
        self.graph.nodes.kind.get(node as usize).map(|&kind| self.meta.node_type(kind))
    }

    fn name(&self, node: u32) -> String {
        name(self.graph.nodes, self.strings, node)
    }

    fn of_functions(&self, originals: &mut Originals) -> FxHashMap<u32, u32> {
        let Some(maps) = self.maps else { return FxHashMap::default() };
        let mut scripts = self.scripts();
        scripts.retain(|_, url| maps.has(url));
        let mut known: FxHashMap<(u64, u64, u64, u32), Option<u32>> = FxHashMap::default();
        let mut known_functions: FxHashMap<u32, u32> = FxHashMap::default();
        for Location { object, script, line, column } in self.functions() {
            let [script, line, column] = [script, line, column].map(u64::from);
            let Some(url) = scripts.get(&script) else { continue };
            let name = self.graph.nodes.name.get(object.index()).copied().unwrap_or_default();
            let function = *known.entry((script, line, column, name)).or_insert_with(|| {
                let generated = self.name(object.0);
                let original = maps.function(url, line, column, &generated)?;
                originals.functions.push(OriginalFunction::of(original, generated));
                Some((originals.functions.len() as u32).saturating_sub(1))
            });
            if let Some(function) = function {
                known_functions.insert(object.0, function);
                originals.of.push((object.0, function));
            }
        }
        known_functions
    }

    fn functions(&self) -> impl Iterator<Item = Location> {
        let is_function = |row: &Location| self.kind(row.object.0) == Some(NodeType::Closure);
        self.locations.rows().into_iter().filter(is_function)
    }

    fn scripts(&self) -> FxHashMap<u64, String> {
        let [shared, script, name] =
            [&["shared"][..], &["script", "script_or_debug_info"], &["name"]]
                .map(|names| Labels::of(self.strings, names));
        let url = |function: u32| {
            let shared = shared.target(self.graph, function)?;
            let script = script.target(self.graph, shared)?;
            let url = self.name(name.target(self.graph, script)?);
            (!url.is_empty()).then_some(url)
        };
        let mut scripts: FxHashMap<u64, (usize, Option<String>)> = FxHashMap::default();
        for row in self.functions() {
            let (asked, found) = scripts.entry(row.script.into()).or_default();
            if found.is_none() && *asked < ASKED {
                *asked = asked.saturating_add(1);
                *found = url(row.object.0);
            }
        }
        scripts.into_iter().filter_map(|(script, (_, url))| Some((script, url?))).collect()
    }

    /// Names the `shared` part of each function, which all functions made from the same code share,
    /// like the function.
    fn of_shared(&self, functions: &FxHashMap<u32, u32>, originals: &mut Originals) {
        let shared = Labels::of(self.strings, &["shared"]);
        let names = &self.graph.nodes.name;
        for (&function, &number) in functions {
            let Some(part) = shared.target(self.graph, function) else { continue };
            if names.get(part as usize) == names.get(function as usize) {
                originals.of.push((part, number));
            }
        }
    }

    /// The objects whose class is one of the functions.
    fn of_objects(&self, functions: &FxHashMap<u32, u32>, originals: &mut Originals) {
        if functions.is_empty() {
            return;
        }
        let constructor = Labels::of(self.strings, &["constructor"]);
        let prototype = Labels::of(self.strings, &["__proto__"]);
        // The class by the first object with a constructor, whether that is the object itself, and
        // the name. V8 names the prototype of a derived class after the base class.
        let mut known: FxHashMap<(u32, bool, u32), Option<u32>> = FxHashMap::default();
        let class_of = |start: u32, is_prototype: bool, name: u32| {
            let above = |node: &u32| prototype.target(self.graph, *node);
            let chain = std::iter::successors(Some(start), above).take(PROTOTYPES);
            let text = self.strings.text(name.into());
            let classes = chain.filter_map(|node| constructor.target(self.graph, node));
            let mut classes = classes.filter_map(|function| functions.get(&function).copied());
            // A class may give its objects another name, by `Symbol.toStringTag`.
            classes.find(|class| {
                originals.functions.get(*class as usize).is_some_and(|function| {
                    let is_anonymous =
                        !is_prototype && text == "Object" && function.generated.is_empty();
                    text == function.generated || is_anonymous && !function.name.is_empty()
                })
            })
        };
        let mut classes_of_rows = Vec::new();
        for row in 0..self.graph.nodes.len() as u32 {
            if self.kind(row) != Some(NodeType::Object) {
                continue;
            }
            let start = match constructor.target(self.graph, row) {
                Some(_) => Some(row),
                None => prototype.target(self.graph, row),
            };
            let name = self.graph.nodes.name.get(row as usize).copied().unwrap_or_default();
            let Some(start) = start else { continue };
            let key = (start, start == row, name);
            let class = *known.entry(key).or_insert_with(|| class_of(key.0, key.1, key.2));
            classes_of_rows.extend(class.map(|class| (row, class)));
        }
        originals.of.extend(classes_of_rows);
    }
}

impl OriginalFunction {
    fn of(original: Original, generated: String) -> Self {
        let Original { name, file, line, column } = original;
        Self {
            name: name.unwrap_or_else(|| generated.clone()),
            generated,
            location: SourceLocation {
                file: file.to_string(),
                line: line.into(),
                column: column.into(),
            },
        }
    }

    /// The type name of this class's objects. A short name without an original gets the source
    /// location appended, to keep it distinct.
    pub(super) fn class(&self) -> String {
        if self.name != self.generated || !looks_short(&self.name) {
            return self.name.clone();
        }
        let SourceLocation { file, line, .. } = &self.location;
        format!("{} ({}:{line})", self.name, file.rsplit('/').next().unwrap_or_default())
    }
}

impl Originals {
    /// The function or class of a node.
    pub(super) fn of_node(&self, node: usize) -> Option<&OriginalFunction> {
        let node = u32::try_from(node).ok()?;
        let place = self.of.binary_search_by_key(&node, |(row, _)| *row).ok()?;
        self.functions.get(self.of.get(place)?.1 as usize)
    }
}
