//! Graphs to analyse. All are the same in every run.

use crate::generation::GENERATION;
use dumptool::input::dart;
use dumptool::input::load::LoadOptions;
use dumptool::model::builder::HeapBuilder;
use dumptool::model::heap::{Heap, Ids, Label, ObjectId, Offsets, Root, RootKind, TypeKind};
use dumptool::source::Source;
use std::path::Path;

/// How a graph is made.
pub(crate) enum Kind {
    /// Three references each on average, most of them to objects near by; who refers to near
    /// objects has a near address.
    Near,
    /// The same graph, with addresses in no order.
    Shuffled,
    /// A list, held at its head.
    List,
    /// A list linked both ways, held at both ends.
    BothWays,
    /// A list whose last object holds as many objects again, which the first one holds as well.
    Broom,
    /// A loaded snapshot of the benchmark `readers`.
    Dart,
}

/// A graph, and what it must not exceed.
pub(crate) struct Graph {
    pub(crate) name: &'static str,
    pub(crate) objects: u32,
    pub(crate) kind: Kind,
    /// Only measured when it is named.
    pub(crate) on_request: bool,
    /// Nanoseconds of the dominators for each reference.
    pub(crate) nanoseconds: Option<f64>,
    /// Times Lengauer and Tarjan.
    pub(crate) ratio: Option<f64>,
    /// Bytes of the dominators for each object.
    pub(crate) bytes: Option<f64>,
    /// Seconds of the dominators.
    pub(crate) seconds: Option<f64>,
}

const PLAIN: Graph = Graph {
    name: "",
    objects: 10_000_000,
    kind: Kind::Near,
    on_request: false,
    nanoseconds: None,
    ratio: None,
    bytes: None,
    seconds: None,
};

pub(crate) const GRAPHS: &[Graph] = &[
    Graph { name: "near", nanoseconds: Some(130.0), ratio: Some(0.5), bytes: Some(36.0), ..PLAIN },
    Graph {
        name: "shuffled",
        kind: Kind::Shuffled,
        nanoseconds: Some(200.0),
        ratio: Some(0.5),
        bytes: Some(36.0),
        ..PLAIN
    },
    Graph { name: "list", kind: Kind::List, ..PLAIN },
    Graph {
        name: "both-ways",
        kind: Kind::BothWays,
        objects: 5_000_000,
        seconds: Some(2.0),
        ..PLAIN
    },
    Graph { name: "broom", kind: Kind::Broom, ..PLAIN },
    Graph {
        name: "dart",
        kind: Kind::Dart,
        nanoseconds: Some(130.0),
        ratio: Some(0.5),
        bytes: Some(36.0),
        ..PLAIN
    },
    Graph {
        name: "large",
        objects: 40_000_000,
        on_request: true,
        nanoseconds: Some(130.0),
        bytes: Some(36.0),
        ..PLAIN
    },
];

impl Graph {
    /// Makes the heap and does something with it.
    pub(crate) fn with(&self, scale: f64, run: &mut dyn FnMut(&Heap<'_>)) {
        let objects = ((f64::from(self.objects) * scale) as u32).max(1000);
        match self.kind {
            Kind::Near => run(&near(objects, &|object| object)),
            Kind::Shuffled => run(&near(objects, &shuffle(objects))),
            Kind::List => run(&list(objects, false)),
            Kind::BothWays => run(&list(objects, true)),
            Kind::Broom => run(&broom(objects)),
            Kind::Dart => {
                let name = format!("bench-data/dart-10000000-v{GENERATION}.dump");
                match Source::open(&Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name(name)) {
                    Ok(source) => run(&dart::load(source.bytes(), LoadOptions::default())
                        .expect("the input is intact")
                        .heap),
                    Err(error) => eprintln!(
                        "left out, `cargo bench --bench readers -- dart` writes its input: {error}"
                    ),
                }
            }
        }
    }
}

/// A well-mixed number for each number (SplitMix64).
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A permutation of `0..objects`: multiplication by a number without a common divisor, then swaps.
fn shuffle(objects: u32) -> impl Fn(u32) -> u32 {
    let mut places: Vec<u32> = (0..objects).collect();
    for last in (1..objects as usize).rev() {
        places.swap(last, (mixed(last as u64) % (last as u64 + 1)) as usize);
    }
    move |object| places[object as usize]
}

/// References of an object, by the numbers of a generator that belongs to the object: none in a
/// fifth of the objects, else up to seven; six of ten go at most a few hundred objects forward, two
/// go backward as far, and two go anywhere.
fn near_references(object: u32, objects: u32, mut add: impl FnMut(u32)) {
    let seed = mixed(object.into());
    let count = if seed.is_multiple_of(5) { 0 } else { 1 + (seed >> 8) % 7 };
    for index in 0..count {
        let number = mixed(seed ^ mixed(index));
        let distance = (1 + (number >> 8) % 300) as u32;
        add(match number % 10 {
            0..6 => object.saturating_add(distance).min(objects - 1),
            6..8 => object.saturating_sub(distance),
            _ => ((number >> 8) % u64::from(objects)) as u32,
        });
    }
}

fn near(objects: u32, place: &dyn Fn(u32) -> u32) -> Heap<'static> {
    let mut object_at = vec![0; objects as usize];
    (0..objects).for_each(|object| object_at[place(object) as usize] = object);
    let mut columns = Columns::with_capacity(objects, 16 * objects as usize / 5);
    for object in object_at {
        near_references(object, objects, |target| columns.target.push(ObjectId(place(target))));
        columns.end_object();
    }
    columns.heap((0..100).map(|index| place((mixed(index) % u64::from(objects)) as u32)))
}

fn list(objects: u32, both_ways: bool) -> Heap<'static> {
    let mut columns = Columns::with_capacity(objects, 2 * objects as usize);
    for object in 0..objects {
        columns.target.extend((object + 1 < objects).then_some(ObjectId(object + 1)));
        columns.target.extend((both_ways && object > 0).then(|| ObjectId(object - 1)));
        columns.end_object();
    }
    columns.heap([0].into_iter().chain(both_ways.then_some(objects - 1)))
}

fn broom(objects: u32) -> Heap<'static> {
    let handle = objects / 2;
    let mut columns = Columns::with_capacity(objects, 2 * objects as usize);
    for object in 0..objects {
        columns.target.extend((object + 1 < handle).then_some(ObjectId(object + 1)));
        if object == 0 || object + 1 == handle {
            columns.target.extend((handle..objects).map(ObjectId));
        }
        columns.end_object();
    }
    columns.heap([0])
}

/// The columns of references while they grow.
struct Columns {
    first: Offsets,
    target: Vec<ObjectId>,
}

impl Columns {
    fn with_capacity(objects: u32, references: usize) -> Self {
        let mut first = Offsets::with_capacity(objects as usize + 1, references as u64);
        first.push(0);
        Self { first, target: Vec::with_capacity(references) }
    }

    /// The references so far are those of the objects so far.
    fn end_object(&mut self) {
        self.first.push(self.target.len() as u64);
    }

    /// Objects of one type, of 16 to 136 bytes.
    fn heap(self, roots: impl IntoIterator<Item = u32>) -> Heap<'static> {
        let objects = self.first.len() - 1;
        let mut builder = HeapBuilder::with_capacity(objects, self.target.len());
        let node = builder.add_type("Node", "", TypeKind::Instance);
        let group = builder.names().intern("bench");
        for object in 0..objects {
            builder.add_object(node, 16 + 8 * (mixed(object as u64) % 16));
            for row in self.first.get(object)..self.first.get(object + 1) {
                builder.add_reference(self.target[row as usize], Label::NONE, false);
            }
        }
        for object in roots {
            builder.add_root(Root::new(ObjectId(object), RootKind::Other, group));
        }
        builder.finish(Ids::Rows(0), None)
    }
}
