//! The nodes of a profile: a list with the ids of children, or a tree of objects.

use crate::error::Result;
use crate::input::json::{Scanner, Text, ValueKind};
use crate::input::load::MemoryLimit;
use crate::model::names::Names;
use crate::model::profile::{FrameKind, ProfileBuilder, ProfileFrame, StackId};
use crate::names::SourceMaps;
use rustc_hash::FxHashMap;

/// A node as it is in the file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Node<'a> {
    /// Absolute offset of its first byte.
    pub(super) offset: u64,
    pub(super) id: u64,
    pub(super) function: Text<'a>,
    pub(super) url: Text<'a>,
    /// 0-based; -1 is unknown.
    pub(super) line: i64,
    /// 0-based; -1 is unknown.
    column: i64,
    pub(super) hits: u64,
    pub(super) self_size: u64,
    /// The node's parent by its place in the list, in files that nest nodes.
    parent: Option<u32>,
}

/// The name of functions that have none.
const ANONYMOUS: &str = "(anonymous)";

#[derive(Debug, Default)]
pub(super) struct Nodes<'a> {
    pub(super) all: Vec<Node<'a>>,
    /// Place of the parent and id of the child.
    children: Vec<(u32, u64)>,
    /// Place of the child and id of the parent.
    parents: Vec<(u32, u64)>,
    pub(super) ticks: Vec<Ticks>,
    pub(super) memory: MemoryLimit,
}

/// The samples of a node in a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticks {
    /// The place of the node in the list.
    pub(super) node: u32,
    /// The line, from 1.
    pub(super) line: u32,
    pub(super) count: u64,
}

/// Bytes of memory for a node, including the spare room of columns: its members, its place by its
/// id, its parent and its stack.
const BYTES_PER_NODE: usize = size_of::<Node<'_>>() * 3 / 2 + 70;
const BYTES_PER_LINK: usize = size_of::<(u32, u64)>() * 3 / 2;
/// Bytes of memory for the ticks of a line, with their order and the stack that ends in the line.
const BYTES_PER_TICKS: usize = size_of::<Ticks>() * 5 / 2 + 60;

/// The data of a node that samples need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) stack: StackId,
    /// The stack of the caller.
    pub(super) above: StackId,
    pub(super) frame: Option<ProfileFrame>,
    pub(super) idle: bool,
    pub(super) gc: bool,
}

impl<'a> Nodes<'a> {
    /// Reads a list of nodes. Fails with the first damage. Nodes before it are kept.
    pub(super) fn read_list(&mut self, scanner: &mut Scanner<'a>) -> Result<()> {
        scanner.begin_array()?;
        while scanner.item()? {
            self.read_tree(scanner)?;
        }
        Ok(())
    }

    /// Reads a node and all that are nested in it, without recursion.
    pub(super) fn read_tree(&mut self, scanner: &mut Scanner<'a>) -> Result<()> {
        let mut open = vec![self.open(scanner, None)?];
        // Every open node except the last one has an open list of children.
        while let Some(&place) = open.last() {
            match scanner.key()? {
                Some(key) if key.raw() == b"children" => {
                    scanner.begin_array()?;
                    if self.next_child(scanner, place, &mut open)? {
                        continue;
                    }
                }
                Some(key) => self.field(scanner, place, key)?,
                None => {
                    open.pop();
                    // The next sibling, or the rest of the parent.
                    if let Some(&parent) = open.last() {
                        self.next_child(scanner, parent, &mut open)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Opens the next child of a node, if it is an object; ids are noted. Returns `false` at the
    /// end of the children.
    fn next_child(
        &mut self,
        scanner: &mut Scanner<'a>,
        parent: u32,
        open: &mut Vec<u32>,
    ) -> Result<bool> {
        while scanner.item()? {
            if scanner.peek()? == ValueKind::Object {
                open.push(self.open(scanner, Some(parent))?);
                return Ok(true);
            }
            let child = scanner.unsigned()?;
            self.memory.check_bytes(scanner.offset(), self.bytes())?;
            self.children.push((parent, child));
        }
        Ok(false)
    }

    /// Bytes of memory, including the loader's data for each node.
    pub(super) fn bytes(&self) -> u64 {
        let links = self.children.len().saturating_add(self.parents.len());
        let nodes = self.all.len().saturating_mul(BYTES_PER_NODE);
        let ticks = self.ticks.len().saturating_mul(BYTES_PER_TICKS);
        let links = links.saturating_mul(BYTES_PER_LINK);
        nodes.saturating_add(links).saturating_add(ticks) as u64
    }

    fn open(&mut self, scanner: &mut Scanner<'a>, parent: Option<u32>) -> Result<u32> {
        // Moves past white space.
        scanner.peek()?;
        let offset = scanner.offset();
        self.memory.check_bytes(offset, self.bytes())?;
        scanner.begin_object()?;
        self.all.push(Node { offset, line: -1, column: -1, parent, ..Node::default() });
        Ok((self.all.len() as u32).saturating_sub(1))
    }

    fn field(&mut self, scanner: &mut Scanner<'a>, place: u32, key: Text<'a>) -> Result<()> {
        if key.raw() == b"callFrame" {
            scanner.begin_object()?;
            while let Some(key) = scanner.key()? {
                self.field_of_frame(scanner, place, key)?;
            }
            return Ok(());
        }
        if key.raw() == b"positionTicks" && scanner.peek()? == ValueKind::Array {
            return self.read_ticks(scanner, place);
        }
        // Profiles before Chrome 58 have the fields of the frame in the node.
        self.field_of_frame(scanner, place, key)
    }

    fn read_ticks(&mut self, scanner: &mut Scanner<'a>, node: u32) -> Result<()> {
        scanner.items_of(ValueKind::Object, |scanner| {
            let mut ticks = Ticks { node, line: 0, count: 0 };
            scanner.begin_object()?;
            while let Some(key) = scanner.key()? {
                match (key.raw(), scanner.peek()?) {
                    (b"line", ValueKind::Number) => {
                        ticks.line = u32::try_from(scanner.unsigned()?).unwrap_or(0);
                    }
                    (b"ticks", ValueKind::Number) => ticks.count = scanner.unsigned()?,
                    _ => scanner.skip()?,
                }
            }
            self.memory.check_bytes(scanner.offset(), self.bytes())?;
            self.ticks.push(ticks);
            Ok(())
        })
    }

    fn field_of_frame(
        &mut self,
        scanner: &mut Scanner<'a>,
        place: u32,
        key: Text<'a>,
    ) -> Result<()> {
        let kind = scanner.peek()?;
        let Some(node) = self.all.get_mut(place as usize) else { return scanner.skip() };
        match (key.raw(), kind) {
            (b"id", ValueKind::Number) => node.id = scanner.unsigned()?,
            (b"parent", ValueKind::Number) => {
                let parent = scanner.unsigned()?;
                self.parents.push((place, parent));
            }
            (b"functionName", ValueKind::String) => node.function = scanner.text()?,
            (b"url", ValueKind::String) => node.url = scanner.text()?,
            (b"lineNumber", ValueKind::Number) => node.line = scanner.number()?.signed()?,
            (b"columnNumber", ValueKind::Number) => node.column = scanner.number()?.signed()?,
            (b"hitCount", ValueKind::Number) => node.hits = scanner.unsigned()?,
            (b"selfSize", ValueKind::Number) => {
                node.self_size = scanner.number()?.float()?.max(0.0).round() as u64
            }
            _ => scanner.skip()?,
        }
        Ok(())
    }

    /// The places of nodes by their ids. The first node of an id counts.
    pub(super) fn by_id(&self) -> FxHashMap<u64, u32> {
        let mut by_id = FxHashMap::default();
        for (place, node) in (0u32..).zip(&self.all) {
            by_id.entry(node.id).or_insert(place);
        }
        by_id
    }

    /// Returns the place of each node in the profile that is built. The root is not a frame. Fails
    /// with the errors of `check`, which takes the profile and the offset of the current node.
    pub(super) fn stacks(
        &self,
        builder: &mut ProfileBuilder,
        source_maps: Option<&SourceMaps>,
        check: impl Fn(&ProfileBuilder, u64) -> Result<()>,
    ) -> Result<Vec<Place>> {
        let by_id = self.by_id();
        let mut parent: Vec<Option<u32>> = self.all.iter().map(|node| node.parent).collect();
        let ids = self.children.iter().filter_map(|(of, child)| Some((*by_id.get(child)?, *of)));
        for (child, of) in
            ids.chain(self.parents.iter().filter_map(|(child, of)| Some((*child, *by_id.get(of)?))))
        {
            if let Some(parent) = parent.get_mut(child as usize) {
                parent.get_or_insert(of);
            }
        }
        let mut places: Vec<Option<Place>> = vec![None; self.all.len()];
        let mut open = vec![false; self.all.len()];
        let mut path = Vec::new();
        for start in 0..self.all.len() as u32 {
            if let Some(node) = self.all.get(start as usize) {
                check(builder, node.offset)?;
            }
            let mut at = Some(start);
            let mut above = Place::default();
            // Goes up to a node whose stack is known, or to one that is its own caller.
            while let Some(node) = at {
                if let Some(Some(known)) = places.get(node as usize) {
                    above = *known;
                    break;
                }
                match open.get_mut(node as usize) {
                    Some(is_open) if !*is_open => *is_open = true,
                    _ => break,
                }
                path.push(node);
                at = parent.get(node as usize).copied().flatten();
            }
            while let Some(node) = path.pop() {
                above = self.place(
                    node,
                    above,
                    parent.get(node as usize).copied().flatten().is_none(),
                    source_maps,
                    builder,
                );
                if let Some(place) = places.get_mut(node as usize) {
                    *place = Some(above);
                }
            }
        }
        Ok(places.into_iter().flatten().collect())
    }

    fn place(
        &self,
        node: u32,
        above: Place,
        is_top: bool,
        source_maps: Option<&SourceMaps>,
        builder: &mut ProfileBuilder,
    ) -> Place {
        let Some(node) = self.all.get(node as usize) else { return above };
        let (idle, gc) = match node.function.raw() {
            b"(root)" if is_top => return above,
            b"(idle)" => (true, false),
            b"(garbage collector)" => (false, true),
            _ => (above.idle, above.gc),
        };
        let frame = frame(node, source_maps, builder);
        let number = builder.frame(frame);
        let stack = builder.push(above.stack, number);
        builder.count_cut();
        Place { stack, above: above.stack, frame: Some(frame), idle, gc }
    }
}

fn frame(
    node: &Node<'_>,
    source_maps: Option<&SourceMaps>,
    builder: &mut ProfileBuilder,
) -> ProfileFrame {
    let name = node.function.decode();
    let kind = match &*name {
        "(garbage collector)" => FrameKind::Gc,
        "(program)" | "(idle)" => FrameKind::Native,
        _ if node.url.raw().is_empty() && node.line < 0 => FrameKind::Native,
        _ => FrameKind::Code,
    };
    let original = source_maps.and_then(|maps| {
        let (line, column) = (u64::try_from(node.line).ok()?, u64::try_from(node.column).ok()?);
        maps.function(&node.url.decode(), line, column, &name)
    });
    if let Some(original) = original {
        let shown = original.name.as_deref().unwrap_or(&name);
        let shown = if shown.is_empty() { ANONYMOUS } else { shown };
        let (function, file) =
            (builder.name(shown.as_bytes()), builder.name(original.file.as_bytes()));
        let frame = ProfileFrame { function, file, line: original.line, kind };
        builder.was_called(frame, &name);
        return frame;
    }
    let name = if name.is_empty() { ANONYMOUS.into() } else { name };
    let function = builder.name(name.as_bytes());
    let file = match node.url.decode() {
        url if url.is_empty() => Names::EMPTY,
        url => builder.name(url.as_bytes()),
    };
    // Lines are 0-based in the file.
    let line = builder.line(i128::from(node.line).saturating_add(1).max(0));
    ProfileFrame { function, file, line, kind }
}
