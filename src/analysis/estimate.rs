//! Estimates of the memory that an analysis needs.

use super::dominators::MOST_NARROW;

/// About how many bytes live objects, dominators, retained sizes and referrers take at their peak,
/// beyond the loaded heap.
///
/// The peak depends on the graph. The estimate assumes that half of the references lead backward in
/// the order of the search (two fifths do in typical programs), and that a quarter of the objects
/// are on its stack at once.
pub fn memory_estimate(objects: u64, references: u64) -> u64 {
    let offset = if references > u32::MAX.into() { 8 } else { 4 };
    // Words of the copy of the graph that the search makes: one for each object and one for each
    // reference.
    let words = objects.saturating_add(references);
    let word = if words > MOST_NARROW { 8 } else { 4 };
    let of_objects = |bytes: u64| objects.saturating_mul(bytes);
    let of_references = |bytes: u64| references.saturating_mul(bytes);
    let backward = |bytes: u64| (references / 2).saturating_mul(bytes);
    // From the search on, each object has a parent and a semidominator, or a semidominator and a
    // number. The source of each backward reference takes 4 bytes, too.
    let stack = (objects / 4).saturating_mul(2 * word);
    let search = of_objects(8 + 4)
        .saturating_add(words.saturating_mul(word))
        .saturating_add(stack)
        .saturating_add(backward(4));
    let sorting = of_objects(12 + offset + 4).saturating_add(backward(4 + 4));
    let semidominators = of_objects(12 + offset + 8).saturating_add(backward(4));
    // After that, 12 bytes per object remain; retained sizes and referrers are added.
    let answers = of_objects(12 + 8 + offset).saturating_add(of_references(4));
    search.max(sorting).max(semidominators).max(answers)
}

/// Returns the approximate peak memory in bytes for loading the heap of a JVM and counting its
/// objects by type with retained sizes, as `dumptool top` does.
///
/// Only types, sizes, first references, addresses and the targets of references are loaded. Objects
/// to which a single reference leads, such as the characters of a string, take no part in the
/// search: more than half of all objects in JVMs. The estimate assumes half.
pub fn counting_estimate(objects: u64, references: u64) -> u64 {
    let first = if references > u32::MAX.into() { 8 } else { 4 };
    let owned = objects / 2;
    objects
        .saturating_mul(2 + 2 + first + 2)
        .saturating_add(references.saturating_mul(4))
        .saturating_add(memory_estimate(objects - owned, references.saturating_sub(owned)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_with_both_and_does_not_overflow() {
        assert_eq!(memory_estimate(0, 0), 0);
        // 10 million objects with 30 million references: 36 bytes an object.
        assert_eq!(memory_estimate(10_000_000, 30_000_000), 360_000_000);
        // Twice the graph takes more than twice the memory where words become wide.
        assert!(memory_estimate(1 << 30, 1 << 31) > 2 * memory_estimate(1 << 29, 1 << 30));
        assert_eq!(memory_estimate(u64::MAX, u64::MAX), u64::MAX);
    }

    #[test]
    fn counting_takes_less_than_an_analysis_of_all_objects() {
        // 20.9 million objects with a reference each: 28 bytes an object.
        assert_eq!(counting_estimate(20_900_000, 20_900_000), 585_200_000);
        assert_eq!(counting_estimate(0, 0), 0);
        assert_eq!(counting_estimate(u64::MAX, u64::MAX), u64::MAX);
    }
}
