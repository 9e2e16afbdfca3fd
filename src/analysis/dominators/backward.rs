//! Findings of the search besides its tree.

/// References from larger numbers to smaller ones, in the order of the sources, in blocks, so that
/// adding one never copies the others.
///
/// A source comes once, before its targets. Sources rise, and targets are below their source: what
/// is above the last source is the next one. So most references take 4 bytes.
#[derive(Default)]
pub(super) struct Backward {
    blocks: Vec<Vec<u32>>,
    source: u32,
    references: usize,
}

impl Backward {
    /// Numbers in a block: 4 MiB of them.
    const BLOCK: usize = 1 << 20;

    /// Adds a reference. The source is not below the one before, and above the target.
    #[inline]
    pub(super) fn push(&mut self, target: u32, source: u32) {
        if self.source != source {
            self.source = source;
            self.push_number(source);
        }
        self.references += 1;
        self.push_number(target);
    }

    #[inline]
    fn push_number(&mut self, number: u32) {
        match self.blocks.last_mut() {
            Some(block) if block.len() < Self::BLOCK => block.push(number),
            _ => self.push_block(number),
        }
    }

    #[cold]
    fn push_block(&mut self, number: u32) {
        let mut block = Vec::with_capacity(Self::BLOCK);
        block.push(number);
        self.blocks.push(block);
    }

    /// The number of references.
    pub(super) fn len(&self) -> usize {
        self.references
    }

    /// Targets and sources.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let mut source = 0;
        self.blocks.iter().flatten().filter_map(move |&number| {
            if number > source {
                source = number;
                return None;
            }
            Some((number, source))
        })
    }
}
