//! Loading a dump into the model: everything by address first, then references in the order of
//! addresses.

use super::graph::{Graph, Link, Name};
use super::links;
use super::sv::Sv;
use super::values::Values;
use crate::error::Result;
use crate::input::histogram::{TypeCounts, TypeSums};
use crate::input::load::{LoadOptions, Loaded, only_snapshot};
use crate::model::builder::HeapBuilder;
use crate::model::heap::{
    Ids, Label, ObjectId, Root, RootKind, StackFrame, TypeId, TypeKind, Unreached, WarningKind,
};
use crate::model::names::Names;
use crate::model::sum::Sum;
use rustc_hash::FxHashMap;
use std::fmt::Write;

pub(super) fn load<'a>(bytes: &'a [u8], options: LoadOptions<'_>) -> Result<Loaded<'a>> {
    only_snapshot(options.snapshot)?;
    let mut graph = Graph::read(bytes, options.progress)?;
    let mut builder = HeapBuilder::with_capacity(graph.len(), graph.len());
    builder.warn(WarningKind::RepeatedAddresses, graph.repeated);
    let mut types = Types::default();
    let mut text = String::new();
    for object in (0..graph.len() as u32).map(ObjectId) {
        let Some(sv) = graph.sv(object) else { continue };
        let type_id = types.of(&graph, &sv, &mut builder);
        builder.add_object(type_id, sv.size);
        // Some pointers are of things that are not SVs, which Devel::MAT leaves out as well.
        for_each_link(&graph, &sv, &mut |link| {
            let Some(target) = graph.addresses.at(link.target) else { return };
            let label = label(&link, &mut text, builder.names());
            builder.add_reference(target, label, link.weak);
        });
    }
    add_roots(&graph, &mut builder);
    builder.set_pointer_size(graph.layout.words.pointer_size());
    builder.heap().unreached = Unreached::Leaked;
    builder.heap().big_endian = graph.layout.words.is_big_endian();
    let damage = graph.damage.take();
    let ids = Ids::Addresses(graph.addresses.clone());
    let heap = builder.finish(ids, Some(Box::new(Values(graph))));
    Ok(Loaded { incomplete: damage.is_some(), damage, ..Loaded::of(heap) })
}

/// Gives all references of an SV: its own, the one to its package, and those of extensions.
pub(super) fn for_each_link<'a>(graph: &Graph<'a>, sv: &Sv<'a>, take: &mut impl FnMut(Link<'a>)) {
    links::for_each(graph, sv, take);
    if sv.package() != 0 {
        take(Link { target: sv.package(), name: Name::Words("the bless package"), weak: true });
    }
    let first = graph.extensions.partition_point(|(owner, _)| *owner < sv.address);
    let own = graph.extensions.get(first..).unwrap_or_default();
    own.iter().take_while(|(owner, _)| *owner == sv.address).for_each(|(_, link)| take(*link));
}

/// The label of a reference. `text` is a buffer for its parts.
fn label(link: &Link<'_>, text: &mut String, names: &mut Names) -> Label {
    text.clear();
    match link.name {
        Name::Index(index) => return Label::index(index),
        Name::Words(words) => return Label::field(names.intern(words)),
        Name::Own(name) => text.push_str(&String::from_utf8_lossy(name)),
        Name::Key(key) => {
            text.push('{');
            text.push_str(&String::from_utf8_lossy(key));
            text.push('}');
        }
        Name::Pad(depth) => _ = write!(text, "pad at depth {depth}"),
        Name::Magic(letter, what) => {
            _ = write!(text, "'{}' magic {what}", char::from(letter).escape_default());
        }
    }
    Label::field(names.intern(text))
}

/// The types of a dump by name: those of packages, and those of SVs without one.
#[derive(Default)]
struct Types<'a>(FxHashMap<(bool, &'a [u8]), TypeId>);

impl<'a> Types<'a> {
    fn of(&mut self, graph: &Graph<'a>, sv: &Sv<'a>, builder: &mut HeapBuilder<'_>) -> TypeId {
        let name = if graph.is_pad(sv) { "PAD" } else { sv.type_name(graph.layout.words) };
        let package = graph.packages.get(&sv.package()).copied();
        let key = package
            .or_else(|| graph.struct_name(sv))
            .map_or((false, name.as_bytes()), |name| (true, name));
        *self.0.entry(key).or_insert_with(|| {
            let kind = match (key.0, name) {
                (true, _) => TypeKind::Instance,
                (false, "SCALAR") => TypeKind::Text,
                (false, "UNDEF" | "BOOL") => TypeKind::Number,
                (false, "ARRAY" | "HASH") => TypeKind::Array,
                (false, "STASH" | "CLASS") => TypeKind::Class,
                (false, "PAD") => TypeKind::Frame,
                (false, "REGEXP" | "INVLIST") => TypeKind::Bytes,
                (false, _) => TypeKind::Instance,
            };
            let name = String::from_utf8_lossy(key.1);
            builder.add_type(&name, if package.is_some() { &name } else { "" }, kind)
        })
    }
}

/// The named roots without a reference count in perl: packages hold their objects as well.
const UNCOUNTED: [&[u8]; 7] =
    [b"envgv", b"tmpsv", b"argvgv", b"firstgv", b"secondgv", b"debstash", b"hintgv"];

fn add_roots(graph: &Graph<'_>, builder: &mut HeapBuilder<'_>) {
    let mut dangling = 0u64;
    let mut add =
        |builder: &mut HeapBuilder<'_>, address, kind, group: &str, label, frame: Option<u32>| {
            let group = builder.names().intern(group);
            match graph.addresses.at(address) {
                Some(object) => {
                    let thread = frame.map(|_| 0);
                    let root = Root::new(object, kind, group);
                    builder.add_root(Root { label, frame, thread, ..root })
                }
                None => {
                    let is_none = address == 0 || graph.layout.immortals.contains(&address);
                    dangling = dangling.saturating_add(u64::from(!is_none));
                }
            }
        };
    for (name, address) in graph.roots.iter().filter(|(name, _)| !UNCOUNTED.contains(name)) {
        let kind = if *name == b"defstash" { RootKind::Global } else { RootKind::Runtime };
        add(builder, *address, kind, &String::from_utf8_lossy(name), Label::NONE, None);
    }
    for (group, list) in [("stack", &graph.stack), ("mortals", &graph.mortals)] {
        for (index, address) in (0u64..).zip(list) {
            add(builder, *address, RootKind::Frame, group, Label::index(index), None);
        }
    }
    let mut frames = Vec::with_capacity(graph.contexts.len());
    for context in &graph.contexts {
        let function = match context.kind {
            1 => graph.code_name(context.holds[0]).unwrap_or_else(|| "(sub)".to_owned()),
            2 => "(try)".to_owned(),
            _ => "(eval)".to_owned(),
        };
        frames.push(StackFrame {
            function: builder.names().intern(&function),
            file: builder.names().intern_bytes(context.file),
            line: u32::try_from(context.line).unwrap_or(0),
        });
    }
    if !frames.is_empty() {
        builder.add_thread("main", 1, None, &frames);
    }
    for (frame, context) in (0u32..).zip(&graph.contexts) {
        for (address, name) in context.holds.into_iter().zip(["code", "@_"]) {
            let label = Label::field(builder.names().intern(name));
            add(builder, address, RootKind::Frame, "context", label, Some(frame));
        }
    }
    builder.warn(WarningKind::DanglingRoots, dangling);
}

pub(super) fn histogram(bytes: &[u8], options: LoadOptions<'_>) -> Result<TypeCounts> {
    only_snapshot(options.snapshot)?;
    let mut graph = Graph::read(bytes, options.progress)?;
    let mut builder = HeapBuilder::with_capacity(0, 0);
    let mut types = Types::default();
    let mut sums = TypeSums::default();
    for object in (0..graph.len() as u32).map(ObjectId) {
        let Some(sv) = graph.sv(object) else { continue };
        let own = Sum { count: 1, shallow_bytes: sv.size, external_bytes: 0 };
        sums.add(types.of(&graph, &sv, &mut builder), &own);
    }
    Ok(sums.finish(builder, graph.damage.take()))
}
