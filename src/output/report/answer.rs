//! The first screen of a page: HTML that works without a script.

use super::{Cells, Report, ReportColumn, ReportRule, ReportSuspect, ReportTable};
use crate::model::profile::Unit;
use crate::output::quantity::{percent, plural, quantity, size};
use crate::output::syntax::percent_encoded;
use std::fmt::Write;

/// The content of the first screen.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The number that the headline begins with: `60.5 % of the heap`, `+2.3 MiB`.
    pub share: String,
    /// The rest of the headline.
    pub headline: String,
    /// Sentences below the headline.
    pub details: Vec<String>,
    /// The parts of the bar. Nothing is counted in two of them.
    pub parts: Vec<BarPart>,
    /// A sentence below the bar.
    pub legend: &'static str,
    /// The boxes below the bar.
    pub cards: Vec<Card>,
}

/// A part of the bar below the answer.
#[derive(Clone, Debug)]
pub struct BarPart {
    /// The name of the part.
    pub name: String,
    /// The size of the part, as text.
    pub amount: String,
    /// The width of the part in the unit of the others.
    pub width: u64,
    /// The address of the view that shows the contents of the part.
    pub link: String,
    /// The color of the part.
    pub tone: Tone,
}

/// The colour of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// A color that differs from those of the neighbors.
    Distinct,
    /// Something grew.
    Up,
    /// Something shrank.
    Down,
    /// The rest.
    Rest,
}

/// A box with a number and its details.
#[derive(Clone, Debug, Default)]
pub struct Card {
    /// `Could be saved`.
    pub title: &'static str,
    /// The number, as text.
    pub number: String,
    /// Lines, each with an address. A line with an empty address is not a link.
    pub lines: Vec<(String, String)>,
    /// Whether each line is one step below the line before.
    pub is_path: bool,
    /// Links to further views, with their addresses.
    pub more: Vec<(String, String)>,
}

/// The address of a view of the page: `#/objects?type=byte%5B%5D`.
pub fn address(view: &str, options: &[(&str, &str)]) -> String {
    let mut link = format!("#/{view}");
    for (at, (key, value)) in options.iter().enumerate() {
        link.push(if at == 0 { '?' } else { '&' });
        let _ = write!(link, "{key}={}", encoded(value));
    }
    link
}

/// The address of an object's view in the page.
pub fn object_address(id: &str) -> String {
    format!("#/object/{}", encoded(id))
}

fn encoded(text: &str) -> String {
    percent_encoded(text, |c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}

/// Drops the packages from names in a sentence: `java.util.zip.ZipFile$Source` becomes
/// `ZipFile$Source`.
pub fn without_packages(text: &str) -> String {
    let mut short = String::with_capacity(text.len());
    for word in text.split_inclusive([' ', '(', ',', '<', '[']) {
        let mut rest = word;
        while let Some((package, class)) = rest.split_once('.') {
            let is_package = package.starts_with(|c: char| c.is_ascii_lowercase())
                && package.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            let leads_to_class =
                class.split('.').any(|part| part.starts_with(|c: char| c.is_ascii_uppercase()));
            if !(is_package && leads_to_class) {
                break;
            }
            rest = class;
        }
        short.push_str(rest);
    }
    short
}

/// Escapes a text for HTML. Characters that are invisible, or change the direction of text, are
/// written as escapes of a programming language.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                _ = write!(escaped, "\\u{{{:x}}}", c as u32);
            }
            c if c.is_control() => _ = write!(escaped, "\\u{{{:x}}}", c as u32),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Escapes a sentence in which backticks enclose code.
fn sentence(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return escaped(text);
    }
    let part = |(at, part): (usize, &&str)| match at % 2 {
        0 => escaped(part),
        _ => format!("<code>{}</code>", escaped(part)),
    };
    parts.iter().enumerate().map(part).collect()
}

fn link(address: &str, text: &str) -> String {
    match address {
        "" => escaped(text),
        _ => format!("<a href=\"{}\">{}</a>", escaped(address), escaped(text)),
    }
}

impl Report {
    pub(super) fn title(&self) -> String {
        escaped(&format!("{} · dumptool", self.file))
    }

    pub(super) fn first_screen(&self) -> String {
        let mut html = String::new();
        self.head(&mut html);
        self.bar(&mut html);
        self.cards(&mut html);
        self.notes(&mut html);
        html.push_str("<div id=\"picture\"></div>\n<div id=\"curves\"></div>\n");
        self.more_suspects(&mut html);
        html.push_str("<div id=\"tables\">\n");
        if let Some(table) = self.tables.first() {
            self.first_rows(table, &mut html);
        }
        html.push_str("</div>\n");
        if let Some(made_by) = self.notes.last() {
            let _ = writeln!(html, "<footer class=\"dim\">{}</footer>", escaped(made_by));
        }
        html
    }

    /// Notes, folded. The last one is the footer.
    fn notes(&self, html: &mut String) {
        let notes = self.notes.split_last().map_or(&[][..], |(_, notes)| notes);
        if notes.is_empty() {
            return;
        }
        let title = plural(notes.len() as u64, "note", "notes");
        let _ = writeln!(html, "<details class=\"notes\"><summary>{title}</summary><ul>");
        for note in notes {
            let _ = writeln!(html, "<li>{}</li>", sentence(note));
        }
        html.push_str("</ul></details>\n");
    }

    /// Writes the known leak that a suspect matches, and what to do about it.
    fn known(suspect: Option<&ReportSuspect>, html: &mut String) {
        let Some(ReportRule { title, advice, source }) =
            suspect.and_then(|suspect| suspect.known.as_ref())
        else {
            return;
        };
        // Only web addresses become links, because a rule may come from a file.
        let is_web = |address: &&String| address.starts_with("https://");
        let source = source.as_ref().filter(is_web).map_or("", String::as_str);
        let source = link(source, source);
        let (title, advice) = (escaped(title), sentence(advice));
        let _ =
            writeln!(html, "<p class=\"known\"><strong>{title}</strong><br>{advice} {source}</p>");
    }

    fn head(&self, html: &mut String) {
        let file = match &self.old {
            Some(old) => format!("{old} → {}", self.file),
            None => self.file.clone(),
        };
        let tiles = self.tiles.iter().map(|tile| format!("{} {}", tile.label, tile.value));
        let facts: Vec<String> = [self.format.clone()].into_iter().chain(tiles).collect();
        let _ = writeln!(
            html,
            "<p class=\"file\"><strong>{}</strong> <span class=\"dim\">{}</span></p>",
            escaped(&file),
            escaped(&facts.join(" · "))
        );
        for warning in &self.warnings {
            let _ = writeln!(html, "<p class=\"warning\">{}</p>", escaped(warning));
        }
        let share = match &*self.answer.share {
            "" => String::new(),
            share => format!("<em>{}</em> ", escaped(share)),
        };
        let _ = writeln!(html, "<h1>{share}{}</h1>", escaped(&self.answer.headline));
        for detail in &self.answer.details {
            let _ = writeln!(html, "<p class=\"sub\">{}</p>", escaped(detail));
        }
        Self::known(self.suspects.first(), html);
    }

    /// The bar is a picture, because the policy of the page forbids styles in attributes.
    fn bar(&self, html: &mut String) {
        let parts = &self.answer.parts;
        let whole = parts.iter().fold(0.0, |sum, part| sum + part.width as f64);
        if whole <= 0.0 {
            return;
        }
        html.push_str(
            "<svg class=\"parts\" role=\"group\" aria-label=\"The parts of the whole\">\n",
        );
        let (mut left, mut distinct) = (0.0, 0);
        for part in parts {
            let width = 100.0 * part.width as f64 / whole;
            let tone = match part.tone {
                Tone::Distinct => format!("c{}", distinct % 6),
                Tone::Up => "up".to_owned(),
                Tone::Down => "down".to_owned(),
                Tone::Rest => "rest".to_owned(),
            };
            distinct += usize::from(part.tone == Tone::Distinct);
            let (name, amount) = (escaped(&part.name), escaped(&part.amount));
            let _ = writeln!(
                html,
                "<a href=\"{}\"><title>{name} {amount}</title><svg x=\"{left:.3}%\" width=\"{width:.3}%\" height=\"46\">\
                 <rect class=\"{tone}\" width=\"100%\" height=\"46\"/>\
                 <text x=\"8\" y=\"19\">{name}</text> <text x=\"8\" y=\"36\">{amount}</text></svg></a>",
                escaped(&part.link)
            );
            left += width;
        }
        let _ = writeln!(html, "</svg>\n<p class=\"legend dim\">{}</p>", self.answer.legend);
    }

    fn cards(&self, html: &mut String) {
        if self.answer.cards.is_empty() {
            return;
        }
        html.push_str("<div class=\"cards\">\n");
        for card in &self.answer.cards {
            let _ = writeln!(
                html,
                "<section class=\"card\"><h2>{}</h2><p class=\"number\">{}</p>",
                card.title,
                escaped(&card.number)
            );
            let list = if card.is_path { "<ol class=\"way mono\">" } else { "<ul>" };
            if !card.lines.is_empty() {
                html.push_str(list);
                for (text, address) in &card.lines {
                    let _ = write!(html, "<li>{}</li>", link(address, text));
                }
                html.push_str(if card.is_path { "</ol>\n" } else { "</ul>\n" });
            }
            if !card.more.is_empty() {
                let more: Vec<String> = card
                    .more
                    .iter()
                    .map(|(text, address)| {
                        format!(
                            "<a class=\"go\" href=\"{}\">{}</a>",
                            escaped(address),
                            escaped(text)
                        )
                    })
                    .collect();
                let _ = writeln!(html, "<p class=\"more\">{}</p>", more.join(" "));
            }
            html.push_str("</section>\n");
        }
        html.push_str("</div>\n");
    }

    /// The suspects that the headline does not mention, each with its path.
    fn more_suspects(&self, html: &mut String) {
        if self.suspects.len() < 2 {
            return;
        }
        html.push_str("<section class=\"suspects\"><h2>What else stands out</h2>\n");
        for suspect in &self.suspects[1..] {
            let amount = match &*self.unit {
                "bytes" => format!("{} · ", size(suspect.bytes, false)),
                _ => String::new(),
            };
            let _ = write!(
                html,
                "<details><summary><strong>{amount}{}</strong> {}</summary>",
                percent(suspect.share),
                escaped(&suspect.message)
            );
            Self::known(Some(suspect), html);
            if !suspect.link.is_empty() {
                let _ = write!(html, "<p>{}</p>", link(&suspect.link, "Open it"));
            }
            html.push_str("<ol class=\"way mono\">");
            for (at, step) in suspect.path.iter().enumerate() {
                let object = suspect.objects.get(at).map_or("", String::as_str);
                let address =
                    if object.is_empty() { String::new() } else { object_address(object) };
                let _ = write!(html, "<li>{}</li>", link(&address, step));
            }
            html.push_str("</ol></details>\n");
        }
        html.push_str("</section>\n");
    }

    /// The first rows of a table; a script replaces them with all.
    fn first_rows(&self, table: &ReportTable, html: &mut String) {
        let _ = write!(html, "<section><h2>{}</h2>\n<table><thead><tr>", escaped(&table.title));
        let is_shown = |column: &&ReportColumn| match &column.values {
            Cells::Names(names) => names.iter().any(|name| !self.text(*name).is_empty()),
            Cells::Shares(_) | Cells::Numbers(_) => true,
            Cells::Series(_) => false,
        };
        let columns = || table.columns.iter().filter(is_shown);
        for column in columns() {
            let class = class_of(column);
            let _ = write!(html, "<th scope=\"col\" class=\"{class}\">{}</th>", column.title);
        }
        html.push_str("</tr></thead><tbody>\n");
        let rows = table.columns.first().map_or(0, |column| column.values.len());
        for row in 0..rows.min(FIRST_ROWS) {
            html.push_str("<tr>");
            for column in columns() {
                let class = class_of(column);
                let _ =
                    write!(html, "<td class=\"{class}\">{}</td>", escaped(&self.cell(column, row)));
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody></table></section>\n");
    }

    /// The text of a name.
    fn text(&self, name: u32) -> &str {
        self.names.all.get(name as usize).map_or("", String::as_str)
    }

    fn cell(&self, column: &ReportColumn, row: usize) -> String {
        match &column.values {
            Cells::Names(names) => names.get(row).map_or("", |name| self.text(*name)).to_owned(),
            Cells::Shares(shares) => {
                shares.get(row).map(|share| percent(*share)).unwrap_or_default()
            }
            Cells::Numbers(numbers) => {
                let Some(number) = numbers.get(row).copied().flatten() else {
                    return "-".to_owned();
                };
                let sign = if column.delta && number > 0 { "+" } else { "" };
                let unit = match &*column.kind {
                    "number" => Unit::Count,
                    name => Unit::named(name),
                };
                format!("{sign}{}", quantity(number, &unit, false))
            }
            Cells::Series(_) => String::new(),
        }
    }
}

fn class_of(column: &ReportColumn) -> &'static str {
    if matches!(column.values, Cells::Names(_)) { "name" } else { "number" }
}

/// The maximum number of rows of the first table in a page without a script.
const FIRST_ROWS: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_dropped_and_nothing_else() {
        for (text, short) in [
            ("java.util.zip.ZipFile$Source", "ZipFile$Source"),
            (
                "the map app.Cache.ENTRIES (java.util.HashMap, 3 entries)",
                "the map Cache.ENTRIES (HashMap, 3 entries)",
            ),
            ("main.gList", "main.gList"),
            ("net/http.(*conn).serve", "net/http.(*conn).serve"),
            ("1.5 MiB in views.py", "1.5 MiB in views.py"),
            ("Map<a.b.C, java.lang.String>", "Map<C, String>"),
        ] {
            assert_eq!(without_packages(text), short);
        }
    }

    #[test]
    fn a_known_leak_says_what_to_do_and_links_only_to_the_web() {
        let shown = |source: &str| {
            let known = Some(ReportRule {
                title: "known: a <leak>".to_owned(),
                advice: "Close it.".to_owned(),
                source: Some(source.to_owned()),
            });
            let mut html = String::new();
            Report::known(Some(&ReportSuspect { known, ..ReportSuspect::default() }), &mut html);
            html
        };
        let html = shown("https://example.org/a?b&c");
        assert!(html.contains("known: a &lt;leak&gt;</strong><br>Close it."), "{html}");
        assert!(html.contains("href=\"https://example.org/a?b&amp;c\""), "{html}");
        assert!(!shown("javascript:alert(1)").contains("href"));
    }

    #[test]
    fn backticks_enclose_code_where_they_are_pairs() {
        assert_eq!(sentence("close `a<b>`, then"), "close <code>a&lt;b&gt;</code>, then");
        assert_eq!(sentence("one ` alone"), "one ` alone");
    }

    #[test]
    fn names_are_escaped_wherever_they_stand() {
        let evil = "</p><img src=x onerror=alert(1)>\"'&\u{202e}";
        let text = escaped(evil);
        assert!(!text.contains(['<', '>', '"', '\'']) && text.contains("\\u{202e}"), "{text}");
        assert_eq!(address("objects", &[("type", "a&b=\"c\"")]), "#/objects?type=a%26b%3D%22c%22");
        assert_eq!(object_address("#7"), "#/object/%237");
    }
}
