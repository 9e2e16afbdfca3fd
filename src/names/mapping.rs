//! `mapping.txt` of ProGuard and R8: the original names of Java classes, fields and methods.
//!
//! ```text
//! original.Class -> a.b:
//!     type name -> c                                              a field
//!     [s:e:]type [Class.]name(types)[:os[:oe]] -> d               a method, lines s to e of a.b
//! # {"id":"sourceFile","fileName":"X.kt"}                         of the class above
//! # {"id":"com.android.tools.r8.synthesized"}                     of the class or method above
//! ```
//!
//! Methods with the same lines that follow each other were inlined, innermost first. Several classes
//! with one short name were merged by R8.
//!
//! Sources: ProGuard's manual (Retrace), `doc/retrace.md` of R8, a mapping of ProGuard 6.2.

mod methods;

use crate::error::{Error, Result};
use std::borrow::Cow;
use std::ops::Range;

/// The names of a minified Java program. Lookups read the lines of one class.
#[derive(Debug)]
pub struct JavaMapping {
    text: String,
    /// Classes by short name; those with the same name are in the order of the file.
    classes: Vec<Class>,
    /// The original classes with their source files, sorted by class.
    files: Vec<(Range<usize>, Range<usize>)>,
}

/// A class as ranges of the text.
#[derive(Debug)]
struct Class {
    short: Range<usize>,
    original: Range<usize>,
    /// The lines of its fields and methods.
    members: Range<usize>,
}

/// A frame of a stack in terms of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MappedFrame {
    /// The class, such as `shop.Cart$Line`.
    pub class: String,
    /// The method. Several that cannot be distinguished are written `a | b`.
    pub method: String,
    /// The source file, derived from the class if the mapping does not state it.
    pub file: String,
    /// The line; 0 if it is not known.
    pub line: u32,
}

impl JavaMapping {
    /// Reads a mapping.
    ///
    /// # Errors
    /// `Corrupt`, with the offset of the first line that belongs in no mapping, or of the first
    /// byte that is not UTF-8.
    pub fn new(bytes: &[u8]) -> Result<Self> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            Error::corrupt(error.valid_up_to() as u64, "not a mapping of ProGuard or R8")
                .expected("text in UTF-8")
        })?;
        let text = text.to_owned();
        let mut classes: Vec<Class> = Vec::new();
        let mut files = Vec::new();
        let mut start = 0_usize;
        for line in text.split_inclusive('\n') {
            let at = start;
            start = at.saturating_add(line.len());
            if line.trim_end().is_empty() {
                continue;
            }
            if line.trim_start().starts_with('#') {
                let file = source_file(line).map(|file| range(&text, file));
                if let Some((class, file)) = classes.last().zip(file) {
                    files.push((class.original.clone(), file));
                }
            } else if line.starts_with([' ', '\t']) {
                if classes.is_empty() || !line.contains(" -> ") {
                    return Err(unexpected(at, line, "a field or method of a class"));
                }
            } else {
                let names = line.trim_end().strip_suffix(':').and_then(|it| it.split_once(" -> "));
                let Some((original, short)) = names else {
                    return Err(unexpected(at, line, "`original.Class -> short:`"));
                };
                classes.push(Class {
                    short: range(&text, short.trim()),
                    original: range(&text, original.trim()),
                    members: start..start,
                });
            }
            if let Some(class) = classes.last_mut() {
                class.members.end = start;
            }
        }
        if classes.is_empty() {
            return Err(Error::corrupt(0, "no class is in the mapping")
                .expected("`original.Class -> short:`"));
        }
        let at = |range: &Range<usize>| text.get(range.clone()).unwrap_or_default();
        classes.sort_by(|a, b| at(&a.short).cmp(at(&b.short)));
        files.sort_by(|a, b| at(&a.0).cmp(at(&b.0)));
        Ok(Self { text, classes, files })
    }

    /// The number of classes.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether there are no classes.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// The original name of a class or of an array of a class, `a.b[]`. Merged classes are `A | B`.
    /// A class that the JVM made for one, such as `a$$Lambda$14`, is called after it. `None` if the
    /// mapping contains neither.
    pub fn class(&self, name: &str) -> Option<Cow<'_, str>> {
        let element = name.trim_end_matches("[]");
        let array = name.get(element.len()..).unwrap_or_default();
        let original = match self.named(element) {
            [] => {
                let (class, made) = element.split_at(element.find("$$").filter(|at| *at > 0)?);
                format!("{}{made}", self.class(class)?).into()
            }
            [class] => Cow::Borrowed(self.at(&class.original)),
            merged => joined(merged.iter().map(|class| self.at(&class.original))).into(),
        };
        if array.is_empty() { Some(original) } else { Some(format!("{original}{array}").into()) }
    }

    /// The original names of the fields that a class declares, with their short names.
    pub fn fields(&self, class: &str) -> impl Iterator<Item = (&str, &str)> {
        let classes = self.named(class).iter();
        classes.flat_map(|class| self.at(&class.members).lines()).filter_map(|line| {
            let (declaration, short) = line.trim().split_once(" -> ")?;
            let (_, name) = declaration.split_once(' ')?;
            (!declaration.contains('(') && !declaration.starts_with('#')).then_some((short, name))
        })
    }

    fn named(&self, short: &str) -> &[Class] {
        let start = self.classes.partition_point(|class| self.at(&class.short) < short);
        let rest = self.classes.get(start..).unwrap_or_default();
        let count = rest.partition_point(|class| self.at(&class.short) == short);
        rest.get(..count).unwrap_or_default()
    }

    /// The source file of an original class.
    fn file(&self, class: &str) -> String {
        if let Ok(found) = self.files.binary_search_by(|(known, _)| self.at(known).cmp(class)) {
            return self.files.get(found).map_or("", |(_, file)| self.at(file)).to_owned();
        }
        let outer = class.split(['$', ' ']).next().unwrap_or(class);
        let name = outer.rsplit('.').next().unwrap_or(outer);
        format!("{name}.java")
    }

    fn at(&self, range: &Range<usize>) -> &str {
        self.text.get(range.clone()).unwrap_or_default()
    }
}

/// The range of a part of the text within it.
fn range(text: &str, part: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start.saturating_add(part.len())
}

/// Joins the distinct names of classes or methods that cannot be distinguished.
fn joined<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut distinct: Vec<&str> = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct.join(" | ")
}

/// The file in `# {"id":"sourceFile","fileName":"X.kt"}`.
fn source_file(line: &str) -> Option<&str> {
    if !line.contains("\"sourceFile\"") {
        return None;
    }
    let (_, after) = line.split_once("\"fileName\"")?;
    after.trim_start_matches([':', ' ']).strip_prefix('"')?.split('"').next()
}

fn unexpected(offset: usize, line: &str, expected: &'static str) -> Error {
    let found: String = line.trim_end().chars().take(60).collect();
    Error::corrupt(offset as u64, "not a mapping of ProGuard or R8").expected(expected).found(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_arrays_and_fields_get_their_names_back() {
        let text = "shop.Cart -> a:\n    int total -> a\n    1:2:void add() -> a\n\
            shop.Left -> b:\nshop.Right -> b:\n";
        let mapping = JavaMapping::new(text.as_bytes()).unwrap();
        assert_eq!(mapping.class("a").unwrap(), "shop.Cart");
        assert_eq!(mapping.class("a[][]").unwrap(), "shop.Cart[][]");
        assert_eq!(mapping.class("b").unwrap(), "shop.Left | shop.Right");
        assert_eq!(mapping.class("a$$Lambda$14+0x0000000800066840.7[]").unwrap(), {
            "shop.Cart$$Lambda$14+0x0000000800066840.7[]"
        });
        for other in ["c", "c$$Lambda$14", "$$Lambda", "a$Part"] {
            assert_eq!(mapping.class(other), None, "{other}");
        }
        assert_eq!(mapping.fields("a").collect::<Vec<_>>(), [("a", "total")]);
    }

    #[test]
    fn other_files_are_refused_with_the_place() {
        let error = |text: &str| JavaMapping::new(text.as_bytes()).unwrap_err();
        assert_eq!(error("").offset(), Some(0));
        assert_eq!(error("a.B -> a:\nnothing\n").offset(), Some(10));
        assert_eq!(error("    int a -> b\n").offset(), Some(0));
    }
}
