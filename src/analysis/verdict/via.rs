//! The suspended call or the closure through which objects are held.

use super::descent::Descent;
use super::scene::{Group, Scene};
use crate::model::heap::{ObjectId, Role, Value};
use rustc_hash::FxHashMap;

/// The maximum number of calls whose names are read.
const MOST_CALLS: usize = 64;

/// The maximum number of references of a call to search for the variable.
const MOST_REFERENCES: usize = 10_000;

/// Names the last call on the path to the objects, with the variable and with the error whose
/// traceback keeps the call; for closures, names their function. `None` if there is none, or if the
/// objects have different ones.
pub(super) fn via(scene: &Scene<'_, '_>, descent: &Descent, element: usize) -> Option<String> {
    let role = |step: &Group| scene.role_of_kin(step.kin);
    let steps = &descent.steps;
    let name = |number| frame_name(scene, scene.object(number)?);
    if role(&steps[element]) == Role::Closure {
        return common(steps[element].members().filter_map(name));
    }
    let at = steps.iter().rposition(|step| role(step) == Role::Frame)?;
    let kin = steps.get(at + 1).map(|step| step.kin);
    let local =
        |number| Some(format!("local {} of {}", variable(scene, number, kin?)?, name(number)?));
    let calls = &steps[at];
    let call = common(calls.members().filter_map(local))
        .or_else(|| common(calls.members().filter_map(name)))?;
    let traceback = at.checked_sub(1).filter(|above| role(&steps[*above]).is_part());
    let error = traceback.and_then(|above| steps[..above].iter().rfind(|up| !role(up).is_part()));
    Some(match error {
        Some(error) => format!("{call} in the traceback of {}", scene.name(error.kin)),
        None => call,
    })
}

/// The most frequent text, if at least half of the texts are equal to it.
fn common(texts: impl Iterator<Item = String>) -> Option<String> {
    let mut counts: FxHashMap<String, usize> = FxHashMap::default();
    let mut all = 0;
    for text in texts.take(MOST_CALLS) {
        all += 1;
        *counts.entry(text).or_default() += 1;
    }
    let (text, count) = counts.into_iter().max_by(|a, b| (a.1, &b.0).cmp(&(b.1, &a.0)))?;
    (count * 2 >= all).then_some(text)
}

/// The function of a call, with the place in the source: `load (views.py:5)`.
pub(super) fn frame_name(scene: &Scene<'_, '_>, object: ObjectId) -> Option<String> {
    let Value::Name(name) = scene.heap().value(object) else { return None };
    // The folders of the file are not informative.
    Some(match name.split_once(" (") {
        Some((function, place)) => {
            format!("{function} ({}", place.rsplit(['/', '\\']).next().unwrap_or_default())
        }
        None => name.into_owned(),
    })
}

/// The variable of a call that holds most memory in objects of a type.
fn variable(scene: &Scene<'_, '_>, number: u32, kin: u32) -> Option<String> {
    let heap = scene.heap();
    let object = scene.object(number)?;
    let mut rows = heap.references.range(object);
    rows.end = rows.end.min(rows.start + MOST_REFERENCES);
    let held = heap.references_at(object, rows).filter_map(|reference| {
        let name = scene.field(reference.label)?;
        let target = scene.number(reference.target)?;
        let fits = scene.kin(target) == kin && scene.dominator(target) == number;
        fits.then(|| (scene.bytes(target), name))
    });
    held.max_by_key(|(bytes, _)| *bytes).map(|(_, name)| name.to_owned())
}
