//! Samples of old objects that have the same class, the same path and the same place of
//! allocation.

use crate::input::jfr::{OldObject, OldObjectSample, OldObjects};
use rustc_hash::FxHashMap;

/// Samples with the same class, path and allocation.
pub(super) struct Group<'o> {
    /// At least one sample, in the order of the file.
    pub(super) samples: Vec<&'o OldObjectSample>,
}

/// Groups samples, the largest group first.
pub(super) fn groups(old: &OldObjects) -> Vec<Group<'_>> {
    let signatures = Signatures::of(old);
    let mut stacks = FxHashMap::default();
    let stack_numbers: Vec<usize> = old
        .stacks
        .iter()
        .enumerate()
        .map(|(number, stack)| *stacks.entry(stack).or_insert(number))
        .collect();
    let mut numbers = FxHashMap::default();
    let mut groups: Vec<Group<'_>> = Vec::new();
    for sample in &old.samples {
        let signature = signatures.0.get(sample.object).copied();
        let stack = sample.stack.and_then(|stack| stack_numbers.get(stack)).copied();
        let number = *numbers.entry((signature, stack, &sample.root)).or_insert_with(|| {
            groups.push(Group { samples: Vec::new() });
            groups.len() - 1
        });
        groups[number].samples.push(sample);
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.samples.len()));
    groups
}

/// For each object, a number that identifies its class and the classes and fields of all objects
/// before it on its path. Elements of arrays count as equal.
struct Signatures(Vec<u32>);

impl Signatures {
    const UNKNOWN: u32 = u32::MAX;

    fn of(old: &OldObjects) -> Self {
        let mut known = FxHashMap::<(&str, &str, u64, u32), u32>::default();
        let mut numbers = vec![Self::UNKNOWN; old.objects.len()];
        let mut way = Vec::new();
        for first in 0..old.objects.len() {
            let mut at = first;
            // Goes up to an object that has a number, and back down.
            while numbers[at] == Self::UNKNOWN && way.len() <= old.objects.len() {
                way.push(at);
                match old.objects[at].holder.as_ref() {
                    Some(holder) if holder.object < numbers.len() => at = holder.object,
                    _ => break,
                }
            }
            while let Some(at) = way.pop() {
                let OldObject { type_name, holder, .. } = &old.objects[at];
                let key = match holder {
                    None => (type_name.as_str(), "", 0, Self::UNKNOWN),
                    Some(holder) => {
                        let label =
                            if holder.label.starts_with('[') { "[]" } else { &holder.label };
                        let above = numbers.get(holder.object).copied().unwrap_or(Self::UNKNOWN);
                        (type_name.as_str(), label, holder.skipped, above)
                    }
                };
                let next = known.len() as u32;
                numbers[at] = *known.entry(key).or_insert(next);
            }
        }
        Self(numbers)
    }
}
