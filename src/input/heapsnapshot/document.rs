//! Finds the parts of a snapshot in one pass over the file, at about memory bandwidth.

use super::SPEC;
use super::meta::Meta;
use super::strings::Strings;
use crate::error::{Error, Result};
use crate::input::json::{Numbers, Scanner, ValueKind};

/// A snapshot, of which only the member `snapshot` has been decoded.
#[derive(Debug)]
pub struct Document<'a> {
    pub meta: Meta,
    pub nodes: Option<Numbers<'a>>,
    pub edges: Option<Numbers<'a>>,
    pub locations: Option<Numbers<'a>>,
    /// Rows of functions for `trace_tree`.
    pub trace_function_infos: Option<Numbers<'a>>,
    /// Pairs of a time and the last object id that had been assigned by then.
    pub samples: Option<Numbers<'a>>,
    /// Offset of the value of `trace_tree`.
    pub trace_tree: Option<u64>,
    pub strings: Strings<'a>,
    /// The damage at which reading stopped, if any.
    pub damage: Option<Error>,
}

impl<'a> Document<'a> {
    /// Finds the parts of a document. Fails when the bytes are not a snapshot, or `snapshot` cannot
    /// be read. Stores later damage in [`Self::damage`].
    pub fn read(bytes: &'a [u8]) -> Result<Self> {
        let meta =
            Meta::read(&mut find_snapshot(bytes)?).map_err(|error| error.context("in snapshot"))?;
        let mut document = Self {
            meta,
            nodes: None,
            edges: None,
            locations: None,
            trace_function_infos: None,
            samples: None,
            trace_tree: None,
            strings: Strings::new(bytes),
            damage: None,
        };
        document.damage = document.find_parts(Scanner::new(bytes, 0)).err();
        Ok(document)
    }

    fn find_parts(&mut self, mut json: Scanner<'a>) -> Result<()> {
        json.begin_object()?;
        while let Some(key) = json.key()? {
            let place = match key.raw() {
                b"nodes" => &mut self.nodes,
                b"edges" => &mut self.edges,
                b"locations" => &mut self.locations,
                b"trace_function_infos" => &mut self.trace_function_infos,
                b"samples" => &mut self.samples,
                b"strings" if json.peek()? == ValueKind::Array => {
                    self.find_strings(&mut json).map_err(|error| error.context("in strings"))?;
                    continue;
                }
                b"trace_tree" => {
                    json.peek()?;
                    self.trace_tree = Some(json.offset());
                    json.skip()?;
                    continue;
                }
                _ => {
                    json.skip()?;
                    continue;
                }
            };
            if json.peek()? != ValueKind::Array {
                json.skip()?;
                continue;
            }
            let numbers = json.numbers()?;
            let (cut, end) = (numbers.is_cut(), json.offset());
            *place = Some(numbers);
            if cut {
                let name = String::from_utf8_lossy(key.raw()).into_owned();
                return Err(Error::truncated(end, format!("the input ends inside {name}"))
                    .hint("the snapshot was cut short: its writer may have been killed, or the disk was full"));
            }
        }
        Ok(())
    }

    fn find_strings(&mut self, json: &mut Scanner<'a>) -> Result<()> {
        json.begin_array()?;
        while json.item()? {
            json.peek()?;
            let offset = json.offset();
            let text = json.text()?;
            self.strings.push(offset, text);
        }
        Ok(())
    }

    /// Whether parts are missing that contain references or their labels.
    pub fn is_incomplete(&self) -> bool {
        let missing = |part: &Option<Numbers<'_>>| part.as_ref().is_none_or(Numbers::is_cut);
        missing(&self.nodes) || missing(&self.edges)
    }
}

/// A scanner that stands at the value of the member `snapshot`.
fn find_snapshot(bytes: &[u8]) -> Result<Scanner<'_>> {
    let mut json = Scanner::new(bytes, 0);
    json.begin_object().map_err(|_| SPEC.wrong_magic())?;
    while let Some(key) = json.key()? {
        if key.raw() == b"snapshot" {
            return Ok(json);
        }
        json.skip()?;
    }
    Err(SPEC.wrong_magic())
}
