//! The records of a snapshot, one by one, with their offsets.

use super::class::{Class, ClassTable};
use super::object::{Head, Object, Vm};
use super::tail::{self, Tail, is_padded};
use super::word_size::WordSize;
use super::{SPEC, str, uleb};
use crate::bytes::Cursor;
use crate::error::{Error, ErrorKind, Result};
use crate::input::read::{ReadOptions, Visitor, visit};
use crate::input::record::record;
use crate::model::fields::{FieldSink, Record};
use std::num::Saturating;

/// A record of the snapshot.
#[derive(Clone, Copy, Debug)]
pub enum Rec<'a> {
    Class(Class<'a>),
    Object(Object<'a>),
    ExternalProperty(ExternalProperty<'a>),
}

impl Rec<'_> {
    /// The names of the records, in the order of the file.
    pub(super) const NAMES: [&'static str; 3] = ["class", "object", "external_property"];
}

impl Record for Rec<'_> {
    fn name(&self) -> &'static str {
        let [class, object, property] = Self::NAMES;
        match self {
            Self::Class(_) => class,
            Self::Object(_) => object,
            Self::ExternalProperty(_) => property,
        }
    }

    fn fields<S: FieldSink>(&self, sink: &mut S) {
        match self {
            Self::Class(class) => class.pass_to(sink),
            Self::Object(object) => object.pass_to(sink),
            Self::ExternalProperty(property) => property.pass_to(sink),
        }
    }
}

record! {
    /// An external property: memory outside the heap that an object owns through a persistent handle
    /// with a finalizer. An object may have several.
    pub struct ExternalProperty<'a> {
        /// The object that owns the memory.
        object_id: u64 = uleb("the object of an external property") => unsigned,
        /// Bytes; may be 0, and mapped files are usually not counted.
        external_size: u64 = uleb("the size of an external property") => unsigned,
        /// Symbol of the native finalizer, or `Unknown native function`.
        name: &'a [u8] = str("the name of an external property") => text,
    }
}

/// The counts in front of each group of records, as the file states them. `None` until they are
/// reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// An upper bound of the references of all objects.
    pub references: Option<u64>,
    pub objects: Option<u64>,
    pub external_properties: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    Classes,
    Objects,
    ExternalProperties,
    End,
    Failed,
}

/// The records of a snapshot with their offsets. Keeps only the [`ClassTable`] in memory. The
/// iterator ends after an error. After the last record, [`Records::tail`] reads the rest of the
/// file.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    cursor: Cursor<'a>,
    header: Header<'a>,
    counts: Counts,
    classes: ClassTable<'a>,
    vm: Vm,
    group: Group,
    /// The number of records read from the current group; `announced` is its number of records.
    read: Saturating<u64>,
    announced: u64,
}

impl<'a> Records<'a> {
    /// Reads the header. Fails when the magic is not `dartheap` or the header is truncated.
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, 0);
        let header =
            Header::read(&mut cursor).map_err(|error| explain(error.context("in the header")))?;
        Ok(Self {
            cursor,
            header,
            counts: Counts::default(),
            classes: ClassTable::default(),
            vm: Vm { word_size: WordSize::default(), exported: is_padded(bytes) },
            group: Group::Classes,
            read: Saturating(0),
            announced: header.class_count,
        })
    }

    /// The header, which was read first.
    pub fn header(&self) -> &Header<'a> {
        &self.header
    }

    /// The counts that were read so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The classes that were read so far.
    pub fn classes(&self) -> &ClassTable<'a> {
        &self.classes
    }

    /// Evidence of the word size in the objects read so far.
    pub fn word_size(&self) -> WordSize {
        self.vm.word_size
    }

    /// Whether the part read so far shows that DevTools wrote the file, and not the VM.
    pub fn is_devtools_export(&self) -> bool {
        self.vm.exported
    }

    /// The next record, with its offset; `None` after the last one and after an error.
    #[inline]
    fn advance(&mut self) -> Result<Option<(u64, Rec<'a>)>> {
        while self.read.0 == self.announced {
            if !self.next_group()? {
                return Ok(None);
            }
        }
        let offset = self.cursor.offset();
        let id = self.read.0.saturating_add(1);
        let record = match self.group {
            Group::Objects => {
                Rec::Object(Object::read(&mut self.cursor, id, &self.classes, &mut self.vm)?)
            }
            Group::Classes => {
                let class = Class::read(&mut self.cursor, id)?;
                self.classes.push(&class);
                Rec::Class(class)
            }
            Group::ExternalProperties => {
                Rec::ExternalProperty(ExternalProperty::read(&mut self.cursor)?)
            }
            Group::End | Group::Failed => return Ok(None),
        };
        self.read.0 = id;
        Ok(Some((offset, record)))
    }

    /// Reads all objects if they come next. `each` receives the offset and the head of each object
    /// and a cursor after the head, and must read the references from it. Fails with the first
    /// damage, or with the error of `each`.
    #[inline]
    pub(super) fn for_each_object(
        &mut self,
        mut each: impl FnMut(&Self, u64, &Head<'a>, &mut Cursor<'a>) -> Result<()>,
    ) -> Result<()> {
        if self.group == Group::Classes && self.read.0 == self.announced {
            self.next_group().map_err(|error| self.fail(error))?;
        }
        while self.group == Group::Objects && self.read.0 < self.announced {
            let offset = self.cursor.offset();
            let mut cursor = self.cursor;
            let outcome = Head::read(&mut cursor, &self.classes, &mut self.vm)
                .and_then(|head| each(self, offset, &head, &mut cursor));
            if let Err(error) = outcome {
                return Err(self.fail(error));
            }
            self.cursor = cursor;
            self.read += 1;
        }
        Ok(())
    }

    /// Advances to the next group of records. Returns `false` if there is none.
    #[cold]
    fn next_group(&mut self) -> Result<bool> {
        let cursor = &mut self.cursor;
        let (group, announced) = match self.group {
            Group::Classes => {
                self.counts.references = Some(cursor.uleb128("referenceCount")?);
                (Group::Objects, *self.counts.objects.insert(cursor.uleb128("objectCount")?))
            }
            Group::Objects => {
                let count = cursor.uleb128("externalPropertyCount")?;
                (Group::ExternalProperties, *self.counts.external_properties.insert(count))
            }
            Group::ExternalProperties => (Group::End, 0),
            Group::End | Group::Failed => return Ok(false),
        };
        (self.group, self.announced, self.read.0) = (group, announced, 0);
        Ok(true)
    }

    /// Adds the record at fault to an error.
    #[cold]
    fn fail(&mut self, error: Error) -> Error {
        let what = match self.group {
            Group::Classes => "class",
            Group::Objects => "object",
            Group::ExternalProperties | Group::End | Group::Failed => "external property",
        };
        let error = if self.read.0 == self.announced {
            error.context(format!("after {what} {}", self.read))
        } else {
            error.context(format!(
                "in {what} {} of {}",
                self.read.0.saturating_add(1),
                self.announced
            ))
        };
        self.group = Group::Failed;
        (self.announced, self.read.0) = (0, 0);
        explain(error)
    }

    /// Reads the identity hash codes after the last record, by object. `None` unless all records
    /// were read, or if there are none. Fails when the hash codes are cut off.
    pub fn identity_hashes(&mut self) -> Result<Option<Vec<u32>>> {
        if self.group != Group::End {
            return Ok(None);
        }
        tail::hashes(&mut self.cursor, self.counts.objects.unwrap_or(0)).map_err(explain)
    }

    /// Reads what follows the last record: identity hash codes and padding. `None` unless all
    /// records were read. Fails when the hash codes are cut off, or more than zeros follows them.
    pub fn tail(&mut self, options: ReadOptions<'_>) -> Result<Option<Tail>> {
        if self.group != Group::End {
            return Ok(None);
        }
        Tail::read(&mut self.cursor, self.counts.objects.unwrap_or(0), options)
            .map(Some)
            .map_err(explain)
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<(u64, Rec<'a>)>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self.advance() {
            Ok(record) => record.map(Ok),
            Err(error) => Some(Err(self.fail(error))),
        }
    }
}

/// Adds the likely cause, as a hint, to the error of a truncated file.
#[cold]
fn explain(error: Error) -> Error {
    match error.kind() {
        ErrorKind::Truncated => {
            error.hint("the snapshot was cut short, or a count before this is wrong")
        }
        _ => error,
    }
}

/// The identity hash code of each object, 0 where it has none. `None` if the file has no such
/// codes. Fails when a record or the hash codes after them cannot be read.
pub fn identity_hashes(bytes: &[u8]) -> Result<Option<Vec<u32>>> {
    let mut records = Records::new(bytes)?;
    while records.next().transpose()?.is_some() {}
    records.identity_hashes()
}

/// Visits all records with their offsets, up to the first error.
pub fn for_each_record(
    bytes: &[u8],
    options: ReadOptions<'_>,
    visitor: &mut impl Visitor,
) -> Result<()> {
    let mut records = Records::new(bytes)?;
    let to_the_end =
        std::iter::from_fn(|| records.next().or_else(|| records.tail(options).err().map(Err)));
    visit(to_the_end, options, visitor)
}

/// The header, as the VM wrote it. Sizes are in bytes and describe the heap at the time of writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header<'a> {
    /// 0 in every file seen.
    pub flags: u64,
    /// Name of the isolate (`main`), not of the program.
    pub name: &'a [u8],
    /// Used bytes of the heap and of its image pages; at least the sum over the objects in every
    /// file seen.
    pub shallow_size: u64,
    pub capacity: u64,
    /// External bytes, rounded to words; counted differently from the properties when there are
    /// several isolates.
    pub external_size: u64,
    /// The number of classes that follow.
    pub class_count: u64,
}

impl<'a> Header<'a> {
    /// Reads the header and leaves the cursor at the first class. Fails when the magic is not
    /// `dartheap` or the header is truncated.
    pub fn read(cursor: &mut Cursor<'a>) -> Result<Self> {
        let magic = cursor.rest();
        if !SPEC
            .magics()
            .iter()
            .any(|known| known.starts_with(magic.get(..known.len()).unwrap_or(magic)))
        {
            return Err(super::SPEC.wrong_magic());
        }
        cursor.take(8, "the magic")?;
        Ok(Self {
            flags: cursor.uleb128("the flags")?,
            name: str(cursor, "the isolate's name")?,
            shallow_size: cursor.uleb128("shallowSize")?,
            capacity: cursor.uleb128("capacity")?,
            external_size: cursor.uleb128("externalSize")?,
            class_count: cursor.uleb128("classCount")?,
        })
    }
}
