//! Files of several megabytes, whose segments are read side by side.

use crate::support::hprof::File;
use dumptool::input::hprof::load;
use dumptool::input::load::{LoadOptions, Loaded};
use dumptool::model::heap::{Heap, LoadWarning};

const OBJECT: u64 = 8;
const NODE: u64 = 16;
const ARRAY: u64 = 24;
/// Its id is in the middle of those of the objects, and its record in a late segment.
const LATE: u64 = FIRST + 50_000 * STEP + 8;

const FIRST: u64 = 1 << 16;
const STEP: u64 = 48;
const COUNT: u64 = 120_000;

/// A list of nodes with an array now and then, in some order. A node refers to the one before it, to
/// something that is not there, or to a class.
fn heap(file: &mut File, order: impl Iterator<Item = u64>) -> Vec<Vec<u8>> {
    file.loads(&[
        (OBJECT, "java/lang/Object"),
        (NODE, "app/Node"),
        (ARRAY, "[Lapp/Node;"),
        (LATE, "app/Late"),
    ]);
    let [next, any] = ["next", "any"].map(|name| file.string(name));
    let at = |number: u64| FIRST + number * STEP;
    let mut records = vec![
        file.class(OBJECT, 0, 0, &[], &[]),
        file.class(NODE, OBJECT, 0, &[(any, 2, file.id(at(5)))], &[(next, 2), (any, 2)]),
        file.class(ARRAY, OBJECT, 0, &[], &[]),
    ];
    for number in order {
        let before = file.id(at(number.saturating_sub(1)));
        records.push(match number % 10 {
            3 => file.objects(at(number), ARRAY, &[0, at(number / 2), 999]),
            5 => file.array(at(number), 8, 3, &[1, 2, number as u8]),
            7 => file.instance(at(number), LATE, &[&before, &file.id(LATE)]),
            8 => file.instance(at(number), NODE, &[&before]),
            _ => file.instance(at(number), NODE, &[&before, &file.id(number % 4)]),
        });
        if number % 1000 == 0 {
            records.push(file.root(0xff, at(number), &[]));
        }
        if number == 80_000 {
            records.push(file.class(LATE, NODE, 0, &[(next, 2, file.id(at(9)))], &[]));
        }
    }
    records
}

/// Segments of a thousand records, or one record with all of the heap, which is read by one thread.
fn files(order: impl Iterator<Item = u64>, change: impl FnOnce(&mut Vec<Vec<u8>>)) -> [Vec<u8>; 2] {
    let mut file = File::new("1.0.2", 8);
    let mut records = heap(&mut file, order);
    change(&mut records);
    let mut whole = file.clone();
    whole.record(0x0c, &[&records.concat()]);
    records.chunks(1000).for_each(|records| _ = file.segment(records));
    assert!(whole.bytes.len() > 4 << 20, "more than one part");
    [file.end(), whole.bytes]
}

fn loaded(bytes: &[u8]) -> Loaded<'_> {
    let loaded = load(bytes, LoadOptions::default()).unwrap();
    assert_eq!(loaded.heap.check(), Ok(()));
    loaded
}

/// Everything about the objects, the roots and the warnings.
fn contents<'h>(
    heap: &'h Heap<'_>,
) -> (Vec<impl PartialEq + std::fmt::Debug + use<'h>>, Vec<u32>, &'h [LoadWarning]) {
    let row = |object| {
        let each = heap.references_of(object);
        let each = each.map(|r| (r.label.text(heap.names()).into_owned(), r.target, r.weak));
        let references: Vec<_> = each.collect();
        let type_id = heap.type_id(object);
        (heap.id(object), type_id, heap.shallow_bytes(object), references, heap.value(object))
    };
    let roots = heap.roots().iter().map(|root| root.object.0).collect();
    (heap.objects().map(row).collect(), roots, heap.warnings())
}

#[track_caller]
fn assert_same([segments, whole]: &[Vec<u8>; 2]) -> usize {
    let (segments, whole) = (loaded(segments), loaded(whole));
    assert!(contents(&segments.heap) == contents(&whole.heap), "heaps differ");
    assert_eq!(segments.damage.is_some(), whole.damage.is_some());
    segments.heap.len()
}

#[test]
fn segments_that_are_read_side_by_side_are_the_heap_that_one_thread_reads() {
    let all = COUNT as usize + 4;
    assert_eq!(assert_same(&files(0..COUNT, |_| {})), all);
    // Most are in order; pages come in any order; the first half comes last.
    let scattered = (0..COUNT).map(|number| number * 7919 % COUNT);
    assert_eq!(assert_same(&files(scattered, |_| {})), all);
    let turned = (COUNT / 2..COUNT).chain(0..COUNT / 2);
    assert_eq!(assert_same(&files(turned, |_| {})), all);
}

#[test]
fn an_object_that_stands_in_two_parts_counts_once_and_the_first_one_counts() {
    let again = |records: &mut Vec<Vec<u8>>| {
        let mut other = records[4].clone();
        *other.last_mut().unwrap() = 1;
        records.push(other);
    };
    assert_eq!(assert_same(&files(0..COUNT, again)), COUNT as usize + 4);
}

#[test]
fn a_damaged_record_ends_the_file_where_it_stands_though_later_parts_are_read() {
    for place in [10, 40_000, 119_000] {
        let len = assert_same(&files(0..COUNT, |records| records[place] = vec![0x77]));
        assert!(len < place + 4, "{len} objects");
    }
    let [segments, _] = files(0..COUNT, |_| {});
    for cut in [100, 3 << 20, segments.len() - 100] {
        let cut = loaded(&segments[..cut]);
        assert!(cut.damage.is_some() && cut.heap.len() < COUNT as usize + 4);
    }
}

#[test]
fn other_records_and_large_segments_between_segments_change_nothing() {
    let mut file = File::new("1.0.2", 8);
    let records = heap(&mut file, 0..COUNT);
    let mut whole = file.clone();
    whole.record(0x0c, &[&records.concat()]);
    let large = file.array(FIRST - 8, 8, 20 << 20, &vec![7; 20 << 20]);
    for (number, records) in records.chunks(1000).enumerate() {
        file.segment(records);
        if number == 30 {
            file.string("between");
        }
        if number == 60 {
            file.segment(std::slice::from_ref(&large));
        }
    }
    let with_large = loaded(&file.end()).heap.len();
    assert_eq!(with_large, loaded(&whole.bytes).heap.len() + 1);
}
