//! `tree`: the dominator tree of a heap, or the call tree of a profile.

mod calls;
mod heap;
mod profile;

use super::args::{TreeArgs, TreeByArg};
use super::session::Session;
use super::status::Status;
use crate::input::Kind;

pub(super) fn run(args: &TreeArgs, session: &Session) -> anyhow::Result<Status> {
    let input = session.open(&args.file)?.at(args.heap.snapshot);
    match input.kind {
        Kind::Heap => {
            let by_label = args.by.and_then(TreeByArg::label).is_some();
            let foreign = [("--invert", args.invert), ("--by thread, class or state", by_label)];
            input.refuse(Kind::Profile, &foreign)?;
            input.refuse(Kind::Profile, &args.profile.given())?;
            heap::run(args, &input, session)
        }
        Kind::Profile => {
            let by_object = args.by.is_some_and(|by| by.label().is_none());
            let foreign = [("--by object or type", by_object), ("--dot", args.dot)];
            input.refuse(Kind::Heap, &foreign)?;
            input.refuse(Kind::Heap, &args.heap.given())?;
            input.refuse(Kind::Heap, &[("OBJECT", args.object.is_some())])?;
            input.refuse(Kind::Heap, &args.filter.given())?;
            profile::run(args, &input, session)
        }
    }
}

/// The lines drawn before each row: `│ ├ `, from the depths of the rows in depth-first order. The
/// first row is the root.
///
/// Rows deeper than [`MOST_DEPTH`] are not moved further in.
pub(super) fn branches(depths: &[u32]) -> Vec<String> {
    // Goes backwards, so that it is known for each row at which depths another row follows.
    let mut follows: Vec<bool> = Vec::new();
    let mut branches = Vec::with_capacity(depths.len());
    for depth in depths.iter().rev() {
        let depth = (*depth).min(MOST_DEPTH) as usize;
        let mut branch = String::new();
        follows.resize(depth.max(1), false);
        for level in 1..depth {
            branch.push_str(if follows[level - 1] { "│ " } else { "  " });
        }
        if depth > 0 {
            branch.push_str(if follows[depth - 1] { "├ " } else { "└ " });
            follows[depth - 1] = true;
        }
        branches.push(branch);
    }
    branches.reverse();
    branches
}

/// Maximum depth of indentation. A deeper tree does not fit beside its numbers.
const MOST_DEPTH: u32 = 100;

#[cfg(test)]
mod tests {
    use super::branches;

    #[test]
    fn branches_end_where_no_sibling_follows() {
        assert_eq!(
            branches(&[0, 1, 2, 3, 2, 1, 2]),
            ["", "├ ", "│ ├ ", "│ │ └ ", "│ └ ", "└ ", "  └ "]
        );
        assert_eq!(branches(&[0]), [""]);
        assert_eq!(branches(&[1_000_000])[0].chars().count(), 200);
    }
}
