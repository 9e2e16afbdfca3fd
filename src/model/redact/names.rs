//! Names that are data: those of threads, and keys that name references.

use super::RedactedNames;
use super::shape::Shape;
use crate::model::heap::{Heap, KeyName, Label, LabelKind, ThreadKind, Type};
use crate::model::names::NameId;
use rustc_hash::FxHashMap;

/// The prefix of root groups in class names that dumptool writes (hprof).
const HOLDER: &str = "GC roots: ";

/// Replaces names that are data, and clears unused ones.
pub(super) fn redact(heap: &mut Heap<'_>, names: RedactedNames) {
    number_threads(heap);
    if names == RedactedNames::All {
        cut_types(heap);
    }
    number_keys(heap, names);
    clear_unused(heap);
}

/// Renames threads and isolates to their numbers, also in the groups of their roots. The numbers
/// are as wide as the names, which are texts in some formats. Goroutines have no names.
fn number_threads(heap: &mut Heap<'_>) {
    let mut renamed: Vec<Option<(String, String)>> = Vec::with_capacity(heap.threads.len());
    let count = heap.threads.len() as u64 + 1;
    for (number, thread) in (1..).zip(&mut heap.threads) {
        if thread.kind == ThreadKind::Goroutine {
            renamed.push(None);
            continue;
        }
        let before = thread.text(&heap.names);
        let number = Shape::of_text(heap.names.text(thread.name)).text(number, count);
        thread.name = heap.names.intern(&number);
        renamed.push(Some((before, thread.text(&heap.names))));
    }
    let mut groups: FxHashMap<(u32, NameId), NameId> = FxHashMap::default();
    for root in &mut heap.roots {
        let Some(thread) = root.thread else { continue };
        let Some(Some((before, after))) = renamed.get(thread as usize) else { continue };
        root.group = *groups.entry((thread, root.group)).or_insert_with(|| {
            let rest = heap.names.text(root.group).strip_prefix(before.as_str());
            let text = rest.map(|rest| format!("{after}{rest}"));
            text.map_or(root.group, |text| heap.names.intern(&text))
        });
    }
    number_holders(heap, &renamed);
}

/// Renames threads in dumps that dumptool converted before, where groups of roots are classes
/// (hprof) or synthetic nodes in parentheses (V8).
fn number_holders(heap: &mut Heap<'_>, renamed: &[Option<(String, String)>]) {
    let mut nodes: FxHashMap<NameId, NameId> = FxHashMap::default();
    let mut number = |name: NameId| {
        let text = heap.names.text(name);
        if ["(thread ", "(isolate "].iter().any(|start| text.starts_with(start)) {
            let number = nodes.len() + 1;
            let thread = || heap.names.intern(&format!("(thread {number})"));
            return *nodes.entry(name).or_insert_with(thread);
        }
        let Some(group) = text.strip_prefix(HOLDER) else { return name };
        let rest = |(before, after): &(String, String)| {
            let rest = group.strip_prefix(before.as_str())?;
            Some(format!("{HOLDER}{after}{rest}"))
        };
        let text = renamed.iter().flatten().find_map(rest);
        text.map_or(name, |text| heap.names.intern(&text))
    };
    for type_ in &mut heap.types {
        type_.name = number(type_.name);
    }
    heap.classes.iter_mut().for_each(|class| class.name = number(class.name));
    for root in &mut heap.roots {
        root.group = number(root.group);
        if let LabelKind::Field(name) = root.label.kind() {
            root.label = Label::field(number(name));
        }
    }
}

/// Reduces names of native nodes (V8) to tags, such as `<div>`, and classes, such as `Window` or `Node
/// / std::vector<int>`. Whatever else is in a name may quote a page: attributes, URLs, texts.
fn cut_types(heap: &mut Heap<'_>) {
    for id in std::mem::take(&mut heap.quoting_types) {
        let Some(type_) = heap.types.get_mut(id.0 as usize) else { continue };
        let name = heap.names.text(type_.name);
        let own = name.strip_prefix(DETACHED).unwrap_or(name);
        if own.split(" / ").all(is_class) || is_tag(own) {
            continue;
        }
        let end = own.find(|c: char| c.is_whitespace() || matches!(c, '/' | '?' | '=' | '"'));
        let first = end.map_or(own, |end| &own[..end]);
        // Attributes follow a tag, and the rest of a quoting class a slash.
        let quotes = own[first.len()..].starts_with(" / ") && is_class(first);
        let kept = if quotes || is_tag(&format!("{first}>")) { first } else { "(native)" };
        let detached = if own.len() < name.len() { DETACHED } else { "" };
        let cut = format!("{detached}{kept}");
        type_.name = heap.names.intern(&cut);
    }
}

const DETACHED: &str = "Detached ";

fn is_tag(name: &str) -> bool {
    let tag = name.strip_prefix('<').and_then(|name| name.strip_suffix('>'));
    tag.is_some_and(|tag| tag.chars().all(|c| c.is_alphanumeric() || "-_:".contains(c)))
}

/// Whether a name can be that of a class in C++ or JavaScript. Only the arguments of a template may
/// contain spaces.
fn is_class(name: &str) -> bool {
    let mut depth = 0_usize;
    let is_part = |c: char| {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c.is_alphanumeric() || ":_<>*&[]()~$-".contains(c) || depth > 0 && matches!(c, ' ' | ',')
    };
    name.starts_with(|c: char| c.is_alphabetic() || "_$(".contains(c)) && name.chars().all(is_part)
}

/// Replaces keys with numbers, in the order of their names, on which writers may rely. Keys of
/// hashes are in braces (Perl), also in conversions from Perl, and so are types named after such
/// keys (V8). Names that are also those of another type or a function are not secret.
fn number_keys(heap: &mut Heap<'_>, names: RedactedNames) {
    let goes = |key: &KeyName| names == RedactedNames::All || !key.is_like_code;
    let mut keys: Vec<NameId> =
        heap.keys.iter().filter(|key| goes(key)).map(|key| key.name).collect();
    keys.sort_unstable();
    let is_code = |type_: &&Type| {
        keys.binary_search(&type_.name).is_err() || !heap.names.text(type_.name).starts_with('{')
    };
    let code = of_code(heap, heap.types.iter().filter(is_code));
    let is_key = |name: &NameId| {
        !has(&code, *name)
            && (keys.binary_search(name).is_ok() || heap.names.text(*name).starts_with('{'))
    };
    let keys: Vec<NameId> = heap.names.ids().filter(is_key).collect();
    let numbered = (1..).zip(keys).map(|(number, key)| (key, format!("{{{number}}}")));
    heap.names.replace(numbered.collect());
}

/// Clears names that nothing refers to, because writers may write all names of a heap.
fn clear_unused(heap: &mut Heap<'_>) {
    let mut used = of_code(heap, heap.types.iter());
    let labels = heap.objects().flat_map(|object| heap.references_of(object)).map(|one| one.label);
    let of_roots = heap.roots.iter().map(|root| root.label);
    for label in labels.chain(of_roots).chain(heap.class_references.label()) {
        if let LabelKind::Field(name) = label.kind() {
            add(&mut used, name);
        }
    }
    let unused = heap.names.ids().filter(|name| !has(&used, *name));
    let cleared = unused.map(|name| (name, String::new())).collect();
    heap.names.replace(cleared);
}

/// Returns which names belong to these types, functions, files, threads and groups of roots; all
/// others are labels.
fn of_code<'t>(heap: &Heap<'_>, types: impl Iterator<Item = &'t Type>) -> Vec<bool> {
    let mut names = vec![false; heap.names.len()];
    let creators = heap.threads.iter().filter_map(|thread| Some(&thread.created_by.as_ref()?.call));
    let frames = heap.frames.iter().chain(&heap.sites.frames).chain(creators);
    let pairs = frames
        .map(|frame| [frame.function, frame.file])
        .chain(types.map(|type_| [type_.name, type_.namespace]))
        .chain(heap.threads.iter().map(|thread| [thread.name, thread.state]));
    pairs
        .flatten()
        .chain(heap.representations.iter().copied())
        .chain(heap.classes.iter().map(|class| class.name))
        .chain(heap.roots.iter().map(|root| root.group))
        .chain(heap.roots.iter().filter_map(|root| root.variable))
        .for_each(|name| add(&mut names, name));
    names
}

fn add(names: &mut [bool], name: NameId) {
    if let Some(named) = names.get_mut(name.0 as usize) {
        *named = true;
    }
}

fn has(names: &[bool], name: NameId) -> bool {
    names.get(name.0 as usize).copied().unwrap_or_default()
}
