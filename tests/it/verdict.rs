//! Leaks that were planted, and waste that stands out.

use dumptool::analysis::collections::Collections;
use dumptool::analysis::dominator_tree::DominatorTree;
use dumptool::analysis::graph::Graph;
use dumptool::analysis::verdict::{
    Grown, Size, Surveyed, Suspect, SuspectKind, Verdict, What, grown, owners,
};
use dumptool::analysis::waste::Measurements;
use dumptool::analysis::waste::contents::Read;
use dumptool::analysis::waste::outstanding::Outstanding;
use dumptool::model::builder::HeapBuilder;
use dumptool::model::heap::{
    Heap, Ids, Known, Label, ObjectId, ObjectValues, Role, Root, RootKind, SourceLocation, TypeId,
    TypeKind, Value,
};
use dumptool::model::names::Names;
use dumptool::model::roles::Roles;
use serde_json::Value as Json;
use std::collections::HashMap;
use std::process::Command;

/// A heap under construction: a tree of owners, filled from the top.
#[derive(Default)]
struct Planted {
    /// Type, size, owner and the name of the reference.
    objects: Vec<(usize, u64, Option<usize>, &'static str)>,
    types: Vec<(&'static str, &'static str, TypeKind)>,
    values: HashMap<ObjectId, Held>,
    links: Vec<(usize, usize, &'static str)>,
    /// Objects that are threads, which have no frames.
    threads: Vec<usize>,
}

#[derive(Clone)]
enum Held {
    Text(&'static str, u64),
    Bytes(&'static [u8]),
    Length(u64),
    Name(&'static str),
    File(&'static str),
}

struct Contents(HashMap<ObjectId, Held>);

impl ObjectValues for Contents {
    fn known(&self) -> Known {
        Known { texts: true, bytes: true, lengths: true, numbers: true, ..Known::default() }
    }

    fn value<'v>(&'v self, _: &'v Heap<'_>, object: ObjectId) -> Value<'v> {
        match self.0.get(&object) {
            None => Value::None,
            Some(Held::Text(text, length)) => Value::Text { text: (*text).into(), length: *length },
            Some(Held::Bytes(bytes)) => Value::Bytes((*bytes).into()),
            Some(Held::Length(length)) => Value::Length(*length),
            Some(Held::Name(name)) => Value::Name((*name).into()),
            Some(Held::File(_)) => Value::None,
        }
    }

    fn location(&self, _: &Heap<'_>, object: ObjectId) -> Option<SourceLocation> {
        let Some(Held::File(file)) = self.0.get(&object) else { return None };
        Some(SourceLocation { file: (*file).to_owned(), line: 1, column: 1 })
    }
}

impl Planted {
    fn of(&mut self, name: &'static str, namespace: &'static str, kind: TypeKind) -> usize {
        self.types.push((name, namespace, kind));
        self.types.len() - 1
    }

    fn instances<const N: usize>(&mut self, names: [&'static str; N]) -> [usize; N] {
        names.map(|name| self.of(name, "", TypeKind::Instance))
    }

    /// A map with a thousand entries of the program.
    fn large_map(&mut self, owner: usize, label: &'static str) {
        let [map, entry] = self.instances(["rt.Map", "app.Entry"]);
        let map = self.add(map, 16, Some(owner), label);
        (0..1000).for_each(|_| _ = self.add(entry, 1000, Some(map), "[]"));
    }

    /// An object that another one holds, or a root.
    fn add(&mut self, of: usize, size: u64, owner: Option<usize>, label: &'static str) -> usize {
        self.objects.push((of, size, owner, label));
        self.objects.len() - 1
    }

    fn value(&mut self, object: usize, value: Held) {
        self.values.insert(ObjectId(object as u32), value);
    }

    /// Another reference.
    fn link(&mut self, from: usize, to: usize, label: &'static str) {
        self.links.push((from, to, label));
    }

    fn heap(&self) -> Heap<'static> {
        let mut builder = HeapBuilder::with_capacity(0, 0);
        builder.set_roles(ROLES);
        let types: Vec<TypeId> = self
            .types
            .iter()
            .map(|(name, namespace, kind)| builder.add_type(name, namespace, *kind))
            .collect();
        let weak = Label::field(builder.names().intern("referent"));
        let mut owned: HashMap<usize, Vec<(usize, &str)>> = HashMap::new();
        for (object, (.., owner, label)) in self.objects.iter().enumerate() {
            owner.iter().for_each(|owner| owned.entry(*owner).or_default().push((object, label)));
        }
        for (from, to, label) in &self.links {
            owned.entry(*from).or_default().push((*to, label));
        }
        for (object, (of, size, owner, label)) in self.objects.iter().enumerate() {
            builder.add_object(types[*of], *size);
            for (target, label) in owned.remove(&object).unwrap_or_default() {
                let label = match label {
                    "" => Label::NONE,
                    label => Label::field(builder.names().intern(label)),
                };
                let is_weak = label == weak;
                builder.add_reference(ObjectId(target as u32), label, is_weak);
            }
            if let Some(row) = self.threads.iter().position(|thread| *thread == object) {
                let object = ObjectId(object as u32);
                builder.add_thread("worker", row as u64, Some(object), &[]);
                let thread = Some(row as u32);
                builder
                    .add_root(Root { thread, ..Root::new(object, RootKind::Thread, Names::EMPTY) });
            } else if owner.is_none() {
                let label = Label::field(builder.names().intern(label));
                let object = ObjectId(object as u32);
                builder
                    .add_root(Root { label, ..Root::new(object, RootKind::Global, Names::EMPTY) });
            }
        }
        let heap = builder.finish(Ids::Rows(0), Some(Box::new(Contents(self.values.clone()))));
        assert_eq!(heap.check(), Ok(()));
        heap
    }

    fn verdict(&self) -> Verdict {
        let heap = self.heap();
        let graph = Graph::of(&heap);
        let tree = DominatorTree::of_graph(&heap, &graph);
        let measured = Surveyed { heap: &heap, graph: &graph, tree: &tree };
        let verdict = Verdict::of(measured, &Collections::of(&heap));
        let sum: u64 = verdict.suspects.iter().map(|suspect| suspect.bytes).sum();
        assert!(sum <= tree.live_bytes(), "each byte counts once");
        verdict
    }

    fn waste(&self) -> Vec<Outstanding> {
        let heap = self.heap();
        let graph = Graph::of(&heap);
        let tree = DominatorTree::of_graph(&heap, &graph);
        let (collections, read) = (Collections::of(&heap), Read::of(&heap, &graph));
        Outstanding::of(&heap, &tree, &Measurements::of_read(&heap, &tree, &collections, read))
    }

    /// The count and bytes of each suspect.
    fn sizes(&self) -> Vec<(u64, u64)> {
        let suspects = self.verdict().suspects;
        suspects.iter().map(|suspect| (suspect.count, suspect.bytes)).collect()
    }

    /// The first finding: kind, type, count, bytes and holders.
    fn first(&self) -> (SuspectKind, &'static str, u64, u64, Vec<String>) {
        let Verdict { suspects, usual, .. } = self.verdict();
        let first: &Suspect = suspects.first().unwrap_or_else(|| panic!("{usual:?}"));
        let What::Objects(of, _) = first.what else { panic!("{first:?}") };
        let holders = first.holders.iter().map(|holder| holder.label.clone()).collect();
        (first.kind, self.types[of.0 as usize].0, first.count, first.bytes, holders)
    }
}

/// What a reader says about its runtime.
const ROLES: Roles = &[
    ("rt.Map", Role::Collection("map")),
    ("rt.Array", Role::Collection("array")),
    ("rt.Node", Role::Inside),
    ("rt.Listeners", Role::Listeners),
    ("rt.Glob", Role::Passage),
    ("rt.Class", Role::Passage),
    ("rt.Loader", Role::Loader),
    ("rt.Rope", Role::Rope("rt.Text")),
    ("rt.Hash", Role::Collection("hash")),
    ("the hash", Role::Sigil("%")),
    ("rt.Code", Role::Hidden),
    ("rt proxy", Role::Passage),
    ("rt.Stack", Role::Passage),
    ("rt.Thread", Role::Thread),
    ("rt.Entry", Role::ThreadLocal),
    ("rt.Function", Role::Closure),
    ("rt.Scope", Role::Closure),
    ("rt:*", Role::Hidden),
    ("*/packages/*", Role::Runtime),
    ("rt.*", Role::Runtime),
    ("lib.*", Role::Library),
];

#[test]
fn the_entries_of_a_map_are_named_and_not_its_nodes() {
    let mut planted = Planted::default();
    let [map, node, ticket] =
        ["rt.Map", "rt.Node", "app.Ticket"].map(|name| planted.of(name, "", TypeKind::Instance));
    let [table, text] = [("rt.Node[]", TypeKind::Array), ("rt.Text", TypeKind::Text)]
        .map(|(name, kind)| planted.of(name, "", kind));
    let map = planted.add(map, 48, None, "app.TICKETS");
    let table = planted.add(table, 8016, Some(map), "table");
    for _ in 0..1000 {
        let node = planted.add(node, 32, Some(table), "entry");
        let ticket = planted.add(ticket, 24, Some(node), "value");
        planted.add(text, 100, Some(ticket), "text");
    }
    let expected = (
        SuspectKind::Collection,
        "app.Ticket",
        1000,
        48 + 8016 + 1000 * 156,
        vec!["app.TICKETS".to_owned()],
    );
    assert_eq!(planted.first(), expected);
}

/// The full buckets of a Go map have further ones, which are not in its array of buckets.
#[test]
fn entries_in_overflow_buckets_count() {
    let mut planted = Planted::default();
    let [map, bucket, ticket] =
        ["rt.Map", "rt.Node", "app.Ticket"].map(|name| planted.of(name, "", TypeKind::Instance));
    let buckets = planted.of("[]rt.Node", "", TypeKind::Array);
    let map = planted.add(map, 48, None, "app.TICKETS");
    let buckets = planted.add(buckets, 8000, Some(map), "buckets");
    let overflow = planted.add(bucket, 80, Some(buckets), "overflow");
    let further = planted.add(bucket, 80, Some(overflow), "overflow");
    for (owner, entries) in [(buckets, 800), (overflow, 8), (further, 3)] {
        (0..entries).for_each(|_| _ = planted.add(ticket, 100, Some(owner), "elems"));
    }
    let (kind, of, count, ..) = planted.first();
    assert_eq!((kind, of, count), (SuspectKind::Collection, "app.Ticket", 811));
}

/// The runtime has all goroutines in a list. Those that wait hold nothing else on the heap.
#[test]
fn threads_with_one_stack_are_a_finding_though_the_runtime_also_holds_them() {
    let mut planted = Planted::default();
    let [list, worker] =
        ["rt.List", "rt.Worker"].map(|name| planted.of(name, "", TypeKind::Instance));
    let list = planted.add(list, 16, None, "rt.all");
    for _ in 0..400 {
        let worker = planted.add(worker, 416, Some(list), "[]");
        planted.threads.push(worker);
    }
    let verdict = planted.verdict();
    let first = verdict.suspects.first().unwrap_or_else(|| panic!("{verdict:?}"));
    assert_eq!((first.kind, first.count, first.bytes), (SuspectKind::Threads, 400, 400 * 416));
}

/// Several threads look at parts of so many entries.
#[test]
fn many_entries_are_counted_as_few_are() {
    const ENTRIES: u64 = 150_000;
    let mut planted = Planted::default();
    let [map, node, ticket] =
        ["rt.Map", "rt.Node", "app.Ticket"].map(|name| planted.of(name, "", TypeKind::Instance));
    let table = planted.of("rt.Node[]", "", TypeKind::Array);
    let map = planted.add(map, 48, None, "app.TICKETS");
    let table = planted.add(table, 8016, Some(map), "table");
    let mut last = table;
    let mut largest = 0;
    for entry in 0..ENTRIES {
        // Three entries have one place in the table.
        let (before, label) = if entry % 3 == 0 { (table, "entry") } else { (last, "next") };
        last = planted.add(node, 32, Some(before), label);
        let size = 24 + entry * 7919 % ENTRIES;
        let ticket = planted.add(ticket, size, Some(last), "value");
        if size == 24 + ENTRIES - 1 {
            largest = ticket;
        }
    }
    let tickets: u64 = (24..24 + ENTRIES).sum();
    let verdict = planted.verdict();
    let [found] = &verdict.suspects[..] else { panic!("{verdict:?}") };
    assert_eq!((found.count, found.bytes), (ENTRIES, 48 + 8016 + 32 * ENTRIES + tickets));
    assert_eq!(found.example, ObjectId(largest as u32));
    let each = (found.each.min, found.each.median, found.each.max);
    assert_eq!(each, (24, 24 + ENTRIES / 2, 24 + ENTRIES - 1));
    let parts: Vec<_> =
        found.consists_of.iter().map(|part| (part.of.0, part.count, part.bytes)).collect();
    assert_eq!(parts, [(2, ENTRIES, tickets), (1, ENTRIES, 32 * ENTRIES), (3, 1, 8016)]);
}

/// A map of nodes with maps of nodes, as in an index by letters.
#[test]
fn nodes_with_collections_of_nodes_are_one_tree() {
    let mut planted = Planted::default();
    let [map, node, trie] =
        ["rt.Map", "rt.Node", "app.Trie"].map(|name| planted.of(name, "", TypeKind::Instance));
    let mut level = vec![planted.add(trie, 32, None, "app.WORDS")];
    for _ in 0..3 {
        let mut next = Vec::new();
        for above in level {
            let map = planted.add(map, 48, Some(above), "next");
            for _ in 0..12 {
                let entry = planted.add(node, 32, Some(map), "entry");
                next.push(planted.add(trie, 32, Some(entry), "value"));
            }
        }
        level = next;
    }
    let (kind, of, count, ..) = planted.first();
    assert_eq!((kind, of, count), (SuspectKind::Tree, "app.Trie", 1 + 12 + 144 + 1728));
}

/// A proxy of JavaScript is an object of the runtime between a holder and what it holds.
#[test]
fn what_a_proxy_leads_to_is_named_by_the_holder_of_the_proxy() {
    let label_behind = |name: &'static str| {
        let mut planted = Planted::default();
        let [store, proxy] =
            ["app.Store", "rt.Code"].map(|name| planted.of(name, "", TypeKind::Instance));
        let store = planted.add(store, 16, None, "app.STORE");
        let proxy = planted.add(proxy, 32, Some(store), "items");
        planted.value(proxy, Held::Name(name));
        planted.large_map(proxy, "");
        planted.first().4
    };
    assert_eq!(label_behind("rt proxy"), ["app.STORE.items"]);
    assert_eq!(label_behind("rt code"), [""]);
}

/// Go's packages have types like those of a program: `http.Server` holds the handler, and so does `main`.
#[test]
fn a_place_of_the_program_is_preferred_to_one_of_a_library() {
    let mut planted = Planted::default();
    let [server, registry] =
        ["lib.Server", "app.Registry"].map(|name| planted.of(name, "", TypeKind::Instance));
    let server = planted.add(server, 16, None, "lib.SERVER");
    let registry = planted.add(registry, 16, None, "app.REGISTRY");
    planted.large_map(server, "handlers");
    planted.link(registry, 2, "handlersOfTheApplication");
    assert_eq!(planted.first().4, ["app.REGISTRY.handlersOfTheApplication"]);
}

/// Each of many functions has a variable of its own: none of them holds all.
#[test]
fn one_of_many_holders_is_not_named_as_the_only_one() {
    let mut planted = Planted::default();
    let glob = planted.of("rt.Glob", "", TypeKind::Instance);
    let text = planted.of("rt.Text", "", TypeKind::Text);
    for at in 0..1000 {
        let glob = planted.add(glob, 16, None, "stash");
        planted.value(glob, Held::Name(["app::first", "app::second"][at % 2]));
        planted.add(text, 200, Some(glob), "the hash");
    }
    let Verdict { suspects, usual, .. } = planted.verdict();
    assert_eq!(suspects, []);
    let label = usual[0].holders[0].label.clone();
    assert!(label.ends_with(" and others"), "{label}");
}

/// V8 does not write how many entries a map has.
#[test]
fn entries_are_counted_where_the_collection_states_no_number() {
    let mut planted = Planted::default();
    let map = planted.of("rt.Map", "", TypeKind::Instance);
    let table = planted.of("rt.Node[]", "", TypeKind::Array);
    let text = planted.of("rt.Text", "", TypeKind::Text);
    let map = planted.add(map, 48, None, "rt.cache");
    let table = planted.add(table, 16, Some(map), "table");
    (0..1000).for_each(|_| _ = planted.add(text, 200, Some(table), "key"));
    let suspects = planted.verdict().suspects;
    assert_eq!(suspects[0].holders[0].entries, Some(1000));
    assert!(!suspects[0].is_runtime, "no base is so large a part of the heap");
}

/// Two maps with tickets, of `small` and `large` entries.
fn two_maps(small: usize, large: usize) -> Planted {
    maps_called(["app.SOLD", "app.OPEN"], small, large)
}

fn maps_called([large_name, small_name]: [&'static str; 2], small: usize, large: usize) -> Planted {
    let mut planted = Planted::default();
    let [map, node, ticket] =
        ["rt.Map", "rt.Node", "app.Ticket"].map(|name| planted.of(name, "", TypeKind::Instance));
    let table = planted.of("rt.Node[]", "", TypeKind::Array);
    for (label, entries) in [(large_name, large), (small_name, small)] {
        let map = planted.add(map, 48, None, label);
        let table = planted.add(table, 16, Some(map), "table");
        for _ in 0..entries {
            let node = planted.add(node, 32, Some(table), "entry");
            planted.add(ticket, 24, Some(node), "value");
        }
    }
    planted
}

/// What grew from one heap to another.
fn grew(old: &Planted, new: &Planted) -> Option<(Vec<String>, Grown)> {
    let survey = |planted: &Planted, of: &mut dyn FnMut(Surveyed<'_, '_>)| {
        let heap = planted.heap();
        let graph = Graph::of(&heap);
        let tree = DominatorTree::of_graph(&heap, &graph);
        of(Surveyed { heap: &heap, graph: &graph, tree: &tree });
    };
    let (mut newer, mut most) = (Vec::new(), None);
    survey(new, &mut |heap| newer = owners(heap, &Collections::of(heap.heap)));
    survey(old, &mut |heap| most = grown(heap, &Collections::of(heap.heap), &newer));
    let most = most?;
    let holders = newer[most.owner].finding.holders.iter().map(|holder| holder.label.clone());
    Some((holders.collect(), most))
}

#[test]
fn what_grew_is_found_again_by_its_holder_with_exact_sizes() {
    let size = |count: u64| Size { count, bytes: 48 + 16 + count * 56 };
    let (holders, grown) = grew(&two_maps(300, 2000), &two_maps(900, 2000)).unwrap();
    assert_eq!(holders, ["app.OPEN"], "not the larger one");
    assert_eq!((grown.old, grown.new), (size(300), size(900)));
    assert_eq!(grown.bytes(), 600 * 56);
    let (holders, grown) = grew(&two_maps(0, 2000), &two_maps(900, 100)).unwrap();
    assert_eq!((&*holders, grown.old), (&["app.OPEN".to_owned()][..], size(0)));
}

#[test]
fn what_grew_is_found_again_under_another_name() {
    let size = |count: u64| Size { count, bytes: 48 + 16 + count * 56 };
    let old = |name, large| {
        let old = maps_called(["app.SOLD", name], 300, large);
        grew(&old, &two_maps(900, large)).map(|(_, grown)| grown.old)
    };
    // The path to a variable may lead through another function.
    assert_eq!(old("Layer.handle(): OPEN", 2000), Some(size(300)));
    // The tickets were in a map of another name.
    assert_eq!(old("router.stack", 2), Some(size(300)));
}

#[test]
fn nothing_grew_in_equal_and_in_smaller_heaps() {
    assert_eq!(grew(&two_maps(300, 2000), &two_maps(300, 2000)), None);
    assert_eq!(grew(&two_maps(300, 2000), &two_maps(200, 1900)), None);
}

/// A heap of Bun had one more object of the runtime than itself, and one of Python two bytes more.
#[test]
fn a_heap_has_not_grown_since_itself() {
    for folder in ["hprof", "heapsnapshot", "dart", "go", "ruby", "pmat", "pyheap"] {
        let is_dump = |path: &std::path::PathBuf| path.extension().is_some_and(|end| end == "zst");
        let folder = crate::support::fixture(folder);
        let files: Vec<_> = crate::support::files(&folder).into_iter().filter(is_dump).collect();
        assert!(!files.is_empty(), "{}", folder.display());
        for file in files {
            let mut command = Command::new(env!("CARGO_BIN_EXE_dumptool"));
            let output = command.args(["diff", "-q"]).args([&file, &file]).output().unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(text.starts_with("nothing grew: "), "{}: {text}", file.display());
        }
    }
}

#[test]
fn objects_with_two_holders_are_one_owner_with_what_they_share() {
    let mut planted = Planted::default();
    let [store, bus, widget, theme] = ["app.Store", "app.Bus", "app.Widget", "app.Theme"]
        .map(|name| planted.of(name, "", TypeKind::Instance));
    let array = planted.of("rt.Object[]", "", TypeKind::Array);
    let store = planted.add(store, 16, None, "store");
    let detached = planted.add(array, 4016, Some(store), "detached");
    let bus = planted.add(bus, 16, None, "bus");
    let listeners = planted.add(array, 4016, Some(bus), "listeners");
    let theme = planted.add(theme, 5000, Some(detached), "unused");
    planted.objects[theme].2 = Some(usize::MAX);
    for _ in 0..500 {
        let widget = planted.add(widget, 240, Some(detached), "element");
        planted.link(listeners, widget, "element");
        planted.link(widget, theme, "theme");
    }
    let expected = (
        SuspectKind::Many,
        "app.Widget",
        500,
        500 * 240 + 5000,
        vec!["store.detached".to_owned(), "bus.listeners".to_owned()],
    );
    assert_eq!(planted.first(), expected);
}

#[test]
fn the_runtimes_own_objects_are_no_suspects() {
    let mut planted = Planted::default();
    let [text, module] =
        ["rt.Text", "rt.Module"].map(|name| planted.of(name, "", TypeKind::Instance));
    for _ in 0..500 {
        let module = planted.add(module, 64, None, "rt.modules");
        planted.add(text, 100, Some(module), "name");
    }
    let verdict = planted.verdict();
    assert_eq!(verdict.suspects, []);
    assert!(
        verdict.usual.first().is_some_and(|usual| usual.is_runtime && usual.bytes == 500 * 164)
    );
}

#[test]
fn a_list_is_a_chain_of_its_objects() {
    let mut planted = Planted::default();
    let [queue, node] =
        ["app.Queue", "app.Job"].map(|name| planted.of(name, "", TypeKind::Instance));
    let mut last = planted.add(queue, 16, None, "queue");
    (0..1000).for_each(|_| last = planted.add(node, 96, Some(last), "next"));
    let (kind, of, count, ..) = planted.first();
    assert_eq!((kind, of, count), (SuspectKind::Chain, "app.Job", 1000));
}

#[test]
fn types_that_alternate_in_a_list_are_one_chain() {
    let mut planted = Planted::default();
    let [job, wrapper] =
        ["app.Job", "app.Wrapper"].map(|name| planted.of(name, "", TypeKind::Instance));
    let mut last = planted.add(job, 160, None, "queue");
    for _ in 0..500 {
        last = planted.add(wrapper, 16, Some(last), "next");
        last = planted.add(job, 160, Some(last), "of");
    }
    let (kind, _, count, ..) = planted.first();
    assert_eq!((kind, count), (SuspectKind::Chain, 501));
}

#[test]
fn an_array_of_arrays_is_no_chain() {
    let mut planted = Planted::default();
    let array = planted.of("rt.Array", "", TypeKind::Instance);
    let outer = planted.add(array, 800, None, "app.rows");
    for _ in 0..100 {
        planted.add(array, 1000, Some(outer), "[]");
    }
    let (kind, of, count, _, holders) = planted.first();
    assert_eq!((kind, of, count), (SuspectKind::Collection, "rt.Array", 100));
    assert_eq!(holders, ["app.rows"]);
}

/// Plants a list below one of the objects that `plant` adds below the first, and expects the verdict
/// to name the list's elements.
fn list_is_no_chain(plant: impl FnOnce(&mut Planted, usize, usize) -> usize) {
    let mut planted = Planted::default();
    let [plain, order] =
        ["rt.Object", "app.Order"].map(|name| planted.of(name, "", TypeKind::Instance));
    let array = planted.of("rt.Object[]", "", TypeKind::Array);
    let app = planted.add(plain, 16, None, "app");
    let holder = plant(&mut planted, plain, app);
    let list = planted.add(array, 4016, Some(holder), "list");
    (0..500).for_each(|_| _ = planted.add(order, 160, Some(list), "element"));
    let (kind, of, count, ..) = planted.first();
    assert_eq!((kind, of, count), (SuspectKind::Collection, "app.Order", 500));
}

#[test]
fn an_object_with_another_of_its_type_is_no_chain() {
    list_is_no_chain(|planted, plain, app| {
        let state = planted.add(plain, 16, Some(app), "state");
        planted.add(plain, 16, Some(app), "other");
        state
    });
}

#[test]
fn an_object_that_holds_more_than_its_chain_is_no_chain() {
    list_is_no_chain(|planted, plain, app| {
        (0..100).fold(app, |last, _| planted.add(plain, 16, Some(last), "deeper"));
        app
    });
}

#[test]
fn the_source_text_of_code_is_no_suspect_though_the_program_keeps_a_part_of_it() {
    let mut planted = Planted::default();
    let [code, app] = ["rt.Code", "app.Page"].map(|name| planted.of(name, "", TypeKind::Instance));
    let text = planted.of("rt.Text", "", TypeKind::Text);
    let code = planted.add(code, 16, None, "code");
    let page = planted.add(app, 16, None, "app.page");
    let source = planted.add(text, 100_000, Some(code), "source");
    planted.link(page, source, "parent");
    let verdict = planted.verdict();
    assert_eq!(verdict.suspects, []);
    assert!(verdict.usual.first().is_some_and(|usual| usual.bytes == 100_000));
}

#[test]
fn values_of_a_thread_local_variable_are_named_though_nothing_but_threads_holds_them() {
    let mut planted = Planted::default();
    let [thread, table, entry, value, variable] =
        ["rt.Thread", "rt.Node", "rt.Entry", "app.Context", "rt.Variable"]
            .map(|name| planted.of(name, "", TypeKind::Instance));
    let variable = planted.add(variable, 16, None, "app.CONTEXT");
    for _ in 0..8 {
        let thread = planted.add(thread, 100, None, "");
        planted.threads.push(thread);
        let table = planted.add(table, 32, Some(thread), "locals");
        let entry = planted.add(entry, 32, Some(table), "[3]");
        planted.link(entry, variable, "referent");
        planted.add(value, 20_000, Some(entry), "value");
    }
    let (kind, of, count, bytes, holders) = planted.first();
    assert_eq!((kind, of, count), (SuspectKind::Threads, "app.Context", 8));
    assert_eq!((bytes, holders), (8 * 20_164, vec!["app.CONTEXT".to_owned()]));
}

/// A map in a variable that two functions of a file use.
fn variable_of(file: &'static str) -> Planted {
    let mut planted = Planted::default();
    let [function, scope, map, entry] = ["rt.Function", "rt.Scope", "rt.Map", "app.Entry"]
        .map(|name| planted.of(name, "", TypeKind::Instance));
    let functions = [(); 2].map(|()| {
        let function = planted.add(function, 16, None, "rt.listener");
        planted.value(function, Held::File(file));
        function
    });
    let scope = planted.add(scope, 16, Some(functions[0]), "context");
    planted.link(functions[1], scope, "context");
    let map = planted.add(map, 16, Some(scope), "cache");
    for _ in 0..1000 {
        planted.add(entry, 1000, Some(map), "[]");
    }
    planted
}

#[test]
fn a_variable_that_several_functions_use_is_named_with_their_file() {
    let planted = variable_of("/srv/app/cart.js");
    let (_, of, count, _, holders) = planted.first();
    assert_eq!((of, count, holders), ("app.Entry", 1000, vec!["cart.js: cache".to_owned()]));
}

#[test]
fn a_variable_is_not_named_with_a_file_of_the_runtime() {
    let (.., holders) = variable_of("rt:internal/timers").first();
    assert!(holders.iter().all(|holder| !holder.contains("timers")), "{holders:?}");
}

/// A class of a library holds functions whose variables are those of a function of the program.
#[test]
fn a_variable_of_an_outer_function_is_named_with_its_file_and_not_by_who_reaches_it() {
    let expected = [("/srv/app/cart.js", "cart.js: cache"), ("rt:internal/timers", "cache")];
    for (file, expected) in expected {
        let mut planted = Planted::default();
        let [layer, function, scope] = planted.instances(["lib.Layer", "rt.Function", "rt.Scope"]);
        let layer = planted.add(layer, 16, None, "layer");
        let function = planted.add(function, 16, Some(layer), "handle");
        planted.value(function, Held::File(file));
        let inner = planted.add(scope, 16, Some(function), "context");
        let outer = planted.add(scope, 16, Some(inner), "previous");
        planted.large_map(outer, "cache");
        assert_eq!(planted.first().4, [expected], "{file}");
    }
}

/// The name of a class says more than that of a variable in a file of a library.
#[test]
fn a_field_of_a_class_is_named_and_not_a_variable_of_a_library() {
    let expected = [
        ("/srv/app/shop.js", "shop.js: store.sessions"),
        // Dots in the name of a file do not make the path of fields longer.
        ("/srv/app/shop.v1.2.3.min.js", "shop.v1.2.3.min.js: store.sessions"),
        ("/srv/packages/session/index.js", "lib.MemoryStore.sessions"),
    ];
    for (file, expected) in expected {
        let mut planted = Planted::default();
        let [store, function, scope] =
            planted.instances(["lib.MemoryStore", "rt.Function", "rt.Scope"]);
        let function = planted.add(function, 16, None, "rt.listener");
        planted.value(function, Held::File(file));
        let scope = planted.add(scope, 16, Some(function), "context");
        let store = planted.add(store, 16, Some(scope), "store");
        planted.large_map(store, "sessions");
        assert_eq!(planted.first().4, [expected], "{file}");
    }
}

/// The stack holds the variables, and they hold the only function that tells their file.
#[test]
fn a_variable_on_the_stack_is_named_with_the_file_of_a_function_that_it_holds() {
    for is_nested in [false, true] {
        let mut planted = Planted::default();
        let [subject, function, scope] =
            planted.instances(["lib.Subject", "rt.Function", "rt.Scope"]);
        let stack = planted.of("rt.Stack", "", TypeKind::Root);
        let stack = planted.add(stack, 0, None, "");
        let outer = planted.add(scope, 16, Some(stack), "");
        let function = planted.add(function, 16, Some(outer), "listen");
        planted.value(function, Held::File("/srv/app/cart.js"));
        if is_nested {
            let inner = planted.add(scope, 16, Some(function), "context");
            planted.link(inner, outer, "previous");
        } else {
            planted.link(function, outer, "context");
        }
        let subject = planted.add(subject, 16, Some(outer), "config");
        planted.large_map(subject, "observers");
        assert_eq!(planted.first().4, ["cart.js: config.observers"], "{is_nested}");
    }
}

#[test]
fn variables_of_a_method_are_not_the_programs_because_its_object_is() {
    let mut planted = Planted::default();
    let [bus, function, scope] =
        ["app.Bus", "rt.Function", "rt.Scope"].map(|name| planted.of(name, "", TypeKind::Instance));
    let methods = [(); 2].map(|()| {
        let bus = planted.add(bus, 16, None, "rt.bus");
        planted.add(function, 16, Some(bus), "pipe")
    });
    // Two methods hold two scopes, which hold all others.
    let outer = [(); 2].map(|()| planted.add(scope, 4000, Some(methods[0]), "context"));
    outer.iter().for_each(|scope| planted.link(methods[1], *scope, "context"));
    for _ in 0..20 {
        let inner = planted.add(scope, 4000, Some(outer[0]), "previous");
        planted.link(outer[1], inner, "previous");
    }
    assert_eq!(planted.verdict().suspects, []);
}

/// A registry refers to a part of each entry, which the service that has both then holds.
#[test]
fn what_a_cache_and_a_registry_hold_together_does_not_hide_the_cache() {
    let mut planted = Planted::default();
    let [service, map, user, state] =
        planted.instances(["app.Service", "rt.Map", "app.User", "lib.State"]);
    let service = planted.add(service, 16, None, "app.SERVICE");
    let [seen, registry] =
        ["seen", "registry"].map(|name| planted.add(map, 16, Some(service), name));
    for _ in 0..1000 {
        let user = planted.add(user, 1000, Some(seen), "[]");
        let state = planted.add(state, 800, Some(user), "state");
        planted.link(registry, state, "[]");
    }
    let (_, of, count, bytes, holders) = planted.first();
    assert_eq!((of, count, bytes), ("app.User", 1000, 1_000_016));
    assert_eq!(holders, ["app.SERVICE.seen"]);
}

#[test]
fn two_caches_below_one_owner_are_told_apart() {
    let mut planted = Planted::default();
    let [app, cache, store, item, page] = ["App", "Cache", "Store", "Item", "Page"]
        .map(|name| planted.of(name, "", TypeKind::Instance));
    let app = planted.add(app, 16, None, "app");
    for (holder, of, many) in [(cache, item, 600), (store, page, 400)] {
        let holder = planted.add(holder, 16, Some(app), "held");
        (0..many).for_each(|_| _ = planted.add(of, 192, Some(holder), "item"));
    }
    assert_eq!(planted.sizes(), [(600, 16 + 600 * 192), (400, 16 + 400 * 192)]);
}

/// A loader has a list of all classes of the program, whose variables are what matters.
#[test]
fn variables_of_two_classes_of_one_loader_are_told_apart() {
    let mut planted = Planted::default();
    let [loader, list, part, class, item, page] =
        ["rt.Loader", "rt.Array", "rt.Node", "rt.Class", "app.Item", "app.Page"]
            .map(|name| planted.of(name, "", TypeKind::Instance));
    let loader = planted.add(loader, 16, None, "rt.loader");
    let list = planted.add(list, 16, Some(loader), "classes");
    let part = planted.add(part, 16, Some(list), "elements");
    for (of, many) in [(item, 600), (page, 500)] {
        let class = planted.add(class, 16, Some(part), "class");
        let kept = planted.add(1, 16, Some(class), "KEPT");
        (0..many).for_each(|_| _ = planted.add(of, 1000, Some(kept), "item"));
    }
    assert_eq!(planted.sizes(), [(600, 16 + 600_000), (500, 16 + 500_000)]);
}

#[test]
fn services_in_one_map_are_told_apart_and_keys_are_not_what_it_is_for() {
    let mut planted = Planted::default();
    let [map, part, orders, tickets, item, page] =
        ["rt.Map", "rt.Node", "app.Orders", "app.Tickets", "app.Item", "app.Page"]
            .map(|name| planted.of(name, "", TypeKind::Instance));
    let text = planted.of("rt.Text", "", TypeKind::Text);
    let map = planted.add(map, 16, None, "app.BEANS");
    let table = planted.add(part, 16, Some(map), "table");
    let mut services = vec![(orders, item, 550), (tickets, page, 450)];
    services.extend([(text, text, 0); 50]);
    for (service, of, many) in services {
        let node = planted.add(part, 16, Some(table), "entry");
        planted.add(text, 16, Some(node), "key");
        let service = planted.add(service, 16, Some(node), "value");
        (0..many).for_each(|_| _ = planted.add(of, 1000, Some(service), "item"));
    }
    assert_eq!(planted.sizes(), [(550, 16 + 550_000), (450, 16 + 450_000)]);
}

/// The texts elsewhere are of the same type, and must not be added.
#[test]
fn a_map_of_texts_and_numbers_is_one_owner_with_its_keys() {
    let mut planted = Planted::default();
    let [map, module] =
        ["rt.Map", "rt.Module"].map(|name| planted.of(name, "", TypeKind::Instance));
    let text = planted.of("rt.Text", "", TypeKind::Text);
    let number = planted.of("rt.Number", "", TypeKind::Number);
    let module = planted.add(module, 16, None, "rt.module");
    (0..100).for_each(|_| _ = planted.add(text, 50, Some(module), "doc"));
    let map = planted.add(map, 30_000, None, "app.PRICES");
    planted.value(map, Held::Length(1000));
    for _ in 0..1000 {
        planted.add(text, 50, Some(map), "key");
        planted.add(number, 24, Some(map), "value");
    }
    let suspects = planted.verdict().suspects;
    let [found] = &suspects[..] else { panic!("{suspects:?}") };
    assert_eq!((found.count, found.bytes), (1000, 30_000 + 74_000));
    assert_eq!((&*found.holders[0].label, found.holders[0].entries), ("app.PRICES", Some(1000)));
}

#[test]
fn a_map_of_texts_has_as_many_entries_as_it_states() {
    let mut planted = Planted::default();
    let map = planted.of("rt.Map", "", TypeKind::Instance);
    let text = planted.of("rt.Text", "", TypeKind::Text);
    let map = planted.add(map, 30_000, None, "app.NAMES");
    planted.value(map, Held::Length(1000));
    (0..2000).for_each(|_| _ = planted.add(text, 50, Some(map), "key or value"));
    let suspects = planted.verdict().suspects;
    assert_eq!((suspects[0].count, suspects[0].holders[0].entries), (2000, Some(1000)));
}

/// V8 joins texts only when they are read.
#[test]
fn a_text_of_several_counts_once() {
    let mut planted = Planted::default();
    let [list, rope] = [("rt.Array", TypeKind::Instance), ("rt.Rope", TypeKind::Text)]
        .map(|(name, kind)| planted.of(name, "", kind));
    let text = planted.of("rt.Text", "", TypeKind::Text);
    let list = planted.add(list, 16, None, "app.lines");
    for _ in 0..1000 {
        let whole = planted.add(rope, 32, Some(list), "[]");
        let start = planted.add(rope, 32, Some(whole), "first");
        planted.add(text, 40, Some(whole), "second");
        planted.add(text, 40, Some(start), "first");
    }
    let (kind, of, count, bytes, holders) = planted.first();
    assert_eq!((kind, of, count), (SuspectKind::Collection, "rt.Text", 1000));
    assert_eq!((bytes, holders), (16 + 144_000, vec!["app.lines".to_owned()]));
}

#[test]
fn a_list_in_a_plain_array_of_a_class_is_named_by_the_field_of_the_class() {
    let mut planted = Planted::default();
    let class = planted.of("rt.Class", "", TypeKind::Class);
    let [array, list, item] =
        ["rt.Node", "rt.Array", "app.Item"].map(|name| planted.of(name, "", TypeKind::Instance));
    let class = planted.add(class, 16, None, "rt.class");
    planted.value(class, Held::Name("app.Page"));
    let array = planted.add(array, 16, Some(class), "slots");
    let list = planted.add(list, 16, Some(array), "");
    (0..1000).for_each(|_| _ = planted.add(item, 100, Some(list), "item"));
    let (_, of, count, _, holders) = planted.first();
    assert_eq!((of, count, holders), ("app.Item", 1000, vec!["app.Page.slots".to_owned()]));
}

#[test]
fn a_chain_of_many_functions_is_a_suspect() {
    let mut planted = Planted::default();
    let [function, scope] =
        ["rt.Function", "rt.Scope"].map(|name| planted.of(name, "", TypeKind::Instance));
    let mut last = planted.add(function, 64, None, "");
    for _ in 0..2000 {
        let scope = planted.add(scope, 64, Some(last), "context");
        last = planted.add(function, 64, Some(scope), "previous");
    }
    let suspects = planted.verdict().suspects;
    assert_eq!((suspects.len(), suspects[0].kind), (1, SuspectKind::Closures));
}

/// A variable of a suspended call has no name in V8's snapshots.
/// Each entry has functions of its own, as a compiled template does.
#[test]
fn functions_in_a_collection_count_once_with_those_that_they_hold() {
    let mut planted = Planted::default();
    let [array, function] =
        ["rt.Array", "rt.Function"].map(|name| planted.of(name, "", TypeKind::Instance));
    let array = planted.add(array, 16, None, "app.TEMPLATES");
    for _ in 0..600 {
        let entry = planted.add(function, 64, Some(array), "[]");
        (0..2).for_each(|_| _ = planted.add(function, 64, Some(entry), "inner"));
    }
    assert_eq!(planted.sizes(), [(600, 16 + 600 * 3 * 64)]);
}

#[test]
fn one_large_object_is_a_suspect_though_its_holder_has_no_name() {
    let mut planted = Planted::default();
    let function = planted.of("rt.Function", "", TypeKind::Instance);
    let text = planted.of("rt.Text", "", TypeKind::Text);
    let function = planted.add(function, 16, None, "");
    planted.add(text, 100_000, Some(function), "");
    let suspects = planted.verdict().suspects;
    assert_eq!((suspects.len(), suspects[0].kind), (1, SuspectKind::Large));
}

/// Objects that hold two others each, down to `depth` levels.
fn balanced(planted: &mut Planted, depth: usize) {
    let node = planted.of("Tree", "", TypeKind::Instance);
    let mut level = vec![planted.add(node, 64, None, "")];
    for _ in 0..depth {
        level = level
            .iter()
            .flat_map(|&owner| [owner, owner])
            .map(|owner| planted.add(node, 64, Some(owner), "child"))
            .collect();
    }
}

#[test]
fn equal_values_are_counted_and_others_are_not() {
    let mut planted = Planted::default();
    balanced(&mut planted, 10);
    let [text, bytes] = [("String", TypeKind::Text), ("Bytes", TypeKind::Bytes)]
        .map(|(name, kind)| planted.of(name, "", kind));
    let mut plant = |of, value: Held, times: usize, size| {
        (0..times).for_each(|_| {
            let object = planted.add(of, size, None, "");
            planted.value(object, value.clone());
        });
    };
    plant(text, Held::Text("again", 5), 101, 48);
    plant(text, Held::Text("twice", 5), 2, 48);
    plant(text, Held::Text("once", 4), 1, 48);
    // Cut texts are not known to be equal, and short blocks are equal by chance.
    plant(text, Held::Text("begin", 500), 100, 512);
    plant(bytes, Held::Bytes(b"12345678"), 1000, 8);
    plant(bytes, Held::Bytes(b"0123456789abcdef"), 301, 16);
    let found = planted.waste();
    let duplicates: Vec<_> = found
        .iter()
        .map(|waste| match waste {
            Outstanding::Duplicates(duplicates) => {
                (duplicates.texts, duplicates.values, duplicates.objects, duplicates.wasted)
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(duplicates, [(true, 2, 103, 101 * 48), (false, 1, 301, 300 * 16)]);
}

#[test]
fn empty_lists_are_found() {
    let mut planted = Planted::default();
    balanced(&mut planted, 10);
    let list = planted.of("_GrowableList", "dart:core", TypeKind::Instance);
    let array = planted.of("_List", "dart:core", TypeKind::Array);
    for length in [0, 1, 2, 3, 4, 16].repeat(50) {
        let object = planted.add(list, 32, None, "");
        planted.value(object, Held::Length(length));
        let data = planted.add(array, 16 * 8, Some(object), "data_");
        planted.value(data, Held::Length(16));
    }
    let found = planted.waste();
    let [Outstanding::Sparse(sparse)] = &found[..] else { panic!("{found:?}") };
    assert_eq!((sparse.count, sparse.all, sparse.capacity, sparse.used), (250, 300, 250 * 16, 500));
    assert_eq!(sparse.wasted, 50 * 8 * (16 + 15 + 14 + 13 + 12));
}

/// Dumps with one leak of a known shape each, with what must be said about it.
#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn leaks_of_the_corpus_are_named_first() {
    let folder = crate::support::corpus_folder("suspects");
    let zoo = std::fs::read_to_string(folder.join("zoo.json")).unwrap();
    let zoo: Json = serde_json::from_str(&zoo).unwrap();
    let mut wrong = Vec::new();
    for (name, expected) in zoo["dumps"].as_object().unwrap() {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dumptool"));
        command
            .args(["top", "--suspects", "--format", "json"])
            .arg(folder.join(format!("{name}.zst")));
        if name.ends_with(".heapdump") {
            command.arg("--exe").arg(folder.join("zoo_go.exe.zst"));
        }
        let output = command.output().unwrap();
        let found: Json = serde_json::from_slice(&output.stdout).unwrap();
        let first = &found["suspects"][0];
        let share = first["share"].as_f64().unwrap_or(0.0);
        let is_right = match expected["none"].as_bool() {
            Some(true) => share < 0.1,
            _ => {
                let words =
                    format!("{} {} {}", first["message"], first["path"], first["holder"]["label"]);
                let also = expected["also"].as_array().into_iter().flatten();
                let of = expected["type"].as_str().unwrap_or_default();
                let is_named = first["type"].as_str().is_some_and(|found| found.contains(of));
                (is_named || also.filter_map(Json::as_str).any(|word| words.contains(word)))
                    && first["count"] == expected["count"]
                    && share >= expected["share"].as_f64().unwrap_or(0.0)
            }
        };
        if !is_right {
            wrong.push(format!("{name}: {}", first["message"]));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
#[ignore = "needs DUMPTOOL_CORPUS"]
fn leaks_of_the_corpus_are_named_as_their_programs_do() {
    let folder = crate::support::corpus_folder("");
    for (name, expected) in [
        (
            "pmat/heap-perl536.pmat.zst",
            "2 000 Session (1.7 MiB) in the hash %main::STORE (HASH, 2 000 entries)",
        ),
        (
            "ruby/shop-ruby31-trace.json.zst",
            "5 000 Session (3.1 MiB) in a constant of Object (Hash, 5 000 entries)",
        ),
        (
            "heapsnapshot/sessions-node24.heapsnapshot.zst",
            "5 000 Session (4.3 MiB) in the map app.store (Map, 5 000 entries)",
        ),
        (
            "heapsnapshot/sessions-node14.heapsnapshot.zst",
            "5 000 Session (4.1 MiB) in the map app.store (Map, 5 000 entries)",
        ),
        (
            "suspects/zoo_timers.heapsnapshot.zst",
            "2 000 timers Timeout (1.3 MiB) of 100 000 s, each with Session",
        ),
        (
            "suspects/zoo_virtual.hprof.zst",
            "2 000 threads java.lang.VirtualThread in Zoo.lambda$main$5 (Zoo.java:35) (1.4 MiB)",
        ),
        ("mvmheap/small-raku.mvmheap", "which belong to the runtime"),
        ("dart/sass_idle_2.17.6_ia32.dartheap", "which belong to the runtime"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dumptool"));
        let output = command.args(["top", "--suspects", "-n", "1"]).arg(folder.join(name)).output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        assert!(text.lines().next().unwrap().contains(expected), "{name}: {text}");
    }
}

#[test]
fn a_variable_of_perl_has_its_sigil_and_a_class_of_ruby_its_constants() {
    let mut planted = Planted::default();
    let glob = planted.of("rt.Glob", "", TypeKind::Instance);
    let class = planted.of("Class", "", TypeKind::Class);
    let hash = planted.of("rt.Hash", "", TypeKind::Array);
    let session = planted.of("app.Session", "", TypeKind::Instance);
    let page = planted.of("app.Page", "", TypeKind::Instance);
    let glob = planted.add(glob, 16, None, "stash");
    planted.value(glob, Held::Name("main::STORE"));
    let class = planted.add(class, 16, None, "vm");
    planted.value(class, Held::Name("Shop"));
    let sessions = planted.add(hash, 16, Some(glob), "the hash");
    let pages = planted.add(hash, 16, Some(class), "");
    (0..1000).for_each(|_| _ = planted.add(session, 200, Some(sessions), "value"));
    (0..1000).for_each(|_| _ = planted.add(page, 100, Some(pages), "value"));
    let suspects = planted.verdict().suspects;
    let labels: Vec<_> = suspects.iter().map(|found| found.holders[0].label.as_str()).collect();
    assert_eq!(labels, ["%main::STORE", "a constant of Shop"]);
}

/// An array within an object of Go has a field for each element.
#[test]
fn elements_of_an_array_within_an_object_are_one_owner() {
    const FIELDS: [&str; 8] =
        ["ring[0]", "ring[1]", "ring[2]", "ring[3]", "ring[4]", "ring[5]", "ring[6]", "ring[77]"];
    let mut planted = Planted::default();
    let [store, order] =
        ["rt.Glob", "app.Order"].map(|name| planted.of(name, "", TypeKind::Instance));
    let store = planted.add(store, 4096, None, "app.store");
    for field in FIELDS {
        planted.add(order, 100_000, Some(store), field);
    }
    let (_, of, count, bytes, holders) = planted.first();
    assert_eq!((of, count, bytes), ("app.Order", 8, 800_000));
    assert_eq!(holders, ["ring[*]"]);
}

/// Many objects of each of three queues, which are elements of one array.
#[test]
fn holders_in_one_array_have_one_name_and_a_single_one_keeps_its_index() {
    for (queues, expected) in [(1, "app.rings[3].orders"), (3, "app.rings[*].orders")] {
        let mut planted = Planted::default();
        let [store, ring, order] = ["app.Store", "rt.Ring", "app.Order"]
            .map(|name| planted.of(name, "", TypeKind::Instance));
        let store = planted.add(store, 64, None, "app");
        let fields = ["rings[3]", "rings[5]", "rings[8]"];
        let rings: Vec<usize> =
            (0..queues).map(|at| planted.add(ring, 64, Some(store), fields[at])).collect();
        for number in 0..30 {
            let order = planted.add(order, 10_000, None, "live");
            planted.link(rings[number % queues], order, "orders");
        }
        let (_, of, count, _, holders) = planted.first();
        assert_eq!((of, count, holders), ("app.Order", 30, vec![expected.to_owned()]));
    }
}

/// The exports of all modules are of one type, and the variable of one of them is what matters.
#[test]
fn a_map_in_one_object_is_told_apart_from_small_objects_of_its_type() {
    let mut planted = Planted::default();
    let [module, exports, map, ticket, text] =
        ["app.Module", "rt.Exports", "rt.Map", "app.Ticket", "rt.Text"]
            .map(|name| planted.of(name, "", TypeKind::Instance));
    let objects = [(); 41].map(|()| {
        let module = planted.add(module, 64, None, "module");
        let object = planted.add(exports, 64, None, "live");
        planted.link(module, object, "exports");
        planted.add(text, 4000, Some(object), "text");
        object
    });
    let map = planted.add(map, 48, Some(objects[0]), "tickets");
    (0..1000).for_each(|_| _ = planted.add(ticket, 150, Some(map), "value"));
    assert_eq!(planted.sizes(), [(40, 40 * 4064), (1000, 48 + 1000 * 150)]);
}

/// Ruby does not write the names of instance variables.
#[test]
fn an_object_whose_variables_have_no_names_is_named_by_its_type() {
    let mut planted = Planted::default();
    let [binding, pool, hash, session] = ["rt.Binding", "app.Pool", "rt.Hash", "rt.Session"]
        .map(|name| planted.of(name, "", TypeKind::Instance));
    let binding = planted.add(binding, 40, None, "rt.vm");
    let pool = planted.add(pool, 40, Some(binding), "");
    let hash = planted.add(hash, 40, Some(pool), "");
    (0..1000).for_each(|_| _ = planted.add(session, 150, Some(hash), ""));
    assert_eq!(planted.first().4, ["a variable of app.Pool"]);
}

/// A page in Chrome: the references from the window or a node to the lists of listeners have no names.
#[test]
fn the_listeners_of_an_object_are_named_by_its_type() {
    let mut planted = Planted::default();
    let [page, document, listeners, node, session] =
        ["rt.Glob", "app.Document", "rt.Listeners", "rt.Node", "app.Session"]
            .map(|name| planted.of(name, "", TypeKind::Instance));
    let page = planted.add(page, 40, None, "live");
    let document = planted.add(document, 40, Some(page), "document");
    let listeners = planted.add(listeners, 40, Some(document), "");
    for _ in 0..1000 {
        let listener = planted.add(node, 16, Some(listeners), "");
        planted.add(session, 150, Some(listener), "");
    }
    let (_, of, count, bytes, holders) = planted.first();
    assert_eq!((of, count, bytes), ("app.Session", 1000, 40 + 1000 * 166));
    assert_eq!(holders, ["listeners of app.Document"]);
}

/// V8 writes `<symbol cache>` for `app[Symbol("cache")]`, and `<dummy>` for what is no property.
#[test]
fn a_property_with_a_symbol_for_its_key_has_a_name() {
    for (label, expected) in [("<symbol cache>", "app.<symbol cache>"), ("<dummy>", "")] {
        let mut planted = Planted::default();
        let [store, map, ticket] = ["app.Store", "rt.Map", "app.Ticket"]
            .map(|name| planted.of(name, "", TypeKind::Instance));
        let store = planted.add(store, 32, None, "app");
        let map = planted.add(map, 48, Some(store), label);
        (0..1000).for_each(|_| _ = planted.add(ticket, 100, Some(map), "value"));
        let (.., holders) = planted.first();
        assert_eq!(holders, [expected]);
    }
}

#[test]
fn the_verdict_is_the_answer_to_a_file_alone_and_can_fail_a_build() {
    let run = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_dumptool")).args(words).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let file = crate::support::fixture("hprof/layout_java17_zgc.hprof.zst");
    let file = file.to_str().unwrap();
    let verdict = "in the list Layouts.KEEP (java.util.ArrayList";
    let (status, alone) = run(&[file]);
    assert_eq!(status, Some(0));
    assert!(alone.contains(verdict), "{alone}");
    assert_eq!(run(&["info", "--verdict", file]).1, alone);
    let (status, failed) = run(&["check", "--none-suspect", "10%", file]);
    assert_eq!(status, Some(1));
    assert!(failed.contains(verdict), "{failed}");
    assert_eq!(run(&["check", "--none-suspect", "50%", file]).0, Some(0));
}

#[test]
fn a_small_heap_has_a_largest_owner_and_no_suspect() {
    let mut planted = Planted::default();
    let cache = planted.of("app.Cache", "", TypeKind::Instance);
    let item = planted.of("app.Item", "", TypeKind::Instance);
    let bytes = planted.of("rt.byte[]", "", TypeKind::Array);
    let cache = planted.add(cache, 16, None, "cache");
    (0..500).for_each(|_| _ = planted.add(item, 96, Some(cache), "item"));
    planted.add(bytes, 40 << 10, None, "buffer");
    let verdict = planted.verdict();
    assert_eq!(verdict.suspects, []);
    let usual = &verdict.usual[0];
    assert_eq!((usual.count, usual.bytes, usual.is_runtime), (500, 16 + 500 * 96, false));
}
