//! Finds the layout of objects, and the size of each class, from addresses and fields.
//!
//! HotSpot has rules for the fields of a class (see `fields`), and options that change the rules. A
//! dump states neither the options nor the version. Each layout that arrays allow is tried on all
//! classes; the one that agrees most often with the distance between neighbours is taken for the
//! file. Then the size of each class is determined, superclasses first:
//!
//! * A distance below the size by the rules is the size, as objects do not overlap.
//! * If the JVM is known to add something to a class (`hidden`), it adds as much as leaves room in
//!   the distances of that class and of all its subclasses.
//! * Below a class with padding (`@Contended`), one more padding is taken from a distance.
//! * Any other distance above the size by the rules is the size if at least [`MANY`] neighbours and
//!   half of all neighbours have it, and if the difference is too small for an object. Otherwise
//!   there is garbage after the objects, and the size by the rules stands: if a program makes a
//!   temporary object after each one that it keeps, and the collector moves nothing, all distances
//!   are too large by the same amount.
//!
//! Subclasses inherit the bytes that a class has beyond the rules. Addresses are not used if they
//! cannot be those of a JVM: not multiples of 8, or closer to each other than the fields of the
//! objects allow.

use super::fields::Gaps;
use super::layout::{Class, ClassTable};
use super::naming::Strings;
use super::neighbours::{Arrays, Distance, Neighbours};
use super::primitives::IdSize;
use super::sizes::{Layout, Rule};
use crate::input::load::LayoutChoice;

/// The least number of neighbours that prove a size beyond the rules.
const MANY: u32 = 4;
/// The most bytes that the JVM adds to a class.
const MOST_HIDDEN: u64 = 2048;
/// Bytes that `@Contended` puts at each side of a group of fields (`ContendedPaddingWidth`). JDK 17
/// puts them before the fields of some subclasses again.
const PADDING: u64 = 128;
/// The most classes that `-v` names.
const EXAMPLES: usize = 5;
/// Addresses are trusted if at most one class in this many contradicts all layouts.
const TRUST: usize = 16;

/// The source of object sizes and the evidence for it.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub rule: Rule,
    /// Whether ids are the addresses of a JVM's objects, which do not overlap.
    pub has_addresses: bool,
    /// The number of neighbours whose distance is the size of the first one's class. `None` if the
    /// file or the user states sizes, or if ids are not addresses.
    pub pairs: Option<u64>,
    /// Classes whose size follows from the distance of their objects and not from the rules, in the
    /// order of the file.
    pub corrected: Vec<Corrected>,
}

impl Default for Found {
    fn default() -> Self {
        Self {
            rule: Rule::HotSpot(Layout::narrow_pointers(Gaps::Filled)),
            has_addresses: false,
            pairs: None,
            corrected: Vec::new(),
        }
    }
}

impl Found {
    /// Describes the classes whose size differs from the size by the rules. `name` returns the name
    /// of a class by its position.
    pub(super) fn remark(&self, name: impl Fn(usize) -> String) -> Option<String> {
        let mut largest: Vec<_> = self.corrected.iter().collect();
        largest.sort_by_key(|class| std::cmp::Reverse(class.pairs));
        let example = |class: &&Corrected| {
            format!("{} has {} bytes, not {}", name(class.class), class.size, class.by_rule)
        };
        let examples: Vec<_> = largest.iter().take(EXAMPLES).map(example).collect();
        let rest = if largest.len() > EXAMPLES { " …" } else { "" };
        let count = largest.len();
        (count > 0).then(|| {
            format!(
                "classes whose size comes from the distance between objects, not from HotSpot's rules: {count} ({}{rest})",
                examples.join(", ")
            )
        })
    }
}

/// A class whose size differs from the size by the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Corrected {
    /// Its position.
    pub class: usize,
    /// The size by the rules, in bytes.
    pub by_rule: u64,
    pub size: u64,
    /// The number of neighbours that prove the size.
    pub pairs: u32,
}

/// Finds the rule, and determines the size of every class.
pub(super) fn find(
    classes: &mut ClassTable<'_>,
    strings: &Strings<'_>,
    ids: IdSize,
    neighbours: &Neighbours,
    ours: bool,
    choice: LayoutChoice,
) -> Found {
    let by_rule = |rule| Found { rule, ..Found::default() };
    let object = classes.named("java.lang.Object", strings);
    let stated = object.map_or(0, |class| class.dump.instance_size);
    if stated > 0 {
        classes.state_sizes();
        return by_rule(Rule::Stated { object: stated.into(), ours });
    }
    let mirror = classes.named("java.lang.Class", strings);
    let mirror = mirror.and_then(|class| classes.index(class.dump.id));
    let has_class_data = |class: &Class<'_>| class.own_field(b"classData", strings, ids).is_some();
    let filled = mirror.and_then(|index| classes.get(index)).is_some_and(has_class_data);
    if ids == IdSize::Four {
        let layout = Layout::narrow_pointers(if filled { Gaps::Filled } else { Gaps::Rounded });
        let ends = classes.ends(&layout, |_, _, end| end);
        classes.set_sizes(&ends, &layout);
        return by_rule(Rule::HotSpot(layout));
    }
    classes.find_hidden(strings, ids);
    let distance =
        |class: &Class<'_>| neighbours.distance(class.dump.id).filter(|_| !class.hidden.chunk);
    let mut distances: Vec<_> = classes.iter().map(distance).collect();
    let alignment = neighbours.alignment().filter(|_| are_addresses(classes, &distances));
    let mut layout = pick(
        classes,
        neighbours,
        alignment.map(|alignment| (alignment, &*distances)),
        filled,
        choice,
    );
    let is_measured = alignment.is_some() && choice == LayoutChoice::default();
    if !is_measured {
        distances.fill(None);
    } else if let Some(distance) = mirror.and_then(|index| distances.get_mut(index)) {
        see_mirrors(distance, classes, strings, neighbours, &layout);
    }
    let mut found = Found {
        rule: Rule::HotSpot(layout),
        has_addresses: alignment.is_some(),
        pairs: is_measured.then_some(0),
        corrected: Vec::new(),
    };
    let ends = found.settle_all(classes, &distances, &layout);
    found.corrected.sort_by_key(|class| class.class);
    classes.set_sizes(&ends, &layout);
    layout.mirror = mirror.and_then(|index| classes.get(index)).map_or(0, |class| class.size);
    found.rule = Rule::HotSpot(layout);
    found
}

impl Found {
    /// Determines the size of each class, and records the classes that deviate from the rules.
    /// Returns the ends of the classes' fields.
    fn settle_all(
        &mut self,
        classes: &ClassTable<'_>,
        distances: &[Option<Distance>],
        layout: &Layout,
    ) -> Vec<u64> {
        let rooms = Rooms::of(classes, distances, layout);
        classes.ends(layout, |index, class, by_rules| {
            let end = if class.hidden.larger {
                by_rules.saturating_add(rooms.hidden(index, by_rules))
            } else {
                by_rules
            };
            let Some(distance) = distances.get(index).copied().flatten() else { return end };
            let by_rule = layout.up(by_rules);
            let size = settle(layout.up(end), distance, class.larger, layout.up(layout.header));
            if size == distance.least {
                self.pairs = self.pairs.map(|pairs| pairs.saturating_add(distance.times.into()));
            }
            if size != by_rule {
                self.corrected.push(Corrected {
                    class: index,
                    by_rule,
                    size,
                    pairs: distance.times,
                });
            }
            end.saturating_add(size).saturating_sub(layout.up(end))
        })
    }
}

/// Returns the size of a class. `expected` is the size by the rules and the known additions of the
/// JVM. `larger` is whether the JVM adds a varying amount to this class or a superclass. `smallest`
/// is the size of the smallest object.
fn settle(expected: u64, distance: Distance, larger: bool, smallest: u64) -> u64 {
    let Distance { least, times, pairs } = distance;
    let is_size = match least.checked_sub(expected) {
        None => true,
        Some(PADDING) => larger && times > 0,
        Some(more) => more < smallest && times >= MANY && times >= pairs / 2,
    };
    if is_size { least } else { expected }
}

/// The room that the neighbours of a class leave for additions of the JVM, by position.
struct Rooms {
    /// The end of each class's fields by the rules alone.
    ends: Vec<u64>,
    /// The fewest bytes between the end of the fields and the next object, for objects of the class
    /// and of its subclasses. `None` without neighbours.
    room: Vec<Option<u64>>,
}

impl Rooms {
    fn of(classes: &ClassTable<'_>, distances: &[Option<Distance>], layout: &Layout) -> Self {
        let ends = classes.ends(layout, |_, _, end| end);
        // Only neighbours count: a bound from other objects may be arbitrarily large.
        let room = |(distance, end): (&Option<Distance>, &u64)| {
            let distance = distance.filter(|distance| distance.times > 0)?;
            Some(distance.least.saturating_sub(*end)).filter(|room| *room <= MOST_HIDDEN)
        };
        let mut room: Vec<_> = distances.iter().zip(&ends).map(room).collect();
        classes.for_each_parent(|class, parent| {
            let own = room.get(class).copied().flatten();
            if let Some(of_parent) = room.get_mut(parent) {
                *of_parent = [*of_parent, own].into_iter().flatten().min();
            }
        });
        Self { ends, room }
    }

    /// Returns the bytes that the JVM adds to a class whose fields end at `end`, which includes
    /// additions to superclasses. This is all the room. The JVM may use less, but subclasses seldom
    /// use the rest.
    fn hidden(&self, index: usize, end: u64) -> u64 {
        let room = self.room.get(index).copied().flatten();
        let inherited = end.saturating_sub(self.ends.get(index).copied().unwrap_or(end));
        room.map_or(0, |room| room.saturating_sub(inherited))
    }
}

/// Whether objects are at least as far apart as the smallest layout requires.
fn are_addresses(classes: &ClassTable<'_>, distances: &[Option<Distance>]) -> bool {
    let (_, contradicting, all) =
        agreement(classes, distances, &Layout::new(4, 8, 8, Gaps::Filled, 0));
    contradicting.saturating_mul(TRUST) <= all
}

/// The classes whose distance is the size by the layout, those whose distance is smaller, and all
/// with a distance.
fn agreement(
    classes: &ClassTable<'_>,
    distances: &[Option<Distance>],
    layout: &Layout,
) -> (usize, usize, usize) {
    let (mut same, mut contradicting, mut all) = (0usize, 0usize, 0usize);
    classes.ends(layout, |index, _, end| {
        if let Some(distance) = distances.get(index).copied().flatten() {
            let size = layout.up(end);
            same = same.saturating_add(usize::from(distance.least == size));
            contradicting = contradicting.saturating_add(usize::from(distance.least < size));
            all = all.saturating_add(1);
        }
        end
    });
    (same, contradicting, all)
}

/// The layout that agrees best with the distances, or the one that is usual if there are none.
/// `filled`: the file is of JDK 15 or later.
fn pick(
    classes: &ClassTable<'_>,
    neighbours: &Neighbours,
    addresses: Option<(u64, &[Option<Distance>])>,
    filled: bool,
    choice: LayoutChoice,
) -> Layout {
    let arrays = if addresses.is_some() { neighbours.arrays } else { Arrays::default() };
    let (found, distances) = addresses.unwrap_or((8, &[]));
    let alignment = choice.alignment.unwrap_or(found);
    let references: &[u64] = match &choice.references {
        Some(references) => std::slice::from_ref(references),
        // Every array with references of 8 bytes has at least 16 bytes before them.
        None if neighbours.arrays.wide < 16 => &[4],
        None => &[8, 4],
    };
    let gaps = if filled {
        [Gaps::Filled, Gaps::Own, Gaps::None]
    } else {
        [Gaps::Own, Gaps::None, Gaps::Filled]
    };
    let mut best: Option<(Layout, i64)> = None;
    for &reference in references {
        // Since JDK 15, class pointers are compressed even if references are not.
        let usual = if reference == 4 || filled { [12, 16, 8] } else { [16, 12, 8] };
        let references = if reference == 4 { arrays.narrow } else { arrays.wide };
        for (header, gaps) in usual.into_iter().flat_map(|header| gaps.map(|gaps| (header, gaps))) {
            let layout = Layout::new(reference, header, alignment, gaps, arrays.numbers);
            // The smallest header always fits, in case the addresses are not those of a JVM.
            let fits = header == 8
                || layout.array <= arrays.numbers && layout.before_references() <= references;
            if choice.header.map_or(!fits, |chosen| chosen != header) {
                continue;
            }
            let (same, contradicting, _) = agreement(classes, distances, &layout);
            let score = (same as i64).saturating_sub(contradicting as i64);
            if best.is_none_or(|(_, best)| score > best) {
                best = Some((layout, score));
            }
        }
    }
    best.map_or(Layout::new(8, 16, alignment, Gaps::Filled, arrays.numbers), |(layout, _)| layout)
}

/// Adds the distances of class objects to those of java.lang.Class, whose instances they are, less
/// the static fields after each.
fn see_mirrors(
    distance: &mut Option<Distance>,
    classes: &ClassTable<'_>,
    strings: &Strings<'_>,
    neighbours: &Neighbours,
    layout: &Layout,
) {
    for (position, to_next) in &neighbours.mirrors {
        let Some(class) = classes.get(*position as usize) else { continue };
        let statics = layout.statics(&class.dump.statics, strings);
        distance.get_or_insert(Distance::NONE).see(to_next.saturating_sub(statics) & !7);
    }
}
