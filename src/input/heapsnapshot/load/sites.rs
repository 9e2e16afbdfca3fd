//! Allocation sites: the tree of stacks that allocated while allocations were recorded.

use super::nodes::narrow;
use crate::bytes::Cursor;
use crate::input::heapsnapshot::document::Document;
use crate::input::heapsnapshot::meta::MAX_FIELDS;
use crate::input::json::{Scanner, Token};
use crate::model::heap::{ObjectId, StackFrame};
use crate::model::names::Names;
use crate::model::site::{AllocationSite, AllocationSites};
use crate::names::SourceMaps;
use rustc_hash::FxHashMap;

/// The name of functions that have none.
const ANONYMOUS: &str = "(anonymous)";

/// Reads `trace_function_infos` and `trace_tree`. `traces` has the nodes of the graph with their
/// `trace_node_id`, in order. Each node of the tree becomes a site. Reading stops at damage, which
/// `check` reports.
pub(super) fn read(
    bytes: &[u8],
    document: &Document<'_>,
    traces: Vec<(u32, u64)>,
    source_maps: Option<&SourceMaps>,
    names: &mut Names,
) -> AllocationSites {
    let mut sites = AllocationSites::default();
    let Some(start) = document.trace_tree.filter(|_| !traces.is_empty()) else { return sites };
    sites.frames = functions(document, source_maps, names);
    let json = Scanner::new(Cursor::at(bytes, start).rest(), start);
    let rows = tree(json, document, &mut sites);
    let stacks =
        traces.iter().filter_map(|(node, trace)| Some((ObjectId(*node), *rows.get(trace)?)));
    sites.of = stacks.collect();
    sites
}

/// Reads the functions that allocate. `function_info_index` is a row of this table.
fn functions(
    document: &Document<'_>,
    source_maps: Option<&SourceMaps>,
    names: &mut Names,
) -> Vec<StackFrame> {
    let fields = &document.meta.names.trace_function_info_fields;
    let place = |name: &str| fields.iter().position(|field| field == name);
    let at = ["name", "script_name", "script_id", "line", "column"].map(place);
    let numbers = document.trace_function_infos.clone();
    let Some(mut numbers) = numbers.filter(|_| (1..=MAX_FIELDS).contains(&fields.len())) else {
        return Vec::new();
    };
    let mut frames = Vec::new();
    let mut row = [0; MAX_FIELDS];
    loop {
        for field in row.iter_mut().take(fields.len()) {
            let Ok(Some(number)) = numbers.unsigned() else { return frames };
            *field = number;
        }
        let field = |at: Option<usize>| at.and_then(|at| row.get(at)).copied();
        let [name, file, script, line, column] = at.map(field);
        let original = source_maps.and_then(|maps| {
            let place = line?.checked_sub(1).zip(column?.checked_sub(1));
            let (url, name) = (document.strings.text(file?), document.strings.text(name?));
            let (line, column) = place?;
            Some((maps.function(&url, line, column, &name)?, name))
        });
        if let Some((original, name)) = original {
            let name = original.name.as_deref().unwrap_or(&name);
            frames.push(StackFrame {
                function: names.intern(if name.is_empty() { ANONYMOUS } else { name }),
                file: names.intern(&original.file),
                line: original.line,
            });
            continue;
        }
        let mut text = |number: Option<u64>| {
            names.intern(&number.map_or_else(Default::default, |it| document.strings.text(it)))
        };
        let (function, file) = (text(name), text(file));
        frames.push(StackFrame {
            function: match names.text(function) {
                "" => names.intern(ANONYMOUS),
                _ => function,
            },
            file: match script {
                Some(0) => names.intern(AllocationSites::NATIVE),
                _ => file,
            },
            line: narrow(line.unwrap_or(0)),
        });
    }
}

/// Reads the tree, `[id, function, count, size, [children], id, …]`, and returns the site of each
/// id.
fn tree(
    mut json: Scanner<'_>,
    document: &Document<'_>,
    sites: &mut AllocationSites,
) -> FxHashMap<u64, u32> {
    let fields = &document.meta.names.trace_node_fields;
    let find = |name: &str| fields.iter().position(|field| field == name);
    let mut rows = FxHashMap::default();
    let (Some(id), Some(function), Some(children)) =
        (find("id"), find("function_info_index"), find("children"))
    else {
        return rows;
    };
    let functions = sites.frames.len() as u64;
    let (mut row, mut at) = ([0; MAX_FIELDS], 0usize);
    // For each open list, the site whose children it contains. The first list is the tree.
    let mut open: Vec<Option<u32>> = Vec::new();
    let mut last = None;
    while let Ok(Some(token)) = json.token() {
        match token {
            Token::Number(number) => {
                let value = number.unsigned().unwrap_or(u64::MAX);
                row.get_mut(at).into_iter().for_each(|field| *field = value);
                at = at.wrapping_add(1);
                if at != children {
                    continue;
                }
                let field = |at: usize| row.get(at).copied().unwrap_or(0);
                // A process that records itself may refer to functions that the table lacks.
                let frame = Some(field(function)).filter(|row| *row < functions).map(narrow);
                let caller = open.last().copied().flatten();
                let site = sites.sites.len() as u32;
                rows.insert(field(id), site);
                last = Some(site);
                sites.sites.push(AllocationSite {
                    frames: frame.map_or(0..0, |row| row..row.saturating_add(1)),
                    caller,
                    ..AllocationSite::default()
                });
            }
            Token::BeginArray => {
                open.push(last);
                at = 0;
            }
            Token::EndArray => {
                open.pop();
                at = 0;
            }
            _ => break,
        }
    }
    rows
}
