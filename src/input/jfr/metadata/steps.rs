//! The bytes of a value as a list of steps, to skip a value faster than field by field.

use super::{Class, ClassId, Field, Kind};

/// A step over some of the bytes of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::input::jfr) enum Step {
    /// This many numbers.
    Numbers(u64),
    /// This many bytes.
    Bytes(u64),
    Text,
    Value(ClassId),
    /// A count, followed by that many numbers.
    NumberArray,
    /// A count, followed by that many values of a class.
    Array(ClassId),
}

/// The steps over the values of a class, given those of the classes of its fields.
pub(super) fn steps_of(class: &Class, classes: &[Class]) -> Vec<Step> {
    let mut steps = Vec::new();
    match class.kind {
        Kind::Byte => steps.push(Step::Bytes(1)),
        Kind::Number => steps.push(Step::Numbers(1)),
        Kind::Float => steps.push(Step::Bytes(4)),
        Kind::Double => steps.push(Step::Bytes(8)),
        Kind::Text => steps.push(Step::Text),
        Kind::Fields => class.fields.iter().for_each(|field| add_field(&mut steps, field, classes)),
    }
    steps
}

fn add_field(steps: &mut Vec<Step>, field: &Field, classes: &[Class]) {
    let inner = classes.get(field.class.0 as usize).map(|class| class.steps.as_slice());
    match (field.is_array, field.is_pooled, inner) {
        (false, true, _) => add(steps, Step::Numbers(1)),
        (true, true, _) | (true, _, Some([Step::Numbers(1)])) => add(steps, Step::NumberArray),
        // Elements without bytes are not visited; only their count is skipped.
        (true, _, Some([])) => add(steps, Step::Numbers(1)),
        (true, ..) => add(steps, Step::Array(field.class)),
        (false, _, Some([])) => {}
        (false, _, Some([only])) => add(steps, *only),
        (false, ..) => add(steps, Step::Value(field.class)),
    }
}

/// Adds a step, as a part of the last one if both are of one kind.
fn add(steps: &mut Vec<Step>, step: Step) {
    match (steps.last_mut(), step) {
        (Some(Step::Numbers(count)), Step::Numbers(more))
        | (Some(Step::Bytes(count)), Step::Bytes(more)) => *count = count.saturating_add(more),
        _ => steps.push(step),
    }
}
