//! `tree` of profiles: the call tree, or the calls around one function.

use super::calls::{CallLine, calls};
use crate::analysis::profile::{
    CallTree, Focus, FrameBy, GroupLabel, Groups, PruneLimits, PrunedNode, Selected, prune,
    share_base,
};
use crate::cli::args::TreeArgs;
use crate::cli::open::Input;
use crate::cli::print::{Align, Columns, Document, Shown, Value, print};
use crate::cli::profile::{
    Amount, Pattern, ProfileInput, ShortFiles, load_profile, no_function, total_json, unit_name,
    whole,
};
use crate::cli::session::Session;
use crate::cli::size::{count, plural};
use crate::cli::status::{Status, UsageError};
use crate::cli::terminal::shown;
use crate::model::profile::Metric;
use std::sync::Arc;

/// A call, in depth-first order.
struct Node<'a> {
    /// `calls`, or `callers` for the part above the focus.
    direction: &'static str,
    depth: u32,
    label: &'a GroupLabel,
    samples: u64,
    own: i64,
    total: i64,
    node: PrunedNode,
}

pub(super) fn run(args: &TreeArgs, input: &Input, session: &Session) -> anyhow::Result<Status> {
    let mut loaded = load_profile(input, &args.profile, session)?;
    if let Some(key) = &args.profile.tag {
        Arc::make_mut(&mut loaded.profile).root_stacks_by_label(key, |_| false);
    }
    let metric = &loaded.metric(&args.profile)?;
    let selected = Selected::of(&loaded.profile, &loaded.selection);
    let groups = Groups::of(&loaded.profile, FrameBy::Function);
    let base = share_base(&selected.total, metric);
    let limits = PruneLimits {
        min_share: args.min_share,
        base,
        depth: args.depth.unwrap_or(u32::MAX),
        nodes: session.rows(args.limit, 60),
    };
    let amount = Amount::new(metric, base, session.common.bytes);
    let view = View {
        loaded: &loaded,
        selected: &selected,
        groups: &groups,
        metric,
        amount,
        limits,
        session,
    };
    match &args.focus {
        None => view.show_all()?,
        Some(pattern) => view.show_focus(pattern)?,
    }
    Ok(loaded.report(session))
}

struct View<'a> {
    loaded: &'a ProfileInput<'a>,
    selected: &'a Selected<'a>,
    groups: &'a Groups,
    metric: &'a Metric,
    amount: Amount,
    limits: PruneLimits,
    session: &'a Session,
}

const CALLS: &str = "calls";
const CALLERS: &str = "callers";

impl<'a> View<'a> {
    fn show_all(&self) -> anyhow::Result<()> {
        let tree = CallTree::of(self.selected, self.groups);
        let root = match self.selected.threads().collect::<Vec<_>>()[..] {
            [thread] if !self.loaded.profile.thread(thread).is_unknown() => {
                self.loaded.profile.thread(thread).label(&self.loaded.profile.names)
            }
            _ => "all threads".to_owned(),
        };
        let root = GroupLabel { name: root.into(), ..GroupLabel::default() };
        let nodes = self.nodes(&tree, &root, CALLS);
        let document = || self.document(None).with("callers", ()).rows("nodes");
        let text = || self.lines(&nodes) + &self.footer(&tree, &nodes);
        print(self.session, document, &nodes, &self.columns(), &Shown::Text(&text))
    }

    fn show_focus(&self, pattern: &str) -> anyhow::Result<()> {
        let wanted = self.wanted(pattern)?;
        let focus = Focus::of(self.selected, self.groups, &wanted);
        let found: Vec<_> = self
            .groups
            .labels()
            .iter()
            .zip(&wanted)
            .filter(|(_, wanted)| **wanted)
            .map(|(label, _)| label)
            .collect();
        let root = match found[..] {
            [only] => only.clone(),
            _ => GroupLabel {
                name: format!(
                    "{} matching {pattern}",
                    plural(found.len() as u64, "function", "functions")
                )
                .into(),
                ..GroupLabel::default()
            },
        };
        let mut called = self.nodes(&focus.callees, &root, CALLS);
        if found.len() == 1 && called.len() > 1 {
            // The only function is the root itself.
            called.remove(0);
            for node in &mut called {
                node.depth -= 1;
                node.node.depth -= 1;
            }
        }
        let mut both = self.nodes(&focus.callers, &root, CALLERS);
        let callers = both.len();
        both.append(&mut called);
        let document = || {
            self.document(Some(pattern))
                .some_rows("callers", 0..callers)
                .some_rows("nodes", callers..usize::MAX)
        };
        let text = || {
            let heading = |text: &str| self.session.terminal.dim(text) + "\n";
            let (callers, called) = both.split_at(callers);
            let callers = match callers.len() {
                1 => "  nothing (outermost frame)\n".to_owned(),
                _ => self.lines(&callers[1..]),
            };
            let (cost, all) = (&focus.callees.node(0).sums.total, &self.selected.total);
            let share = self.amount.percent(cost.get(self.metric));
            let footer = format!(
                "{}: {share} of {} · {} of {}\n",
                shown(&root.name),
                whole(all, self.metric, &self.amount),
                count(cost.samples()),
                plural(all.samples(), "sample", "samples")
            );
            [heading("called by"), callers, heading("calls"), self.lines(called), footer].concat()
        };
        print(self.session, document, &both, &self.columns(), &Shown::Text(&text))
    }

    /// The functions that a pattern means.
    fn wanted(&self, text: &str) -> Result<Vec<bool>, UsageError> {
        let pattern = Pattern::new(text);
        let wanted: Vec<bool> =
            self.groups.labels().iter().map(|label| pattern.matches(label)).collect();
        match wanted.contains(&true) {
            true => Ok(wanted),
            false => Err(no_function(text, self.groups.labels())),
        }
    }

    fn nodes<'n>(
        &'n self,
        tree: &CallTree,
        root: &'n GroupLabel,
        direction: &'static str,
    ) -> Vec<Node<'n>> {
        let nodes = prune(tree, self.metric, &self.limits).into_iter().map(|pruned| {
            let node = tree.node(pruned.node);
            Node {
                direction,
                depth: pruned.depth,
                label: node.group.map_or(root, |group| self.groups.label(group)),
                samples: node.sums.total.samples(),
                own: node.sums.own.get(self.metric),
                total: node.sums.total.get(self.metric),
                node: pruned,
            }
        });
        nodes.collect()
    }

    fn columns<'n>(&'n self) -> Columns<'n, Node<'n>>
    where
        'a: 'n,
    {
        let amount = &self.amount;
        Columns::new(self.session)
            .text("direction", "DIRECTION", |node: &Node| node.direction)
            .number("depth", "DEPTH", |node| node.depth)
            .text("name", "FUNCTION", |node| &*node.label.name)
            .text("namespace", "FILE", |node| Value::non_empty(&node.label.namespace))
            .value("count", |node| node.samples)
            .number("self", "SELF", |node| node.own)
            .shown_as(move |node| amount.show(node.own))
            .number("total", "TOTAL", |node| node.total)
            .shown_as(move |node| amount.show(node.total))
            .value("share", move |node| amount.share(node.total))
            .value("omitted", |node| node.node.omitted)
            .cell("percent", "SHARE", Align::Right, move |node| amount.percent(node.total))
            .table(&["total", "percent", "self", "direction", "depth", "name", "namespace"])
    }

    fn document<'d>(&'d self, focus: Option<&'d str>) -> Document<'d> {
        Document::new("dumptool/tree/1", &self.loaded.input.path)
            .with("metric", self.metric.name())
            .with("unit", unit_name(self.metric))
            .with("total", total_json(&self.selected.total, self.metric))
            .with("focus", focus)
    }

    fn lines(&self, nodes: &[Node<'_>]) -> String {
        let files = ShortFiles::of_profile(&self.loaded.profile, self.session.common.verbose);
        let lines = nodes.iter().map(|node| CallLine {
            name: shown(&node.label.name),
            file: files.show(&node.label.namespace),
            // The outermost caller costs nothing by itself; that it is the last one can be seen.
            own: if node.direction == CALLS { node.own } else { 0 },
            total: node.total,
            node: node.node,
        });
        calls(&lines.collect::<Vec<_>>(), &self.amount, &self.session.terminal)
    }

    /// `showing 12 of 812 calls, those of at least 1 % of 180.6 s`.
    fn footer(&self, tree: &CallTree, shown: &[Node<'_>]) -> String {
        let all = tree.nodes().skip(1).filter(|node| !node.sums.total.is_zero()).count();
        let shown = shown.iter().filter(|node| node.node.node > 0).count();
        let of = whole(&self.selected.total, self.metric, &self.amount);
        let samples = plural(self.selected.total.samples(), "sample", "samples");
        let least = format!("{} %", (self.limits.min_share * 1e4).round() / 100.0);
        match shown < all {
            true => format!(
                "showing {shown} of {}, at least {least} of {of} · {samples}\n",
                plural(all as u64, "call path", "call paths")
            ),
            false => {
                format!("all {}; {of} · {samples}\n", plural(all as u64, "call path", "call paths"))
            }
        }
    }
}
