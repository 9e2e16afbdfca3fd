//! The tables of strings, types and frames, which all snapshots of a file share.

use super::blocks::Block;
use super::column::{TableBudget, split_strings};
use super::sections::{Section, strings, table_rows};
use crate::error::{Error, Result};

/// The number of strings, types and frames known after some point of the file. `None` if a part of
/// the table is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TableSizes {
    pub(super) strings: Option<u64>,
    pub(super) types: Option<u64>,
    pub(super) frames: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TypeRow {
    /// String index of the name of the representation.
    pub(super) repr: u64,
    /// String index of the name of the type.
    pub(super) name: u64,
}

/// The tables as far as they have been read. Each snapshot appends to them; indices never change.
#[derive(Clone, Debug, Default)]
pub(super) struct Tables {
    text: Vec<u8>,
    /// The end of each string in `text`.
    ends: Vec<usize>,
    pub(super) types: Vec<TypeRow>,
    /// String indices of name, compilation unit and file of each frame.
    pub(super) frames: Vec<[u64; 3]>,
    pub(super) lines: Vec<u64>,
    /// The tables of which a part could not be read, so that the meaning of later indices is
    /// unknown.
    pub(super) lost: Lost,
    budget: TableBudget,
}

/// The tables with a part that could not be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lost {
    pub(super) strings: bool,
    pub(super) types: bool,
    pub(super) frames: bool,
}

impl Lost {
    pub(super) fn any(self) -> bool {
        self.strings || self.types || self.frames
    }

    /// Notes that a block of this name is lost.
    pub(super) fn note(&mut self, name: &str) {
        match name {
            "strings" => self.strings = true,
            "reprname" | "typename" => self.types = true,
            "sfname" | "sfcuid" | "sfline" | "sffile" => self.frames = true,
            _ => {}
        }
    }
}

impl Tables {
    pub(super) fn sizes(&self) -> TableSizes {
        TableSizes {
            strings: (!self.lost.strings).then_some(self.ends.len() as u64),
            types: (!self.lost.types).then_some(self.types.len() as u64),
            frames: (!self.lost.frames).then_some(self.frames.len() as u64),
        }
    }

    /// A string as text, with U+FFFD for bytes that are not UTF-8. `None` if the index is out of
    /// range.
    pub(super) fn string(&self, index: u64) -> Option<String> {
        let index = usize::try_from(index).ok()?;
        let end = *self.ends.get(index)?;
        let start =
            index.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.text.get(start..end).map(|text| String::from_utf8_lossy(text).into_owned())
    }

    /// Appends the blocks of one snapshot. Returns the first error; its table counts as lost.
    ///
    /// A lost table is not extended any more, because the indices of all later rows are unknown.
    pub(super) fn append_blocks(&mut self, blocks: &[Block<'_>]) -> Option<Error> {
        let lost = self.lost;
        let find = |name: &str| {
            let mut of_this = Lost::default();
            of_this.note(name);
            let skipped = (of_this.strings && lost.strings)
                || (of_this.types && lost.types)
                || (of_this.frames && lost.frames);
            blocks.iter().find(|block| block.name.is(name)).filter(|_| !skipped)
        };
        let strings = find("strings").map_or(Ok(()), |block| self.append_strings(block));
        self.lost.strings |= strings.is_err();
        let types = equal_columns(["reprname", "typename"].map(find), &mut self.budget).map(
            |[reprs, names]| {
                self.types.extend(
                    reprs.into_iter().zip(names).map(|(repr, name)| TypeRow { repr, name }),
                );
            },
        );
        self.lost.types |= types.is_err();
        // The line is not an index, but its column must be as long as the others.
        let frames =
            equal_columns(["sfname", "sfcuid", "sffile", "sfline"].map(find), &mut self.budget);
        let frames = frames.map(|[names, cuids, files, lines]| {
            self.lines.extend(lines);
            self.frames.extend(
                names
                    .into_iter()
                    .zip(cuids)
                    .zip(files)
                    .map(|((name, cuid), file)| [name, cuid, file]),
            );
        });
        self.lost.frames |= frames.is_err();
        strings.and(types).and(frames).err()
    }

    fn append_strings(&mut self, block: &Block<'_>) -> Result<()> {
        let bytes = self.budget.bytes(block)?;
        let (strings, rest) = split_strings(&bytes);
        for string in strings {
            self.push_string(string);
        }
        match rest {
            [] => Ok(()),
            _ => Err(Error::corrupt(block.start, "the strings end inside a string")
                .found(format!("{} decompressed bytes after the last whole one", rest.len()))),
        }
    }

    fn push_string(&mut self, string: &[u8]) {
        self.text.extend_from_slice(string);
        self.ends.push(self.text.len());
    }

    /// Discards one table of version 2, because the whole table follows once more.
    pub(super) fn clear(&mut self, section: &str) {
        match section {
            "strs" => {
                self.text.clear();
                self.ends.clear();
            }
            "type" => self.types.clear(),
            _ => {
                self.frames.clear();
                self.lines.clear();
            }
        }
    }

    /// Appends a section of version 2.
    pub(super) fn append_section(&mut self, section: &Section<'_>) {
        match section.name {
            "strs" => strings(section.payload).for_each(|string| self.push_string(string)),
            "type" => self
                .types
                .extend(table_rows(section.payload).map(|[repr, name]| TypeRow { repr, name })),
            "fram" => {
                self.frames.extend(
                    table_rows(section.payload).map(|[name, cuid, _, file]| [name, cuid, file]),
                );
                self.lines.extend(table_rows(section.payload).map(|[_, _, line, _]| line));
            }
            _ => {}
        }
    }
}

/// Decodes columns that must either all be present and equally long, or all be absent.
fn equal_columns<const N: usize>(
    blocks: [Option<&Block<'_>>; N],
    budget: &mut TableBudget,
) -> Result<[Vec<u64>; N]> {
    let mut columns = [const { Vec::new() }; N];
    let Some(any) = blocks.iter().flatten().next() else { return Ok(columns) };
    for (column, block) in columns.iter_mut().zip(blocks) {
        let Some(block) = block else {
            return Err(Error::corrupt(
                any.start,
                "a column of the table of types or frames is missing",
            ));
        };
        *column = budget.numbers(block)?;
    }
    let length = columns.first().map_or(0, Vec::len);
    match columns.iter().find(|column| column.len() != length) {
        None => Ok(columns),
        Some(other) => Err(Error::corrupt(
            any.start,
            "the columns of the table of types or frames differ in length",
        )
        .expected(format!("{length} rows"))
        .found(other.len().to_string())),
    }
}
