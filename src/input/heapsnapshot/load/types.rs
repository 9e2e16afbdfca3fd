//! Types of nodes, named as DevTools names its classes.

use super::nodes::{Nodes, put};
use crate::input::heapsnapshot::meta::{Meta, NodeType};
use crate::input::heapsnapshot::strings::Strings;
use crate::model::builder::HeapBuilder;
use crate::model::heap::{TypeId, TypeIds, TypeKind};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// The types of a snapshot. Objects and native nodes have a type for each name, all others one for
/// each type of nodes.
pub(super) struct Types<'t, 'a> {
    meta: &'t Meta,
    strings: &'t Strings<'a>,
    /// By the number of a type of nodes.
    fixed: Vec<Option<TypeId>>,
    /// By the string: of objects and of native nodes.
    named: [Vec<u32>; 2],
    /// For strings that the file does not have, and for detached nodes.
    rare: FxHashMap<(u8, u32, bool), TypeId>,
    known: FxHashMap<(String, u8), TypeId>,
}

const NONE: u32 = u32::MAX;

impl<'t, 'a> Types<'t, 'a> {
    pub(super) fn new(meta: &'t Meta, strings: &'t Strings<'a>) -> Self {
        let named = [vec![NONE; strings.len()], vec![NONE; strings.len()]];
        Self {
            meta,
            strings,
            fixed: vec![None; 256],
            named,
            rare: FxHashMap::default(),
            known: FxHashMap::default(),
        }
    }

    /// The types of all nodes. `detached` are the native nodes whose DOM tree is, in order.
    pub(super) fn of_all(
        &mut self,
        nodes: &Nodes,
        detached: &[u32],
        builder: &mut HeapBuilder<'_>,
    ) -> TypeIds {
        let mut detached = detached.iter().copied().peekable();
        let mut types = TypeIds::with_capacity(nodes.len());
        for (row, (&kind, &name)) in (0u32..).zip(nodes.kind.iter().zip(&nodes.name)) {
            let is_detached = detached.next_if_eq(&row).is_some();
            types.push(self.of(kind, name, is_detached, builder));
        }
        types
    }

    /// The type of a node.
    #[inline]
    pub(super) fn of(
        &mut self,
        kind: u8,
        name: u32,
        detached: bool,
        builder: &mut HeapBuilder<'_>,
    ) -> TypeId {
        let row = match self.meta.node_type(kind.into()) {
            NodeType::Object => 0,
            NodeType::Native => 1,
            _ => {
                if let Some(known) = self.fixed.get(usize::from(kind)).copied().flatten() {
                    return known;
                }
                let of = self.add(kind, name, detached, builder);
                // A synthetic node is called by its own name.
                if self.meta.node_type(kind.into()) != NodeType::Synthetic {
                    put(&mut self.fixed, usize::from(kind), Some(of));
                }
                return of;
            }
        };
        if detached {
            return self.add(kind, name, true, builder);
        }
        match self.named.get(row).and_then(|of| of.get(name as usize)).copied() {
            Some(known) if known != NONE => TypeId(known),
            _ => {
                let of = self.add(kind, name, false, builder);
                if let Some(known) =
                    self.named.get_mut(row).and_then(|of| of.get_mut(name as usize))
                {
                    *known = of.0;
                }
                of
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
        let node_type = self.meta.node_type(kind.into());
        let namespace = self.meta.node_types.get(usize::from(kind)).map_or("", |(_, name)| name);
        let class = class_name(node_type, namespace, self.strings.text(name.into()), detached);
        let of = *self.known.entry((class.into_owned(), kind)).or_insert_with_key(|(class, _)| {
            let of = builder.add_type(class, namespace, type_kind(node_type));
            let heap = builder.heap();
            if node_type == NodeType::Native && class.starts_with("Detached ") {
                heap.detached_types.push(of);
            }
            of
        });
        self.rare.insert((kind, name, detached), of);
        of
    }
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
        NodeType::Synthetic => name,
        NodeType::Object | NodeType::Native => {
            let name = if detached { Cow::Owned(format!("Detached {name}")) } else { name };
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
        NodeType::String => TypeKind::Text,
        NodeType::Array => TypeKind::Array,
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
