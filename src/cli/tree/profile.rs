//! `tree` of profiles: the call tree, or the calls around one function.

use super::super::args::{Common, TreeArgs};
use super::super::open::Input;
use super::super::profile::{Amount, Pattern, ProfileInput, ShortFiles, Total, load_profile, no_function, print, unit_name, whole};
use super::super::size::{count, plural};
use super::super::status::{Status, UsageError};
use super::super::terminal::Terminal;
use super::calls::{CallLine, calls};
use crate::analysis::profile::{
    CallTree, Focus, FrameBy, GroupLabel, Groups, PruneLimits, PrunedNode, Selected, prune, share_base,
};
use crate::model::profile::Metric;
use serde::Serialize;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    file: String,
    metric: &'static str,
    unit: &'static str,
    total: Total,
    /// The pattern, if calls around some functions were asked for.
    focus: Option<&'a str>,
    /// Who calls the focus, upwards; null without one.
    callers: Option<&'a [NodeRow]>,
    nodes: &'a [NodeRow],
}

#[derive(Default, Clone, Serialize)]
struct NodeRow {
    /// `calls`, or `callers` for the part above the focus.
    direction: &'static str,
    depth: u32,
    name: String,
    namespace: String,
    /// Samples.
    count: u64,
    #[serde(rename = "self")]
    own: i64,
    total: i64,
    share: f64,
    /// Children that were left out.
    omitted: u64,
}

pub(super) fn run(args: &TreeArgs, input: &Input, common: &Common, terminal: &Terminal) -> anyhow::Result<Status> {
    let loaded = load_profile(input, &args.profile, common, terminal)?;
    let metric = loaded.metric(&args.profile)?;
    let selected = Selected::of(&loaded.profile, &loaded.selection);
    let groups = Groups::of(&loaded.profile, FrameBy::Function);
    let base = share_base(&selected.total, metric);
    let limits =
        PruneLimits { min_share: args.min_share, base, depth: args.depth.unwrap_or(u32::MAX), nodes: common.rows(args.limit, 60) };
    let amount = Amount::new(metric, base, common.bytes);
    let view = View { loaded: &loaded, selected: &selected, groups: &groups, metric, amount, limits, terminal, common };
    match &args.focus {
        None => view.show_all()?,
        Some(pattern) => view.show_focus(pattern)?,
    }
    Ok(loaded.report(terminal))
}

struct View<'a> {
    loaded: &'a ProfileInput<'a>,
    selected: &'a Selected<'a>,
    groups: &'a Groups,
    metric: Metric,
    amount: Amount,
    limits: PruneLimits,
    terminal: &'a Terminal,
    common: &'a Common,
}

const CALLS: &str = "calls";
const CALLERS: &str = "callers";

impl View<'_> {
    fn show_all(&self) -> anyhow::Result<()> {
        let tree = CallTree::of(self.selected, self.groups);
        let root = match self.selected.threads().collect::<Vec<_>>()[..] {
            [thread] => self.loaded.profile.thread(thread).label(&self.loaded.profile.names),
            _ => "all threads".to_owned(),
        };
        let root = GroupLabel { name: root.into(), ..GroupLabel::default() };
        let (nodes, rows) = self.rows(&tree, &root, CALLS);
        let document = self.document(None, None, &rows);
        print(self.common, &document, &rows, || rows.clone(), || self.lines(&nodes, &rows) + &self.footer(&tree, &nodes))
    }

    fn show_focus(&self, pattern: &str) -> anyhow::Result<()> {
        let wanted = self.wanted(pattern)?;
        let focus = Focus::of(self.selected, self.groups, &wanted);
        let found: Vec<_> =
            self.groups.labels().iter().zip(&wanted).filter(|(_, wanted)| **wanted).map(|(label, _)| label).collect();
        let root = match found[..] {
            [only] => only.clone(),
            _ => GroupLabel {
                name: format!("{} like {pattern}", plural(found.len() as u64, "function", "functions")).into(),
                ..GroupLabel::default()
            },
        };
        let (mut called, mut called_rows) = self.rows(&focus.callees, &root, CALLS);
        if found.len() == 1 && called.len() > 1 {
            // The only function is the root itself.
            called.remove(0);
            called_rows.remove(0);
            called.iter_mut().for_each(|node| node.depth -= 1);
            called_rows.iter_mut().for_each(|row| row.depth -= 1);
        }
        let (callers, caller_rows) = self.rows(&focus.callers, &root, CALLERS);
        let both: Vec<_> = caller_rows.iter().chain(&called_rows).cloned().collect();
        let document = self.document(Some(pattern), Some(&caller_rows), &called_rows);
        print(
            self.common,
            &document,
            &both,
            || both.clone(),
            || {
                let heading = |text: &str| self.terminal.dim(text) + "\n";
                let callers = match caller_rows.len() {
                    1 => "  nothing: it is where stacks begin\n".to_owned(),
                    _ => self.lines(&callers[1..], &caller_rows[1..]),
                };
                let (cost, all) = (&focus.callees.node(0).sums.total, &self.selected.total);
                let share = self.amount.percent(cost.get(self.metric));
                let footer = format!(
                    "{}: {share} of {} · {} of {}\n",
                    root.name,
                    whole(all, self.metric, self.amount),
                    count(cost.samples),
                    plural(all.samples, "sample", "samples")
                );
                [heading("called by"), callers, heading("calls"), self.lines(&called, &called_rows), footer].concat()
            },
        )
    }

    /// The functions that a pattern means.
    fn wanted(&self, text: &str) -> Result<Vec<bool>, UsageError> {
        let pattern = Pattern::new(text);
        let wanted: Vec<bool> = self.groups.labels().iter().map(|label| pattern.matches(label)).collect();
        match wanted.contains(&true) {
            true => Ok(wanted),
            false => Err(no_function(text, self.groups.labels())),
        }
    }

    fn rows(&self, tree: &CallTree, root: &GroupLabel, direction: &'static str) -> (Vec<PrunedNode>, Vec<NodeRow>) {
        let pruned = prune(tree, self.metric, &self.limits);
        let rows = pruned.iter().map(|pruned| {
            let node = tree.node(pruned.node);
            let label = node.group.map_or(root, |group| self.groups.label(group));
            let total = node.sums.total.get(self.metric);
            NodeRow {
                direction,
                depth: pruned.depth,
                name: label.name.to_string(),
                namespace: label.namespace.to_string(),
                count: node.sums.total.samples,
                own: node.sums.own.get(self.metric),
                total,
                share: self.amount.share(total),
                omitted: pruned.omitted,
            }
        });
        let rows = rows.collect();
        (pruned, rows)
    }

    fn document<'d>(&self, focus: Option<&'d str>, callers: Option<&'d [NodeRow]>, nodes: &'d [NodeRow]) -> Document<'d> {
        let total = &self.selected.total;
        Document {
            schema: "dumptool/tree/1",
            file: self.loaded.input.path.display().to_string(),
            metric: self.metric.name(),
            unit: unit_name(self.metric),
            total: Total::of(total, self.metric),
            focus,
            callers,
            nodes,
        }
    }

    fn lines(&self, nodes: &[PrunedNode], rows: &[NodeRow]) -> String {
        let files = ShortFiles::of_profile(&self.loaded.profile, self.common.verbose);
        let lines = nodes.iter().zip(rows).map(|(node, row)| CallLine {
            name: row.name.clone(),
            file: files.show(&row.namespace).to_owned(),
            // The outermost caller costs nothing by itself; that it is the last one can be seen.
            own: if row.direction == CALLS { row.own } else { 0 },
            total: row.total,
            node: *node,
        });
        calls(&lines.collect::<Vec<_>>(), self.amount, self.terminal)
    }

    /// `showing 12 of 812 calls, those of at least 1 % of 180.6 s`.
    fn footer(&self, tree: &CallTree, shown: &[PrunedNode]) -> String {
        let all = tree.nodes().skip(1).filter(|node| !node.sums.total.is_zero()).count();
        let shown = shown.iter().filter(|node| node.node > 0).count();
        let of = whole(&self.selected.total, self.metric, self.amount);
        let samples = plural(self.selected.total.samples, "sample", "samples");
        let least = format!("{} %", (self.limits.min_share * 1e4).round() / 100.0);
        match shown < all {
            true => format!(
                "showing {shown} of {}, at least {least} of {of} · {samples}\n",
                plural(all as u64, "call path", "call paths")
            ),
            false => format!("all {}; {of} · {samples}\n", plural(all as u64, "call path", "call paths")),
        }
    }
}
