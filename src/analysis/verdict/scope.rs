//! Variables of a file that its functions hold: `server.js: cache`.

use super::holders::Holders;
use super::place::{FILE, Place};
use super::scene::Scene;
use super::way::{CONTEXT, file_of};
use crate::model::heap::Role;

/// The maximum number of fields between the variable and an object.
const MOST_PARTS: usize = 6;

/// The variable that holds an object, with the file of its functions unless this is the runtime's.
/// `None` if the variable belongs to no function.
pub(super) fn variable_of_file(
    scene: &Scene<'_, '_>,
    holders: &Holders,
    mut number: u32,
) -> Option<Place> {
    let mut parts: Vec<&str> = Vec::new();
    while parts.len() < MOST_PARTS {
        let above = scene.dominator(number);
        let part = holders.field_name(scene, scene.object(above)?, scene.object(number)?)?;
        parts.push(part);
        holders.want(above);
        let mut functions = holders.of_number(scene, above).filter(|(function, label)| {
            scene.field(*label) == Some(CONTEXT) && scene.role_of(*function) == Role::Closure
        });
        // Functions that share their variables are in one file.
        if let Some((function, _)) = functions.next() {
            parts.reverse();
            let (variable, file) = (parts.join("."), file_of(scene, function));
            return Some(match file {
                Some((file, _)) => Place::of(file + FILE + &variable, Some(true)),
                None => Place::of(variable, None),
            });
        }
        number = above;
    }
    None
}
