//! Types of nodes, named as DevTools names its classes.

use super::edges::is_code;
use super::nodes::{Nodes, put};
use super::originals::{OriginalFunction, Originals};
use super::plain::{Definition, PlainObjects};
use crate::input::heapsnapshot::meta::{Meta, NodeType};
use crate::input::heapsnapshot::strings::Strings;
use crate::model::builder::HeapBuilder;
use crate::model::heap::{KeyName, TypeId, TypeIds, TypeKind};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// The types of a snapshot. Objects and native nodes have a type for each name; other nodes have
/// one for each node type.
pub(super) struct Types<'t, 'a> {
    meta: &'t Meta,
    strings: &'t Strings<'a>,
    /// The types of other nodes, by kind.
    fixed: Vec<Option<TypeId>>,
    /// Types of objects and of native nodes, by the string that names them.
    named: [Vec<u32>; 2],
    /// Types by kind, number of the string, and whether the node is detached.
    rare: FxHashMap<(u8, u32, bool), TypeId>,
    known: FxHashMap<(String, u8), TypeId>,
}

const NONE: u32 = u32::MAX;

impl<'t, 'a> Types<'t, 'a> {
    pub(super) fn new(meta: &'t Meta, strings: &'t Strings<'a>) -> Self {
        let named = [vec![NONE; strings.dense()], vec![NONE; strings.dense()]];
        Self {
            meta,
            strings,
            fixed: vec![None; 256],
            named,
            rare: FxHashMap::default(),
            known: FxHashMap::default(),
        }
    }

    /// The types of all nodes. `detached` are the detached native nodes, in order.
    pub(super) fn of_all(
        &mut self,
        nodes: &Nodes,
        detached: &[u32],
        plain: &PlainObjects,
        originals: &Originals,
        builder: &mut HeapBuilder<'_>,
    ) -> TypeIds {
        let defined = self.of_definitions(plain, builder);
        let mut original = originals.of.iter().peekable();
        let mut detached = detached.iter().copied().peekable();
        let mut plain = plain.rows.iter().peekable();
        let mut types = TypeIds::with_capacity(nodes.len());
        for (row, (&kind, &name)) in (0u32..).zip(nodes.kind.iter().zip(&nodes.name)) {
            let is_detached = detached.next_if_eq(&row).is_some();
            let definition = plain.next_if(|(object, _)| *object == row);
            let class = original.next_if(|(object, _)| *object == row);
            let class = class.filter(|_| self.meta.node_type(kind) == NodeType::Object);
            if let Some(class) = class.and_then(|(_, at)| originals.functions.get(*at as usize)) {
                types.push(self.of_original(class, kind, builder));
                continue;
            }
            types.push(match definition.and_then(|(_, at)| defined.get(*at as usize)) {
                Some(type_id) => *type_id,
                None => self.of(kind, name, is_detached, builder),
            });
        }
        types
    }

    /// The type of a class that a source map names.
    fn of_original(
        &mut self,
        class: &OriginalFunction,
        kind: u8,
        builder: &mut HeapBuilder<'_>,
    ) -> TypeId {
        let type_id = self.of_class(class.class(), kind, builder);
        if class.generated != class.name {
            builder
                .heap()
                .generated_types
                .entry(type_id)
                .or_insert_with(|| class.generated.clone());
        }
        type_id
    }

    /// A type for each definition of plain objects.
    fn of_definitions(
        &mut self,
        plain: &PlainObjects,
        builder: &mut HeapBuilder<'_>,
    ) -> Vec<TypeId> {
        let is_object = |(known, _): &(NodeType, String)| *known == NodeType::Object;
        let kind = self.meta.kinds.list.iter().position(is_object).unwrap_or_default();
        let add =
            |definition: &Definition| self.of_class(definition.name.clone(), kind as u8, builder);
        plain.definitions.iter().map(add).collect()
    }

    #[inline]
    pub(super) fn of(
        &mut self,
        kind: u8,
        name: u32,
        detached: bool,
        builder: &mut HeapBuilder<'_>,
    ) -> TypeId {
        let row = match self.meta.node_type(kind) {
            NodeType::Object => 0,
            NodeType::Native => 1,
            // Julia names an object by its type: `Array{Any, 1}`.
            NodeType::JuliaArray | NodeType::JuliaObject => {
                return self.add(kind, name, detached, builder);
            }
            _ => {
                if let Some(known) = self.fixed.get(usize::from(kind)).copied().flatten() {
                    return known;
                }
                let type_id = self.add(kind, name, detached, builder);
                // The type of a synthetic node has the name of the node.
                if self.meta.node_type(kind) != NodeType::Synthetic {
                    put(&mut self.fixed, usize::from(kind), Some(type_id));
                }
                return type_id;
            }
        };
        if detached {
            return self.add(kind, name, true, builder);
        }
        match self.named.get(row).and_then(|types| types.get(name as usize)).copied() {
            Some(known) if known != NONE => TypeId(known),
            _ => {
                let type_id = self.add(kind, name, false, builder);
                if let Some(known) =
                    self.named.get_mut(row).and_then(|types| types.get_mut(name as usize))
                {
                    *known = type_id.0;
                }
                type_id
            }
        }
    }

    fn add(
        &mut self,
        kind: u8,
        name: u32,
        detached: bool,
        builder: &mut HeapBuilder<'_>,
    ) -> TypeId {
        if let Some(&known) = self.rare.get(&(kind, name, detached)) {
            return known;
        }
        let node_type = self.meta.node_type(kind);
        let namespace = self.meta.kinds.list.get(usize::from(kind)).map_or("", |(_, name)| name);
        let class = class_name(node_type, namespace, self.strings.text(name.into()), detached);
        let type_id = self.of_class(class.into_owned(), kind, builder);
        self.rare.insert((kind, name, detached), type_id);
        type_id
    }

    fn of_class(&mut self, class: String, kind: u8, builder: &mut HeapBuilder<'_>) -> TypeId {
        let (node_type, namespace) = self
            .meta
            .kinds
            .list
            .get(usize::from(kind))
            .map_or((NodeType::Other, ""), |(known, name)| (*known, name));
        *self.known.entry((class, kind)).or_insert_with_key(|(class, _)| {
            let type_id = builder.add_type(class, namespace, type_kind(node_type));
            let heap = builder.heap();
            if node_type == NodeType::Native && class.starts_with("Detached ") {
                heap.detached_types.push(type_id);
            }
            if node_type == NodeType::Native {
                heap.quoting_types.push(type_id);
            }
            if let Some(type_of) = heap.types.get(type_id.0 as usize)
                && let Some(properties) = properties(class)
            {
                let is_like_code = properties.split(", ").all(is_code);
                heap.keys.push(KeyName { name: type_of.name, is_like_code });
            }
            type_id
        })
    }
}

/// The properties in the name of a type, as in `{a@b.example, c}`. Converted snapshots use such
/// types as the names of nodes.
fn properties(class: &str) -> Option<&str> {
    class.strip_prefix('{').and_then(|class| class.strip_suffix('}'))
}

/// Returns the name that DevTools gives to the class of a node.
fn class_name<'n>(
    node_type: NodeType,
    node_type_name: &str,
    name: Cow<'n, str>,
    detached: bool,
) -> Cow<'n, str> {
    match node_type {
        NodeType::Hidden => "(system)".into(),
        NodeType::Code => "(compiled code)".into(),
        NodeType::Closure => "Function".into(),
        NodeType::Regexp => "RegExp".into(),
        NodeType::JuliaModule => "Module".into(),
        NodeType::JuliaString => "String".into(),
        NodeType::JuliaSymbol => "Symbol".into(),
        NodeType::JuliaType => "DataType".into(),
        NodeType::Synthetic | NodeType::JuliaArray | NodeType::JuliaObject => name,
        NodeType::Object | NodeType::Native => {
            let name = if detached && !name.starts_with("Detached ") {
                Cow::Owned(format!("Detached {name}"))
            } else {
                name
            };
            // `<div id="a">` is a `<div>`.
            let start =
                ["<", "Detached <"].into_iter().find(|start| name.starts_with(start)).map(str::len);
            let space =
                start.and_then(|start| Some(start.wrapping_add(name.get(start..)?.find(' ')?)));
            match space.and_then(|space| name.get(..space)) {
                Some(tag) => format!("{tag}>").into(),
                None => name,
            }
        }
        _ => format!("({node_type_name})").into(),
    }
}

fn type_kind(node_type: NodeType) -> TypeKind {
    match node_type {
        NodeType::Synthetic => TypeKind::Root,
        NodeType::String
        | NodeType::Concatenated
        | NodeType::JuliaString
        | NodeType::JuliaSymbol => TypeKind::Text,
        NodeType::Array | NodeType::JuliaArray => TypeKind::Array,
        NodeType::Number | NodeType::Bigint => TypeKind::Number,
        _ => TypeKind::Instance,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_called_by_their_tag() {
        for (name, detached, class) in [
            ("<div id=\"a\" class=\"b\">", false, "<div>"),
            ("<div id=\"a\">", true, "Detached <div>"),
            ("<div>", true, "Detached <div>"),
            ("Detached <span x>", false, "Detached <span>"),
            ("Detached <input value=\"a\">", true, "Detached <input>"),
            ("Window / https://shop.example.test", false, "Window / https://shop.example.test"),
            ("Text", true, "Detached Text"),
        ] {
            assert_eq!(class_name(NodeType::Native, "native", name.into(), detached), class);
        }
        assert_eq!(
            class_name(NodeType::Other, "object shape", "x".into(), false),
            "(object shape)"
        );
        assert_eq!(class_name(NodeType::Object, "object", "<a b>".into(), false), "<a>");
    }
}
