//! `tree` of heaps: the dominator tree.

use super::super::args::{Common, OutputFormat, TreeArgs, TreeByArg};
use super::super::export;
use super::super::load::{HeapLoader, report_loaded, without_roots};
use super::super::open::Input;
use super::super::size::{count, percent, plural, size};
use super::super::status::Status;
use super::super::table::{Align, Table};
use super::super::terminal::Terminal;
use super::super::top::document::root_text;
use super::draw::branches;
use crate::analysis::dominator_tree::DominatorTree;
use crate::analysis::graph::Graph;
use crate::analysis::tree::{self, Omitted, TreeItem, TreeLine, TreeOptions};
use crate::input::load::Loaded;
use crate::model::heap::{Heap, TypeId};
use serde::Serialize;

/// Lines that are shown unless others are asked for.
const LINES: usize = 60;
/// Levels that are shown unless others are asked for: lists of two types in turn are endless.
const DEPTH: u32 = 20;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    file: String,
    snapshot: u64,
    by: &'static str,
    nodes: Vec<Node<'a>>,
}

#[derive(Default, Serialize)]
struct Node<'a> {
    depth: u32,
    /// heap, root, object, chain, or group.
    kind: &'static str,
    name: &'a str,
    namespace: &'a str,
    /// The object, or the first one of a chain.
    object: Option<String>,
    count: u64,
    #[serde(rename = "self")]
    own: u64,
    total: u64,
    share: f64,
    omitted: u64,
    omitted_bytes: u64,
}

pub(super) fn run(args: &TreeArgs, input: &Input, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    let loaded = HeapLoader::analysed("tree", common, terminal).load(input, args.heap.snapshot, args.heap.roots.choice())?;
    let heap = &loaded.heap;
    if heap.roots.is_empty() {
        let hint = Some("`dumptool top` counts objects by type");
        return without_roots(input, &loaded, "nothing dominates anything", hint, terminal);
    }
    let graph = Graph::of(heap);
    let (tree, roots) = DominatorTree::with_root_groups(heap, &graph);
    let merge_types = args.by == Some(TreeByArg::Type);
    let options = TreeOptions {
        min_share: args.min_share,
        depth: args.depth.unwrap_or(DEPTH),
        lines: common.rows(args.limit, LINES),
        merge_types,
    };
    let lines = tree::lines(heap, &tree, &roots, options);
    let whole = lines.first().map_or(0, |line| line.total_bytes);
    let nodes = || lines.iter().map(|line| node(heap, line, whole));
    let text = match common.format {
        OutputFormat::Table => text(&loaded, &lines, options, common, terminal),
        OutputFormat::Json => {
            let document = Document {
                schema: "dumptool/tree/1",
                file: input.path.display().to_string(),
                snapshot: loaded.snapshot,
                by: if merge_types { "type" } else { "object" },
                nodes: nodes().collect(),
            };
            serde_json::to_string_pretty(&document)? + "\n"
        }
        OutputFormat::Jsonl => export::lines(&nodes().collect::<Vec<_>>())?,
        OutputFormat::Csv => export::csv(nodes())?,
    };
    super::super::print_text(&text, common)?;
    Ok(report_loaded(input, &loaded, terminal))
}

fn node<'a>(heap: &'a Heap<'_>, line: &'a TreeLine, whole: u64) -> Node<'a> {
    let of = |of: TypeId| {
        let of = &heap.types[of.0 as usize];
        (heap.names.text(of.name), heap.names.text(of.namespace))
    };
    let (kind, (name, namespace), object) = match &line.what {
        TreeItem::Heap => ("heap", ("live heap", ""), None),
        TreeItem::Root(None) => ("root", ("several roots", ""), None),
        TreeItem::Root(Some((kind, name))) => ("root", (name.as_str(), kind.name()), None),
        TreeItem::Object(object) => ("object", of(heap.type_of[object.index()]), Some(heap.id(*object))),
        TreeItem::Chain(object) => ("chain", of(heap.type_of[object.index()]), Some(heap.id(*object))),
        TreeItem::Group(group) => ("group", of(*group), None),
    };
    let Omitted { count: omitted, bytes: omitted_bytes } = line.omitted;
    let share = line.total_bytes as f64 / whole.max(1) as f64;
    Node {
        depth: line.depth,
        kind,
        name,
        namespace,
        object,
        count: line.count,
        own: line.own_bytes,
        total: line.total_bytes,
        share,
        omitted,
        omitted_bytes,
    }
}

fn text(loaded: &Loaded<'_>, lines: &[TreeLine], options: TreeOptions, common: &Common, terminal: &Terminal) -> String {
    let heap = &loaded.heap;
    let whole = lines.first().map_or(0, |line| line.total_bytes);
    // What is left out below a line is a line of its own, after all that is below it.
    let mut rows: Vec<(u32, [String; 3])> = Vec::new();
    let mut left_out: Vec<(u32, Omitted)> = Vec::new();
    let rest = |rows: &mut Vec<(u32, [String; 3])>, (depth, omitted): (u32, Omitted)| {
        let what = format!("… {}", plural(omitted.count, "more object", "more objects"));
        let share = percent(omitted.bytes as f64 / whole.max(1) as f64);
        rows.push((depth, [size(omitted.bytes, common.bytes), share, terminal.dim(&what)]));
    };
    for line in lines {
        while let Some(closed) = left_out.pop_if(|(depth, _)| *depth > line.depth) {
            rest(&mut rows, closed);
        }
        let share = percent(line.total_bytes as f64 / whole.max(1) as f64);
        rows.push((line.depth, [size(line.total_bytes, common.bytes), share, title(heap, line, whole, terminal)]));
        if line.omitted.count > 0 && line.omitted.bytes > 0 {
            left_out.push((line.depth + 1, line.omitted));
        }
    }
    while let Some(closed) = left_out.pop() {
        rest(&mut rows, closed);
    }
    let depths: Vec<u32> = rows.iter().map(|(depth, _)| *depth).collect();
    let mut table = Table::new(&[Align::Right, Align::Right, Align::Left]);
    for ((_, [bytes, share, title]), branch) in rows.into_iter().zip(branches(&depths)) {
        table.row([bytes, share, terminal.dim(&branch) + &title]);
    }
    let objects = lines.first().map_or(0, |line| line.count);
    let shown = match (lines.len() < options.lines, options.min_share > 0.0) {
        (false, _) => format!("the {} largest lines (-n for more)", count(lines.len() as u64)),
        (true, true) => format!("all lines of at least {}", percent(options.min_share)),
        (true, false) => "all lines".to_owned(),
    };
    let live = match loaded.incomplete {
        true => "reached; the dump is damaged, and roots or references are missing: what is live is not known",
        false => "live",
    };
    table.render() + &format!("{shown}; {}, {} {live}\n", plural(objects, "object", "objects"), size(whole, common.bytes))
}

/// What a line stands for: `main.Node 0xc000514060`, `main.Item ×53 004`, `main.Node ×60 004 in one chain`.
fn title(heap: &Heap<'_>, line: &TreeLine, whole: u64, terminal: &Terminal) -> String {
    let node = node(heap, line, whole);
    let name = terminal.bold(node.name);
    let object = node.object.map(|object| terminal.dim(&format!(" {object}"))).unwrap_or_default();
    let many = format!(" ×{}", count(line.count));
    match &line.what {
        TreeItem::Heap | TreeItem::Root(None) => name,
        TreeItem::Root(Some((kind, name))) => root_text(kind.name(), name),
        TreeItem::Object(_) => name + &object,
        TreeItem::Chain(_) => format!("{name}{many} in one chain from{object}"),
        TreeItem::Group(_) if line.count == 1 => name,
        TreeItem::Group(_) => name + &many,
    }
}
