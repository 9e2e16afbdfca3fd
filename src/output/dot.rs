//! Draws a few objects and their references as a graph for Graphviz.
//!
//! Only for results, such as paths and subtrees: a drawing of a whole heap is unreadable.

use crate::model::heap::{Heap, Label, ObjectId};
use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Write};

/// The maximum number of objects in a drawing that is still readable.
pub const MAX_OBJECTS: usize = 200;

/// The maximum number of characters of a name.
const LONGEST: usize = 80;

/// The graph to draw.
#[derive(Clone, Debug, Default)]
pub struct Drawing {
    /// Objects to highlight.
    pub marked: Vec<ObjectId>,
    /// Names of roots, and the objects that they hold.
    pub roots: Vec<(String, ObjectId)>,
    /// References; the objects at their ends are drawn too.
    pub references: Vec<Arrow>,
}

/// A reference in a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrow {
    /// The object that holds the reference.
    pub from: ObjectId,
    /// The object that the reference leads to.
    pub to: ObjectId,
    /// The label of the reference.
    pub label: Label,
    /// Whether the reference does not keep its target alive. Weak references are dashed.
    pub weak: bool,
}

/// A drawing has more objects than anyone can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge {
    /// The number of objects in the drawing.
    pub objects: usize,
}

impl fmt::Display for TooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} objects are too many for a drawing, which shows {MAX_OBJECTS} at most",
            self.objects
        )
    }
}

impl std::error::Error for TooLarge {}

impl Drawing {
    /// Returns all objects in the drawing, each once, in order.
    pub fn objects(&self) -> BTreeSet<ObjectId> {
        let ends = self.references.iter().flat_map(|arrow| [arrow.from, arrow.to]);
        ends.chain(self.roots.iter().map(|(_, object)| *object))
            .chain(self.marked.iter().copied())
            .collect()
    }

    /// Checks that the drawing is small enough to be readable. Fails when there are more than
    /// [`MAX_OBJECTS`].
    pub fn fits(&self) -> Result<(), TooLarge> {
        let objects = self.objects().len();
        if objects > MAX_OBJECTS { Err(TooLarge { objects }) } else { Ok(()) }
    }
}

/// Writes the drawing, even if it does not [fit](Drawing::fits). `size` returns the text below the
/// name of an object: `16 B / 1.0 KiB`. Fails when the output cannot be written.
pub fn write<W: Write>(
    heap: &Heap<'_>,
    drawing: &Drawing,
    size: impl Fn(ObjectId) -> String,
    mut out: W,
) -> io::Result<()> {
    writeln!(out, "digraph heap {{")?;
    writeln!(out, "  rankdir=LR;")?;
    writeln!(out, "  node [shape=box, fontname=\"sans-serif\"];")?;
    let names: BTreeSet<&str> = drawing.roots.iter().map(|(name, _)| name.as_str()).collect();
    for (number, name) in names.iter().enumerate() {
        writeln!(out, "  root{number} [label=\"{}\", shape=ellipse];", Escaped(name))?;
    }
    for object in drawing.objects() {
        let bold = if drawing.marked.contains(&object) { ", style=bold" } else { "" };
        let (name, id, size) = (Escaped(heap.shown_name(object)), heap.id(object), size(object));
        writeln!(
            out,
            "  n{} [label=\"{name}\\n{}\\n{}\"{bold}];",
            object.0,
            Escaped(&id),
            Escaped(&size)
        )?;
    }
    let held: BTreeSet<(usize, ObjectId)> = drawing
        .roots
        .iter()
        .map(|(name, object)| (names.range(..name.as_str()).count(), *object))
        .collect();
    for (number, object) in held {
        writeln!(out, "  root{number} -> n{};", object.0)?;
    }
    for arrow in drawing.references.iter().collect::<BTreeSet<_>>() {
        let dashed = if arrow.weak { ", style=dashed" } else { "" };
        let label = arrow.label.text(&heap.names);
        writeln!(
            out,
            "  n{} -> n{} [label=\"{}\"{dashed}];",
            arrow.from.0,
            arrow.to.0,
            Escaped(&label)
        )?;
    }
    writeln!(out, "}}")
}

/// Writes a tree of `nodes`: each has its depth and the lines of its label, in depth-first order
/// from the root at depth 0. An arrow leads from each node to those one level below it. Fails when
/// the output cannot be written.
pub fn write_tree<W: Write>(
    nodes: impl IntoIterator<Item = (u32, Vec<String>)>,
    mut out: W,
) -> io::Result<()> {
    writeln!(out, "digraph tree {{")?;
    writeln!(out, "  rankdir=LR;")?;
    writeln!(out, "  node [shape=box, fontname=\"sans-serif\"];")?;
    let mut above: Vec<usize> = Vec::new();
    for (number, (depth, lines)) in nodes.into_iter().enumerate() {
        let lines: Vec<String> = lines.iter().map(|line| Escaped(line).to_string()).collect();
        writeln!(out, "  n{number} [label=\"{}\"];", lines.join("\\n"))?;
        above.truncate(depth as usize);
        if let Some(parent) = above.last() {
            writeln!(out, "  n{parent} -> n{number};")?;
        }
        above.push(number);
    }
    writeln!(out, "}}")
}

/// A text inside quotes. Control characters are shown as spaces, long texts are cut.
struct Escaped<'t>(&'t str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, c) in self.0.chars().enumerate() {
            match c {
                _ if position == LONGEST => return f.write_str("…"),
                '"' => f.write_str("\\\"")?,
                '\\' => f.write_str("\\\\")?,
                c if c.is_control() => f.write_str(" ")?,
                c => write!(f, "{c}")?,
            }
        }
        Ok(())
    }
}
