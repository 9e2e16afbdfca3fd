//! The boxes of a picture: a tree of captions, each as wide as its value.

use super::VISIBLE;
use super::captions::{Caption, Captions};
use crate::model::profile::{FrameId, StackId, StackIndex, StackTree};

/// A tree of captions with two sums for each path: one of the profile, and one of the older profile
/// that it is compared with.
pub(super) struct Boxes {
    captions: Captions,
    nodes: StackTree,
    index: StackIndex,
    /// By node: the sums of the node itself. The first node is the base.
    own: Vec<[u64; 2]>,
}

impl Boxes {
    /// The number of the caption of boxes that are too narrow.
    pub(super) const NARROW: FrameId = FrameId(0);

    /// Returns an empty graph. `narrow` is the caption of boxes that are too narrow to draw one by
    /// one.
    pub(super) fn new(narrow: &Caption) -> Self {
        let mut captions = Captions::default();
        captions.add(narrow.clone());
        Self {
            captions,
            nodes: StackTree::default(),
            index: StackIndex::default(),
            own: vec![[0; 2]],
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Placed {
    /// The number of the caption; `None` for the base.
    pub(super) caption: Option<FrameId>,
    /// 0 is the base.
    pub(super) depth: u32,
    /// The left edge, as a share of the base.
    pub(super) x: f64,
    /// The width, as a share of the base.
    pub(super) width: f64,
    /// Sums of the node and all its descendants: now, and before.
    pub(super) total: [u64; 2],
}

/// A box of a tree that was cut to the widest ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Widest {
    /// The number of the caption; `None` for the base.
    pub(super) caption: Option<FrameId>,
    /// 0 is the base.
    pub(super) depth: u32,
    /// The sum by which the box is drawn: the larger of both.
    pub(super) width: u64,
    /// The part of the width that no child covers.
    pub(super) own: u64,
    /// Sums of the node and all its descendants: now, and before.
    pub(super) total: [u64; 2],
}

/// By node: the parent, the width, and the sums of the node and its descendants. A parent has a
/// smaller number than its children.
struct Sums {
    parents: Vec<usize>,
    width: Vec<u64>,
    total: Vec<[u64; 2]>,
}

pub(super) struct Cut {
    /// Boxes depth first, the widest sibling first. The sum of dropped siblings follows the other
    /// siblings.
    pub(super) rows: Vec<Widest>,
    pub(super) left_out: usize,
    /// The share of the base from which on all boxes are present.
    pub(super) least: f64,
}

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
        // Samples without a stack belong to the base itself.
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

    pub(super) fn caption(&self, number: FrameId) -> &Caption {
        &self.captions.all[number.index()]
    }

    /// The text of a node; `None` for the base.
    fn text(&self, node: usize) -> Option<&str> {
        self.nodes.leaf(StackId(node as u32)).map(|number| self.caption(number).text.as_str())
    }

    fn sums(&self) -> Sums {
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
        Sums { parents, width, total }
    }

    /// By node: the sums of the children that are not kept, and their width.
    fn rest(&self, kept: &[bool], sums: &Sums) -> Vec<Rest> {
        let mut rest = vec![Rest::default(); kept.len()];
        for node in (1..kept.len()).filter(|&node| !kept[node]) {
            let rest = &mut rest[sums.parents[node]];
            rest.width = rest.width.saturating_add(sums.width[node]);
            for side in [0, 1] {
                rest.total[side] = rest.total[side].saturating_add(sums.total[node][side]);
            }
        }
        rest
    }

    /// Returns the `most` widest boxes, and boxes for the dropped ones.
    pub(super) fn widest(&self, most: usize) -> Cut {
        let sums = self.sums();
        let Sums { parents, width, total } = &sums;
        let mut order: Vec<usize> = (1..parents.len()).filter(|&node| width[node] > 0).collect();
        let all = order.len() + 1;
        // A caller is at least as wide as its callees, so it is never dropped before them.
        let depth = depths(parents);
        order.sort_by(|a, b| {
            width[*b]
                .cmp(&width[*a])
                .then(depth[*a].cmp(&depth[*b]))
                .then_with(|| self.text(*a).cmp(&self.text(*b)))
        });
        order.truncate(most.saturating_sub(1));
        let mut kept = vec![false; parents.len()];
        let mut children = vec![Vec::new(); parents.len()];
        for &node in &order {
            kept[node] = true;
            children[parents[node]].push(node);
        }
        let rest = self.rest(&kept, &sums);
        let least = match order.last() {
            Some(&last) if order.len() + 1 < all => width[last],
            _ => width[0] / VISIBLE,
        };
        let (mut rows, mut open) = (Vec::with_capacity(order.len() + 1), vec![Open::Node(0)]);
        while let Some(next) = open.pop() {
            let row = match next {
                Open::Node(node) => {
                    // Invisible lines would cost as much as visible ones.
                    if rest[node].width >= least.max(1) {
                        open.push(Open::Rest(node));
                    }
                    open.extend(children[node].iter().rev().map(|&child| Open::Node(child)));
                    let [own, older] = self.own[node];
                    Widest {
                        caption: self.nodes.leaf(StackId(node as u32)),
                        depth: depth[node],
                        width: width[node],
                        own: own.max(older),
                        total: total[node],
                    }
                }
                Open::Rest(node) => Widest {
                    caption: Some(Self::NARROW),
                    depth: depth[node] + 1,
                    width: rest[node].width,
                    own: 0,
                    total: rest[node].total,
                },
            };
            rows.push(row);
        }
        let least = least as f64 / width[0].max(1) as f64;
        Cut { rows, left_out: all - order.len() - 1, least }
    }

    /// Places all boxes that are at least `least` wide, a share of the base, row by row and in the
    /// order of names. The narrower children of a box become one box after the others. `None` if
    /// there is nothing to draw.
    ///
    /// A box is as wide as the larger of its two sums, or as its children if they need more, so
    /// that a function that has disappeared keeps its place.
    pub(super) fn placed(&self, least: f64) -> Vec<Placed> {
        let sums = self.sums();
        let Sums { parents, width, total } = &sums;
        let Some(&whole) = width.first().filter(|whole| **whole > 0) else { return Vec::new() };
        let share = |value: u64| value as f64 / whole as f64;
        let is_visible = |width: u64| width as f64 >= least * whole as f64;
        let kept: Vec<bool> = (0..width.len()).map(|node| is_visible(width[node])).collect();
        let mut order: Vec<usize> = (1..kept.len()).filter(|&node| kept[node]).collect();
        // A parent has a smaller number than its children, so its own place is known when theirs
        // are given.
        order.sort_by(|&a, &b| {
            parents[a].cmp(&parents[b]).then_with(|| self.text(a).cmp(&self.text(b)))
        });
        let mut free = vec![0u64; total.len()];
        let depth = depths(parents);
        let mut placed =
            vec![Placed { caption: None, depth: 0, x: 0.0, width: 1.0, total: total[0] }];
        for node in order {
            let left = free[parents[node]];
            free[parents[node]] = left.saturating_add(width[node]);
            free[node] = left;
            placed.push(Placed {
                caption: self.nodes.leaf(StackId(node as u32)),
                depth: depth[node],
                x: share(left),
                width: share(width[node]),
                total: total[node],
            });
        }
        let rest = self.rest(&kept, &sums).into_iter().enumerate();
        let rest = rest.filter(|(node, rest)| kept[*node] && rest.width > 0);
        placed.extend(rest.filter(|(_, rest)| is_visible(rest.width)).map(|(node, rest)| Placed {
            caption: Some(Self::NARROW),
            depth: depth[node] + 1,
            x: share(free[node]),
            width: share(rest.width),
            total: rest.total,
        }));
        // By row, because the numbers of nodes depend on the order in which stacks were added.
        placed.sort_by(|a, b| a.depth.cmp(&b.depth).then(a.x.total_cmp(&b.x)));
        placed
    }
}

/// Sums over the boxes of one node that are not kept.
#[derive(Clone, Copy, Default)]
struct Rest {
    width: u64,
    total: [u64; 2],
}

/// A pending row: a node, or the dropped children of a node.
enum Open {
    Node(usize),
    Rest(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boxes(stacks: &[(&str, u64, usize)]) -> Boxes {
        let mut boxes = Boxes::new(&Caption::narrow(0.5));
        for (path, value, side) in stacks {
            let path: Vec<_> =
                path.split(';').map(|name| Caption { text: name.to_owned(), hue: None }).collect();
            boxes.add(path.iter(), *value, *side);
        }
        boxes
    }

    fn drawn(boxes: &Boxes, least: f64) -> Vec<(String, u32, f64, f64)> {
        let name = |caption: Option<FrameId>| {
            caption.map_or(String::new(), |caption| boxes.caption(caption).text.clone())
        };
        boxes
            .placed(least)
            .iter()
            .map(|placed| (name(placed.caption), placed.depth, placed.x, placed.width))
            .collect()
    }

    fn assert_drawn(boxes: &Boxes, least: f64, expected: &[(&str, u32, f64, f64)]) {
        let drawn = drawn(boxes, least);
        let drawn: Vec<_> =
            drawn.iter().map(|(name, depth, x, width)| (&**name, *depth, *x, *width)).collect();
        assert_eq!(drawn, expected);
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
        assert_drawn(&boxes, 0.0, &expected);
        assert_eq!(drawn(&boxes, 0.2).len(), 4, "b is too narrow");
    }

    /// Regression: a function without own cost got the cost of all narrow boxes in the picture.
    #[test]
    fn narrow_boxes_are_a_box_of_their_own_and_not_their_callers() {
        let boxes = boxes(&[("main;a", 4, 0), ("main;b", 1, 0), ("main;c;d", 1, 0)]);
        let expected = [
            ("", 0, 0.0, 1.0),
            ("main", 1, 0.0, 1.0),
            ("a", 2, 0.0, 4.0 / 6.0),
            ("… below 50.0 %", 2, 4.0 / 6.0, 2.0 / 6.0),
        ];
        assert_drawn(&boxes, 0.2, &expected);
        let Cut { rows, left_out, least } = boxes.widest(3);
        let rows: Vec<_> = rows.iter().map(|row| (row.depth, row.width, row.own)).collect();
        assert_eq!(
            rows,
            [(0, 6, 0), (1, 6, 0), (2, 4, 4)],
            "those two are narrower than all others"
        );
        assert_eq!((left_out, least), (3, 4.0 / 6.0));
        let rows: Vec<_> = boxes.widest(4).rows.iter().map(|row| (row.depth, row.own)).collect();
        assert_eq!(rows, [(0, 0), (1, 0), (2, 4), (2, 1), (2, 0)]);
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
        assert_drawn(&boxes, 0.0, &expected);
        assert_eq!(boxes.placed(0.0)[1].total, [3, 1]);
    }

    #[test]
    fn nothing_has_no_boxes() {
        assert!(
            boxes(&[]).placed(0.0).is_empty() && boxes(&[("main", 0, 0)]).placed(0.0).is_empty()
        );
    }
}
