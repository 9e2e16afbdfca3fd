//! The walk over the blocks of version 3: from one to the next, helped by the tables of contents.

use super::blocks::{Block, read_block, take_listed_block};
use super::toc::Hints;
use crate::bytes::Cursor;
use crate::error::{Error, Result};
use std::num::Saturating;

/// The blocks of a file in order. After a damaged block it continues at the next block in a table
/// of contents, if there is one.
#[derive(Clone, Debug)]
pub(super) struct Blocks<'a> {
    bytes: &'a [u8],
    cursor: Cursor<'a>,
    hints: Hints,
    count: Saturating<u64>,
    /// Whether the last block was an outer table of contents, so that the file may end here.
    may_end: bool,
    ended: bool,
}

impl<'a> Blocks<'a> {
    /// Walks with the help of the tables of contents, as far as they are usable.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self::with_hints(bytes, Hints::read(bytes))
    }

    /// Walks from block to block without looking at any table.
    pub(super) fn scan(bytes: &'a [u8]) -> Self {
        Self::with_hints(bytes, Hints::default())
    }

    fn with_hints(bytes: &'a [u8], hints: Hints) -> Self {
        Self {
            bytes,
            cursor: Cursor::at(bytes, 16),
            hints,
            count: Saturating(0),
            may_end: false,
            ended: false,
        }
    }

    pub(super) fn has_toc(&self) -> bool {
        self.hints.outer.is_some()
    }

    fn read(&mut self) -> Result<Block<'a>> {
        match self.hints.at_offset(self.cursor.offset()) {
            Some(entry) => take_listed_block(&mut self.cursor, entry),
            None => read_block(&mut self.cursor),
        }
    }

    /// Moves to the next listed block after a damaged one, or ends the walk.
    fn recover(&mut self, damaged: u64) {
        match self.hints.next_stop(damaged) {
            Some(stop) => self.cursor = Cursor::at(self.bytes, stop),
            None => self.ended = true,
        }
    }
}

impl<'a> Iterator for Blocks<'a> {
    type Item = Result<Block<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let start = self.cursor.offset();
        if self.cursor.is_empty() {
            self.ended = true;
            return (!self.may_end).then(|| Err(no_last_toc(start)));
        }
        let block = self.read();
        match &block {
            Ok(block) => {
                self.count += 1;
                self.may_end = block.is_outer_toc();
            }
            Err(_) => self.recover(start),
        }
        let count = self.count;
        Some(block.map_err(|error| error.context(format!("after {count} blocks"))))
    }
}

#[cold]
fn no_last_toc(offset: u64) -> Error {
    Error::truncated(offset, "the input ends before the table of contents").hint(
        "the profiled process was probably killed, or the file was copied while it was written",
    )
}
