//! Regular expressions in the syntax of Go and pprof, over the bytes of names.

use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::util::syntax;
use regex_automata::{Anchored, Input};

/// The maximum size in bytes of the automaton of an expression.
const MAX_STATES: usize = 1 << 18;
/// The size in bytes of an automaton's cache, and the number of times that it may be cleared before
/// the automaton must prove efficient.
const MEMORY: usize = 1 << 21;
const CLEARED: usize = 4;
/// The minimum number of bytes of names that each state must then have processed.
const WORTH: usize = 64;

#[derive(Clone, Debug)]
pub(crate) struct Regex {
    dfa: DFA,
    cache: Cache,
    anchored: Anchored,
}

impl Regex {
    /// Parses an expression that must match a whole name. `None` if it is invalid or too large.
    pub(crate) fn whole(text: &str) -> Option<Self> {
        Self::build(&format!("^(?:{})$", as_here(text)), Anchored::Yes)
    }

    /// Parses an expression that must match some part of a name. `None` as in [`Regex::whole`].
    pub(crate) fn part(text: &str) -> Option<Self> {
        Self::build(&as_here(text), Anchored::No)
    }

    fn build(text: &str, anchored: Anchored) -> Option<Self> {
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
            .build(text)
            .ok()?;
        let cache = dfa.create_cache();
        Some(Self { dfa, cache, anchored })
    }

    /// Whether a name matches. `None` if the expression is too slow.
    pub(crate) fn matches(&mut self, name: &[u8]) -> Option<bool> {
        let input = Input::new(name).anchored(self.anchored).earliest(true);
        let found = self.dfa.try_search_fwd(&mut self.cache, &input);
        found.map(|found| found.is_some()).ok()
    }
}

/// Translates the syntax of Go where it differs: brackets and operators inside of classes, quoted
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

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, name: &str) -> bool {
        Regex::whole(pattern).unwrap().matches(name.as_bytes()).unwrap()
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
            assert!(Regex::whole(pattern).is_none(), "{pattern}");
        }
        // For this expression, every state of the automaton is new.
        let mut slow = Regex::whole("(a|b)*a(a|b){18}c").unwrap();
        let mut seed = 1u32;
        let name: Vec<u8> = std::iter::repeat_with(|| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            b"ab"[(seed >> 31) as usize]
        })
        .take(1 << 17)
        .collect();
        assert!(slow.matches(&name).is_none());
    }
}
