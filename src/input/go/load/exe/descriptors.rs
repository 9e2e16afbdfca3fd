//! Type descriptors (`abi.Type`) of an executable.
//!
//! Source: `internal/abi/{type,map_swiss,map_noswiss}.go` of Go 1.18 to 1.27, verified on
//! executables of 1.19 to 1.27.

use super::functions::MAX_NAME;
use super::image::{Image, Memory, uvarint};
use super::program::Program;
use std::cell::Cell;

/// A descriptor as it is in the executable. Addresses are link addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Descriptor {
    pub(super) address: u64,
    pub(super) size: u64,
    /// Bytes of the prefix that holds pointers.
    pub(super) pointer_bytes: u64,
    pub(super) kind: Kind,
    /// The address of the bitmap of pointer words. `None` if a program makes it at run time.
    pub(super) bitmap: Option<u64>,
    /// Whether an interface holds the value itself, not a pointer to it.
    pub(super) direct: bool,
    /// The name in the descriptor, which has only the last element of the package's path. Empty if
    /// the type was made at run time.
    pub(super) short_name: String,
    /// The full path of the package of a named type, if it has one.
    pub(super) package: Option<String>,
    pub(super) is_named: bool,
}

/// The parts of a type, as addresses of other descriptors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    // `bool` (1) to `complex128` (16).
    Number,
    Array { element: u64, length: u64 },
    Channel { element: u64, direction: u64 },
    Function { parameters: Vec<u64>, results: Vec<u64>, is_variadic: bool },
    Interface { methods: u64 },
    // `group` is the bucket of classic maps.
    Map { key: u64, element: u64, group: u64 },
    Pointer { element: u64 },
    Slice { element: u64 },
    String,
    Struct { fields: Vec<Field> },
    UnsafePointer,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) tag: String,
    pub(super) is_embedded: bool,
    pub(super) type_address: u64,
    pub(super) offset: u64,
}

const UNCOMMON: u64 = 1;
const EXTRA_STAR: u64 = 2;
const NAMED: u64 = 4;
const ON_DEMAND: u64 = 16;
const DIRECT: u64 = 32;

const TAGGED: u64 = 2;
const EMBEDDED: u64 = 8;

/// The most fields of a struct, and parameters of a function, that are read.
const MAX_PARTS: u64 = 1 << 16;

/// The limit for reading the same data again, as a multiple of its size. The linker stores equal
/// names once, and few types share more than names.
const MAX_REPEATS: u64 = 4;

/// Reads the descriptors of a program, or those that it made at run time.
pub(super) struct Reader<'p, 'a, M> {
    program: &'p Program<'a>,
    memory: &'p M,
    types: (u64, u64),
    size: u64,
    /// Whether package reflect made the descriptors. Package reflect keeps their names elsewhere.
    is_made: bool,
    /// Bytes of fields, parameters and names that may still be read. In a hostile file, all
    /// descriptors could refer to the same long list, or the same long name.
    budget: Cell<u64>,
}

impl<'p, 'a> Reader<'p, 'a, Image<'a>> {
    pub(super) fn of_program(program: &'p Program<'a>) -> Self {
        let (start, end) = program.module.types;
        Self::new(program, &program.image, false, end.saturating_sub(start))
    }

    /// The addresses of all descriptors, ascending: every place in the section of types that looks
    /// like a descriptor. The scan finds every descriptor that the tables list, and those of
    /// closures and of maps' parts, which the tables leave out.
    pub(super) fn addresses(&self) -> Vec<u64> {
        let (start, end) = self.types;
        let first = start.next_multiple_of(self.size);
        let steps = end.saturating_sub(first).checked_div(self.size).unwrap_or(0);
        let places = (0..steps).map(|step| first.wrapping_add(step.wrapping_mul(self.size)));
        places.filter(|address| self.looks_like_one(*address)).collect()
    }
}

impl<'p, 'a, M: Memory> Reader<'p, 'a, M> {
    /// Reads descriptors that package reflect made, from memory of this many bytes.
    pub(super) fn of_made(program: &'p Program<'a>, memory: &'p M, bytes: u64) -> Self {
        Self::new(program, memory, true, bytes)
    }

    fn new(program: &'p Program<'a>, memory: &'p M, is_made: bool, bytes: u64) -> Self {
        Self {
            program,
            memory,
            types: program.module.types,
            size: program.image.pointer_size,
            is_made,
            budget: Cell::new(bytes.saturating_mul(MAX_REPEATS)),
        }
    }

    fn u8(&self, address: u64) -> Option<u64> {
        self.memory.number(address, 1)
    }

    fn part(&self, address: u64, part: Part) -> Option<u64> {
        let (offset, size) = part.place(self.size);
        self.memory.number(address.wrapping_add(offset), size)
    }

    /// Reads a part of a descriptor that is an address.
    fn pointer(&self, address: u64, part: Part) -> Option<u64> {
        self.memory.word(address.wrapping_add(part.place(self.size).0))
    }

    /// Whether an address meets the conditions that all descriptors meet, but hardly other bytes.
    pub(super) fn looks_like_one(&self, address: u64) -> bool {
        self.test(address).is_some_and(|passed| passed)
    }

    fn test(&self, address: u64) -> Option<bool> {
        let part = |part| self.part(address, part);
        let (size, pointers, word) = (part(Part::Size)?, part(Part::PointerBytes)?, self.size);
        let kind = part(Part::Kind)? & 31;
        let align = part(Part::Align)?;
        let power = |align: u64| matches!(align, 1 | 2 | 4 | 8);
        let kind_size = match kind {
            18 | 19 | 21 | 22 | 26 => Some(word),
            20 | 24 => word.checked_mul(2),
            23 => word.checked_mul(3),
            _ => None,
        };
        let tflag = part(Part::Flags)?;
        let is_known = |address: u64| address == 0 || self.memory.contains(address);
        let sound = part(Part::Hash)? != 0
            && (1..=26).contains(&kind)
            && pointers <= size
            && pointers.is_multiple_of(word)
            && power(align)
            && power(part(Part::FieldAlign)?)
            && size.is_multiple_of(align)
            && kind_size.is_none_or(|expected| expected == size)
            && is_known(self.pointer(address, Part::Equal)?)
            && (pointers == 0 || self.memory.contains(self.pointer(address, Part::Bitmap)?));
        if !sound {
            return Some(false);
        }
        let name = part(Part::Name)?;
        if self.is_made {
            return Some(name >> 31 == 1);
        }
        if name == 0 || name >= self.types.1.wrapping_sub(self.types.0) {
            return Some(false);
        }
        let name = self.name(self.types.0.wrapping_add(name))?;
        let starred = tflag & EXTRA_STAR == 0 || name.first() == Some(&b'*');
        Some(starred && !name.is_empty() && name.iter().all(|byte| *byte >= 0x20))
    }

    /// Reads a name: flags, length, bytes.
    fn name(&self, address: u64) -> Option<&'p [u8]> {
        let mut bytes = self.memory.tail(address)?;
        let (flags, rest) = bytes.split_first()?;
        bytes = rest;
        if *flags > 15 {
            return None;
        }
        let length = usize::try_from(uvarint(&mut bytes)?).ok()?;
        bytes.get(..length).filter(|name| name.len() <= MAX_NAME)
    }

    /// The tag after the name of a field of a made struct. Others have it in the name of the struct.
    fn tag(&self, address: u64) -> Option<String> {
        if !self.is_made || self.u8(address)? & TAGGED == 0 {
            return Some(String::new());
        }
        let mut name = self.memory.tail(address.wrapping_add(1))?;
        let length = usize::try_from(uvarint(&mut name)?).ok()?;
        let mut tag = name.get(length..)?;
        let length = usize::try_from(uvarint(&mut tag)?).ok()?;
        self.text(tag.get(..length)?)
    }

    fn name_text(&self, address: u64) -> Option<String> {
        self.name(address).and_then(|name| self.text(name))
    }

    fn text(&self, name: &[u8]) -> Option<String> {
        self.spend(name.len() as u64)?;
        Some(String::from_utf8_lossy(name).into_owned())
    }

    /// Reads the descriptor at an address. `None` if there is none.
    pub(super) fn read(&self, address: u64) -> Option<Descriptor> {
        if !self.looks_like_one(address) {
            return None;
        }
        let part = |part| self.part(address, part);
        let (flags, kind_byte) = (part(Part::Flags)?, part(Part::Kind)?);
        let size = part(Part::Size)?;
        let own = address.wrapping_add(length(self.size));
        let place = |index: u64| own.wrapping_add(index.wrapping_mul(self.size));
        let own_word = |index| self.memory.word(place(index));
        let own_number = |index| self.memory.number(place(index), self.size);
        let kind = match kind_byte & 31 {
            17 => Kind::Array { element: own_word(0)?, length: own_number(2)? },
            18 => Kind::Channel { element: own_word(0)?, direction: own_number(1)? },
            19 => self.function(own, flags)?,
            20 => Kind::Interface { methods: own_number(2)? },
            21 => Kind::Map { key: own_word(0)?, element: own_word(1)?, group: own_word(2)? },
            22 => Kind::Pointer { element: own_word(0)? },
            23 => Kind::Slice { element: own_word(0)? },
            24 => Kind::String,
            25 => self.fields(own)?,
            26 => Kind::UnsafePointer,
            _ => Kind::Number,
        };
        let is_program = !self.program.at_least(24) && kind_byte & 64 != 0;
        let bitmap = self.pointer(address, Part::Bitmap)?;
        let is_made_later = self.program.at_least(24) && flags & ON_DEMAND != 0;
        Some(Descriptor {
            address,
            size,
            pointer_bytes: part(Part::PointerBytes)?,
            bitmap: (bitmap != 0 && !is_program && !is_made_later).then_some(bitmap),
            direct: if self.program.at_least(26) {
                flags & DIRECT != 0
            } else {
                kind_byte & 32 != 0
            },
            short_name: self.short_name(part(Part::Name)?, flags)?,
            package: if flags & UNCOMMON != 0 { self.package(own, &kind) } else { None },
            is_named: flags & NAMED != 0,
            kind,
        })
    }

    fn short_name(&self, offset: u64, flags: u64) -> Option<String> {
        if self.is_made {
            return Some(String::new());
        }
        let name = self.name(self.types.0.wrapping_add(offset))?;
        self.text(if flags & EXTRA_STAR != 0 { name.strip_prefix(b"*")? } else { name })
    }

    /// Bytes of the part that a kind adds to a descriptor.
    fn own_length(&self, kind: &Kind) -> u64 {
        let word = self.size;
        match kind {
            Kind::Number | Kind::String | Kind::UnsafePointer => 0,
            Kind::Array { .. } => word.wrapping_mul(3),
            Kind::Channel { .. } => word.wrapping_mul(2),
            Kind::Function { .. } => word,
            Kind::Interface { .. } | Kind::Struct { .. } => word.wrapping_mul(4),
            Kind::Pointer { .. } | Kind::Slice { .. } => word,
            // Since 1.27: eleven words, including the flags; 1.24 to 1.26: seven words and u32;
            // before 1.24: four words, u8, u8, u16, u32.
            Kind::Map { .. } if self.program.at_least(27) => word.wrapping_mul(11),
            Kind::Map { .. } if self.program.at_least(24) => word.wrapping_mul(8),
            Kind::Map { .. } => word.wrapping_mul(4).wrapping_add(8),
        }
    }

    fn package(&self, own: u64, kind: &Kind) -> Option<String> {
        let uncommon = own.wrapping_add(self.own_length(kind));
        let offset = self.memory.number(uncommon, 4)?;
        if offset == 0 || offset >= self.types.1.wrapping_sub(self.types.0) {
            return None;
        }
        self.name_text(self.types.0.wrapping_add(offset)).filter(|path| !path.is_empty())
    }

    fn function(&self, own: u64, flags: u64) -> Option<Kind> {
        let (ins, outs) =
            (self.memory.number(own, 2)?, self.memory.number(own.wrapping_add(2), 2)?);
        let uncommon = if flags & UNCOMMON != 0 { 16 } else { 0 };
        self.spend(ins.saturating_add(outs & 0x7fff).saturating_mul(self.size))?;
        // The two counts are padded to a word.
        let mut next = own.wrapping_add(self.size).wrapping_add(uncommon);
        let mut list = |count: u64| -> Option<Vec<u64>> {
            let mut types = Vec::new();
            for _ in 0..count {
                types.push(self.memory.word(next)?);
                next = next.wrapping_add(self.size);
            }
            Some(types)
        };
        Some(Kind::Function {
            parameters: list(ins)?,
            results: list(outs & 0x7fff)?,
            is_variadic: outs & 0x8000 != 0,
        })
    }

    pub(super) fn spend(&self, bytes: u64) -> Option<()> {
        self.budget.set(self.budget.get().checked_sub(bytes)?);
        Some(())
    }

    fn fields(&self, own: u64) -> Option<Kind> {
        let place = |start: u64, index: u64| start.wrapping_add(index.wrapping_mul(self.size));
        let list = self.memory.word(place(own, 1))?;
        let count = self.memory.number(place(own, 2), self.size)?;
        if count > MAX_PARTS {
            return None;
        }
        self.spend(count.saturating_mul(self.size.wrapping_mul(3)))?;
        let mut fields = Vec::new();
        for index in 0..count {
            let at = place(list, index.wrapping_mul(3));
            let name = self.memory.word(at)?;
            let offset = self.memory.number(place(at, 2), self.size)?;
            fields.push(Field {
                name: self.name_text(name)?,
                tag: self.tag(name)?,
                is_embedded: self.u8(name)? & EMBEDDED != 0,
                type_address: self.memory.word(place(at, 1))?,
                offset: if self.program.at_least(19) { offset } else { offset >> 1 },
            });
        }
        Some(Kind::Struct { fields })
    }

    /// The number of the kind in a descriptor: 1 (`bool`) to 16 (`complex128`) for numbers.
    pub(super) fn number_kind(&self, address: u64) -> Option<u64> {
        self.part(address, Part::Kind).map(|kind| kind & 31)
    }

    pub(super) fn is_pointer(&self, bitmap: u64, word: u64) -> bool {
        let byte = self.u8(bitmap.wrapping_add(word / 8)).unwrap_or(0);
        byte >> (word % 8) & 1 == 1
    }
}

/// Bytes of the part that is common to all descriptors.
pub(super) fn length(word: u64) -> u64 {
    word.wrapping_mul(4).wrapping_add(16)
}

/// Offsets of the pointers in the part that is common to all descriptors.
pub(super) fn pointers(word: u64) -> [u64; 2] {
    [Part::Equal, Part::Bitmap].map(|part| part.place(word).0)
}

#[derive(Clone, Copy)]
enum Part {
    Size,
    PointerBytes,
    Hash,
    Flags,
    Align,
    FieldAlign,
    Kind,
    Equal,
    Bitmap,
    Name,
}

impl Part {
    fn place(self, word: u64) -> (u64, u64) {
        let words = |count: u64, bytes: u64| word.wrapping_mul(count).wrapping_add(bytes);
        match self {
            Self::Size => (0, word),
            Self::PointerBytes => (word, word),
            Self::Hash => (words(2, 0), 4),
            Self::Flags => (words(2, 4), 1),
            Self::Align => (words(2, 5), 1),
            Self::FieldAlign => (words(2, 6), 1),
            Self::Kind => (words(2, 7), 1),
            Self::Equal => (words(2, 8), word),
            Self::Bitmap => (words(3, 8), word),
            Self::Name => (words(4, 8), 4),
        }
    }
}
