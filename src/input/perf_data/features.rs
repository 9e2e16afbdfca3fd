//! The metadata of a recording.

use super::attributes::Attribute;
use super::words::{U64s, Words};
use crate::error::Result;

/// Information about the machine, the program and the events. Damage in it is ignored: the samples
/// can be read without it.
#[derive(Clone, Debug, Default)]
pub(super) struct Features {
    /// Key and value pairs, named as in `perf report --header`.
    pub(super) metadata: Vec<(&'static str, String)>,
    pub(super) build_ids: Vec<(String, String)>,
    pub(super) events: Vec<Attribute>,
}

const BUILD_ID: u64 = 2;
const COMMAND_LINE: u64 = 11;
const EVENTS: u64 = 12;
const SIMPLEPERF: u64 = 129;

/// The maximum number of words of a command line, of events and of pairs to keep.
const MOST: u32 = 4096;

impl Features {
    pub(super) fn add(&mut self, feature: u64, mut words: Words<'_>) {
        _ = match feature {
            BUILD_ID => self.build_ids(words),
            COMMAND_LINE => self.command_line(words),
            EVENTS => self.events(words),
            SIMPLEPERF => self.pairs(words),
            _ => self.text(feature, &mut words),
        };
    }

    fn text(&mut self, feature: u64, words: &mut Words<'_>) -> Result<()> {
        let key = match feature {
            3 => "hostname",
            4 => "os release",
            5 => "perf version",
            6 => "arch",
            _ => return Ok(()),
        };
        let text = words.counted_text("a feature")?;
        self.metadata.push((key, String::from_utf8_lossy(text).into_owned()));
        Ok(())
    }

    fn command_line(&mut self, mut words: Words<'_>) -> Result<()> {
        let count = words.u32("the words of the command line")?.min(MOST);
        let mut line = Vec::new();
        for _ in 0..count {
            let word = words.counted_text("a word of the command line")?;
            line.push(String::from_utf8_lossy(word).into_owned());
        }
        self.metadata.push(("cmdline", line.join(" ")));
        Ok(())
    }

    fn events(&mut self, mut words: Words<'_>) -> Result<()> {
        let (count, size) =
            (words.u32("the number of events")?, words.u32("the size of an event")?);
        for _ in 0..count.min(MOST) {
            let attribute = words.take(size.into(), "an event")?;
            let mut event = Attribute::read(&mut Words::new(attribute, 0, words.is_big))?;
            let ids = words.u32("the number of ids")?;
            event.name = String::from_utf8_lossy(words.counted_text("a name")?).into_owned();
            let ids = words.take(u64::from(ids).saturating_mul(8), "ids")?;
            event.ids = U64s::of(ids, words.is_big).iter().collect();
            self.events.push(event);
        }
        Ok(())
    }

    /// Reads records with a header, a process and an id in 20 bytes, which its length may follow.
    fn build_ids(&mut self, mut words: Words<'_>) -> Result<()> {
        while !words.cursor.is_empty() {
            words.u32("a type")?;
            let (misc, size) = (words.u16("flags")?, words.u16("a size")?);
            let record = words.take(u64::from(size).saturating_sub(8), "a build id")?;
            self.add_build_id(misc, Words::new(record, 0, words.is_big));
        }
        Ok(())
    }

    /// Adds the file and the build id of a record, if they are whole.
    pub(super) fn add_build_id(&mut self, misc: u16, mut record: Words<'_>) {
        const HAS_SIZE: u16 = 1 << 15;
        let (Ok(_), Ok(id)) = (record.u32(""), record.take(24, "")) else { return };
        let length = if misc & HAS_SIZE != 0 { id.get(20).copied().unwrap_or(20) } else { 20 };
        let id = id.get(..usize::from(length).min(20)).unwrap_or_default();
        let file = String::from_utf8_lossy(record.text()).into_owned();
        self.build_ids.push((file, hexadecimal(id)));
    }

    /// Pairs of texts, each ended by a zero.
    fn pairs(&mut self, words: Words<'_>) -> Result<()> {
        let texts = words.cursor.rest().split(|byte| *byte == 0);
        let texts: Vec<_> = texts.take(MOST as usize).map(String::from_utf8_lossy).collect();
        for pair in texts.chunks_exact(2) {
            let [key, value] = pair else { continue };
            let key = match key.as_ref() {
                "event_type_info" => {
                    self.simpleperf_events(value);
                    continue;
                }
                "simpleperf_version" => "simpleperf version",
                "product_props" => "product",
                "app_package_name" => "app",
                _ => continue,
            };
            self.metadata.push((key, value.clone().into_owned()));
        }
        Ok(())
    }

    /// Lines of a name, a type and a configuration.
    fn simpleperf_events(&mut self, lines: &str) {
        for line in lines.lines().take(MOST as usize) {
            let name = line.split(',').next().unwrap_or_default().to_owned();
            self.events.push(Attribute { name, ..Attribute::default() });
        }
    }
}

/// A build id, without the zeros that fill shorter ones.
pub(super) fn hexadecimal(id: &[u8]) -> String {
    let end = id.iter().rposition(|byte| *byte != 0).map_or(0, |last| last.saturating_add(1));
    // Ids of 16 and of 8 bytes may end with zeros themselves.
    let end = if end > 16 { id.len() } else { end.next_multiple_of(8).min(id.len()) };
    id.get(..end).unwrap_or_default().iter().map(|byte| format!("{byte:02x}")).collect()
}
