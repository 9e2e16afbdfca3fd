//! Tests that each rule recognizes the heap made for it, and not a similar one.
//!
//! `cases.txt` has both for each rule. A line is a path through the heap, types and fields in turns:
//! `java.lang.Thread > threadLocals > …`. `name*20` is a field of each of 20 objects; the last
//! objects hold the memory; `-` is a reference without a name. `@kind name` in front is the root, `@goroutines 300 chan send: f, g` are
//! the threads with their state and functions, no root reaches what `@cycles` begins with, and `{a = true}` is a value of an object.

use super::*;
use crate::analysis::collections::Collections;
use crate::analysis::dominator_tree::DominatorTree;
use crate::analysis::graph::Graph;
use crate::analysis::paths::shortest::Shortest;
use crate::analysis::verdict::{Surveyed, Verdict};
use crate::input::{Format, roles};
use crate::model::builder::HeapBuilder;
use crate::model::heap::{
    EachField, Field, FieldValue, Heap, Ids, Label, ObjectId, ObjectValues, Root, RootKind,
    StackFrame, ThreadKind, TypeKind, Unreached, Value,
};
use crate::model::names::Names;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

const CASES: &str = include_str!("cases.txt");

/// Total bytes of the last objects of a path.
const BYTES: usize = 1 << 20;

#[derive(Default)]
struct Made {
    type_name: String,
    size: usize,
    references: Vec<(String, usize)>,
}

/// The values of objects: the names of classes, and fields that are true.
struct Values(BTreeMap<ObjectId, String>);

impl ObjectValues for Values {
    fn value<'v>(&'v self, heap: &'v Heap<'_>, object: ObjectId) -> Value<'v> {
        let is_class = heap.type_of(object).kind == TypeKind::Class;
        let name = self.0.get(&object).filter(|_| is_class);
        name.map_or(Value::None, |name| Value::Name(name.as_str().into()))
    }

    fn fields(&self, _: &Heap<'_>, object: ObjectId, each: &mut EachField<'_>) {
        if let Some((name, value)) = self.0.get(&object).and_then(|text| text.split_once(" = ")) {
            let value = FieldValue::Boolean(value == "true");
            _ = each(Field { class: "", name, type_name: "", value });
        }
    }
}

/// The objects of a path, and the indices of those that the path begins with.
fn made(path: &str, heads: usize) -> (Vec<Made>, Vec<usize>) {
    let mut parts = path.split(" > ");
    let type_name = parts.next().unwrap().to_owned();
    let mut objects: Vec<Made> = Vec::new();
    objects.resize_with(heads, || Made {
        type_name: type_name.clone(),
        size: 32,
        ..Made::default()
    });
    let mut last: Vec<usize> = (0..heads).collect();
    while let (Some(field), Some(type_name)) = (parts.next(), parts.next()) {
        let (name, many) = match field.split_once('*') {
            Some((name, many)) => (name, many.parse().unwrap()),
            None => (field, 1),
        };
        let mut next = Vec::new();
        for holder in last {
            for _ in 0..many {
                let number = objects.len();
                objects[holder].references.push((name.to_owned(), number));
                objects.push(Made { type_name: type_name.to_owned(), size: 32, ..Made::default() });
                next.push(number);
            }
        }
        last = next;
    }
    let size = BYTES / last.len();
    last.iter().for_each(|object| objects[*object].size += size);
    (objects, (0..heads).collect())
}

fn kind(type_name: &str) -> TypeKind {
    match type_name {
        _ if type_name.starts_with("class ") => TypeKind::Class,
        "string" | "str" | "String" | "java.lang.String" | "(sliced string)" => TypeKind::Text,
        _ if type_name.ends_with("[]") => TypeKind::Array,
        _ => TypeKind::Instance,
    }
}

fn heap(line: &str, format: Format) -> Heap<'static> {
    let (root, path) = match line.strip_prefix('@').and_then(|rest| rest.split_once(" > ")) {
        Some((root, path)) => (root, path),
        None => ("global app", line),
    };
    let (root_kind, name) = root.split_once(' ').unwrap();
    let threads = name.split_once(' ').filter(|_| root_kind == "goroutines");
    let heads = threads.map_or(1, |(count, _)| count.parse().unwrap());
    let (objects, heads) = made(path, heads);
    let mut builder = HeapBuilder::with_capacity(0, 0);
    builder.set_roles(roles(format));
    let (mut values, mut types) = (BTreeMap::new(), BTreeMap::new());
    for (number, object) in (0..).zip(&objects) {
        let (type_name, value) =
            object.type_name.split_once(" {").unwrap_or((&object.type_name, ""));
        let class = type_name.strip_prefix("class ");
        let value = class.unwrap_or(value.trim_end_matches('}'));
        values.extend((!value.is_empty()).then(|| (ObjectId(number), value.to_owned())));
        let of_namespace =
            [".dart:", "async:", "native:"].iter().find_map(|end| type_name.split_once(end));
        let (namespace, name) = match of_namespace {
            Some((_, name)) => (type_name.strip_suffix(&format!(":{name}")).unwrap(), name),
            None => ("", if class.is_some() { "Class" } else { type_name }),
        };
        let id = *types
            .entry((namespace.to_owned(), name.to_owned()))
            .or_insert_with(|| builder.add_type(name, namespace, kind(type_name)));
        builder.add_object(id, object.size as u64);
        for (index, (name, target)) in (0..).zip(&object.references) {
            let label = match name.as_str() {
                "" => Label::index(index),
                "-" => Label::NONE,
                name => Label::field(builder.names().intern(name)),
            };
            builder.add_reference(ObjectId(*target as u32), label, false);
        }
    }
    let mut heads = heads;
    if root_kind == "cycles" {
        builder.heap().unreached = Unreached::Cycles;
        let module = builder.add_type("module", "", TypeKind::Instance);
        heads = vec![builder.add_object(module, 64).index()];
    }
    hold(&mut builder, &heads, (root_kind, name), threads.map(|(_, state)| state));
    builder.finish(Ids::Rows(0), Some(Box::new(Values(values))))
}

/// Adds a root for each of these objects. In `goroutine`, the state comes before the frames.
fn hold(
    builder: &mut HeapBuilder,
    heads: &[usize],
    (root_kind, name): (&str, &str),
    goroutine: Option<&str>,
) {
    let kinds = [
        ("global", RootKind::Global),
        ("finalizer", RootKind::Finalizer),
        ("frame", RootKind::Frame),
        ("other", RootKind::Other),
    ];
    let of_root = kinds.into_iter().find(|(name, _)| *name == root_kind);
    let root_kind = of_root.map_or(RootKind::Other, |(_, kind)| kind);
    for &head in heads {
        let object = ObjectId(head as u32);
        let group = builder.names().intern(name);
        let Some(state) = goroutine else {
            builder.add_root(Root::new(object, root_kind, group));
            continue;
        };
        let (state, functions) = state.split_once(": ").unwrap();
        let frame = |function| StackFrame { function, file: Names::EMPTY, line: 0 };
        let frames: Vec<StackFrame> =
            functions.split(", ").map(|name| frame(builder.names().intern(name))).collect();
        let first = builder.add_thread("goroutine", head as u64, None, &frames);
        let state = builder.names().intern(state);
        let thread = builder.heap().threads.last_mut().unwrap();
        (thread.kind, thread.state) = (ThreadKind::Goroutine, state);
        let mut root = Root::new(object, RootKind::Frame, group);
        (root.frame, root.thread) = (Some(first), Some(head as u32));
        builder.add_root(root);
    }
}

/// The findings in the heap of a line, each with the id of its rule.
fn recognized(rules: &Rules, line: &str, format: Format) -> Vec<(String, Option<String>)> {
    let heap = heap(line, format);
    assert_eq!(heap.check(), Ok(()), "{line}");
    let graph = Graph::of(&heap);
    let tree = DominatorTree::of_graph(&heap, &graph);
    let surveyed = Surveyed { heap: &heap, graph: &graph, tree: &tree };
    let verdict = Verdict::of(surveyed, &Collections::of(&heap));
    let shortest = Shortest::of(&heap, &graph);
    let rule = |suspect| {
        let facts = Facts {
            heap: &heap,
            format,
            suspect,
            share: suspect.bytes as f64 / tree.live_bytes() as f64,
            path: &|| shortest.path(suspect.example),
            steps: OnceCell::new(),
        };
        (format!("{suspect:?}"), rules.find(&facts).map(|rule| rule.id().to_owned()))
    };
    verdict.suspects.iter().map(rule).collect()
}

fn built_in() -> Vec<Arc<Rule>> {
    let rules = BUILT_IN.iter().map(|(name, text)| parse(Path::new(name), text));
    rules.flat_map(|rules| rules.unwrap_or_else(|error| panic!("{error}"))).collect()
}

#[test]
fn each_rule_recognizes_its_leak_and_not_its_neighbour() {
    let rules = Rules(built_in());
    let mut wrong = Vec::new();
    let mut seen: BTreeSet<(&str, bool)> = BTreeSet::new();
    let mut id = "";
    for line in CASES.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (expected, path) = match line.split_at_checked(2) {
            Some(("+ ", path)) => (true, path),
            Some(("- ", path)) => (false, path),
            _ => {
                id = line;
                continue;
            }
        };
        let rule = rules.0.iter().find(|rule| rule.id() == id);
        let rule = rule.unwrap_or_else(|| panic!("there is no rule {id}"));
        let found = recognized(&rules, path, rule.format());
        let is_found = found.iter().any(|(_, found)| found.as_deref() == Some(id));
        if is_found != expected || found.is_empty() {
            wrong.push(format!("{id}: {line}\n  {found:?}"));
        }
        seen.insert((id, expected));
    }
    let without = |expected| -> Vec<&str> {
        rules.0.iter().map(|rule| rule.id()).filter(|id| !seen.contains(&(*id, expected))).collect()
    };
    assert_eq!(without(true), Vec::<&str>::new(), "rules without a heap that they recognize");
    assert_eq!(without(false), Vec::<&str>::new(), "rules without a heap that they must not");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn ids_are_unique_and_there_are_enough_rules() {
    let rules = built_in();
    let ids: BTreeSet<&str> = rules.iter().map(|rule| rule.id()).collect();
    assert_eq!(ids.len(), rules.len());
    for (runtime, least) in [
        ("java", 8),
        ("android", 8),
        ("node", 8),
        ("go", 8),
        ("ruby", 4),
        ("python", 4),
        ("dart", 4),
    ] {
        let many = ids.iter().filter(|id| id.starts_with(&format!("{runtime}-"))).count();
        assert!(many >= least, "{runtime}: {many}");
    }
}

/// Tests that no title claims growth, which one dump cannot show.
#[test]
fn titles_say_what_one_dump_can_show() {
    let claims = |title: &str| {
        ["grows", "grow without", "pile", "faster"].iter().any(|word| title.contains(word))
    };
    let rules = built_in();
    let titles: Vec<&str> = rules.iter().map(|rule| rule.title.0.as_str()).collect();
    assert_eq!(titles.into_iter().filter(|title| claims(title)).collect::<Vec<_>>(), [""; 0]);
}

/// Tests that the documentation lists exactly the rules of this build.
#[test]
fn the_documentation_lists_the_rules() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rules.md");
    let text = std::fs::read_to_string(path).unwrap();
    let row = |rule: &Arc<Rule>| format!("| `{}` | {} |\n", rule.id(), rule.title.0);
    for (name, rules) in BUILT_IN {
        let list: String = parse(Path::new(name), rules).unwrap().iter().map(row).collect();
        let table = format!("| id | leak |\n|---|---|\n{list}");
        assert!(text.contains(&table), "docs/rules.md should list:\n{table}");
    }
}

#[test]
fn a_broken_file_is_refused_with_line_and_column() {
    let mut wrong = Vec::new();
    let rule = "[[rule]]\nid = 'a'\ntitle = 't'\nmeaning = 'm'\nadvice = 'a'\nfault = 'own'\nformats = ['go']\n";
    for (text, place, what) in [
        (format!("{rule}when = [{{}}]\nwhan = 1\n"), "line 9, column 1", "unknown field `whan`"),
        (format!("{rule}when = [{{ kind = ['thread'] }}]"), "line 8, column 18", "expected one of"),
        (format!("{rule}when = [{{ kinds = [] }}]"), "line 8, column 11", "unknown field `kinds`"),
        (format!("{rule}when = [{{ min_share = 101 }}]"), "line 8, column 23", "from 0 to 100"),
        (rule.replace("'go'", "'pprof'"), "line 7, column 11", "found \"pprof\""),
        (rule.replace("'t'", "' '"), "line 3, column 9", "found an empty one"),
        (rule.replace("'own'", "'mine'"), "line 6, column 9", "unknown variant"),
        (format!("{rule}when = []\n{rule}when = []\n"), "line 10, column 6", "no other rule"),
        (rule.to_owned(), "line 1, column 1", "missing field `when`"),
        ("rule = [".to_owned(), "line 1, column 9", "expected `]`"),
        ("rules = []".to_owned(), "line 1, column 1", "unknown field `rules`"),
    ] {
        let error = parse(Path::new("team.toml"), &text).unwrap_err().to_string();
        if !error.starts_with(&format!("team.toml: {place}: ")) || !error.contains(what) {
            wrong.push(format!("{error}\nexpected {place}: {what}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
