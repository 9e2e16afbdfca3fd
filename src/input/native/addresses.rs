//! Frames of which a file has the addresses.

use crate::input::load::ProfileOptions;
use crate::model::names::Names;
use crate::model::profile::{
    Code, CodePlace, FrameId, FrameKind, Mapping, ProfileBuilder, ProfileFrame, StackId,
    library_name,
};
use rustc_hash::FxHashMap;

/// The frames of addresses: functions that the file names, or else the libraries.
pub(in crate::input) struct Addresses {
    mappings: Vec<Mapping>,
    /// The functions of addresses, outermost first.
    names: FxHashMap<u64, Vec<Vec<u8>>>,
    known: FxHashMap<u64, Vec<FrameId>>,
    /// The frames of a stack, outermost first; the buffer is reused.
    stack: Vec<FrameId>,
    keeps_code: bool,
}

impl Addresses {
    /// The frames of addresses in these mappings, which are sorted.
    pub(in crate::input) fn new(
        mappings: Vec<Mapping>,
        options: &ProfileOptions<'_>,
        builder: &mut ProfileBuilder,
    ) -> Self {
        let keeps_code = options.keep_code || options.symbols.is_some();
        if keeps_code {
            *builder.code() = Some(Code { mappings: mappings.clone(), places: Vec::new() });
        }
        let (names, known) = Default::default();
        Self { mappings, names, known, stack: Vec::new(), keeps_code }
    }

    /// Names the functions of an address, outermost first. The first names count.
    pub(in crate::input) fn name(&mut self, address: u64, functions: Vec<Vec<u8>>) {
        self.names.entry(address).or_insert(functions);
    }

    /// Returns the stack of some addresses, innermost first. Callers have return addresses;
    /// `is_call` is whether the innermost address is one, too.
    pub(in crate::input) fn stack(
        &mut self,
        addresses: impl Iterator<Item = u64>,
        is_call: bool,
        builder: &mut ProfileBuilder,
    ) -> StackId {
        let mut stack = std::mem::take(&mut self.stack);
        stack.clear();
        let mut is_call = is_call;
        for address in addresses {
            // A call is before its return address.
            let address = address.saturating_sub(is_call.into());
            is_call = true;
            if !self.known.contains_key(&address) {
                let frames = self.frames(address, builder);
                self.known.insert(address, frames);
            }
            stack.extend(self.known.get(&address).into_iter().flatten().rev());
        }
        stack.reverse();
        let id = builder.push_all(StackId::EMPTY, &stack);
        builder.count_cut();
        self.stack = stack;
        id
    }

    /// The approximate memory in bytes.
    pub(in crate::input) fn bytes(&self) -> u64 {
        (self.known.len() as u64).saturating_add(self.names.len() as u64).saturating_mul(100)
    }

    /// The frames of an address, outermost first.
    fn frames(&mut self, address: u64, builder: &mut ProfileBuilder) -> Vec<FrameId> {
        let after = self.mappings.partition_point(|mapping| mapping.start <= address);
        let row = after
            .checked_sub(1)
            .filter(|row| self.mappings.get(*row).is_some_and(|mapping| address < mapping.limit));
        let path = row.and_then(|row| self.mappings.get(row)).map(|it| it.file.as_str());
        let path = path.filter(|path| !path.is_empty());
        let file = builder.name(path.unwrap_or_default().as_bytes());
        let frame = |function| ProfileFrame { function, file, line: 0, kind: FrameKind::Native };
        // Names are those of addresses as they are in stacks, or of the calls before them.
        let names =
            [address, address.saturating_add(1)].into_iter().find_map(|at| self.names.get(&at));
        let frames: Vec<ProfileFrame> = match (names, path) {
            (Some(names), _) => names.iter().map(|name| frame(builder.name(name))).collect(),
            (None, Some(path)) => vec![frame(builder.name(&library_name(path.as_bytes())))],
            (None, None) => vec![frame(builder.name(format!("{address:#x}").as_bytes()))],
        };
        let lines = names.map_or(0, Vec::len) as u32;
        if !self.keeps_code {
            return frames.into_iter().map(|frame| builder.frame(frame)).collect();
        }
        let frames: Vec<FrameId> =
            frames.into_iter().map(|frame| builder.new_frame(frame)).collect();
        if let (Some(code), Some(&outermost)) = (builder.code(), frames.first()) {
            code.places.resize(outermost.index(), None);
            let place = CodePlace {
                address,
                mapping: row.map(|row| row as u32),
                outermost,
                lines,
                system_name: Names::EMPTY,
                line: 0,
                column: 0,
                start_line: 0,
            };
            code.places.extend(frames.iter().map(|_| Some(place)));
        }
        frames
    }
}
