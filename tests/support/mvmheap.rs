//! Writes tiny MoarVM heap snapshots, so that a test can say in a few lines what is in the file.

use std::io::Write;

/// One row of collectables: kind, size, type or frame, unmanaged bytes, and its references as
/// (description, target).
#[derive(Clone, Debug, Default)]
pub struct Row {
    pub kind: u16,
    pub size: u16,
    pub tofi: u32,
    pub unmanaged: u64,
    pub references: Vec<(u64, u64)>,
}

pub fn row(kind: u16, size: u16, tofi: u32, unmanaged: u64, references: &[(u64, u64)]) -> Row {
    Row { kind, size, tofi, unmanaged, references: references.to_vec() }
}

impl Row {
    fn bytes(&self) -> u64 {
        u64::from(self.size).saturating_add(self.unmanaged)
    }
}

/// A description of kind "index".
pub fn index(value: u64) -> u64 {
    value << 2 | 1
}

/// A description of kind "string".
pub fn string(value: u64) -> u64 {
    value << 2 | 2
}

/// A snapshot and what it adds to the tables.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    pub time: u64,
    pub rows: Vec<Row>,
    pub strings: Vec<&'static str>,
    /// Representation and name, as string indices.
    pub types: Vec<(u32, u32)>,
    /// Name, cuid, line, file.
    pub frames: Vec<[u32; 4]>,
}

/// The root, two frames of which one hangs under the call stack, and three objects of two types: a
/// small world in which every invariant holds.
pub fn world() -> Snapshot {
    Snapshot {
        time: 2500,
        rows: vec![
            row(9, 0, 0, 0, &[(string(0), 1), (string(1), 2)]),
            row(5, 0, 0, 0, &[(string(0), 3), (index(0), 4)]),
            row(11, 0, 0, 0, &[(index(0), 7)]),
            row(1, 24, 1, 0, &[(0, 5), (string(2), 6)]),
            row(1, 32, 1, 1000, &[]),
            row(2, 24, 0, 0, &[(string(3), 6)]),
            row(3, 168, 0, 0, &[]),
            row(4, 200, 0, 16, &[(string(2), 8)]),
            row(4, 200, 0, 0, &[(index(7), 9), (0, 3)]),
            row(1, 40, 0, 8, &[]),
        ],
        strings: vec![
            "Permanent Roots",
            "Thread Call Stack Roots",
            "<STable>",
            "",
            "P6opaque",
            "Foo",
            "VMString",
            "main",
            "a.nqp",
        ],
        types: vec![(4, 5), (4, 6)],
        frames: vec![[7, 3, 12, 8]],
    }
}

impl Snapshot {
    fn kind(&self, kind: u16) -> u64 {
        self.rows.iter().filter(|row| row.kind == kind).count() as u64
    }

    pub fn references(&self) -> Vec<(u64, u64)> {
        self.rows.iter().flat_map(|row| row.references.iter().copied()).collect()
    }

    fn starts(&self) -> Vec<u64> {
        self.rows
            .iter()
            .scan(0, |next, row| {
                let start = *next;
                *next += row.references.len() as u64;
                Some(start)
            })
            .collect()
    }

    fn snapmeta(&self, gc_seq_num: usize) -> String {
        let bytes = self.rows.iter().fold(0u64, |sum, row| sum.saturating_add(row.bytes()));
        let under_call_stack: u64 = self
            .rows
            .iter()
            .filter(|row| row.kind == 11)
            .map(|row| row.references.len() as u64)
            .sum();
        format!(
            "{{ \"snap_time\": {}, \"gc_seq_num\": {gc_seq_num}, \"total_heap_size\": {bytes}, \"total_objects\": {}, \
             \"total_typeobjects\": {}, \"total_stables\": {}, \"total_frames\": {}, \"total_refs\": {} }}",
            self.time,
            self.kind(1),
            self.kind(2),
            self.kind(3),
            self.kind(4).saturating_sub(under_call_stack),
            self.references().len()
        )
    }

    /// Four lists of two: types by count, frames by count, types by size, frames by size; ids or
    /// scores.
    fn highscores(&self) -> [Vec<u64>; 2] {
        let (mut ids, mut scores) = (Vec::new(), Vec::new());
        for (kind, by_size) in [(1, false), (4, false), (1, true), (4, true)] {
            let mut sums = std::collections::BTreeMap::<u64, u64>::new();
            for row in self.rows.iter().filter(|row| row.kind == kind) {
                let sum = sums.entry(u64::from(row.tofi)).or_default();
                *sum = sum.saturating_add(if by_size { row.bytes() } else { 1 });
            }
            let mut board: Vec<_> = sums.into_iter().collect();
            board.sort_by_key(|(_, score)| std::cmp::Reverse(*score));
            // Padding has score 0 and an arbitrary id.
            board.resize(2, (400, 0));
            ids.extend(board.iter().map(|(id, _)| *id));
            scores.extend(board.iter().map(|(_, score)| *score));
        }
        [ids, scores]
    }
}

/// Writes version 3.
pub struct Writer {
    pub bytes: Vec<u8>,
    inner: Vec<(&'static str, u64, u64)>,
    outer: Vec<(&'static str, u64, u64)>,
    snapshots: usize,
}

pub const FILEMETA: &str = "{ \"subversion\": 1, \"start_time\": 1000, \"pid\": 42, \"highscore_structure\": { \"entry_count\": 2, \
    \"data_order\": [\"types_by_count\", \"frames_by_count\", \"types_by_size\", \"frames_by_size\"] } }";

impl Writer {
    pub fn new() -> Self {
        let mut writer = Self::without_filemeta();
        let start = writer.meta("filemeta", FILEMETA);
        writer.outer.push(("filemeta", start, writer.bytes.len() as u64));
        writer.inner.clear();
        writer
    }

    pub fn without_filemeta() -> Self {
        Self {
            bytes: b"MoarHeapDumpv003".to_vec(),
            inner: Vec::new(),
            outer: Vec::new(),
            snapshots: 0,
        }
    }

    fn name(&mut self, name: &str) -> u64 {
        let start = self.bytes.len() as u64;
        let mut padded = [0; 8];
        padded[..name.len()].copy_from_slice(name.as_bytes());
        self.bytes.extend(padded);
        start
    }

    fn list(&mut self, name: &'static str, start: u64) -> u64 {
        self.inner.push((name, start, self.bytes.len() as u64));
        start
    }

    pub fn meta(&mut self, name: &'static str, json: &str) -> u64 {
        let start = self.name(name);
        self.bytes.extend((json.len() as u64 + 1).to_le_bytes());
        self.bytes.extend(json.as_bytes());
        self.bytes.push(0);
        self.list(name, start)
    }

    /// A column of numbers of `width` bytes.
    pub fn column(
        &mut self,
        name: &'static str,
        width: u16,
        values: impl IntoIterator<Item = u64>,
    ) -> u64 {
        let raw: Vec<u8> = values
            .into_iter()
            .flat_map(|value| value.to_le_bytes()[..usize::from(width)].to_vec())
            .collect();
        let start = self.name(name);
        self.bytes.extend(width.to_le_bytes());
        self.bytes.extend(0u64.to_le_bytes());
        self.frame(&raw);
        self.list(name, start)
    }

    /// A column of zeros, compressed as far as zstd can: blocks of one byte that repeats.
    pub fn zeros(&mut self, name: &'static str, width: u16, values: usize) -> u64 {
        const BLOCK: usize = 128 << 10;
        const REPEATED: u32 = 1 << 1;
        let start = self.name(name);
        self.bytes.extend(width.to_le_bytes());
        self.bytes.extend(0u64.to_le_bytes());
        // The magic, no optional fields, a window of 128 KiB.
        self.bytes.extend([0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3]);
        let mut left = values * usize::from(width);
        loop {
            let size = left.min(BLOCK);
            left -= size;
            let header = u32::from(left == 0) | REPEATED | (size as u32) << 3;
            self.bytes.extend(&header.to_le_bytes()[..3]);
            self.bytes.push(0);
            if left == 0 {
                return self.list(name, start);
            }
        }
    }

    pub fn strings(&mut self, strings: &[&str]) -> u64 {
        let raw: Vec<u8> = strings
            .iter()
            .flat_map(|text| [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat())
            .collect();
        let start = self.name("strings");
        self.bytes.extend(0u64.to_le_bytes());
        self.frame(&raw);
        self.list("strings", start)
    }

    fn frame(&mut self, raw: &[u8]) {
        let mut encoder = zstd::stream::Encoder::new(&mut self.bytes, 9).unwrap();
        encoder.write_all(raw).unwrap();
        encoder.finish().unwrap();
    }

    /// A block that no reader knows, of a layout that cannot be guessed.
    pub fn unknown(&mut self, name: &'static str, payload: &[u8]) -> u64 {
        let start = self.name(name);
        self.bytes.extend(payload);
        self.list(name, start)
    }

    fn toc(&mut self, entries: &[(&'static str, u64, u64)]) -> (u64, u64) {
        let start = self.name("toc");
        self.bytes.extend((entries.len() as u64).to_le_bytes());
        for (name, from, to) in entries {
            self.name(name);
            self.bytes.extend(from.to_le_bytes());
            self.bytes.extend(to.to_le_bytes());
        }
        let end = self.bytes.len() as u64;
        self.bytes.extend(start.to_le_bytes());
        (start, end)
    }

    /// The collectables, the references and the additions to the tables.
    pub fn columns(&mut self, snapshot: &Snapshot) {
        let rows = &snapshot.rows;
        self.column("colkind", 2, rows.iter().map(|row| u64::from(row.kind)));
        self.column("colsize", 2, rows.iter().map(|row| u64::from(row.size)));
        self.column("coltofi", 4, rows.iter().map(|row| u64::from(row.tofi)));
        self.column("colrfcnt", 4, rows.iter().map(|row| row.references.len() as u64));
        self.column("colrfstr", 8, snapshot.starts());
        self.column("colusize", 8, rows.iter().map(|row| row.unmanaged));
        self.column(
            "refdescr",
            8,
            snapshot.references().iter().map(|(description, _)| *description),
        );
        self.column("reftrget", 8, snapshot.references().iter().map(|(_, target)| *target));
        if !snapshot.strings.is_empty() {
            self.strings(&snapshot.strings);
        }
        if !snapshot.types.is_empty() {
            self.column("reprname", 4, snapshot.types.iter().map(|(repr, _)| u64::from(*repr)));
            self.column("typename", 4, snapshot.types.iter().map(|(_, name)| u64::from(*name)));
        }
        if !snapshot.frames.is_empty() {
            for (i, name) in ["sfname", "sfcuid", "sfline", "sffile"].into_iter().enumerate() {
                self.column(name, 4, snapshot.frames.iter().map(|frame| u64::from(frame[i])));
            }
        }
    }

    pub fn highscores(&mut self, snapshot: &Snapshot) {
        let [ids, scores] = snapshot.highscores();
        self.column("topIDs", 8, ids);
        self.column("topscore", 8, scores);
    }

    /// A whole snapshot with both tables of contents.
    pub fn snapshot(mut self, snapshot: &Snapshot) -> Self {
        self.snapshots += 1;
        self.meta("snapmeta", &snapshot.snapmeta(self.snapshots));
        self.columns(snapshot);
        self.highscores(snapshot);
        self.end_group();
        self
    }

    /// The inner table of the blocks since the last one, and an outer one.
    pub fn end_group(&mut self) {
        let inner = std::mem::take(&mut self.inner);
        let (start, end) = self.toc(&inner);
        self.outer.push(("toc", start, end));
        let outer = self.outer.clone();
        self.toc(&outer);
    }

    /// The empty group of an orderly end.
    pub fn close(mut self) -> Vec<u8> {
        self.end_group();
        self.bytes
    }
}

/// The three dialects of version 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Tables after each snapshot, and all of them again at the end.
    A0,
    /// Tables at the end.
    A,
    /// Tables after each snapshot, and empty ones at the end.
    B,
}

/// Writes version 2.
pub fn version_2(dialect: Dialect, snapshots: &[Snapshot]) -> Vec<u8> {
    let mut bytes = b"MoarHeapDumpv002".to_vec();
    let mut known = 0;
    for snapshot in snapshots {
        collectables_2(&mut bytes, snapshot);
        if dialect != Dialect::A {
            let n = if dialect == Dialect::B { known } else { snapshot.strings.len() as u64 };
            tables_2(&mut bytes, dialect, n, std::slice::from_ref(snapshot));
        }
        known += snapshot.strings.len() as u64;
    }
    match dialect {
        Dialect::B => tables_2(&mut bytes, dialect, known, &[]),
        Dialect::A0 | Dialect::A => tables_2(&mut bytes, dialect, known, snapshots),
    }
    for _ in 0..snapshots.len() * 4 + 3 {
        bytes.extend(0u64.to_le_bytes());
    }
    bytes.extend((snapshots.len() as u64).to_le_bytes());
    bytes
}

fn collectables_2(bytes: &mut Vec<u8>, snapshot: &Snapshot) {
    bytes.extend(b"coll");
    bytes.extend((snapshot.rows.len() as u64).to_le_bytes());
    bytes.extend(28u64.to_le_bytes());
    for (row, start) in snapshot.rows.iter().zip(snapshot.starts()) {
        bytes.extend(row.kind.to_le_bytes());
        bytes.extend(row.tofi.to_le_bytes());
        bytes.extend(row.size.to_le_bytes());
        bytes.extend(row.unmanaged.to_le_bytes());
        bytes.extend(if row.references.is_empty() { 0 } else { start }.to_le_bytes());
        bytes.extend((row.references.len() as u32).to_le_bytes());
    }
    bytes.extend(b"refs");
    bytes.extend((snapshot.references().len() as u64).to_le_bytes());
    bytes.extend(17u64.to_le_bytes());
    // Every width occurs, so that the walk over them is tested.
    for (i, (description, target)) in snapshot.references().into_iter().enumerate() {
        let (width, length) = [(b'0', 1), (b'1', 2), (b'3', 4), (b'6', 8)][i % 4];
        bytes.extend([width, (description & 3) as u8]);
        bytes.extend(&(description >> 2).to_le_bytes()[..length]);
        bytes.extend(&target.to_le_bytes()[..length]);
    }
}

fn tables_2(bytes: &mut Vec<u8>, dialect: Dialect, n: u64, snapshots: &[Snapshot]) {
    // Dialect B leaves a neighbour in the upper half of the fields.
    let field =
        |value: u32| u64::from(value) | if dialect == Dialect::B { 0xdead << 32 } else { 0 };
    bytes.extend(b"strs");
    bytes.extend(n.to_le_bytes());
    for text in snapshots.iter().flat_map(|snapshot| &snapshot.strings) {
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text.as_bytes());
    }
    let types: Vec<_> = snapshots.iter().flat_map(|snapshot| snapshot.types.clone()).collect();
    bytes.extend(b"type");
    bytes.extend((types.len() as u64).to_le_bytes());
    bytes.extend(16u64.to_le_bytes());
    bytes.extend(
        types
            .iter()
            .flat_map(|(repr, name)| [field(*repr), field(*name)])
            .flat_map(u64::to_le_bytes),
    );
    let frames: Vec<_> = snapshots.iter().flat_map(|snapshot| snapshot.frames.clone()).collect();
    bytes.extend(b"fram");
    bytes.extend((frames.len() as u64).to_le_bytes());
    bytes.extend(32u64.to_le_bytes());
    bytes.extend(frames.iter().flatten().flat_map(|value| field(*value).to_le_bytes()));
}
