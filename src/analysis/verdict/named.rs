//! The holders of a finding, with their names.

use super::alike::{MOST_MEMBERS, field, sample_of};
use super::candidate::{Candidate, Named};
use super::descent::thread_local_entries;
use super::finding::{AND_OTHERS, Holder};
use super::holders::{Holders, Outsides, SOURCE};
use super::place::{FILE, Place, without_indexes};
use super::scene::Scene;
use super::way::{CONTEXT, file_of};
use crate::analysis::collections::Collections;
use crate::model::heap::{Label, ObjectId, Role, TypeKind, Value};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::ops::ControlFlow;

/// The maximum number of passes over all references for the names of holders.
const MOST_LOOKS: usize = 4;

/// The maximum number of holders to name.
const MOST_HOLDERS: usize = 3;

/// A holder is named if it holds at least one of this many objects.
const FEW: usize = 4;

/// Names the holders of the objects of findings.
pub(super) struct Naming<'n, 's, 'a> {
    scene: &'n Scene<'s, 'a>,
    pub(super) holders: Holders,
    pub(super) outsides: Outsides,
    collections: &'n Collections<'n, 'a>,
    /// The numbers of entries of collections.
    entries: FxHashMap<ObjectId, Option<u64>>,
}

/// One of several holders of a type and field is the holder if it has all but 1/20 of the members.
const NEARLY_ALL: usize = 20;

/// Holders of one type and field.
#[derive(Default)]
struct Alike {
    /// The number of members that the holders hold.
    members: usize,
    /// By the number of each holder: the members that it holds, and the first reference.
    each: FxHashMap<u32, (usize, Option<(ObjectId, Label)>)>,
}

impl Alike {
    /// The holder of most members, with their number and the first reference.
    fn most(&self) -> Option<(u32, usize, ObjectId, Label)> {
        self.best(|_| true)
    }

    /// The holder of most members, among holders whose number `is_meant` accepts.
    fn best(&self, is_meant: impl Fn(u32) -> bool) -> Option<(u32, usize, ObjectId, Label)> {
        let meant = self.each.iter().filter(|(number, _)| is_meant(**number));
        let most = meant.max_by_key(|(number, (members, _))| (*members, Reverse(**number)));
        most.and_then(|(number, (members, first))| {
            first.map(|(source, label)| (*number, *members, source, label))
        })
    }
}

impl<'n, 's, 'a> Naming<'n, 's, 'a> {
    pub(super) fn new(
        scene: &'n Scene<'s, 'a>,
        holders: Holders,
        collections: &'n Collections<'n, 'a>,
    ) -> Self {
        let (outsides, entries) = Default::default();
        Self { scene, holders, outsides, collections, entries }
    }

    /// Computes a result for each item. Where this needs holders that are not known, it is computed again once
    /// they are.
    pub(super) fn of_each<I, T: Default>(
        &mut self,
        items: &[I],
        compute: impl Fn(&mut Self, &I) -> T,
    ) -> Vec<T> {
        let mut results: Vec<(T, bool)> = items.iter().map(|_| Default::default()).collect();
        for _ in 0..=MOST_LOOKS {
            for (item, (result, is_done)) in items.iter().zip(&mut results) {
                if !*is_done {
                    *result = compute(self, item);
                    *is_done = !self.holders.has_missed();
                }
            }
            if !self.holders.add_wanted(self.scene) {
                break;
            }
        }
        results.into_iter().map(|(result, _)| result).collect()
    }

    /// Returns the holders of the objects of a candidate.
    pub(super) fn holders(&mut self, candidate: &Candidate) -> Vec<Named> {
        if let Some(key) = self.thread_local(candidate) {
            return vec![key];
        }
        let steps = &candidate.descent.steps;
        if self.is_source_text(&steps[0].heads) {
            return Vec::new();
        }
        if let Some(container) = candidate.container.map(|step| steps[step].heads[0]) {
            let place = self.holders.place(self.scene, container);
            let place = match place {
                Some(place) if !place.is_in_scope() => Some(place),
                // The function is only one of many paths to the variable.
                place => variable_of_file(self.scene, &self.holders, container)
                    .filter(|variable| place.is_none() || variable.is_program == Some(true))
                    .or(place),
            };
            let mut named = self.named(self.scene.object(container), place);
            named.count(candidate.entries(self.scene));
            self.add_field(candidate, &mut named);
            if candidate.container == Some(candidate.element) && named.holder.label.is_empty() {
                named.holder.object = None; // It would be called its own holder.
            }
            return vec![named];
        }
        let mut named = Vec::new();
        let is_sample = steps[0].heads.len() > MOST_MEMBERS;
        for alike in self.most_frequent(&steps[0].heads, candidate) {
            named.extend(self.named_alike(&alike, is_sample));
        }
        named.retain(|named| named.holder.is_known());
        if named.is_empty()
            && let Some(head) = self.scene.largest(&steps[0])
            && let Some(mut place) = self.holders.place(self.scene, head)
        {
            // Methods of the program's objects may be inherited from the runtime.
            if place.is_in_scope() && self.scene.role(head) == Role::Closure {
                place.is_program = None;
            }
            if steps[0].heads.len() > 1 {
                place.label = without_indexes(&place.label).into_owned();
            }
            named.push(self.named(None, Some(place)));
        }
        named
    }

    /// Whether the only object is a text that code holds: its source, which belongs to the runtime
    /// even if objects of the program hold parts of it.
    fn is_source_text(&self, heads: &[u32]) -> bool {
        let (scene, [head]) = (self.scene, heads) else { return false };
        let kind = scene.object(*head).map(|object| scene.heap().type_of(object).kind);
        let mut holders = self.holders.of_number(scene, *head);
        kind == Some(TypeKind::Text)
            && holders.any(|held| {
                scene.role(held.from) == Role::Hidden && scene.field(held.label) == Some(SOURCE)
            })
    }

    /// Adds the field by which an object that is not a collection holds the first of a chain.
    fn add_field(&self, candidate: &Candidate, named: &mut Named) {
        let below =
            candidate.container.map(|step| step + 1).filter(|step| *step <= candidate.element);
        let next = below.map(|step| &candidate.descent.steps[step]);
        let Some(first) = next.filter(|step| step.heads.len() == 1).map(|step| step.heads[0])
        else {
            return;
        };
        let (Some(holder), Some(held)) = (named.holder.object, self.scene.object(first)) else {
            return;
        };
        if named.holder.noun.is_empty()
            && !self.scene.role_of(held).is_part()
            && let Some(field) = self.holders.field_name(self.scene, holder, held)
            && field.contains(char::is_alphanumeric)
        {
            named.holder.label = match &*named.holder.label {
                "" => field.to_owned(),
                label => format!("{label}.{field}"),
            };
            named.holder.object = None;
        }
    }

    /// The holders of most members, by type and field.
    fn most_frequent(&mut self, members: &[u32], candidate: &Candidate) -> Vec<Alike> {
        let (scene, kin) = (self.scene, candidate.descent.steps[0].kin);
        let mut tally: FxHashMap<(u32, u64), Alike> = FxHashMap::default();
        let mut looked_at = 0;
        let mut seen: Vec<(u32, u64)> = Vec::new();
        for member in sample_of(members) {
            looked_at += 1;
            seen.clear();
            for held in self.holders.of_number(scene, member).take(MOST_HOLDERS * FEW) {
                let (outside, number) = self.outsides.of_source(scene, held);
                let role = scene.role(number);
                if scene.kin(held.from) == kin || role.is_hidden() || role == Role::Frame {
                    continue;
                }
                let field = if outside == held.source { field(scene, held.label) } else { 0 };
                let key = (scene.kin(number), field);
                if seen.contains(&key) {
                    continue;
                }
                seen.push(key);
                let alike = tally.entry(key).or_default();
                alike.members += 1;
                let (members, first) = alike.each.entry(number).or_default();
                *members += 1;
                first.get_or_insert((held.source, held.label));
            }
        }
        let mut alike: Vec<Alike> =
            tally.into_values().filter(|alike| alike.members * FEW >= looked_at).collect();
        alike.sort_by_key(|alike| (Reverse(alike.members), alike.most().map(|most| most.2)));
        alike.truncate(MOST_HOLDERS);
        alike
    }

    /// Derives a name for several members from the name of the first. With one holder, only the
    /// index in the holder's own field differs between members.
    fn of_many(&self, field: Label, is_one: bool, name: &str) -> String {
        let field = self.scene.field(field).unwrap_or_default();
        match name.strip_suffix(field).filter(|_| is_one) {
            Some(exact) => exact.to_owned() + &without_indexes(field),
            None if is_one => name.to_owned(),
            None => without_indexes(name).into_owned(),
        }
    }

    fn named_alike(&mut self, alike: &Alike, is_sample: bool) -> Option<Named> {
        let (scene, (number, members, source, label)) = (self.scene, alike.most()?);
        let is_one = members >= alike.members - alike.members / NEARLY_ALL;
        let place = self.place_of(source, label);
        let one = scene.object(number).filter(|one| is_one && !scene.heap().is_made_up(*one));
        let mut named = self.named(one, place);
        if members > 1 {
            named.holder.label = self.of_many(label, is_one, &named.holder.label);
        }
        if one.is_some() && !is_sample {
            named.count(members);
        }
        // Functions and plain objects lead to the names of the program and of the runtime alike.
        let outside = self.outsides.of(scene, source);
        if matches!(scene.role_of(outside), Role::Closure | Role::Runtime | Role::Slice) {
            named.is_program = None;
        }
        if !is_one && !named.holder.label.is_empty() {
            let (.., source, label) = alike.best(|other| other != number)?;
            let other = self.place_of(source, label).map(|place| place.label);
            if other.is_some_and(|other| without_indexes(&other) != named.holder.label) {
                named.holder.label.push_str(AND_OTHERS);
                named.is_program = None;
            }
        }
        Some(named)
    }

    /// The name of the place of a reference.
    fn place_of(&mut self, source: ObjectId, label: Label) -> Option<Place> {
        let scene = self.scene;
        let object = self.outsides.of(scene, source);
        let place_of = || self.holders.place(scene, scene.number(object)?);
        match scene.role_of(object) {
            Role::Collection(_) => place_of(),
            _ => self.holders.name(scene, source, label).or_else(place_of),
        }
    }

    /// The thread-local variable whose values the objects are.
    fn thread_local(&self, candidate: &Candidate) -> Option<Named> {
        let scene = self.scene;
        let entries = thread_local_entries(scene, &candidate.descent.steps[..=candidate.element])?;
        let largest = entries.heads.iter().max_by_key(|number| scene.bytes(**number))?;
        let entry = scene.object(*largest)?;
        // The entry holds the variable weakly, so that the variable has another holder.
        let mut weak = scene.heap().references_of(entry).filter(|reference| reference.weak);
        let key = weak.next()?.target;
        let Place { label, is_program, .. } = self.holders.place(scene, scene.number(key)?)?;
        let holder = Holder { label, object: Some(key), noun: "thread-local", entries: None };
        Some(Named { holder, is_program })
    }

    /// The number of entries that a collection states, or that it has. `None` if the file does not
    /// tell, and for a single one without a field for the number: what it holds is more informative.
    fn entries(&mut self, collection: ObjectId) -> Option<u64> {
        let (heap, collections) = (self.scene.heap(), self.collections);
        // Where a reader knows the number of places, it has read how many of them are taken.
        let taken = || heap.room(collection).filter(|room| room.is_collection && room.capacity > 0);
        let count = || {
            let mut count = match heap.value(collection) {
                Value::Length(length) => length,
                _ => collections.count(collection, heap.len() as u64),
            };
            if count == 0 {
                heap.elements(collection, 0, |_, _| {
                    count += 1;
                    ControlFlow::Continue(())
                });
            }
            (count > 1).then_some(count)
        };
        let stated = || collections.size(collection).or_else(|| taken().map(|room| room.used));
        let size = || stated().or_else(count);
        *self.entries.entry(collection).or_insert_with(size)
    }

    fn named(&mut self, object: Option<ObjectId>, place: Option<Place>) -> Named {
        let mut is_program = place.as_ref().and_then(|place| place.is_program);
        // Variables of a function may have no names.
        let label = place.map(|place| place.label.trim_end_matches(": ").to_owned());
        let label = label.unwrap_or_default();
        if label.is_empty() {
            is_program = None;
        }
        let noun = match object.map(|object| self.scene.role_of(object)) {
            Some(Role::Collection(noun)) => noun,
            _ => "",
        };
        let collection = object.filter(|_| !noun.is_empty());
        let entries = collection.and_then(|object| self.entries(object));
        Named { holder: Holder { label, object, noun, entries }, is_program }
    }
}

/// The maximum number of fields between the variable and an object.
const MOST_PARTS: usize = 6;

/// The variable that holds an object, with the file of its functions unless this is the runtime's.
/// `None` if the variable belongs to no function.
fn variable_of_file(scene: &Scene<'_, '_>, holders: &Holders, mut number: u32) -> Option<Place> {
    let mut parts: Vec<&str> = Vec::new();
    while parts.len() < MOST_PARTS {
        let above = scene.dominator(number);
        let part = holders.field_name(scene, scene.object(above)?, scene.object(number)?)?;
        parts.push(part);
        holders.want(above);
        let mut functions = holders.of_number(scene, above).filter(|held| {
            scene.field(held.label) == Some(CONTEXT) && scene.role(held.from) == Role::Closure
        });
        // Functions that share their variables are in one file.
        if let Some(function) = functions.next() {
            parts.reverse();
            let (variable, file) = (parts.join("."), file_of(scene, function.source));
            return Some(match file {
                Some((file, _)) => Place::of(file + FILE + &variable, Some(true)),
                None => Place::of(variable, None),
            });
        }
        number = above;
    }
    None
}
