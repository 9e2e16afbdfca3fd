//! Objects of one type, divided by what holds them.

use super::holders::{Holders, Outsides};
use super::place::without_indexes;
use super::scene::{Group, Scene};
use crate::model::heap::{Label, LabelKind, ObjectId, Role, TypeKind};
use rustc_hash::{FxHashMap, FxHasher};
use std::cmp::Reverse;
use std::hash::{Hash, Hasher};

/// A larger group is not divided.
pub(super) const MOST_MEMBERS: usize = 50_000;

/// The number of evenly chosen objects whose holders are searched in a group that is not divided.
const SAMPLE: usize = 5_000;

/// The maximum number of holders of one object to examine.
const MOST_HOLDERS: usize = 8;

/// The heads of a group whose holders are searched.
pub(super) fn sample(group: &Group) -> impl Iterator<Item = u32> + '_ {
    sample_of(&group.heads)
}

/// The numbers themselves, or an evenly chosen sample if they are many.
pub(super) fn sample_of(numbers: &[u32]) -> impl Iterator<Item = u32> + '_ {
    let step = if numbers.len() > MOST_MEMBERS { numbers.len().div_ceil(SAMPLE) } else { 1 };
    numbers.iter().copied().step_by(step)
}

/// Whether [`divide`] looks at the holders of a group.
pub(super) fn is_divisible(group: &Group) -> bool {
    (2..=MOST_MEMBERS).contains(&group.heads.len())
}

/// Divides a group into objects whose holders look alike: fields of the same name in objects of the
/// same type. An object with two holders joins the objects of both.
pub(super) fn divide(
    scene: &Scene<'_, '_>,
    holders: &Holders,
    outsides: &mut Outsides,
    group: Group,
) -> Vec<Group> {
    if !is_divisible(&group) {
        return vec![group];
    }
    let mut sets = Sets::default();
    let mut of_member = Vec::with_capacity(group.heads.len());
    let mut sets_of_shapes: FxHashMap<u64, usize> = FxHashMap::default();
    for &member in &group.heads {
        let mut own: Option<usize> = None;
        for shape in shapes(scene, holders, outsides, member, group.kin) {
            let set = *sets_of_shapes.entry(shape).or_insert_with(|| sets.add());
            own = Some(own.map_or(set, |own| sets.join(own, set)));
        }
        of_member
            .push(own.unwrap_or_else(|| *sets_of_shapes.entry(0).or_insert_with(|| sets.add())));
    }
    let mut groups: FxHashMap<usize, Group> = FxHashMap::default();
    for (&member, set) in group.heads.iter().zip(of_member) {
        let part = groups
            .entry(sets.find(set))
            .or_insert_with(|| Group { kin: group.kin, ..Group::default() });
        part.heads.push(member);
        part.bytes = part.bytes.saturating_add(scene.bytes(member));
    }
    let mut groups: Vec<Group> = groups.into_values().collect();
    groups.sort_by_key(|group| (Reverse(group.bytes), group.heads[0]));
    groups
}

/// Hashes of the holders of an object, equal for holders that look alike.
fn shapes(
    scene: &Scene<'_, '_>,
    holders: &Holders,
    outsides: &mut Outsides,
    member: u32,
    kin: u32,
) -> Vec<u64> {
    let references = holders.of_number(scene, member).take(MOST_HOLDERS);
    let mut shapes = Vec::new();
    for held in references {
        let (outside, number) = outsides.of_source(scene, held);
        let label = if outside == held.source { held.label } else { Label::NONE };
        let role = scene.role(number);
        if scene.kin(held.from) == kin || role.is_hidden() || role == Role::Frame {
            continue;
        }
        shapes.push(shape(scene, (outside, number), label));
    }
    if shapes.is_empty()
        && let Some(row) = scene.object(member).and_then(|object| holders.root(object))
    {
        let root = &scene.heap().roots[row as usize];
        let function = root.frame.and_then(|frame| scene.heap().frames.get(frame as usize));
        shapes.push(hash((
            root.kind.name(),
            function.map(|frame| frame.function),
            field(scene, root.label),
        )));
    }
    shapes
}

/// The hash of a holder, by its object and number: of its type, the field and, for a collection, the type
/// that holds it.
fn shape(scene: &Scene<'_, '_>, (holder, number): (ObjectId, u32), label: Label) -> u64 {
    if scene.kind(scene.kin(number)) == TypeKind::Class {
        return hash((holder.0, field(scene, label)));
    }
    let above = match scene.role(number) {
        Role::Program | Role::Record => 0,
        _ => scene.kin(scene.dominator(number)),
    };
    hash((scene.kin(number), field(scene, label), above))
}

/// The field of a reference. Elements of an array within an object are one field.
pub(super) fn field(scene: &Scene<'_, '_>, label: Label) -> u64 {
    let LabelKind::Field(name) = label.kind() else { return 0 };
    match scene.heap().names.text(name) {
        text if text.contains('[') => hash(without_indexes(text)),
        _ => name.0.into(),
    }
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    // 0 represents objects without a known holder.
    hasher.finish() | 1
}

/// Disjoint sets.
#[derive(Default)]
struct Sets(Vec<usize>);

impl Sets {
    fn add(&mut self) -> usize {
        self.0.push(self.0.len());
        self.0.len() - 1
    }

    fn find(&mut self, mut set: usize) -> usize {
        while self.0[set] != set {
            self.0[set] = self.0[self.0[set]];
            set = self.0[set];
        }
        set
    }

    fn join(&mut self, a: usize, b: usize) -> usize {
        let (a, b) = (self.find(a), self.find(b));
        let (low, high) = (a.min(b), a.max(b));
        self.0[high] = low;
        low
    }
}
