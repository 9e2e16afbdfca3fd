//! `tree` of profiles: the call tree, or the calls around one function.

use super::calls::{CallLine, calls};
use crate::analysis::profile::{
    CallTree, Focus, FrameBy, GroupLabel, Groups, PruneLimits, PrunedNode, Selected, prune,
};
use crate::cli::args::{TreeArgs, TreeByArg};
use crate::cli::open::Input;
use crate::cli::print::{Align, Columns, Document, Shown, Value, print};
use crate::cli::profile::{
    Amount, ProfileInput, ShortFiles, load_profile, no_function, pattern, require_stacks,
    total_json, unit_name, whole, with_filters,
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
    let mut options = args.profile.grouped(args.by.and_then(TreeByArg::label));
    // The calls around these functions come from the samples that contain them.
    let focus = options.narrow.focus.take();
    let mut loaded = load_profile(input, &options, session)?;
    if focus.is_none() {
        let instead = "; --focus FUNCTION shows exact callers and callees";
        require_stacks(&loaded.profile, &input.path, "the tree of calls", instead)?;
    }
    if let Some(key) = &options.tag {
        Arc::make_mut(&mut loaded.profile).root_stacks_by_label(key, |_| false);
    }
    let metric = &loaded.metric(&args.profile)?;
    let selected = Selected::of(&loaded.profile, &loaded.selection);
    let groups = Groups::of(&loaded.profile, FrameBy::Function);
    let base = metric.whole(&selected.total);
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
    match &focus {
        None => view.show_all(args.invert)?,
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
    fn show_all(&self, is_inverted: bool) -> anyhow::Result<()> {
        let least = self.limits.min_share * self.limits.base.unsigned_abs() as f64;
        let (tree, direction) = if is_inverted {
            let tree = CallTree::inverted(self.selected, self.groups, (self.metric, least));
            (tree, CALLERS)
        } else {
            (CallTree::of(self.selected, self.groups), CALLS)
        };
        let root = match self.selected.threads().collect::<Vec<_>>()[..] {
            [thread] if !self.loaded.profile.thread(thread).is_unknown() => {
                self.loaded.profile.thread(thread).label(&self.loaded.profile.names)
            }
            _ => "all threads".to_owned(),
        };
        let root = GroupLabel { name: root.into(), ..GroupLabel::default() };
        let nodes = self.nodes(&tree, &root, direction, self.limits);
        let document = || {
            let document = self.document(None).with("callers", ());
            if is_inverted { document.with("inverted", true) } else { document }.rows("nodes")
        };
        let text = || self.lines(&nodes, None) + &self.footer(&tree, &nodes);
        print(self.session, document, &nodes, &self.columns(), &Shown::Text(&text))
    }

    fn show_focus(&self, pattern: &str) -> anyhow::Result<()> {
        let wanted = self.wanted(pattern)?;
        let focus = Focus::of(self.selected, self.groups, &wanted);
        let labels = self.groups.labels().iter().zip(&wanted);
        let found: Vec<_> = labels.filter(|(_, wanted)| **wanted).map(|(label, _)| label).collect();
        let root = match found[..] {
            [only] => only.clone(),
            _ => {
                let functions = plural(found.len() as u64, "function", "functions");
                let name = format!("{functions} matching {pattern}").into();
                GroupLabel { name, ..GroupLabel::default() }
            }
        };
        let cost = &focus.callees.node(0).sums.total;
        // Shares refer to the function, so that its callers are shown even if it costs little.
        let limits = PruneLimits { base: self.metric.whole(cost), ..self.limits };
        let mut called = match found.len() {
            1 => self.callees_of_one(&focus.callees, &root, limits),
            _ => self.nodes(&focus.callees, &root, CALLS, limits),
        };
        let mut both = self.nodes(&focus.callers, &root, CALLERS, limits);
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
            let callers = match callers {
                [only] if only.node.omitted == 0 => "  nothing (outermost frame)\n".to_owned(),
                [function, callers @ ..] => self.lines(callers, Some(&function.node)),
                [] => String::new(),
            };
            let all = &self.selected.total;
            let share = self.amount.percent(cost.get(self.metric));
            let samples = if self.loaded.has_samples() {
                let all = self.loaded.events(self.selected);
                format!(" · {} of {all}", count(cost.samples()))
            } else {
                String::new()
            };
            let (name, whole) = (shown(&root.name), whole(all, self.metric, &self.amount));
            let footer = format!("{name}: {share} of {whole}{samples}\n");
            [heading("called by"), callers, heading("calls"), self.lines(called, None), footer]
                .concat()
        };
        print(self.session, document, &both, &self.columns(), &Shown::Text(&text))
    }

    /// Marks the functions that a pattern matches, by group.
    fn wanted(&self, text: &str) -> Result<Vec<bool>, UsageError> {
        let pattern = pattern("--focus", text)?;
        let wanted: Vec<bool> =
            self.groups.labels().iter().map(|label| pattern.matches(label)).collect();
        if wanted.contains(&true) {
            Ok(wanted)
        } else {
            Err(no_function(text, self.groups.labels()))
        }
    }

    /// The callees of the only function in focus, which is the root itself.
    fn callees_of_one<'n>(
        &'n self,
        tree: &CallTree,
        root: &'n GroupLabel,
        limits: PruneLimits,
    ) -> Vec<Node<'n>> {
        let (depth, nodes) = (limits.depth.max(1), limits.nodes.max(2));
        let mut called = self.nodes(tree, root, CALLS, PruneLimits { depth, nodes, ..limits });
        called.remove(0);
        for node in &mut called {
            node.depth -= 1;
            node.node.depth -= 1;
        }
        called
    }

    fn nodes<'n>(
        &'n self,
        tree: &CallTree,
        root: &'n GroupLabel,
        direction: &'static str,
        limits: PruneLimits,
    ) -> Vec<Node<'n>> {
        let nodes = prune(tree, self.metric, &limits).into_iter().map(|pruned| {
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
        let (amount, profile) = (&self.amount, &self.loaded.profile);
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
            .value_if(!profile.generated.is_empty(), "generated_name", |node| {
                profile.generated_name(&node.label.name, &node.label.namespace)
            })
    }

    fn document<'d>(&'d self, focus: Option<&'d str>) -> Document<'d> {
        let document = Document::new("dumptool/tree/1", &self.loaded.input.path);
        with_filters(document, [("samples", self.loaded)])
            .with("metric", self.metric.name())
            .with("unit", unit_name(self.metric))
            .with("total", total_json(&self.selected.total, self.metric))
            .with("focus", focus)
    }

    /// Draws the lines of nodes. `above`, if given, is their parent, which is not drawn itself.
    fn lines(&self, nodes: &[Node<'_>], above: Option<&PrunedNode>) -> String {
        let files = ShortFiles::of_profile(&self.loaded.profile, self.session.common.verbose);
        let lines = nodes.iter().map(|node| CallLine {
            name: shown(&node.label.name),
            file: files.show(&node.label.namespace),
            // The outermost caller has no own cost; its place shows that it is the last one.
            own: if node.direction == CALLS { node.own } else { 0 },
            total: node.total,
            node: node.node,
        });
        calls(&lines.collect::<Vec<_>>(), above, &self.amount, &self.session.terminal)
    }

    /// `showing 12 of 812 calls, those of at least 1 % of 180.6 s`.
    fn footer(&self, tree: &CallTree, shown: &[Node<'_>]) -> String {
        let all = tree.nodes().skip(1).filter(|node| !node.sums.total.is_zero()).count();
        let shown = shown.iter().filter(|node| node.node.node > 0).count();
        let whole_of = whole(&self.selected.total, self.metric, &self.amount);
        let samples = self.loaded.events(self.selected);
        let least = format!("{} %", (self.limits.min_share * 1e4).round() / 100.0);
        if shown < all {
            format!(
                "showing {shown} of {}, at least {least} of {whole_of} · {samples}\n",
                plural(all as u64, "call path", "call paths")
            )
        } else {
            format!(
                "all {}; {whole_of} · {samples}\n",
                plural(all as u64, "call path", "call paths")
            )
        }
    }
}
