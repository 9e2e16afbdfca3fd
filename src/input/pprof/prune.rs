//! Frames that a profile asks to leave out, by its `drop_frames` and `keep_frames`.
//!
//! Source: `profile/prune.go` of google/pprof.

use super::tables::{Line, Tables};
use crate::model::regex::Regex;

/// The part of each location that is left out, by its row.
pub(super) struct Prune {
    cuts: Vec<Cut>,
}

/// The part of a location that is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    Nothing,
    /// The innermost lines, as many as the number.
    Lines(u32),
    Everything,
}

/// Bytes of the longest expression.
const MAX_PATTERN: usize = 1 << 14;

impl Prune {
    /// Reads the expressions of a profile and applies them to its locations. `None` if it has none.
    /// Fails with [`NotApplied`] if an expression is damaged, too large or too slow.
    pub(super) fn of(tables: &Tables<'_>) -> Result<Option<Self>, NotApplied> {
        let Some(mut drop) = expression(tables, tables.drop_frames)? else { return Ok(None) };
        let mut keep = expression(tables, tables.keep_frames)?;
        let mut known: Vec<Option<bool>> = vec![None; tables.functions.rows.len()];
        let mut is_dropped = |function: u64| -> Result<bool, NotApplied> {
            let Some(row) = tables.functions.row(function) else { return Ok(false) };
            if let Some(&Some(known)) = known.get(row) {
                return Ok(known);
            }
            let name = tables.functions.rows.get(row).and_then(|row| tables.string(row.name));
            let name = simplified(name.unwrap_or_default());
            let is_dropped = !name.is_empty()
                && matches(&mut drop, name)?
                && !keep.as_mut().map_or(Ok(false), |keep| matches(keep, name))?;
            if let Some(known) = known.get_mut(row) {
                *known = Some(is_dropped);
            }
            Ok(is_dropped)
        };
        let mut cuts = Vec::with_capacity(tables.locations.rows.len());
        for location in &tables.locations.rows {
            let lines = tables.lines(location);
            let mut cut = Cut::Nothing;
            for (index, line) in lines.iter().enumerate().rev() {
                if is_dropped(line.function)? {
                    let count = index.saturating_add(1);
                    let is_last = count == lines.len();
                    cut = if is_last { Cut::Everything } else { Cut::Lines(count as u32) };
                    break;
                }
            }
            cuts.push(cut);
        }
        Ok(Some(Self { cuts }))
    }

    /// The number of locations to leave out of a stack, which begins with the innermost one, and
    /// whether this removes frames. Frames outside of all kept frames stay.
    pub(super) fn shorten(&self, tables: &Tables<'_>, stack: &[u64]) -> (usize, bool) {
        let (mut has_other, mut is_shorter) = (false, false);
        for (place, id) in stack.iter().enumerate().rev() {
            match self.cut(tables.locations.row(*id)) {
                Cut::Nothing => has_other = true,
                Cut::Everything if has_other => return (place.saturating_add(1), true),
                Cut::Everything => {}
                Cut::Lines(_) if has_other => return (place, true),
                Cut::Lines(_) => is_shorter = true,
            }
        }
        (0, is_shorter)
    }

    /// The lines of a location, by its row, without those that are left out.
    pub(super) fn lines<'l>(&self, row: Option<usize>, lines: &'l [Line]) -> &'l [Line] {
        match self.cut(row) {
            Cut::Lines(count) => lines.get(count as usize..).unwrap_or_default(),
            _ => lines,
        }
    }

    #[inline]
    fn cut(&self, row: Option<usize>) -> Cut {
        row.and_then(|row| self.cuts.get(row)).copied().unwrap_or(Cut::Nothing)
    }
}

/// An expression that cannot be applied.
#[derive(Debug)]
pub(super) struct NotApplied;

/// The expression in a string of a profile, which a whole name has to match. `None` if the string is
/// empty.
fn expression(tables: &Tables<'_>, string: u64) -> Result<Option<Regex>, NotApplied> {
    let text = tables.string(string).unwrap_or_default();
    if string == 0 || text.is_empty() {
        return Ok(None);
    }
    let text = std::str::from_utf8(text).map_err(|_| NotApplied)?;
    if text.len() > MAX_PATTERN {
        return Err(NotApplied);
    }
    Regex::whole(text).map(Some).ok_or(NotApplied)
}

fn matches(regex: &mut Regex, name: &[u8]) -> Result<bool, NotApplied> {
    regex.matches(name).ok_or(NotApplied)
}

/// Parts of names with a parenthesis that does not begin a list of parameters.
const RESERVED: [&[u8]; 2] = [b"(anonymous namespace)", b"operator()"];

/// A function's name as expressions are written for it: without parameters.
fn simplified(name: &[u8]) -> &[u8] {
    let name = name.strip_prefix(b".").unwrap_or(name);
    let mut rest = name;
    while let Some((first, after)) = rest.split_first() {
        let reserved = RESERVED.iter().find_map(|reserved| rest.strip_prefix(*reserved));
        match reserved {
            Some(left) => rest = left,
            None if *first == b'(' => {
                return name.get(..name.len().saturating_sub(rest.len())).unwrap_or_default();
            }
            None => rest = after,
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_parameters() {
        for (name, wanted) in [
            ("std::sort(int*, int*)", "std::sort"),
            ("(anonymous namespace)::f(int)", "(anonymous namespace)::f"),
            ("A::operator()(int)", "A::operator()"),
            (".main.work", "main.work"),
            ("main.(*Shop).Sell", "main."),
        ] {
            assert_eq!(simplified(name.as_bytes()), wanted.as_bytes(), "{name}");
        }
    }
}
