//! Text for a terminal that is too narrow for it: cut, or continued below.

use textwrap::core::{Word, display_width};
use textwrap::{Options, WordSeparator, WordSplitter};

/// Returns a text in `width` columns, without colours, with `…` for the rest.
///
/// Names are cut in the middle: names of one package differ at their ends, which also have the
/// addresses and counts. Values and stacks are cut at the end, because what matters comes first.
pub(super) fn cut(text: &str, width: usize) -> String {
    let text = anstream::adapter::strip_str(text).to_string();
    let room = width.saturating_sub(1);
    let branches = text.chars().take_while(|c| matches!(c, '│' | '├' | '└' | ' ')).count();
    let at_end = text.starts_with('"') || text.contains(" ← ");
    let last = display_width(text.rsplit(' ').next().unwrap_or_default());
    let names = room.saturating_sub(branches);
    let front = match at_end {
        true => room,
        false if last < names => branches + (names / 3).min(names - last),
        false => branches.min(room) + names / 3,
    };
    let begin = beginning(text.chars(), front);
    let end = beginning(text.chars().rev(), room - front);
    begin.into_iter().chain(['…']).chain(end.into_iter().rev()).collect()
}

/// The first characters of `text`, up to a width of `room` columns.
fn beginning(text: impl Iterator<Item = char>, mut room: usize) -> Vec<char> {
    let fits = |c: &char| {
        let taken = display_width(c.encode_utf8(&mut [0; 4]));
        let fits = taken <= room;
        room = room.saturating_sub(taken);
        fits
    };
    text.take_while(fits).collect()
}

/// Wraps a text between words and returns the lines. Words longer than a line are split.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let lines = textwrap::wrap(text, options(width.max(1)));
    lines.into_iter().map(|line| line.into_owned()).collect()
}

/// Wraps a text between words, with `first` before the first line and `under` before the others.
/// Long words extend beyond the width.
pub(super) fn fill(text: &str, columns: usize, first: &str, under: &str) -> String {
    let options = options(columns).initial_indent(first).subsequent_indent(under);
    textwrap::fill(text, options.break_words(false))
}

fn options(width: usize) -> Options<'static> {
    Options::new(width)
        .word_splitter(WordSplitter::NoHyphenation)
        .word_separator(WordSeparator::Custom(words))
}

/// Splits a line into words at spaces. A number with spaces in it is one word with its unit.
fn words(line: &str) -> Box<dyn Iterator<Item = Word<'_>> + '_> {
    let mut found = WordSeparator::AsciiSpace.find_words(line).peekable();
    let mut at = 0;
    Box::new(std::iter::from_fn(move || {
        let mut last = found.next()?;
        let start = at;
        at += last.len() + last.whitespace.len();
        while let Some(next) = found.next_if(|next| belongs(&last, next)) {
            last = next;
            at += last.len() + last.whitespace.len();
        }
        Some(Word::from(&line[start..at]))
    }))
}

/// Whether `next` continues the number that `word` ends with, or is its unit.
fn belongs(word: &str, next: &str) -> bool {
    let plain = next.trim_matches(|c: char| matches!(c, '(' | ')' | ',' | ';' | '.' | ':'));
    let is_group = plain.len() == 3 && plain.bytes().all(|byte| byte.is_ascii_digit());
    let is_unit = matches!(plain, "B" | "KiB" | "MiB" | "GiB" | "TiB" | "%" | "s" | "ms" | "µs");
    word.ends_with(|c: char| c.is_ascii_digit()) && (is_group || is_unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_ends() {
        let cut = |text| cut(text, 20);
        assert_eq!(cut("java.util.concurrent.ConcurrentHashMap$Node"), "java.u…tHashMap$Node");
        assert_eq!(cut("│ │ ├ java.util.HashMap 0xf00d3488"), "│ │ ├ jav…0xf00d3488");
        assert_eq!(cut("\"a text that is long\""), "\"a text that is lon…");
        assert_eq!(cut("main.a ← main.b ← main.c"), "main.a ← main.b ← m…");
        assert_eq!(cut("\u{1b}[1mthe bold name of a type\u{1b}[0m"), "the bo…ame of a type");
        for width in 0..8 {
            assert!(display_width(&super::cut("ああああああ", width)) <= width.max(1));
        }
    }

    #[test]
    fn numbers_stay_in_one_piece() {
        assert_eq!(
            wrap("1 897 objects, 14.5 KiB live", 8),
            ["1 897", "objects,", "14.5 KiB", "live"]
        );
        assert_eq!(wrap("live: (2.4 MiB), more", 10), ["live:", "(2.4 MiB),", "more"]);
        assert_eq!(fill("of 12 345 678", 6, "", "  "), "of\n  12 345 678");
    }
}
