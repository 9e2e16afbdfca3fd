//! The texts of scripts, which the Performance panel keeps in its traces.
//!
//! ```text
//! cat …devtools.v8-source-rundown          args.data {"isolate","scriptId","url","startLine"}
//! cat …devtools.v8-source-rundown-sources  args.data {"isolate","scriptId","sourceText"}
//!     LargeScriptCatchup                   … and {"splitIndex","splitCount"}: a text in pieces
//! ```
//!
//! Sources: V8's `Compiler::EmitScriptSourceTextTrace`, DevTools' `ScriptsHandler`; a trace of Chromium 149.

use super::event::{Event, Events};
use crate::error::Result;
use crate::input::json::{Scanner, Text, ValueKind};
use crate::input::source_text::SourceText;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

const SCRIPTS: &[u8] = b"disabled-by-default-devtools.v8-source-rundown";
const TEXTS: &[u8] = b"disabled-by-default-devtools.v8-source-rundown-sources";

/// Ends of addresses that are scripts as a whole. Others are pages, with scripts in them.
const EXTENSIONS: [&str; 6] = [".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx"];

/// The texts of the scripts of a trace whose place is known.
pub(in crate::input) fn source_texts(bytes: &[u8]) -> Vec<SourceText> {
    let mut scripts: Vec<Script<'_>> = Vec::new();
    let mut by_id = FxHashMap::default();
    for (_, event) in Events::new(bytes).map_while(Result::ok) {
        let Some(data) = Data::of(&event) else { continue };
        let key = (event.pid, data.isolate.raw(), data.id.raw());
        let number = *by_id.entry(key).or_insert_with(|| {
            scripts.push(Script::default());
            scripts.len().saturating_sub(1)
        });
        if let Some(script) = scripts.get_mut(number) {
            script.add(data);
        }
    }
    scripts.into_iter().filter_map(Script::finish).collect()
}

/// A script of an isolate.
#[derive(Default)]
struct Script<'a> {
    url: Text<'a>,
    /// The line at which the script begins, from 0.
    start_line: Option<u64>,
    /// The pieces of the text, by their numbers.
    pieces: BTreeMap<u64, Text<'a>>,
    piece_count: u64,
}

impl<'a> Script<'a> {
    fn add(&mut self, data: Data<'a>) {
        if let Some(text) = data.text {
            self.pieces.insert(data.piece, text);
            self.piece_count = data.pieces.max(1);
        }
        if !data.url.raw().is_empty() {
            (self.url, self.start_line) = (data.url, data.start_line);
        }
    }

    fn finish(self) -> Option<SourceText> {
        let name = self.url.decode().into_owned();
        let path = name.split(['?', '#']).next().unwrap_or_default();
        let is_whole = EXTENSIONS.iter().any(|end| path.ends_with(end));
        let start = self.start_line.or(is_whole.then_some(0))?;
        if self.pieces.len() as u64 != self.piece_count {
            return None;
        }
        let text: String = self.pieces.values().map(Text::decode).collect();
        let first_line = u32::try_from(start).ok()?.checked_add(1)?;
        (!text.is_empty()).then_some(SourceText { name, first_line, text })
    }
}

/// The data of an event about a script.
#[derive(Default)]
struct Data<'a> {
    isolate: Text<'a>,
    id: Text<'a>,
    url: Text<'a>,
    start_line: Option<u64>,
    text: Option<Text<'a>>,
    piece: u64,
    pieces: u64,
}

impl<'a> Data<'a> {
    fn of(event: &Event<'a>) -> Option<Self> {
        if !matches!(event.category.raw(), SCRIPTS | TEXTS) {
            return None;
        }
        let mut scanner = event.args()?;
        scanner.begin_object().ok()?;
        while let Ok(Some(key)) = scanner.key() {
            if key.raw() == b"data" {
                return Self::read(&mut scanner).ok();
            }
            scanner.skip().ok()?;
        }
        None
    }

    fn read(scanner: &mut Scanner<'a>) -> Result<Self> {
        let mut data = Self::default();
        scanner.begin_object()?;
        while let Some(key) = scanner.key()? {
            match (key.raw(), scanner.peek()?) {
                (b"isolate", ValueKind::String) => data.isolate = scanner.text()?,
                (b"isolate", ValueKind::Number) => {
                    data.isolate = Text::new(scanner.number()?.raw(), false);
                }
                (b"scriptId", ValueKind::Number) => {
                    data.id = Text::new(scanner.number()?.raw(), false);
                }
                (b"url", ValueKind::String) => data.url = scanner.text()?,
                (b"startLine", ValueKind::Number) => data.start_line = Some(scanner.unsigned()?),
                (b"sourceText", ValueKind::String) => data.text = Some(scanner.text()?),
                (b"splitIndex", ValueKind::Number) => data.piece = scanner.unsigned()?,
                (b"splitCount", ValueKind::Number) => data.pieces = scanner.unsigned()?,
                _ => scanner.skip()?,
            }
        }
        Ok(data)
    }
}
