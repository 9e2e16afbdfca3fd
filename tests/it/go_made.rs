//! What `fixtures/go-types/src/made.go` puts into its heap: values of types that it makes while it
//! runs, and values behind unsafe pointers of the library.

use dumptool::input::load::{Executable, LoadOptions};
use dumptool::input::{self, Format};
use dumptool::model::heap::{FieldValue, Heap, ObjectId, TypeSource};
use dumptool::source::Source;
use std::ops::ControlFlow;
use std::path::Path;

const USER: &str = r#"struct { Name string "json:\"name\""; Age int }"#;

fn open(name: &str) -> Source {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/go-types").join(name);
    Source::open(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The objects of a type.
fn of_type(heap: &Heap<'_>, name: &str) -> Vec<ObjectId> {
    heap.objects().filter(|object| heap.type_name(*object) == name).collect()
}

/// The texts and numbers of an object's fields.
fn fields(heap: &Heap<'_>, object: ObjectId) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    heap.each_field(object, |field| {
        let value = match field.value {
            FieldValue::Text(text) => text.to_string(),
            FieldValue::Integer(value) => value.to_string(),
            FieldValue::Unsigned(value) => value.to_string(),
            FieldValue::Object(object) => heap.type_name(object).to_owned(),
            value => format!("{value:?}"),
        };
        fields.push((field.name.to_owned(), value));
        ControlFlow::Continue(())
    });
    fields
}

/// Calls `test` with the heap.
fn with_made(test: impl FnOnce(&Heap<'_>)) {
    let (dump, exe) = (open("made_go127_pie.heapdump.zst"), open("made_go127_pie.exe.zst"));
    let executable = Executable { bytes: exe.bytes(), guesses: true };
    let options = LoadOptions::default().executable(Some(executable));
    test(&input::load(Format::Go, dump.bytes(), options).unwrap().heap);
}

#[test]
fn values_of_reflect_have_the_type_that_is_next_to_them() {
    with_made(|heap| {
        assert_eq!(of_type(heap, "main.Tag").len(), 300 + 50 + 30);
        let boxes = of_type(heap, "main.Box");
        assert_eq!(boxes.len(), 30);
        let labels: Vec<_> = boxes.into_iter().map(|one| fields(heap, one).remove(2)).collect();
        assert!(labels.contains(&("Label".into(), "value-29".into())), "{labels:?}");
    });
}

#[test]
fn weak_pointers_lead_to_their_handles() {
    with_made(|heap| assert_eq!(of_type(heap, "(weak handle)").len(), 50));
}

#[test]
fn pointers_in_a_list_on_the_stack_are_guessed_from_the_type_of_the_list() {
    with_made(|heap| assert_eq!(of_type(heap, "main.Leaf ?").len(), 12));
}

#[test]
fn an_object_without_pointers_is_no_list_of_values_with_pointers() {
    with_made(|heap| assert_eq!(of_type(heap, "[]runtime.g ?"), []));
}

#[test]
fn types_that_reflect_made_are_named_by_their_parts() {
    with_made(check_made_types);
}

fn check_made_types(heap: &Heap<'_>) {
    let row = format!("struct {{ Key string; Tags []*main.Tag; Owner *{USER} }}");
    let wanted = [
        (USER.to_owned(), 1000),
        (row.clone(), 200),
        (format!("[]{row}"), 1),
        (format!("map[string]*{row}"), 1),
        (format!("[7]{USER}"), 1),
        (format!("chan {USER}"), 1),
        (format!("[]{USER}"), 1),
        (format!("[]*{USER} header"), 40),
        (format!("*{USER}"), 40),
    ];
    for (name, count) in wanted {
        let objects = of_type(heap, &name);
        assert_eq!(objects.len(), count, "{name}");
        let source = heap.type_source(heap.type_id(objects[0]));
        assert!(matches!(source, TypeSource::Exact | TypeSource::Array), "{name}: {source:?}");
    }
    let first = of_type(heap, USER).into_iter().map(|user| fields(heap, user)).min().unwrap();
    assert_eq!(first, [("Name".into(), "user-0".into()), ("Age".into(), "0".into())]);
    let map = of_type(heap, &format!("map[string]*{row}"))[0];
    assert_eq!(heap.room(map).unwrap().used, 200);
    assert!(
        fields(heap, map).iter().any(|(key, value)| key.starts_with("[\"key-") && *value == row),
        "{:?}",
        fields(heap, map)
    );
}
