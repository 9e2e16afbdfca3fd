//! `--help`: what applies to the file comes first, and examples and notes are laid out for the width
//! of the terminal.

use super::args::{Cli, Common};
use super::open::Input;
use super::terminal;
use crate::input::Kind;
use clap::{ColorChoice, Command, CommandFactory};
use std::ffi::OsString;
use std::path::Path;
use textwrap::core::display_width;

/// Maximum width of the help, in columns.
const WIDEST: u16 = 100;

/// Width of the help in columns if there is no terminal.
const DEFAULT: u16 = 100;

/// The indent of lines that belong to the line above them.
const UNDER: &str = "      ";

/// Returns the grammar with its help laid out for the terminal, or for the variable COLUMNS where
/// there is none. If a command line asks for help and names a file, the options for files of its
/// kind come before those for others.
pub(super) fn command(words: &[OsString]) -> Command {
    let wanted = || std::env::var("COLUMNS").ok()?.parse().ok();
    let columns = terminal::columns().or_else(wanted).unwrap_or(DEFAULT).min(WIDEST);
    let command = Cli::command().term_width(columns.into()).color(color(words));
    let command = lay_out(command, columns.into());
    match kind_of_file(words) {
        Some(kind) => command.mut_subcommands(|command| with_first(kind, command)),
        None => command,
    }
}

/// The value of `--color`, which is needed before the command line is parsed.
fn color(words: &[OsString]) -> ColorChoice {
    let mut words = words
        .iter()
        .filter_map(|word| word.to_str())
        .skip_while(|word| !word.starts_with("--color"));
    let value =
        words.next().and_then(|word| word.strip_prefix("--color=")).or_else(|| words.next());
    match value {
        Some("never") => ColorChoice::Never,
        Some("always") => ColorChoice::Always,
        _ => ColorChoice::Auto,
    }
}

/// The kind of the first dump or profile on a command line that asks for help.
fn kind_of_file(words: &[OsString]) -> Option<Kind> {
    let asks = words.iter().any(|word| word == "--help" || word == "-h");
    let files = words.iter().skip(2).map(Path::new).filter(|path| asks && path.is_file());
    files.flat_map(|path| Input::open(path, &Common::default())).map(|input| input.kind).next()
}

/// Moves the options that do not apply to files of a kind to the end.
fn with_first(kind: Kind, command: Command) -> Command {
    let others: &[&str] = match kind {
        Kind::Heap => &["Profiles"],
        Kind::Profile => &["Heaps", "Known leaks"],
    };
    let is_other = |heading: &str| others.contains(&heading);
    let moved = command
        .get_arguments()
        .filter(|argument| argument.get_help_heading().is_some_and(is_other));
    let moved: Vec<_> = moved.map(|argument| argument.get_id().clone()).collect();
    // clap moves an argument that is changed to the end.
    moved
        .into_iter()
        .fold(command, |command, argument| command.mut_arg(argument, |argument| argument))
}

fn lay_out(command: Command, columns: usize) -> Command {
    let below = command.get_after_help().map(|text| laid_out(&text.to_string(), columns));
    let command = match below {
        Some(below) => command.after_help(below),
        None => command,
    };
    command.mut_subcommands(|subcommand| lay_out(subcommand, columns))
}

/// Returns the text below the options of a command: indented lines are examples, others notes, which
/// clap fills.
///
/// The description of an example stands beside it (in the text, after two spaces or more), or below
/// if one of the examples is too wide.
fn laid_out(text: &str, columns: usize) -> String {
    let has_room =
        text.lines().filter(|line| is_example(line)).all(|line| display_width(line) <= columns);
    let mut rows: Vec<String> = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.is_empty() {
            rows.push(String::new());
            continue;
        }
        if !is_example(line) {
            let mut note = line.to_owned();
            while let Some(more) = lines.next_if(|more| !more.is_empty() && !is_example(more)) {
                note.push(' ');
                note.push_str(more);
            }
            rows.push(note);
            continue;
        }
        if has_room {
            rows.push(line.to_owned());
            continue;
        }
        let (example, description) = halves(line);
        let mut description = description.to_owned();
        while let Some(more) = lines.next_if(|more| is_description(more)) {
            description.push(' ');
            description.push_str(more.trim_start());
        }
        rows.push(continued(example, columns));
        if !description.is_empty() {
            rows.push(filled(description.trim_start(), columns));
        }
    }
    rows.join("\n")
}

fn is_example(line: &str) -> bool {
    line.starts_with("  ")
}

/// Whether a line contains only the description of the example above it.
fn is_description(line: &str) -> bool {
    line.starts_with("            ")
}

/// An example and its description, which may be empty.
fn halves(line: &str) -> (&str, &str) {
    let indent = line.len() - line.trim_start().len();
    match line[indent..].split_once("  ") {
        Some((example, description)) => (&line[..indent + example.len()], description.trim_start()),
        None => (line, ""),
    }
}

fn filled(description: &str, columns: usize) -> String {
    let options = textwrap::Options::new(columns).initial_indent(UNDER).subsequent_indent(UNDER);
    textwrap::fill(description, options)
}

/// Breaks a command that is too wide before a word, with a backslash, so that it can be pasted into
/// a shell: before an option or a `|` if there is one. Quoted words stay whole.
fn continued(example: &str, columns: usize) -> String {
    let mut out = String::with_capacity(example.len());
    let mut rest = example.to_owned();
    while display_width(&rest) > columns {
        let indent = rest.len() - rest.trim_start().len();
        let mut quote = None;
        let (mut word, mut option) = (None, None);
        for (at, c) in rest.char_indices().skip(indent) {
            match (quote, c) {
                (None, '\'' | '"') => quote = Some(c),
                (Some(open), c) if open == c => quote = None,
                (None, ' ') if display_width(&rest[..at]) + 2 <= columns => {
                    word = Some(at);
                    if rest[at + 1..].starts_with(['-', '|']) {
                        option = word;
                    }
                }
                _ => {}
            }
        }
        let Some(end) = option.or(word) else { break };
        out.push_str(&rest[..end]);
        out.push_str(" \\\n");
        rest = format!("{UNDER}{}", &rest[end + 1..]);
    }
    out + &rest
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Examples:
  tool top app             what holds it
  tool top --by app        a long description
  tool top --focus 'a b' app
                           callers and callees

A note of two
lines.";

    #[test]
    fn descriptions_stand_beside_examples_where_there_is_room() {
        assert_eq!(laid_out(TEXT, 50), TEXT.replace("two\nlines", "two lines"));
    }

    #[test]
    fn descriptions_stand_below_examples_where_one_is_too_wide() {
        assert_eq!(
            laid_out(TEXT, 40),
            "Examples:
  tool top app
      what holds it
  tool top --by app
      a long description
  tool top --focus 'a b' app
      callers and callees

A note of two lines."
        );
    }

    #[test]
    fn wide_commands_are_broken_between_words_outside_of_quotes() {
        assert_eq!(
            laid_out("  tool check a --max 'x y z.count=1' --max t=2\n", 37),
            "  tool check a \\\n      --max 'x y z.count=1' --max t=2"
        );
        assert_eq!(continued("  tool 'a b c d e f g h'", 12), "  tool \\\n      'a b c d e f g h'");
    }

    #[test]
    fn no_example_needs_more_than_the_widest_help() {
        let mut commands = vec![Cli::command()];
        while let Some(command) = commands.pop() {
            let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for line in text.lines().filter(|line| is_example(line)) {
                let name = command.get_name();
                assert!(display_width(line) <= usize::from(WIDEST), "{name}: {line}");
            }
            commands.extend(command.get_subcommands().cloned());
        }
    }
}
