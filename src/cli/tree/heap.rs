//! `tree` of heaps: the dominator tree.

use super::branches;
use crate::analysis::owners::TypeOwner;
use crate::analysis::tree::{self, Omitted, TreeItem, TreeLine, TreeOptions};
use crate::cli::args::{TreeArgs, TreeByArg};
use crate::cli::heap::histogram::root_group_text;
use crate::cli::heap::{
    describe, find_object, known_types, load, own_name, report_loaded, without_roots,
};
use crate::cli::open::Input;
use crate::cli::print::{Align, Columns, Document, Shown, Table, Value, print, print_text};
use crate::cli::session::Session;
use crate::cli::size::{count, percent, plural};
use crate::cli::status::Status;
use crate::cli::terminal::{self, Terminal, shown};
use crate::input::load::Loaded;
use crate::model::heap::{Heap, ObjectId};
use crate::output::dot;
use crate::output::syntax::shell_word;

/// The default number of lines.
const LINES: usize = 60;
/// The default number of levels, needed because lists of two alternating types can be endless.
const DEPTH: u32 = 20;
/// Minimum width of a terminal on which omitted lines include the command that shows them.
const WIDE: u16 = 120;

pub(super) fn run(args: &TreeArgs, input: &Input, session: &Session) -> anyhow::Result<Status> {
    let held = load(session, "tree", input, args.heap.snapshot, &args.heap.roots)?;
    let loaded = held.get();
    let heap = &loaded.heap;
    if heap.roots.is_empty() {
        let hint = Some("`dumptool top` counts objects by type");
        return without_roots(session, input, loaded, "there is no dominator tree", hint);
    }
    let tree = loaded.tree();
    let merge_types = args.by == Some(TreeByArg::Type);
    let options = TreeOptions {
        min_share: args.min_share,
        depth: args.depth.unwrap_or(DEPTH),
        lines: session.rows(args.limit, LINES),
        merge_types,
    };
    let filter = args.filter.filter();
    let lines = match &args.object {
        Some(id) => {
            let object = find_object(heap, id, input)?;
            loaded.lines(Some(object), options)
        }
        None if filter.is_empty() => loaded.lines(None, options),
        None => {
            let types = known_types(loaded, input, &args.filter)?;
            let selects =
                |object| types[heap.type_id(object).0 as usize] && !heap.is_made_up(object);
            tree::lines_below(heap, tree, selects, options).into()
        }
    };
    if args.dot && !lines.is_empty() {
        print_text(session, &drawing(heap, &lines, session)?)?;
        return Ok(report_loaded(session, input, loaded));
    }
    let document = || {
        Document::new("dumptool/tree/1", &input.path)
            .with("snapshot", loaded.snapshot)
            .with("by", if merge_types { "type" } else { "object" })
            .with("object", args.object.as_deref())
            .with("filter", args.filter.json())
            .rows("nodes")
    };
    let opens =
        session.common.verbose || terminal::columns().is_some_and(|columns| columns >= WIDE);
    let open = |line: &TreeLine| command(args, session) + &open(heap, line, options, args);
    let open = opens.then_some(&open as &dyn Fn(&TreeLine) -> String);
    let text = || match lines.is_empty() {
        true if !filter.is_empty() => {
            "no live object matches; dumptool top --objects all counts the others\n".to_owned()
        }
        true => "no live objects: unreachable objects are not in the dominator tree\n".to_owned(),
        false => text(loaded, &lines, options, tree.live_bytes(), open, session),
    };
    print(session, document, &lines, &columns(heap, &lines, session), &Shown::Text(&text))?;
    Ok(report_loaded(session, input, loaded))
}

fn columns<'a>(
    heap: &'a Heap<'_>,
    lines: &'a [TreeLine],
    session: &'a Session,
) -> Columns<'a, TreeLine> {
    let whole = lines.first().map_or(0, |line| line.total_bytes).max(1) as f64;
    let share = move |line: &TreeLine| line.total_bytes as f64 / whole;
    Columns::new(session)
        .number("depth", "DEPTH", |line: &TreeLine| line.depth)
        .value("kind", |line| match line.what {
            TreeItem::Heap => "heap",
            TreeItem::Selection => "selection",
            TreeItem::Root(_) => "root",
            TreeItem::Part(_) => "part",
            TreeItem::Object(_) => "object",
            TreeItem::Chain(_) => "chain",
            TreeItem::Group(_) => "group",
        })
        .text("name", "NAME", |line| name(heap, line).0)
        .value("namespace", |line| Value::non_empty(name(heap, line).1))
        .value("label", |line| label(heap, line))
        .json("own_name", |line| single(line).and_then(|object| own_name(heap, object)))
        .text("object", "OBJECT", |line| object(heap, line))
        .number("count", "COUNT", |line| line.count)
        .value("self", |line| line.own_bytes)
        .bytes("total", "RETAINED", |line| line.total_bytes)
        .number("share", "SHARE", share)
        .shown_as(move |line| percent(share(line)))
        .value("omitted", |line| line.omitted.count)
        .value("omitted_bytes", |line| line.omitted.bytes)
        .table(&["total", "share", "depth", "name", "object", "count"])
        .value_if(!heap.generated_types.is_empty(), "generated_name", |line| {
            let row = match line.what {
                TreeItem::Object(object) | TreeItem::Chain(object) => heap.shown_type(object),
                TreeItem::Group(row) => row,
                _ => return None,
            };
            heap.generated_types.get(&row)
        })
}

/// The name of a line, and the namespace of its type or the kind of its root.
fn name<'a>(heap: &'a Heap<'_>, line: &'a TreeLine) -> (&'a str, &'a str) {
    let row = match &line.what {
        TreeItem::Heap => return ("live heap", ""),
        TreeItem::Selection => return ("selected objects", ""),
        TreeItem::Root(None) => return ("held by more than one root", ""),
        TreeItem::Root(Some((kind, name))) => return (name, kind.name()),
        TreeItem::Part(part) => return (&part.name, ""),
        TreeItem::Object(object) | TreeItem::Chain(object) => heap.shown_type(*object),
        TreeItem::Group(group) => *group,
    };
    let type_ = heap.shown(row);
    (heap.names.text(type_.name), heap.names.text(type_.namespace))
}

/// The object of a line that shows one, or the first one of a chain.
fn single(line: &TreeLine) -> Option<ObjectId> {
    match line.what {
        TreeItem::Object(object) | TreeItem::Chain(object) => Some(object),
        _ => None,
    }
}

/// The name of the reference from the object of the line above.
fn label(heap: &Heap<'_>, line: &TreeLine) -> Option<String> {
    Some(heap.reference_text(line.reference?).into_owned()).filter(|label| !label.is_empty())
}

/// The object of a line, or the first one of a chain.
fn object(heap: &Heap<'_>, line: &TreeLine) -> Option<String> {
    match line.what {
        TreeItem::Object(object) | TreeItem::Chain(object) => Some(heap.id(object)),
        TreeItem::Part(TypeOwner { object, .. }) => object.map(|object| heap.id(object)),
        TreeItem::Heap | TreeItem::Selection | TreeItem::Root(_) | TreeItem::Group(_) => None,
    }
}

/// The command with the options for loading, without those that select a part of the tree.
fn command(args: &TreeArgs, session: &Session) -> String {
    let from =
        session.common.from.map_or_else(String::new, |from| format!(" --from {}", from.name()));
    let by = if args.by == Some(TreeByArg::Type) { " --by type" } else { "" };
    let file = shell_word(&args.file.to_string_lossy());
    format!("dumptool tree {file}{from}{}{by}", args.heap.words())
}

/// The rest of the command that shows what was left out below a line.
fn open(heap: &Heap<'_>, line: &TreeLine, options: TreeOptions, args: &TreeArgs) -> String {
    let more = format!(
        " -n {} --min-share {}%",
        options.lines.saturating_mul(4),
        options.min_share * 10.0
    );
    let is_selection = !args.filter.filter().is_empty();
    match (&line.what, object(heap, line)) {
        // In a tree of these types, the same command with the same limits would show no more.
        (TreeItem::Group(_), _) if is_selection => {
            format!(" --type {}{more}", shell_word(name(heap, line).0))
        }
        (TreeItem::Group(_), _) => format!(" --type {}", shell_word(name(heap, line).0)),
        (_, Some(id)) if line.depth == 0 => format!(" {}{more}", id.trim_start_matches('#')),
        // In a shell, # would begin a comment.
        (_, Some(id)) => format!(" {}", id.trim_start_matches('#')),
        // No command starts the tree at this line, so the same one with higher limits is given.
        (_, None) => args.filter.words() + &more,
    }
}

fn text(
    loaded: &Loaded<'_>,
    lines: &[TreeLine],
    options: TreeOptions,
    live_bytes: u64,
    open: Option<&dyn Fn(&TreeLine) -> String>,
    session: &Session,
) -> String {
    let table = table(&loaded.heap, lines, open, session);
    let shown = extent(lines, options, open.is_some());
    let live = if loaded.incomplete {
        "reached; the dump is damaged: roots or references are missing, so live and unreachable objects cannot be distinguished"
    } else {
        "live"
    };
    let whole = lines.first().map_or(0, |line| line.total_bytes);
    let bytes = session.size(whole);
    let sum = match lines.first() {
        Some(TreeLine { what: TreeItem::Heap, count, .. }) => {
            format!("{}, {bytes} {live}", plural(*count, "object", "objects"))
        }
        _ => {
            let share = percent(whole as f64 / live_bytes.max(1) as f64);
            format!("{bytes}, {share} of {} {live}", session.size(live_bytes))
        }
    };
    table.render() + &format!("{shown}; {sum}\n")
}

/// The lines with their branches. Objects left out below a line get a row of their own, after all
/// other lines below that line.
fn table(
    heap: &Heap<'_>,
    lines: &[TreeLine],
    open: Option<&dyn Fn(&TreeLine) -> String>,
    session: &Session,
) -> Table {
    let terminal = &session.terminal;
    let whole = lines.first().map_or(0, |line| line.total_bytes).max(1) as f64;
    let mut rows: Vec<(u32, [String; 4])> = Vec::new();
    let mut left_out: Vec<(u32, Omitted, String)> = Vec::new();
    let rest = |(depth, omitted, open): (u32, Omitted, String)| {
        let what = format!("… {}", plural(omitted.count, "more object", "more objects"));
        let share = percent(omitted.bytes as f64 / whole);
        let (what, open) = (terminal.dim(&what), terminal.dim(&open));
        (depth, [session.size(omitted.bytes), share, what, open])
    };
    for line in lines {
        while let Some(closed) = left_out.pop_if(|(depth, ..)| *depth > line.depth) {
            rows.push(rest(closed));
        }
        let share = percent(line.total_bytes as f64 / whole);
        let title = title(heap, line, terminal);
        rows.push((line.depth, [session.size(line.total_bytes), share, title, String::new()]));
        if has_omitted(line) {
            let open = open.map_or_else(String::new, |open| shown(&open(line)));
            left_out.push((line.depth + 1, line.omitted, open));
        }
    }
    rows.extend(left_out.into_iter().rev().map(rest));
    let depths: Vec<u32> = rows.iter().map(|(depth, _)| *depth).collect();
    let mut table = Table::new(&[Align::Right, Align::Right, Align::Left]);
    for ((_, [bytes, share, title, open]), branch) in rows.into_iter().zip(branches(&depths)) {
        table.noted([bytes, share, terminal.dim(&branch) + &title], &open);
    }
    table
}

fn has_omitted(line: &TreeLine) -> bool {
    line.omitted.count > 0 && line.omitted.bytes > 0
}

/// Describes which entries are shown, and which option shows more.
fn extent(lines: &[TreeLine], options: TreeOptions, has_commands: bool) -> String {
    let is_more = !has_commands && lines.iter().any(has_omitted);
    let commands = is_more.then_some("-v for commands that open lines");
    let hints = |first: Option<&'static str>| {
        let hints: Vec<&str> = first.into_iter().chain(commands).collect();
        if hints.is_empty() { String::new() } else { format!(" ({})", hints.join(", ")) }
    };
    if lines.len() >= options.lines {
        let most = count(lines.len() as u64);
        return format!("showing the {most} largest entries{}", hints(Some("-n for more")));
    }
    let least = match options.min_share {
        share if share > 0.0 => format!(" with a share of at least {}", percent(share)),
        _ => String::new(),
    };
    format!("all entries{least}{}", hints(None))
}

fn drawing(heap: &Heap<'_>, lines: &[TreeLine], session: &Session) -> anyhow::Result<String> {
    let whole = lines.first().map_or(0, |line| line.total_bytes).max(1) as f64;
    let mut plain = session.terminal.clone();
    plain.color = false;
    let nodes = lines.iter().map(|line| {
        let share = percent(line.total_bytes as f64 / whole);
        let size = format!("{} ({share})", session.size(line.total_bytes));
        (line.depth, vec![title(heap, line, &plain), size])
    });
    let mut out = Vec::new();
    dot::write_tree(nodes, &mut out)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// The text for a line: `main.Node 0xc000514060`, `main.Item ×53 004`, `main.Node ×60 004 in one
/// chain`.
fn title(heap: &Heap<'_>, line: &TreeLine, terminal: &Terminal) -> String {
    let name = match single(line) {
        Some(object) => describe(heap, object),
        None => shown(name(heap, line).0),
    };
    let label = label(heap, line).map(|label| shown(&label) + "  ").unwrap_or_default();
    let name = label + &terminal.bold(&name);
    let object =
        object(heap, line).map(|object| terminal.dim(&format!(" {object}"))).unwrap_or_default();
    let many = format!(" ×{}", count(line.count));
    match &line.what {
        TreeItem::Heap | TreeItem::Selection | TreeItem::Root(None) => name,
        TreeItem::Root(Some((kind, name))) => root_group_text(kind.name(), name),
        TreeItem::Part(_) | TreeItem::Object(_) => name + &object,
        TreeItem::Chain(_) => format!("{name}{many} in one chain from{object}"),
        TreeItem::Group(_) if line.count == 1 => name,
        TreeItem::Group(_) => name + &many,
    }
}
