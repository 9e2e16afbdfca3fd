//! One self-contained HTML page about a dump: nothing is loaded from anywhere, and the data is in
//! the page as JSON.
//!
//! The page is safe to open whatever the dump holds: data is JSON in which `<` is escaped, the
//! script puts names into the page as text only, and a content security policy allows nothing but
//! the page's own style and script, by their hashes.

mod answer;

pub use answer::{Answer, BarPart, Card, Tone, address, object_address, without_packages};

use super::json;
use super::syntax::shell_word;
use crate::model::distinct::Distinct;
use crate::model::heap::ObjectId;
use serde::Serialize;

/// The content of a page; as JSON, `dumptool/report/1`.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    schema: &'static str,
    /// `heap` or `profile`.
    pub kind: &'static str,
    /// The name of the file.
    pub file: String,
    /// Whether a server shows the page, and answers its questions about the file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub live: bool,
    /// Whether the server runs statements of SQL.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub sql: bool,
    /// Options of commands about profiles that give the numbers of the page, with their values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<(&'static str, String)>,
    /// The name of the older file, if two are compared.
    pub old: Option<String>,
    /// The numbers of the complete snapshots, of which the page shows one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub snapshots: Vec<u64>,
    /// The name of the file, quoted for a shell.
    pub quoted: String,
    /// Options that commands need to read the same file with the same names, each after a space.
    pub reading: String,
    /// Options of commands about profiles that choose what the page shows, each after a space.
    pub options: String,
    /// The active filters, in the form that other documents use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filters: Option<serde_json::Value>,
    /// The format and its version.
    pub format: String,
    /// The unit of all sums in trees: `bytes`, `microseconds`, or another word.
    pub unit: String,
    /// Sentences that a person should read before trusting the numbers.
    pub warnings: Vec<String>,
    /// The most important numbers.
    pub tiles: Vec<Tile>,
    /// Likely leaks and wasted memory.
    pub suspects: Vec<ReportSuspect>,
    /// The trees; the first is shown.
    pub trees: Vec<ReportTree>,
    /// Numbers over time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<ReportCurve>,
    /// The tables, in order.
    pub tables: Vec<ReportTable>,
    /// Some objects by their ids, in the form of `show`, for a page without a server. `new` is set
    /// if the older file does not contain the object.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub objects: serde_json::Map<String, serde_json::Value>,
    /// Notes about omissions, and how the page was made.
    pub notes: Vec<String>,
    /// The first screen, which is in the page as HTML.
    #[serde(skip)]
    pub answer: Answer,
    /// All names, each once.
    names: Distinct<String>,
}

/// A number with its meaning.
#[derive(Debug, Serialize)]
pub struct Tile {
    /// `live`, `samples`.
    pub label: &'static str,
    /// The number, as text.
    pub value: String,
}

/// A likely leak or wasted memory.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReportSuspect {
    /// Retained or wasted bytes.
    pub bytes: u64,
    /// The share of the live heap, from 0 to 1.
    pub share: f64,
    /// A sentence that describes the suspect.
    pub message: String,
    /// The path that keeps it alive, from the root.
    pub path: Vec<String>,
    /// The object of each step of the path; empty where there is none.
    pub objects: Vec<String>,
    /// The object to inspect first, which is the largest, and those of the path, the root last.
    #[serde(skip)]
    pub way: Vec<ObjectId>,
    /// The address of its objects in the page: `#/objects?type=…`.
    pub link: String,
    /// The known leak that the suspect matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<ReportRule>,
}

/// A known leak.
#[derive(Clone, Debug, Serialize)]
pub struct ReportRule {
    /// `known: …`.
    pub title: String,
    /// The reason why the memory is held, and what to do.
    pub advice: String,
    /// The address of a public description.
    pub source: Option<String>,
}

/// A tree in columns, depth first; names are indices.
#[derive(Debug, Default, Serialize)]
pub struct ReportTree {
    /// The heading: `Who holds the memory`.
    pub title: String,
    /// 0 is the base, which is the first line.
    pub depth: Vec<u32>,
    /// The name of a line.
    pub name: Vec<u32>,
    /// The namespace, library or file of each line.
    pub namespace: Option<Vec<u32>>,
    /// The sum of a line and all below it. Never less than the sum of its children.
    pub total: Vec<u64>,
    /// The part of the sum that belongs to the line itself.
    pub own: Vec<u64>,
    /// The number of objects.
    pub count: Option<Vec<u64>>,
    /// The id of the object, if the line is one.
    pub object: Option<Vec<u32>>,
    /// The sum now and its growth since the older file, if there are two. [`ReportTree::total`] is
    /// the larger of both.
    pub now: Option<Vec<u64>>,
    /// The growth of each line.
    pub delta: Option<Vec<i64>>,
    /// The lines of processes and threads.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outer: Vec<u32>,
}

/// A table in columns.
#[derive(Debug, Default, Serialize)]
pub struct ReportTable {
    /// The heading of the table.
    pub title: String,
    /// A sentence below the heading.
    pub note: Option<String>,
    /// The columns, all of the same length.
    pub columns: Vec<ReportColumn>,
    /// The column that rows are sorted by, the largest first.
    pub sort: usize,
    /// The column of names to look for in the tree, if there is one.
    pub finds: Option<usize>,
    /// The number of rows, including omitted ones.
    pub rows: u64,
}

/// A number over time.
#[derive(Clone, Debug, Serialize)]
pub struct ReportCurve {
    /// The heading of the curve.
    pub title: &'static str,
    /// A sentence below the heading.
    pub note: String,
    /// The unit of times.
    pub time: String,
    /// The unit of numbers.
    pub unit: String,
    /// Times and numbers, in the order of time.
    pub points: Vec<(u64, u64)>,
    /// The file of each point, if each point comes from another file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub labels: Vec<String>,
}

/// A column of a table.
#[derive(Debug, Serialize)]
pub struct ReportColumn {
    /// The heading of the column.
    pub title: &'static str,
    /// `name` (indices of names), `text`, `share` (from 0 to 1), `number`, or a unit.
    pub kind: String,
    /// Whether numbers are differences.
    pub delta: bool,
    /// The cells of the column.
    pub values: Cells,
}

impl ReportTable {
    /// Creates a table without columns for this many rows, some of which may be omitted.
    pub fn new(title: &str, rows: u64) -> Self {
        Self { title: title.to_owned(), rows, ..Self::default() }
    }

    /// Adds a column of names. A click on a row searches for the name in the tree.
    #[must_use]
    pub fn names<'n>(
        mut self,
        report: &mut Report,
        title: &'static str,
        names: impl Iterator<Item = &'n str>,
    ) -> Self {
        self.finds.get_or_insert(self.columns.len());
        let values = Cells::Names(names.map(|name| report.name(name)).collect());
        self.column(title, "name", false, values)
    }

    /// Adds a column of numbers. `kind` is `number` or a unit.
    #[must_use]
    pub fn numbers(
        self,
        title: &'static str,
        kind: &str,
        numbers: impl Iterator<Item = Option<i64>>,
    ) -> Self {
        self.column(title, kind, false, Cells::Numbers(numbers.collect()))
    }

    /// Adds a column of differences.
    #[must_use]
    pub fn deltas(
        self,
        title: &'static str,
        kind: &str,
        numbers: impl Iterator<Item = Option<i64>>,
    ) -> Self {
        self.column(title, kind, true, Cells::Numbers(numbers.collect()))
    }

    /// Adds a column of several numbers in each cell: those of older files first.
    #[must_use]
    pub fn series(
        self,
        title: &'static str,
        kind: &str,
        series: impl Iterator<Item = Vec<u64>>,
    ) -> Self {
        self.column(title, kind, false, Cells::Series(series.collect()))
    }

    /// Adds a column of shares, from 0 to 1.
    #[must_use]
    pub fn shares(self, title: &'static str, shares: impl Iterator<Item = f64>) -> Self {
        let values = Cells::Shares(shares.map(|share| (share * 1e4).round() / 1e4).collect());
        self.column(title, "share", false, values)
    }

    fn column(mut self, title: &'static str, kind: &str, delta: bool, values: Cells) -> Self {
        self.columns.push(ReportColumn { title, kind: kind.to_owned(), delta, values });
        self
    }

    /// Sorts by the last column.
    #[must_use]
    pub fn sorted(mut self) -> Self {
        self.sort = self.columns.len().saturating_sub(1);
        self
    }
}

/// The cells of a column.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Cells {
    /// Indexes into the names of the report.
    Names(Vec<u32>),
    /// Numbers; absent ones are `null`.
    Numbers(Vec<Option<i64>>),
    Shares(Vec<f64>),
    /// Lists of numbers.
    Series(Vec<Vec<u64>>),
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Self::Names(values) => values.len(),
            Self::Numbers(values) => values.len(),
            Self::Shares(values) => values.len(),
            Self::Series(values) => values.len(),
        }
    }
}

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
/// Each file is named for the part of the page that it shows. Together they form one function.
const SCRIPT: &str = concat!(
    "\n\"use strict\";\n(() => {\n",
    include_str!("script/text.js"),
    include_str!("script/dom.js"),
    include_str!("script/route.js"),
    include_str!("script/layout.js"),
    include_str!("script/data.js"),
    include_str!("script/table.js"),
    include_str!("script/picture.js"),
    include_str!("script/curve.js"),
    include_str!("script/ask.js"),
    include_str!("script/objects.js"),
    include_str!("script/object.js"),
    include_str!("script/tree.js"),
    include_str!("script/function.js"),
    include_str!("script/sql.js"),
    include_str!("script/search.js"),
    include_str!("script/page.js"),
    "})();\n"
);

/// The SHA-256 of the style and of the script, which the page's policy names. A test computes them.
const STYLE_HASH: &str = "EZirBwRp5l/NyI675bdpoSnBmS4B23tSyho0xbUnQBQ=";
const SCRIPT_HASH: &str = "fnHCKV5BabeHwuKRAAdAsUA1aTx+PMi3/MIUEzHWu/0=";

impl Report {
    /// Creates a report without content.
    pub fn new(kind: &'static str, file: &str, format: String, unit: String) -> Self {
        Self {
            schema: "dumptool/report/1",
            kind,
            file: file.to_owned(),
            quoted: shell_word(file),
            format,
            unit,
            ..Self::default()
        }
    }

    /// The index of a name.
    pub fn name(&mut self, name: &str) -> u32 {
        self.names.text(name)
    }

    /// Returns the complete page.
    pub fn page(&self) -> String {
        let mut data = Vec::new();
        // Writing to a vector cannot fail, and JSON is UTF-8.
        let _ = json::line(&mut data, self);
        let data = String::from_utf8(data).unwrap_or_default().replace('<', "\\u003c");
        let mut page = String::with_capacity(PAGE.len() + STYLE.len() + SCRIPT.len() + data.len());
        // A page that a server shows may send requests to that server.
        let asks = if self.live { "'; connect-src 'self" } else { "" };
        let parts = [
            ("STYLE_HASH", STYLE_HASH.to_owned()),
            ("SCRIPT_HASH", [SCRIPT_HASH, asks].concat()),
            ("TITLE", self.title()),
            ("STYLE", STYLE.to_owned()),
            ("ANSWER", self.first_screen()),
            ("DATA", data),
            ("SCRIPT", SCRIPT.to_owned()),
        ];
        let mut rest = PAGE;
        for (place, part) in parts {
            let (before, after) = rest.split_once(place).unwrap_or((rest, ""));
            page.push_str(before);
            page.push_str(&part);
            rest = after;
        }
        page.push_str(rest);
        page
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use sha2::{Digest, Sha256};

    #[test]
    fn the_policy_names_the_hashes_of_style_and_script() {
        for (part, hash) in [(STYLE, STYLE_HASH), (SCRIPT, SCRIPT_HASH)] {
            assert_eq!(
                hash,
                base64::engine::general_purpose::STANDARD.encode(Sha256::digest(part))
            );
        }
    }

    #[test]
    fn names_stay_data() {
        let mut report = Report::new("heap", "a b.hprof", "hprof".to_owned(), "bytes".to_owned());
        let name = report.name("</script><img src=x onerror=alert(1)>");
        assert_eq!(
            (name, report.name("other"), report.name("</script><img src=x onerror=alert(1)>")),
            (0, 1, 0)
        );
        let page = report.page();
        assert!(!page.contains("<img") && page.contains("\\u003c/script>\\u003cimg src=x"));
        assert_eq!(page.matches("</script>").count(), 2);
        let data = page.split_once("id=\"data\">").unwrap().1.split_once("</script>").unwrap().0;
        let data: serde_json::Value = serde_json::from_str(data).unwrap();
        assert_eq!(
            (&data["schema"], &data["quoted"]),
            (&"dumptool/report/1".into(), &"'a b.hprof'".into())
        );
    }
}
