//! Loads a profile as sums of stacks.

use super::document::{Document, KEYS, Point};
use crate::error::Result;
use crate::input::load::{LoadedProfile, ProfileOptions};
use crate::input::native::allocators;
use crate::input::native::frames::ValgrindFrame;
use crate::model::names::Names;
use crate::model::profile::{
    FrameId, ProfileBuilder, ProfileThread, StackId, Unit, ValueType, Values,
};

/// The way to compute a value type from the numbers of a point.
#[derive(Clone, Copy)]
enum Measure {
    Key(&'static str),
    /// All bytes of points without accesses of this kind.
    Without(&'static str),
}

use Measure::{Key, Without};

pub(super) fn load(bytes: &[u8], options: ProfileOptions<'_>) -> Result<LoadedProfile> {
    let (document, damage) = Document::read(bytes, options.memory)?;
    let mut builder = ProfileBuilder::new(false);
    let measures = measures(&document);
    let types = measures
        .iter()
        .map(|(name, unit, _)| ValueType { name: (*name).into(), unit: unit.clone() });
    builder.set_value_types(types.collect(), 0);
    let mode = document.mode.decode();
    builder.metadata(b"dhat_mode", mode.as_bytes());
    for (key, value) in &document.facts {
        builder.metadata(key.decode().as_bytes(), value.decode().as_bytes());
    }
    let frames = frames(&document, &mut builder);
    let thread = builder.labelled_thread(ProfileThread::named(Names::EMPTY));
    let mut stack = Vec::new();
    for (row, point) in document.points.iter().enumerate() {
        let id = push(document.frames(point), &frames, &mut stack, &mut builder);
        let numbers: Vec<i64> =
            measures.iter().map(|(.., measure)| builder.metric(measure.of(point).into())).collect();
        let blocks = Key("tbk").of(point);
        builder.add(thread, id, &Values::of_types(blocks, &numbers));
        if row % 1024 == 0 {
            options.memory.check(0, &builder, document.bytes())?;
        }
    }
    let mut profile = builder.finish();
    allocators::fold(&mut profile, &options);
    Ok(LoadedProfile { profile, damage })
}

/// The value types of a file, the main one first.
fn measures(document: &Document<'_>) -> Vec<(&'static str, Unit, Measure)> {
    use Unit::{Bytes, Count};
    let mode = document.mode.decode();
    let all = match &*mode {
        "ad-hoc" => [("units", Count, Key("tb")), ("events", Count, Key("tbk"))],
        "copy" => [("bytes", Bytes, Key("tb")), ("calls", Count, Key("tbk"))],
        _ => [("alloc_bytes", Bytes, Key("tb")), ("alloc_objects", Count, Key("tbk"))],
    };
    let mut measures = Vec::new();
    if document.has_lifetimes {
        measures.extend([
            ("peak", Bytes, Key("gb")),
            ("peak_objects", Count, Key("gbk")),
            ("live_bytes", Bytes, Key("eb")),
            ("live_objects", Count, Key("ebk")),
        ]);
    }
    measures.extend(all);
    if document.has_lifetimes {
        measures.push(("lifetime", Unit::named(&document.time_unit.decode()), Key("tl")));
    }
    if document.has_accesses {
        measures.extend([
            ("reads", Bytes, Key("rb")),
            ("writes", Bytes, Key("wb")),
            ("never_read", Bytes, Without("rb")),
            ("never_written", Bytes, Without("wb")),
        ]);
    }
    measures
}

impl Measure {
    fn of(self, point: &Point) -> u64 {
        let number = |key: &str| {
            let row = KEYS.iter().position(|known| *known == key);
            row.and_then(|row| point.numbers.get(row)).copied().unwrap_or(0)
        };
        match self {
            Key(key) => number(key),
            Without(key) if number(key) == 0 => number("tb"),
            Without(_) => 0,
        }
    }
}

/// The frames of the table. `None` for the root.
fn frames(document: &Document<'_>, builder: &mut ProfileBuilder) -> Vec<Option<FrameId>> {
    let frame = |(row, (_, text)): (usize, &(u64, crate::input::json::Text<'_>))| {
        let text = text.decode();
        let is_root = row == 0 && text == "[root]";
        (!is_root).then(|| ValgrindFrame::parse(text.as_bytes()).add(builder))
    };
    document.table.iter().enumerate().map(frame).collect()
}

/// The stack of rows of the table, innermost first.
fn push(
    rows: &[u32],
    frames: &[Option<FrameId>],
    stack: &mut Vec<FrameId>,
    builder: &mut ProfileBuilder,
) -> StackId {
    stack.clear();
    for row in rows.iter().rev() {
        match frames.get(*row as usize) {
            Some(frame) => stack.extend(*frame),
            None => {
                let unresolved = &mut builder.notes().unresolved;
                *unresolved = unresolved.saturating_add(1);
            }
        }
    }
    let id = builder.push_all(StackId::EMPTY, stack);
    builder.count_cut();
    id
}
