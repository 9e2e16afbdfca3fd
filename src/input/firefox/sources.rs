//! The texts of source files, which the Firefox Profiler may keep in `shared.sources.content`.

use super::document::text;
use crate::error::Result;
use crate::input::json::{Scanner, Text, ValueKind};
use crate::input::source_text::SourceText;

pub(in crate::input) fn source_texts(bytes: &[u8]) -> Vec<SourceText> {
    let mut sources = Sources::default();
    // The sources before any damage count.
    let _ = sources.read(&mut Scanner::new(bytes, 0));
    let Sources { texts, names, lines, contents } = &sources;
    let source = |(row, content): (usize, &Text<'_>)| {
        let name = texts.get(usize::try_from(*names.get(row)?).ok()?)?;
        let line = lines.get(row).copied().unwrap_or(1).max(1);
        let (name, text) = (name.decode().into_owned(), content.decode().into_owned());
        Some(SourceText { name, first_line: u32::try_from(line).ok()?, text })
    };
    let known = contents.iter().enumerate().filter(|(_, content)| !content.raw().is_empty());
    known.filter_map(source).collect()
}

#[derive(Default)]
struct Sources<'a> {
    texts: Vec<Text<'a>>,
    names: Vec<u64>,
    lines: Vec<u64>,
    /// The text of each source; empty where there is none.
    contents: Vec<Text<'a>>,
}

impl<'a> Sources<'a> {
    fn read(&mut self, scanner: &mut Scanner<'a>) -> Result<()> {
        members(scanner, |key, scanner| match key {
            b"shared" => members(scanner, |key, scanner| match key {
                b"stringArray" => texts(scanner, &mut self.texts),
                b"sources" => members(scanner, |key, scanner| match key {
                    b"filename" => scanner.unsigned_array(|number| self.names.push(number)),
                    b"startLine" => scanner.unsigned_array(|number| self.lines.push(number)),
                    b"content" => texts(scanner, &mut self.contents),
                    _ => scanner.skip(),
                }),
                _ => scanner.skip(),
            }),
            _ => scanner.skip(),
        })
    }
}

/// Gives every member of an object to `read`, which reads its value.
fn members<'a>(
    scanner: &mut Scanner<'a>,
    mut read: impl FnMut(&[u8], &mut Scanner<'a>) -> Result<()>,
) -> Result<()> {
    if scanner.peek()? != ValueKind::Object {
        return scanner.skip();
    }
    scanner.begin_object()?;
    while let Some(key) = scanner.key()? {
        read(key.raw(), scanner)?;
    }
    Ok(())
}

fn texts<'a>(scanner: &mut Scanner<'a>, into: &mut Vec<Text<'a>>) -> Result<()> {
    if scanner.peek()? != ValueKind::Array {
        return scanner.skip();
    }
    scanner.begin_array()?;
    while scanner.item()? {
        into.push(text(scanner)?);
    }
    Ok(())
}
