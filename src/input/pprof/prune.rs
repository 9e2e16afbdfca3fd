//! Frames that a profile asks to leave out, by its `drop_frames` and `keep_frames`.
//!
//! Source: `profile/prune.go` of google/pprof.

use super::tables::{Line, Tables};
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};

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

/// Bytes of the longest expression, and of the automaton that it becomes.
const MAX_PATTERN: usize = 1 << 14;
const MAX_STATES: usize = 1 << 18;
/// Bytes for what an automaton remembers of names, which it may clear this many times before it has
/// to be worth it.
const MEMORY: usize = 1 << 21;
const CLEARED: usize = 4;
/// Bytes of names that a state has to be good for then.
const WORTH: usize = 64;

impl Prune {
    /// Reads the expressions of a profile and applies them to its locations. `None` if it has
    /// none.
    ///
    /// # Errors
    /// [`NotApplied`] if an expression is damaged, too large or too slow.
    pub(super) fn of(tables: &Tables<'_>) -> Result<Option<Self>, NotApplied> {
        let Some(mut drop) = Pattern::of(tables, tables.drop_frames)? else { return Ok(None) };
        let mut keep = Pattern::of(tables, tables.keep_frames)?;
        let mut known: Vec<Option<bool>> = vec![None; tables.functions.rows.len()];
        let mut is_dropped = |function: u64| -> Result<bool, NotApplied> {
            let Some(row) = tables.functions.row(function) else { return Ok(false) };
            if let Some(&Some(known)) = known.get(row) {
                return Ok(known);
            }
            let name = tables.functions.rows.get(row).and_then(|row| tables.string(row.name));
            let name = simplified(name.unwrap_or_default());
            let is_dropped = !name.is_empty()
                && drop.matches(name)?
                && !keep.as_mut().map_or(Ok(false), |keep| keep.matches(name))?;
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
    /// whether the stack has fewer frames then. What is outside of all other frames stays.
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

/// An expression that a whole name has to match.
struct Pattern {
    dfa: DFA,
    cache: Cache,
}

impl Pattern {
    /// The expression in a string of a profile. `None` if the string is empty.
    fn of(tables: &Tables<'_>, string: u64) -> Result<Option<Self>, NotApplied> {
        let text = tables.string(string).unwrap_or_default();
        if string == 0 || text.is_empty() {
            return Ok(None);
        }
        let text = std::str::from_utf8(text).map_err(|_| NotApplied)?;
        if text.len() > MAX_PATTERN {
            return Err(NotApplied);
        }
        Self::new(text).map(Some)
    }

    fn new(text: &str) -> Result<Self, NotApplied> {
        let dfa = DFA::builder()
            .syntax(syntax::Config::new().unicode(false).utf8(false).nest_limit(100))
            .thompson(
                thompson::Config::new()
                    .utf8(false)
                    .which_captures(WhichCaptures::None)
                    .nfa_size_limit(Some(MAX_STATES)),
            )
            .configure(
                DFA::config()
                    .cache_capacity(MEMORY)
                    .skip_cache_capacity_check(true)
                    .minimum_cache_clear_count(Some(CLEARED))
                    .minimum_bytes_per_state(Some(WORTH)),
            )
            .build(&format!("^(?:{})$", as_here(text)))
            .map_err(|_| NotApplied)?;
        let cache = dfa.create_cache();
        Ok(Self { dfa, cache })
    }

    fn matches(&mut self, name: &[u8]) -> Result<bool, NotApplied> {
        let input = Input::new(name).anchored(Anchored::Yes).earliest(true);
        let found = self.dfa.try_search_fwd(&mut self.cache, &input);
        found.map(|found| found.is_some()).map_err(|_| NotApplied)
    }
}

/// Spells an expression of Go, where it differs: brackets and operators inside of classes, quoted
/// text, and `\<`.
fn as_here(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut in_class, mut is_first) = (text, false, false);
    while let Some(next) = rest.chars().next() {
        let after = rest.get(next.len_utf8()..).unwrap_or_default();
        if let Some(quoted) = rest.strip_prefix("\\Q").filter(|_| !in_class) {
            let (quoted, left) = quoted.split_once("\\E").unwrap_or((quoted, ""));
            out.extend(quoted.chars().flat_map(|letter| {
                let escape = letter.is_ascii_punctuation().then_some('\\');
                escape.into_iter().chain([letter])
            }));
            rest = left;
            continue;
        }
        rest = after;
        match next {
            '\\' => {
                let escaped = rest.chars().next().unwrap_or_default();
                if !matches!(escaped, '<' | '>') {
                    out.push('\\');
                }
                out.push(escaped);
                rest = rest.get(escaped.len_utf8()..).unwrap_or_default();
            }
            '[' if in_class && rest.starts_with(':') => {
                let length = rest.find(":]").map_or(0, |end| end.saturating_add(2));
                out.push('[');
                out.push_str(rest.get(..length).unwrap_or_default());
                rest = rest.get(length..).unwrap_or_default();
            }
            '[' | '&' | '~' if in_class => out.extend(['\\', next]),
            '[' => {
                (in_class, is_first) = (true, true);
                out.push(next);
                if let Some(left) = rest.strip_prefix('^') {
                    out.push('^');
                    rest = left;
                }
                continue;
            }
            ']' if in_class && is_first => out.push_str("\\]"),
            ']' => {
                in_class = false;
                out.push(next);
            }
            _ => out.push(next),
        }
        is_first = false;
    }
    out
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

    fn matches(pattern: &str, name: &str) -> bool {
        Pattern::new(pattern).unwrap().matches(name.as_bytes()).unwrap()
    }

    #[test]
    fn expressions_match_whole_names_as_in_go() {
        assert!(matches("runtime\\..*", "runtime.mallocgc"));
        assert!(!matches("malloc", "mallocgc"));
        assert!(matches("a|ab", "ab"), "the longer alternative");
        assert!(matches(r"[[\]&&~]+", "[]&~"), "operators are letters in classes");
        assert!(matches(r"[]x]+", "]x"));
        assert!(matches(r"[^[:alpha:]]+", "123"));
        assert!(matches(r"\Qa.b(\E.*", "a.b(c"));
        assert!(matches(r"\<init\>", "<init>"));
        assert!(matches(r"(?i)MAIN\.\w+", "main.Work"));
    }

    #[test]
    fn expressions_that_are_wrong_or_too_large_are_not_applied() {
        for pattern in ["(", "a**b(", "\\q", "((a{1000}){1000}){1000}"] {
            assert!(Pattern::new(pattern).is_err(), "{pattern}");
        }
        // Every state of this automaton is new.
        let mut slow = Pattern::new("(a|b)*a(a|b){18}c").unwrap();
        let mut seed = 1u32;
        let name: Vec<u8> = std::iter::repeat_with(|| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            b"ab"[(seed >> 31) as usize]
        })
        .take(1 << 17)
        .collect();
        assert!(slow.matches(&name).is_err());
    }

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
