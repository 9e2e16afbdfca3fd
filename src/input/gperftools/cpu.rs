//! CPU profiles of gperftools.

use crate::bytes::Cursor;
use crate::error::{Error, Result};
use crate::input::load::{LoadedProfile, ProfileOptions, damage};
use crate::input::native::addresses::Addresses;
use crate::input::native::lines::TextLines;
use crate::input::native::maps::MapLine;
use crate::input::record::lines;
use crate::model::fields::FieldSink;
use crate::model::names::Names;
use crate::model::profile::{ProfileBuilder, ProfileThread, Unit, ValueType, Values};
use byteorder::{BE, LE};

/// Size and order of words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Words {
    Little4,
    Big4,
    Little8,
    Big8,
}

impl Words {
    /// The words of a file that begins with 0 and 3.
    pub(super) fn detect(bytes: &[u8]) -> Option<Self> {
        let all = [Self::Little8, Self::Big8, Self::Little4, Self::Big4];
        all.into_iter().find(|words| {
            let mut cursor = Cursor::new(bytes, 0);
            let mut next = || words.read(&mut cursor, "").ok();
            let (zero, length, version) = (next(), next(), next());
            (zero, length, version) == (Some(0), Some(3), Some(0)) && next() > Some(0)
        })
    }

    fn read(self, cursor: &mut Cursor<'_>, what: &'static str) -> Result<u64> {
        match self {
            Self::Little4 => cursor.u32::<LE>(what).map(u64::from),
            Self::Big4 => cursor.u32::<BE>(what).map(u64::from),
            Self::Little8 => cursor.u64::<LE>(what),
            Self::Big8 => cursor.u64::<BE>(what),
        }
    }

    fn bytes(self) -> u64 {
        if matches!(self, Self::Little4 | Self::Big4) { 4 } else { 8 }
    }
}

lines! {
    pub(in crate::input) enum CpuRecord<'a> {
        "header" Header {
            word_size: u64 => unsigned,
            /// Microseconds between samples.
            period: u64 => unsigned,
        },
        "sample" Sample {
            count: u64 => unsigned,
            /// The addresses, innermost first.
            addresses: StackWords<'a> => with(StackWords::pass_to),
        },
        "mapping" Mapping(mapping: MapLine<'a> => with(MapLine::pass_to)),
    }
}

/// Addresses in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::input) struct StackWords<'a> {
    bytes: &'a [u8],
    words: Words,
}

impl StackWords<'_> {
    fn pass_to<S: FieldSink>(self, sink: &mut S) {
        sink.list("addresses", self, |address, sink| sink.address("address", address));
    }
}

impl Iterator for StackWords<'_> {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let mut cursor = Cursor::new(self.bytes, 0);
        let address = self.words.read(&mut cursor, "an address").ok()?;
        self.bytes = cursor.rest();
        Some(address)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Header,
    Samples,
    Maps,
    End,
}

/// The records of a file, with their offsets. After an error the iterator has ended.
#[derive(Debug)]
pub(in crate::input) struct CpuRecords<'a> {
    cursor: Cursor<'a>,
    words: Words,
    part: Part,
    maps: TextLines<'a>,
    maps_at: u64,
}

impl<'a> CpuRecords<'a> {
    pub(in crate::input) fn new(bytes: &'a [u8]) -> Self {
        let words = Words::detect(bytes).unwrap_or(Words::Little8);
        let cursor = Cursor::new(bytes, 0);
        Self { cursor, words, part: Part::Header, maps: TextLines::new(&[]), maps_at: 0 }
    }

    fn record(&mut self) -> Result<Option<(u64, CpuRecord<'a>)>> {
        let offset = self.cursor.offset();
        if self.part == Part::Header {
            return self.header().map(|header| Some((offset, header)));
        }
        if self.part == Part::Samples {
            let count = self.words.read(&mut self.cursor, "the number of samples of a stack")?;
            let depth = self.words.read(&mut self.cursor, "the depth of a stack")?;
            let length = depth.saturating_mul(self.words.bytes());
            let bytes = self.cursor.take(length, "the addresses of a stack")?;
            let addresses = StackWords { bytes, words: self.words };
            if count > 0 {
                return Ok(Some((offset, CpuRecord::Sample { count, addresses })));
            }
            if depth != 1 {
                return Err(Error::corrupt(offset, "a stack without samples")
                    .expected("samples, or the end of all samples: 0, 1, 0"));
            }
            self.part = Part::Maps;
            self.maps_at = self.cursor.offset();
            self.maps = TextLines::new(self.cursor.rest());
        }
        let line = self.maps.find_map(|line| Some((line.offset, MapLine::parse(line.text)?)));
        Ok(line.map(|(at, line)| (self.maps_at.saturating_add(at), CpuRecord::Mapping(line))))
    }

    fn header(&mut self) -> Result<CpuRecord<'a>> {
        let mut next = |what| self.words.read(&mut self.cursor, what);
        let (zero, length) = (next("the header")?, next("the length of the header")?);
        let (version, period) = (next("the version")?, next("the period")?);
        if (zero, version) != (0, 0) || !(3..=64).contains(&length) {
            return Err(super::CPU.wrong_magic());
        }
        for _ in 2..length {
            next("the header")?;
        }
        self.part = Part::Samples;
        Ok(CpuRecord::Header { word_size: self.words.bytes(), period })
    }
}

impl<'a> Iterator for CpuRecords<'a> {
    type Item = Result<(u64, CpuRecord<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.part == Part::End {
            return None;
        }
        let record = self.record().transpose();
        if !matches!(record, Some(Ok(_))) {
            self.part = Part::End;
        }
        record
    }
}

pub(super) fn load(bytes: &[u8], options: ProfileOptions<'_>) -> Result<LoadedProfile> {
    let mut builder = ProfileBuilder::new(false);
    let types = [("samples", Unit::Count), ("cpu", Unit::Nanoseconds)];
    let types = types.map(|(name, unit)| ValueType { name: name.into(), unit });
    builder.set_value_types(types.into(), 1);
    let records = CpuRecords::new(bytes).map_while(Result::ok);
    let mappings = MapLine::code(records.filter_map(|(_, record)| match record {
        CpuRecord::Mapping(mapping) => Some(mapping),
        _ => None,
    }));
    let mut addresses = Addresses::new(mappings, &options, &mut builder);
    let damage = damage(read(bytes, options, &mut builder, &mut addresses))?;
    Ok(LoadedProfile { profile: options.named(builder.finish()), damage })
}

fn read(
    bytes: &[u8],
    options: ProfileOptions<'_>,
    builder: &mut ProfileBuilder,
    stacks: &mut Addresses,
) -> Result<()> {
    let thread = builder.labelled_thread(ProfileThread::named(Names::EMPTY));
    let mut period = 0u64;
    for (row, record) in CpuRecords::new(bytes).enumerate() {
        let (offset, record) = record?;
        match record {
            CpuRecord::Header { period: microseconds, .. } => {
                period = microseconds.saturating_mul(1000);
                builder.metadata(b"period_type", b"cpu nanoseconds");
                builder.metadata(b"period", period.to_string().as_bytes());
            }
            CpuRecord::Sample { count, mut addresses } => {
                // The innermost address may be there twice: from the signal and from the stack.
                let innermost = addresses.next();
                let mut rest = addresses;
                let rest = if rest.next() == innermost { rest } else { addresses };
                let stack = stacks.stack(innermost.into_iter().chain(rest), false, builder);
                let time = i128::from(count).saturating_mul(period.into());
                let numbers = [builder.metric(count.into()), builder.metric(time)];
                builder.add(thread, stack, &Values::of_types(count, &numbers));
            }
            CpuRecord::Mapping(_) => {}
        }
        if row % 1024 == 0 {
            (options.progress)(offset);
            options.memory.check(offset, builder, stacks.bytes())?;
        }
    }
    Ok(())
}
