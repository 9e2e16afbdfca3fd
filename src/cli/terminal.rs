//! The terminal: whether there is one, its width, and colours on standard output and error.

use super::args::{Color, Common, OutputFormat};
use super::fit::fill;
use super::lock;
use crate::output::syntax::is_disruptive;
use std::borrow::Cow;
use std::io::{IsTerminal, Write};
use std::sync::{Arc, Mutex};

/// The properties of the terminal, determined once at the start.
#[derive(Clone, Debug)]
pub(super) struct Terminal {
    /// Whether standard output shows colours.
    pub(super) color: bool,
    error_color: bool,
    /// Whether standard output is a terminal, which shows bars.
    bars: bool,
    pub(super) warnings: bool,
    /// Whether a progress bar is wanted and standard error can show one.
    pub(super) progress: bool,
    /// Whether damaged input counts as success (`--lenient`).
    pub(super) lenient: bool,
    /// The messages, if they are kept instead of printed.
    told: Option<Arc<Mutex<String>>>,
}

impl Terminal {
    pub(super) fn new(common: &Common) -> Self {
        // anstream knows NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM=dumb.
        let choice = |detected: anstream::ColorChoice| match common.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => detected != anstream::ColorChoice::Never,
        };
        let has_colors = !matches!(common.format, OutputFormat::Markdown | OutputFormat::Github);
        Self {
            color: has_colors && choice(anstream::AutoStream::choice(&std::io::stdout())),
            error_color: choice(anstream::AutoStream::choice(&std::io::stderr())),
            bars: std::io::stdout().is_terminal(),
            warnings: !common.quiet,
            lenient: common.lenient,
            progress: !common.no_progress && !common.quiet && std::io::stderr().is_terminal(),
            told: None,
        }
    }

    /// Creates a substitute without a terminal: messages are kept, and the result has no colours.
    pub(super) fn kept(common: &Common) -> Self {
        Self {
            color: false,
            error_color: false,
            bars: false,
            progress: false,
            told: Some(Arc::default()),
            ..Self::new(common)
        }
    }

    /// The messages that were kept.
    pub(super) fn told(&self) -> String {
        self.told.as_ref().map_or_else(String::new, |told| lock(told).clone())
    }

    /// Prints a line to standard error, as [`tell`] does, or keeps it.
    pub(super) fn tell(&self, label: &str, message: &str) {
        match &self.told {
            Some(told) => lock(told).push_str(&line(label, message)),
            None => tell(label, message),
        }
    }

    /// Prints a warning about a file to standard error.
    pub(super) fn warn(&self, path: &std::path::Path, message: &str) {
        if self.warnings {
            self.tell(&self.yellow("warning:"), &format!("{}: {message}", show_path(path)));
        }
    }

    /// A bar for a share. `None` if standard output is not a terminal.
    pub(super) fn bar(&self, share: f64) -> Option<String> {
        const WIDTH: f64 = 20.0;
        self.bars.then(|| "█".repeat((share.clamp(0.0, 1.0) * WIDTH).round() as usize))
    }

    pub(super) fn red(&self, text: &str) -> String {
        paint(text, RED, self.error_color)
    }

    pub(super) fn yellow(&self, text: &str) -> String {
        paint(text, YELLOW, self.error_color)
    }

    pub(super) fn bold(&self, text: &str) -> String {
        paint(text, anstyle::Style::new().bold(), self.color)
    }

    pub(super) fn dim(&self, text: &str) -> String {
        paint(text, anstyle::Style::new().dimmed(), self.color)
    }

    /// Colors text about a change: red for growth, green for shrinking.
    pub(super) fn change(&self, text: &str, change: i64) -> String {
        match change {
            ..0 => paint(text, anstyle::AnsiColor::Green.on_default(), self.color),
            0 => text.to_owned(),
            1.. => paint(text, anstyle::AnsiColor::Red.on_default(), self.color),
        }
    }

    pub(super) fn good(&self, text: &str) -> String {
        paint(text, anstyle::AnsiColor::Green.on_default().bold(), self.color)
    }

    pub(super) fn bad(&self, text: &str) -> String {
        paint(text, RED, self.color)
    }

    pub(super) fn caution(&self, text: &str) -> String {
        paint(text, YELLOW, self.color)
    }
}

/// Prints a line to standard error, after the label if there is one. Failures are ignored, because
/// they cannot be reported.
pub(super) fn tell(label: &str, message: &str) {
    let _ = std::io::stderr().write_all(line(label, message).as_bytes());
}

fn line(label: &str, message: &str) -> String {
    let between = if label.is_empty() { "" } else { " " };
    format!("{label}{between}{}\n", escaped(message))
}

/// A path as messages show it.
pub(super) fn show_path(path: &std::path::Path) -> String {
    match path.to_str() {
        Some("-") => "standard input".to_owned(),
        _ => escaped(&path.display().to_string()),
    }
}

/// Escapes the control characters of text from a file or a user.
pub(super) fn escaped(text: &str) -> String {
    printable(text, Keep { colors: false, lines: false }).into_owned()
}

/// Maximum number of characters of a name that people see.
const LONGEST_NAME: usize = 256;

/// Returns a name of a dump as shown to people: without control characters, and truncated, followed
/// by its length, if it is very long.
pub(super) fn shown(name: &str) -> String {
    let cut = match name.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => &name[..end],
        None => name,
    };
    let mut shown = escaped(cut);
    if cut.len() < name.len() {
        shown.push_str(&format!(
            "… ({} characters)",
            super::size::count(name.chars().count() as u64)
        ));
    }
    shown
}

/// The control characters to keep in a text.
#[derive(Clone, Copy)]
pub(super) struct Keep {
    /// Colours and weights that dumptool itself adds.
    pub(super) colors: bool,
    /// Ends of lines.
    pub(super) lines: bool,
}

/// Escapes control characters as in source code. Names in dumps can contain any characters; control
/// characters would move the cursor, rename the window, break rows or reverse text.
pub(super) fn printable(text: &str, keep: Keep) -> Cow<'_, str> {
    let is_kept = |c: char, rest: &str| match c {
        '\n' => keep.lines,
        '\u{1b}' => keep.colors && is_style(rest),
        c => !is_disruptive(c),
    };
    if text.char_indices().all(|(at, c)| is_kept(c, &text[at..])) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for (at, c) in text.char_indices() {
        if is_kept(c, &text[at..]) { shown.push(c) } else { shown.extend(c.escape_default()) }
    }
    Cow::Owned(shown)
}

/// Whether a text begins with a change of color or weight: escape, bracket, numbers and `m`.
fn is_style(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("\u{1b}[") else { return false };
    rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')
}

/// Columns of the terminal on standard output. `None` if there is no terminal.
pub(super) fn columns() -> Option<u16> {
    terminal_size::terminal_size_of(std::io::stdout())
        .map(|(terminal_size::Width(columns), _)| columns)
        .filter(|columns| *columns > 0)
}

/// Wraps a line with a hanging indent if the terminal is too narrow. `before` is the text before
/// the indented part.
pub(super) fn hanging(before: &str, text: &str, columns: Option<u16>) -> String {
    let Some(columns) = columns else { return format!("{before}{text}") };
    let under = " ".repeat(textwrap::core::display_width(before) + 2);
    fill(text, columns.into(), before, &under)
}

/// Wraps lines that are longer than the terminal is wide, at words. The rest of a line continues
/// below it, slightly indented.
pub(super) fn wrapped(text: &str, columns: u16) -> String {
    let columns = usize::from(columns);
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        if textwrap::core::display_width(line) <= columns {
            out.push_str(line);
        } else {
            let words = line.trim_start_matches(' ');
            let indent = (line.len() - words.len()).min(columns / 2);
            let (first, under) = (" ".repeat(indent), " ".repeat(indent + 2));
            out.push_str(&fill(words, columns, &first, &under));
        }
        out.push_str(end);
    }
    out
}

const RED: anstyle::Style = anstyle::AnsiColor::Red.on_default().bold();
const YELLOW: anstyle::Style = anstyle::AnsiColor::Yellow.on_default().bold();

fn paint(text: &str, style: anstyle::Style, color: bool) -> String {
    if color && !text.is_empty() { format!("{style}{text}{style:#}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_go_on_under_themselves_and_others_stay() {
        let text = "  held by one list\n\n  most of it in a map of\u{1b}[1m very\u{1b}[0m large things\nend";
        let expected = "  held by one list\n\n  most of it in a map\n    of\u{1b}[1m very\u{1b}[0m large\n    things\nend";
        assert_eq!(wrapped(text, 21), expected);
        assert_eq!(wrapped(text, 80), text);
    }

    #[test]
    fn a_text_beside_numbers_goes_on_under_itself() {
        let line = |columns| hanging("  346 KiB  8.1 %  ", "wasted by equal blocks", columns);
        assert_eq!(
            line(Some(30)),
            "  346 KiB  8.1 %  wasted by\n                    equal\n                    blocks"
        );
        assert_eq!(line(None), "  346 KiB  8.1 %  wasted by equal blocks");
    }

    #[test]
    fn names_cannot_control_the_terminal() {
        let name = "a\u{1b}]0;title\u{7}\nb\u{1b}[31m";
        assert_eq!(
            printable(name, Keep { colors: false, lines: false }),
            "a\\u{1b}]0;title\\u{7}\\nb\\u{1b}[31m"
        );
        assert_eq!(
            printable(name, Keep { colors: true, lines: true }),
            "a\\u{1b}]0;title\\u{7}\nb\u{1b}[31m"
        );
        assert!(matches!(
            printable("Größe ‹main›", Keep { colors: false, lines: false }),
            Cow::Borrowed(_)
        ));
    }

    #[test]
    fn names_cannot_turn_text_around_and_long_ones_are_cut() {
        assert_eq!(shown("a\u{202e}b\u{2066}c\u{85}"), "a\\u{202e}b\\u{2066}c\\u{85}");
        assert_eq!(shown(&"ä".repeat(256)), "ä".repeat(256));
        assert_eq!(shown(&"ä".repeat(1000)), "ä".repeat(256) + "… (1 000 characters)");
    }

    #[test]
    fn words_are_not_broken() {
        assert_eq!(wrapped("0x4413d46b5f0", 5), "0x4413d46b5f0");
        assert_eq!(wrapped("        a b", 4), "  a\n    b");
    }
}
