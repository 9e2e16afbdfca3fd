//! The boxes of a picture: a tree of captions, each as wide as its value.

use super::captions::{Caption, Captions};
use crate::model::profile::{FrameId, StackId, StackIndex, StackTree};

/// A tree of captions with two sums for each path: of the profile, and of an older one with which
/// it is compared.
pub(super) struct Boxes {
    captions: Captions,
    nodes: StackTree,
    index: StackIndex,
    /// By node, of which the base is the first: the sums of the node itself.
    own: Vec<[u64; 2]>,
}

impl Default for Boxes {
    fn default() -> Self {
        Self {
            captions: Captions::default(),
            nodes: StackTree::default(),
            index: StackIndex::default(),
            own: vec![[0; 2]],
        }
    }
}

/// A box to draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placed {
    /// The node.
    pub(super) node: StackId,
    /// 0 is the base.
    pub(super) depth: u32,
    /// The left edge, as a share of the base.
    pub(super) x: f64,
    /// The width, as a share of the base.
    pub(super) width: f64,
    /// Sums of the node and everything on top of it: now, and before.
    pub(super) total: [u64; 2],
}

/// A box of a tree that was cut to the widest ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Widest {
    pub(super) node: StackId,
    /// 0 is the base.
    pub(super) depth: u32,
    /// The sum by which the box is drawn: the larger of both.
    pub(super) width: u64,
    /// The part of it that no other box has.
    pub(super) own: u64,
    /// Sums of the node and everything on top of it: now, and before.
    pub(super) total: [u64; 2],
}

/// The depth of each node.
fn depths(parents: &[usize]) -> Vec<u32> {
    let mut depths = vec![0; parents.len()];
    (1..parents.len()).for_each(|node| depths[node] = depths[parents[node]] + 1);
    depths
}

impl Boxes {
    /// Adds a value to a path of captions, outermost first. `side` is 0 for the profile and 1 for
    /// the older one.
    pub(super) fn add<'a>(
        &mut self,
        path: impl Iterator<Item = &'a Caption>,
        value: u64,
        side: usize,
    ) {
        let mut node = StackId::EMPTY;
        for caption in path {
            let number = self.captions.add(caption.clone());
            node = self.nodes.child(&mut self.index, node, FrameId(number)).0;
        }
        self.own.resize(self.nodes.len(), [0; 2]);
        let own = &mut self.own[node.index()][side];
        *own = own.saturating_add(value);
    }

    /// Adds the sums of an older picture, path by path.
    pub(super) fn add_older(&mut self, old: &Self) {
        // Samples without a stack are the base's own.
        self.add(std::iter::empty(), old.own[0][0], 1);
        for (node, own) in
            old.nodes.ids().map(|node| (node, old.own[node.index()])).filter(|(_, own)| own[0] > 0)
        {
            let mut path: Vec<_> =
                old.nodes.frames(node).map(|number| &old.captions.all[number.index()]).collect();
            path.reverse();
            self.add(path.into_iter(), own[0], 1);
        }
    }

    /// The caption of a node; `None` for the base.
    pub(super) fn caption(&self, node: StackId) -> Option<&Caption> {
        self.nodes.leaf(node).map(|number| &self.captions.all[number.index()])
    }

    /// By node: the parent, the width, and the sums of the node and all on top of it. A parent has
    /// a smaller number than its children.
    fn sums(&self) -> (Vec<usize>, Vec<u64>, Vec<[u64; 2]>) {
        let parents: Vec<usize> = (0..self.own.len() as u32)
            .map(|node| self.nodes.parent(StackId(node)).index())
            .collect();
        let mut total = self.own.clone();
        let mut width: Vec<u64> = self.own.iter().map(|own| own[0].max(own[1])).collect();
        for node in (1..total.len()).rev() {
            let parent = parents[node];
            for side in [0, 1] {
                total[parent][side] = total[parent][side].saturating_add(total[node][side]);
            }
            width[parent] = width[parent].saturating_add(width[node]);
        }
        (parents, width, total)
    }

    /// The `most` widest boxes, depth first, the widest sibling first; and the number of all boxes.
    pub(super) fn widest(&self, most: usize) -> (Vec<Widest>, usize) {
        let (parents, width, total) = self.sums();
        let text =
            |node: &usize| self.caption(StackId(*node as u32)).map(|caption| caption.text.as_str());
        let mut order: Vec<usize> = (1..parents.len()).filter(|node| width[*node] > 0).collect();
        let all = order.len() + 1;
        // A caller is as wide as what it calls, so that none is left out before that.
        let depth = depths(&parents);
        order.sort_by(|a, b| {
            width[*b]
                .cmp(&width[*a])
                .then(depth[*a].cmp(&depth[*b]))
                .then_with(|| text(a).cmp(&text(b)))
        });
        order.truncate(most.saturating_sub(1));
        let mut children = vec![Vec::new(); parents.len()];
        order.iter().for_each(|&node| children[parents[node]].push(node));
        let (mut rows, mut open) = (Vec::with_capacity(order.len() + 1), vec![0]);
        while let Some(node) = open.pop() {
            let [own, older] = self.own[node];
            let row = Widest {
                node: StackId(node as u32),
                depth: depth[node],
                width: width[node],
                own: own.max(older),
                total: total[node],
            };
            rows.push(row);
            open.extend(children[node].iter().rev());
        }
        (rows, all)
    }

    /// All boxes that are at least so wide, as a share of the base, row by row and in the order of
    /// names. None if there is nothing to draw.
    ///
    /// A box is as wide as the larger of its two sums, or as what is on top of it if that needs
    /// more: so a function that is gone keeps its place.
    pub(super) fn placed(&self, least: f64) -> Vec<Placed> {
        let (parents, width, total) = self.sums();
        let Some(&whole) = width.first().filter(|whole| **whole > 0) else { return Vec::new() };
        let visible = |node: &StackId| width[node.index()] as f64 >= least * whole as f64;
        let mut order: Vec<StackId> = self.nodes.ids().filter(visible).collect();
        let text = |node: &StackId| self.caption(*node).map(|caption| caption.text.as_str());
        // A parent has a smaller number than its children, so its own place is known when theirs
        // are given.
        order.sort_by(|a, b| {
            parents[a.index()].cmp(&parents[b.index()]).then_with(|| text(a).cmp(&text(b)))
        });
        let mut free = vec![0u64; total.len()];
        let mut depth = vec![0u32; total.len()];
        let mut placed =
            vec![Placed { node: StackId::EMPTY, depth: 0, x: 0.0, width: 1.0, total: total[0] }];
        for node in order {
            let (at, parent) = (node.index(), parents[node.index()]);
            let left = free[parent];
            free[parent] = left.saturating_add(width[at]);
            free[at] = left;
            depth[at] = depth[parent] + 1;
            let share = |value: u64| value as f64 / whole as f64;
            placed.push(Placed {
                node,
                depth: depth[at],
                x: share(left),
                width: share(width[at]),
                total: total[at],
            });
        }
        // Row by row, as the numbers of nodes depend on the order in which stacks came.
        placed.sort_by(|a, b| a.depth.cmp(&b.depth).then(a.x.total_cmp(&b.x)));
        placed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxes(stacks: &[(&str, u64, usize)]) -> Boxes {
        let mut boxes = Boxes::default();
        for (path, value, side) in stacks {
            let path: Vec<_> =
                path.split(';').map(|name| Caption { text: name.to_owned(), hue: 0 }).collect();
            boxes.add(path.iter(), *value, *side);
        }
        boxes
    }

    fn drawn(boxes: &Boxes, least: f64) -> Vec<(String, u32, f64, f64)> {
        let name = |node| boxes.caption(node).map_or(String::new(), |caption| caption.text.clone());
        boxes
            .placed(least)
            .iter()
            .map(|placed| (name(placed.node), placed.depth, placed.x, placed.width))
            .collect()
    }

    #[test]
    fn boxes_stand_on_their_callers_in_the_order_of_names() {
        let boxes = boxes(&[("main;b", 1, 0), ("main;a", 2, 0), ("main", 1, 0), ("idle", 4, 0)]);
        let expected = [
            ("", 0, 0.0, 1.0),
            ("idle", 1, 0.0, 0.5),
            ("main", 1, 0.5, 0.5),
            ("a", 2, 0.5, 0.25),
            ("b", 2, 0.75, 0.125),
        ];
        assert_eq!(
            drawn(&boxes, 0.0),
            expected.map(|(name, depth, x, width)| (name.to_owned(), depth, x, width))
        );
        assert_eq!(drawn(&boxes, 0.2).len(), 4, "b is too narrow");
    }

    #[test]
    fn a_function_that_is_gone_keeps_its_place() {
        let boxes = boxes(&[("main;new", 3, 0), ("main;gone", 1, 1)]);
        let expected = [
            ("", 0, 0.0, 1.0),
            ("main", 1, 0.0, 1.0),
            ("gone", 2, 0.0, 0.25),
            ("new", 2, 0.25, 0.75),
        ];
        assert_eq!(
            drawn(&boxes, 0.0),
            expected.map(|(name, depth, x, width)| (name.to_owned(), depth, x, width))
        );
        assert_eq!(boxes.placed(0.0)[1].total, [3, 1]);
    }

    #[test]
    fn nothing_has_no_boxes() {
        assert!(
            Boxes::default().placed(0.0).is_empty()
                && boxes(&[("main", 0, 0)]).placed(0.0).is_empty()
        );
    }
}
