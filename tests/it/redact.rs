//! Redacted heaps: nothing that a program stored can be found in any output, and everything else is
//! as it was.

mod planted;
use crate::support::{files, fixture, read};
use dumptool::Analyses;
use dumptool::analysis::graph::Graph;
use dumptool::analysis::live::live;
use dumptool::detect::detect;
use dumptool::input::load::{LoadOptions, Loaded};
use dumptool::input::{self, Format, Kind};
use dumptool::model::heap::LabelKind;
use dumptool::model::heap::{Heap, Value};
use dumptool::model::{RedactedNames, Redaction};
use dumptool::output::Syntax;
use dumptool::output::heapsnapshot::{self, HeapSnapshotObjects, HeapSnapshotOptions};
use dumptool::output::hprof::{self, HprofOptions, IdKind};
use dumptool::tables::{self, Table, TextLimit};
use planted::SECRETS;
use std::collections::{BTreeMap, HashSet};

const BOTH: [Redaction; 2] = [Redaction::Blank, Redaction::Hash];

fn load(format: Format, bytes: &[u8]) -> Loaded<'_> {
    input::load(format, bytes, LoadOptions::default()).unwrap()
}

fn to_hprof(heap: &Heap<'_>, ids: IdKind) -> Vec<u8> {
    let mut out = Vec::new();
    hprof::write(heap, &HprofOptions::default().ids(ids), &mut out).unwrap();
    out
}

fn to_heapsnapshot(heap: &Heap<'_>) -> Vec<u8> {
    heapsnapshot_of(heap, HeapSnapshotObjects::All)
}

fn heapsnapshot_of(heap: &Heap<'_>, which: HeapSnapshotObjects) -> Vec<u8> {
    let graph = Graph::of(heap);
    let options = HeapSnapshotOptions::default().objects(which);
    let mut out = Vec::new();
    heapsnapshot::write(heap, &graph, &live(&graph), &options, &mut out).unwrap();
    out
}

fn to_table(loaded: &Loaded<'_>, table: Table) -> Vec<u8> {
    let mut out = Vec::new();
    let analyses = Analyses::of(loaded);
    let relation = tables::of_heap(&analyses, table, TextLimit::All).unwrap();
    tables::write(&*relation, Syntax::Csv, &mut out).unwrap();
    out
}

const TABLES: [Table; 5] =
    [Table::Objects, Table::References, Table::Roots, Table::Types, Table::Strings];

/// Everything that can be written of a heap.
fn outputs(loaded: &Loaded<'_>) -> Vec<Vec<u8>> {
    let heap = &loaded.heap;
    let graphs =
        [to_hprof(heap, IdKind::Compact), to_hprof(heap, IdKind::Address), to_heapsnapshot(heap)];
    graphs.into_iter().chain(TABLES.map(|table| to_table(loaded, table))).collect()
}

fn contains(bytes: &[u8], text: &str) -> bool {
    let wide = |order: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(order).collect();
    let latin1 = text.chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect();
    let spellings: [Vec<u8>; 5] = [
        text.as_bytes().to_vec(),
        latin1,
        wide(u16::to_be_bytes),
        wide(u16::to_le_bytes),
        // A number in the other byte order.
        text.bytes().rev().collect(),
    ];
    spellings.iter().any(|spelling| memchr::memmem::find(bytes, spelling).is_some())
}

/// Checks that outputs have these secrets, and none of them once the heap is redacted.
fn planted(name: &str, format: Format, bytes: &[u8], secrets: &[&str]) {
    let plain = outputs(&load(format, bytes));
    for secret in secrets {
        assert!(plain.iter().any(|out| contains(out, secret)), "{name}: {secret} is in no output");
    }
    for how in BOTH {
        let mut loaded = load(format, bytes);
        loaded.heap.redact(how);
        assert_eq!(loaded.heap.check(), Ok(()));
        for (number, out) in outputs(&loaded).iter().enumerate() {
            for secret in SECRETS {
                assert!(!contains(out, secret), "{name}: {secret} in output {number} ({how:?})");
            }
        }
    }
}

#[test]
fn secrets_of_java_are_in_no_output() {
    let hidden = ["FIELDSEC", "STATICSE"];
    let secrets: Vec<_> =
        planted::HPROF.iter().copied().filter(|it| !hidden.contains(it)).collect();
    planted("hprof", Format::Hprof, &planted::hprof(), &secrets);
}

#[test]
fn secrets_of_javascript_are_in_no_output() {
    planted("V8", Format::Heapsnapshot, &planted::heapsnapshot(), planted::HEAPSNAPSHOT);
}

/// A text survived as the name of a native node.
#[test]
fn tags_and_classes_are_all_that_stays_of_native_nodes() {
    let bytes = planted::heapsnapshot();
    let mut loaded = load(Format::Heapsnapshot, &bytes);
    loaded.heap.redact(Redaction::Blank);
    let names: Vec<&str> =
        loaded.heap.types().iter().map(|of| loaded.heap.names().text(of.name)).collect();
    for name in ["<div>", "Window", "Detached (native)", "Node / std::map<int, node::Handle>"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
}

/// Plain objects became `{map}`, because edges to their shapes were written as properties.
#[test]
fn a_snapshot_of_v8_that_is_written_again_has_the_types_of_the_original() {
    /// Node type, name, number and bytes of the live objects of each type.
    fn types(heap: &Heap<'_>, is_redacted: bool) -> BTreeMap<(String, String), (u64, u64)> {
        let mut types = BTreeMap::new();
        let live = live(&Graph::of(heap));
        for object in heap.objects().filter(|object| live.contains(*object)) {
            let of = heap.type_of(object);
            if of.kind.is_made_up() {
                continue;
            }
            let [mut name, namespace] =
                [of.name, of.namespace].map(|name| heap.names().text(name).to_owned());
            // Other properties make other types.
            if is_redacted && namespace == "object" && name.starts_with('{') {
                name = "Object".to_owned();
            }
            let sum: &mut (u64, u64) = types.entry((namespace, name)).or_default();
            *sum = (sum.0 + 1, sum.1 + heap.shallow_bytes(object));
        }
        types
    }
    for name in ["node14", "node20", "node24", "bun"] {
        let bytes = read(&fixture(&format!("heapsnapshot/sessions-{name}-small.heapsnapshot.zst")));
        let mut loaded = load(Format::Heapsnapshot, &bytes);
        for is_redacted in [false, true] {
            let expected = types(&loaded.heap, is_redacted);
            if is_redacted {
                loaded.heap.redact(Redaction::Blank);
            }
            let written = heapsnapshot_of(&loaded.heap, HeapSnapshotObjects::Live);
            let heap = load(Format::Heapsnapshot, &written).heap;
            assert_eq!(types(&heap, is_redacted), expected, "{name}");
            let names: Vec<&str> =
                heap.types().iter().map(|of| heap.names().text(of.name)).collect();
            // References of Bun's objects to their parts have no name.
            assert!(!names.contains(&"{map}") && !names.contains(&"{}"), "{name}: {names:?}");
        }
    }
}

/// A key such as `mallory` in an object that is used as a map looks like a field.
#[test]
fn keys_that_look_like_identifiers_go_unless_names_are_kept() {
    let bytes = planted::heapsnapshot();
    let redacted = |names: RedactedNames| {
        let mut loaded = load(Format::Heapsnapshot, &bytes);
        loaded.heap.redact_names(Redaction::Blank, names);
        outputs(&loaded).concat()
    };
    let (all, kept) = (redacted(RedactedNames::All), redacted(RedactedNames::NotLikeCode));
    for secret in planted::LIKE_CODE {
        assert!(!contains(&all, secret), "{secret}");
        assert!(contains(&kept, secret), "{secret}");
    }
    for secret in
        SECRETS.iter().filter(|secret| !["url-secret", "dom-text-secret"].contains(secret))
    {
        assert!(!contains(&kept, secret), "{secret}");
    }
}

#[test]
fn secrets_of_dart_are_in_no_output() {
    planted("Dart", Format::Dart, &planted::dart(), planted::DART);
}

#[test]
fn secrets_of_go_are_in_no_output() {
    planted("Go", Format::Go, &planted::go(), planted::GO);
}

#[test]
fn secrets_of_ruby_are_in_no_output() {
    planted("Ruby", Format::Ruby, &planted::ruby(), planted::RUBY);
}

#[test]
fn secrets_of_python_are_in_no_output() {
    planted("Python", Format::Pyheap, &planted::pyheap(), planted::PYHEAP);
}

#[test]
fn secrets_of_perl_are_in_no_output() {
    planted("Perl", Format::Pmat, &planted::pmat(), planted::PMAT);
}

/// A dump that was converted once still has its secrets, under the names of the other format.
/// Properties that became fields of Java, and native nodes that became objects, are the exceptions:
/// they cannot be told from others.
#[test]
fn secrets_of_converted_dumps_are_in_no_output() {
    for (format, bytes, secrets) in [
        (Format::Hprof, planted::hprof(), planted::HPROF),
        (Format::Dart, planted::dart(), planted::DART),
        (Format::Pmat, planted::pmat(), planted::PMAT),
        (Format::Heapsnapshot, planted::heapsnapshot(), planted::HEAPSNAPSHOT),
    ] {
        let loaded = load(format, &bytes);
        for (to, converted) in [
            (Format::Hprof, to_hprof(&loaded.heap, IdKind::Compact)),
            (Format::Heapsnapshot, to_heapsnapshot(&loaded.heap)),
        ] {
            let is_field = |secret: &str| {
                (format, to) == (Format::Heapsnapshot, Format::Hprof)
                    && secret != "js-string-secret"
                    || ["url-secret", "dom-text-secret"].contains(&secret)
            };
            let secrets = secrets.iter().copied().filter(|secret| !is_field(secret));
            let kept: Vec<_> = secrets.filter(|secret| contains(&converted, secret)).collect();
            assert!(!kept.is_empty(), "{format:?} as {to:?}");
            let mut loaded = load(to, &converted);
            loaded.heap.redact(Redaction::Blank);
            for out in outputs(&loaded) {
                for secret in &kept {
                    assert!(!contains(&out, secret), "{secret}: {format:?} as {to:?}");
                }
            }
        }
    }
}

/// The smaller heaps among the fixtures, without those that are cut.
fn fixtures() -> Vec<(String, Format, Vec<u8>)> {
    let folders = ["hprof", "heapsnapshot", "dart", "go", "ruby", "pmat", "mvmheap", "pyheap"];
    let paths = folders.into_iter().flat_map(|folder| files(&fixture(folder)));
    let mut found = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_dump = [".md", ".json", ".java", ".py"].iter().all(|end| !name.ends_with(end));
        if !is_dump || name.contains("cut") || path.to_string_lossy().contains("truth") {
            continue;
        }
        let bytes = read(&path);
        if bytes.len() > 1 << 20 && name != "small_java17.hprof.zst" {
            continue;
        }
        let format = detect(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(format.kind(), Kind::Heap, "{name}");
        found.push((name, format, bytes));
    }
    assert!(found.len() > 28, "{}", found.len());
    found
}

/// The texts that a dump is not to give away: those of objects that are no names as well.
fn texts(heap: &Heap<'_>) -> HashSet<Vec<u8>> {
    let kept = |heap: &Heap<'_>| -> String {
        let types = heap.types().iter().flat_map(|of| [of.name, of.namespace]);
        let classes = heap.classes().iter().map(|class| class.name);
        let frames = heap.frames().iter().chain(&heap.sites().frames);
        let frames = frames.flat_map(|frame| [frame.function, frame.file]);
        let labels = heap.objects().flat_map(|object| heap.references_of(object));
        let labels =
            labels.map(|reference| reference.label).chain(heap.roots().iter().map(|it| it.label));
        let labels = labels.filter_map(|label| match label.kind() {
            LabelKind::Field(name) => Some(name),
            _ => None,
        });
        let groups = heap.roots().iter().map(|root| root.group);
        let names: HashSet<_> =
            types.chain(classes).chain(frames).chain(labels).chain(groups).collect();
        let texts = names.into_iter().map(|name| heap.names().text(name));
        // Java's own spelling of a class has slashes.
        let written = std::iter::once("unreachable");
        texts.chain(written).map(|text| format!("{text}\n[L{}\n", text.replace('.', "/"))).collect()
    };
    let kept = kept(heap);
    let texts = heap.objects().filter_map(|object| match heap.value(object) {
        Value::Text { text, .. } => text.is_ascii().then(|| text.into_owned()),
        _ => None,
    });
    let is_secret = |text: &String| {
        let start = text.get(..WINDOW);
        start.is_some_and(|start| {
            !kept.contains(start) && start.bytes().any(|byte| byte != start.as_bytes()[0])
        })
    };
    texts.filter(is_secret).map(|text| text.as_bytes()[..WINDOW].to_vec()).collect()
}

/// Bytes of a text that are looked for.
const WINDOW: usize = 10;

#[test]
fn texts_of_real_heaps_are_in_no_output() {
    let mut looked_for = 0;
    for (name, format, bytes) in fixtures() {
        let mut loaded = load(format, &bytes);
        let texts = texts(&loaded.heap);
        looked_for += texts.len();
        loaded.heap.redact(Redaction::Hash);
        for out in [to_hprof(&loaded.heap, IdKind::Compact), to_heapsnapshot(&loaded.heap)] {
            let found = out.windows(WINDOW).find(|window| texts.contains(*window));
            assert!(found.is_none(), "{name}: {}", String::from_utf8_lossy(found.unwrap()));
            let narrow: Vec<u8> = out.iter().copied().filter(|byte| *byte != 0).collect();
            let found = narrow.windows(WINDOW).find(|window| texts.contains(*window));
            assert!(found.is_none(), "{name}: {}", String::from_utf8_lossy(found.unwrap()));
        }
    }
    assert!(looked_for > 500, "{looked_for}");
}

/// The table of objects has every type, size and dominator.
#[test]
fn redacted_heaps_are_the_same_graph() {
    for (name, format, bytes) in fixtures() {
        let plain = load(format, &bytes);
        let expected = [to_hprof(&plain.heap, IdKind::Compact), to_heapsnapshot(&plain.heap)];
        for how in BOTH {
            let mut loaded = load(format, &bytes);
            loaded.heap.redact(how);
            let written = [to_hprof(&loaded.heap, IdKind::Compact), to_heapsnapshot(&loaded.heap)];
            for (to, expected, written) in [
                (Format::Hprof, &expected[0], &written[0]),
                (Format::Heapsnapshot, &expected[1], &written[1]),
            ] {
                let (expected, written) = (load(to, expected), load(to, written));
                assert!(
                    objects(&expected) == objects(&written),
                    "{name}: objects of {} ({how:?})",
                    to.name()
                );
                assert!(
                    targets(&expected.heap) == targets(&written.heap),
                    "{name}: references of {} ({how:?})",
                    to.name()
                );
            }
        }
    }
}

/// The table of objects. Threads have numbers where roots are classes or nodes, and so have
/// properties in names of types. hprof's helper objects have ids after all names, of which there may
/// be one more.
fn objects(loaded: &Loaded<'_>) -> String {
    let table = String::from_utf8(to_table(loaded, Table::Objects)).unwrap();
    let is_numbered = |line: &str| {
        [",(thread ", "{", ",java.lang.ref.WeakReference,"].iter().any(|part| line.contains(part))
    };
    // A conversion gives new ids to names and to helper objects, of which redaction may need others.
    let without_id = |line: &str| -> String {
        let mut cells: Vec<&str> = line.split(',').collect();
        cells.remove(1);
        cells.join(",")
    };
    table.lines().filter(|line| !is_numbered(line)).map(without_id).collect()
}

/// The references of each object, in no order: that of fields is the order of their names.
fn targets(heap: &Heap<'_>) -> Vec<Vec<(u32, bool)>> {
    let sorted = |object| {
        let references = heap.references_of(object);
        let mut targets: Vec<_> = references.map(|it| (it.target.0, it.weak)).collect();
        targets.sort_unstable();
        targets
    };
    heap.objects().map(sorted).collect()
}

#[test]
fn redacting_twice_changes_nothing() {
    for (name, format, bytes) in fixtures() {
        for how in BOTH {
            let mut loaded = load(format, &bytes);
            loaded.heap.redact(how);
            let once = [to_hprof(&loaded.heap, IdKind::Compact), to_heapsnapshot(&loaded.heap)];
            loaded.heap.redact(how);
            assert!(once[0] == to_hprof(&loaded.heap, IdKind::Compact), "{name} ({how:?})");
            let strings = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            // Names that are not used any more stay as empty strings.
            let used = |text: String| text.lines().filter(|line| *line != "\"\",").count();
            assert_eq!(
                used(strings(&once[1])),
                used(strings(&to_heapsnapshot(&loaded.heap))),
                "{name}"
            );
        }
    }
}

/// Which objects have equal texts, and which equal blocks.
fn equal_contents(heap: &Heap<'_>) -> HashSet<Vec<u32>> {
    let mut groups: BTreeMap<(bool, Vec<u8>), Vec<u32>> = BTreeMap::new();
    for object in heap.objects() {
        let contents = match heap.value(object) {
            Value::Text { text, .. } => (true, text.as_bytes().to_vec()),
            Value::Bytes(bytes) if heap.references_of(object).len() == 0 => {
                (false, bytes.into_owned())
            }
            _ => continue,
        };
        groups.entry(contents).or_default().push(object.0);
    }
    groups.into_values().collect()
}

#[test]
fn equal_contents_stay_equal_and_others_different() {
    let mut groups = 0;
    for (name, format, bytes) in fixtures() {
        let mut loaded = load(format, &bytes);
        let expected = equal_contents(&loaded.heap);
        loaded.heap.redact(Redaction::Hash);
        assert!(equal_contents(&loaded.heap) == expected, "{name}");
        groups += expected.len();
    }
    assert!(groups > 9_000, "{groups}");
}
