//! Variables of a file that its functions hold: `server.js: cache`.

use super::holders::Holders;
use super::place::{FILE, Place};
use super::scene::Scene;
use super::way::{CONTEXT, file_of};
use crate::model::heap::{LabelKind, Role};

/// The maximum number of fields between the variable and an object.
const MOST_PARTS: usize = 6;

/// The variable that holds an object, with the file of its functions. `None` if the variable
/// belongs to no function, or to the runtime.
pub(super) fn variable_of_file(
    scene: &Scene<'_, '_>,
    holders: &Holders,
    mut number: u32,
) -> Option<Place> {
    let heap = scene.heap();
    let mut parts: Vec<&str> = Vec::new();
    while parts.len() < MOST_PARTS {
        let above = scene.dominator(number);
        let part = holders.field_name(scene, scene.object(above)?, scene.object(number)?)?;
        parts.push(part);
        holders.want(above);
        let mut functions = holders.of_number(scene, above).filter(|(function, label)| {
            let is_context = match label.kind() {
                LabelKind::Field(name) => heap.names.text(name) == CONTEXT,
                _ => false,
            };
            is_context && scene.role_of(*function) == Role::Closure
        });
        // Functions that share their variables are in one file.
        if let Some((function, _)) = functions.next() {
            parts.reverse();
            let label = file_of(scene, function)?.0 + FILE + &parts.join(".");
            return Some(Place::of(label, Some(true)));
        }
        number = above;
    }
    None
}
