//! Sums of objects and bytes.

/// Object count and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Number of objects.
    pub count: u64,
    /// Bytes in the managed heap.
    pub shallow_bytes: u64,
    /// Bytes outside the managed heap.
    pub external_bytes: u64,
}

impl Sum {
    /// Adds one object with these bytes.
    #[inline]
    pub fn add(&mut self, shallow_bytes: u64, external_bytes: u64) {
        self.add_sum(&Self { count: 1, shallow_bytes, external_bytes });
    }

    /// Adds another sum.
    #[inline]
    pub fn add_sum(&mut self, other: &Self) {
        self.count = self.count.saturating_add(other.count);
        self.shallow_bytes = self.shallow_bytes.saturating_add(other.shallow_bytes);
        self.external_bytes = self.external_bytes.saturating_add(other.external_bytes);
    }

    /// Returns the bytes inside and outside the managed heap.
    pub fn bytes(&self) -> u64 {
        self.shallow_bytes.saturating_add(self.external_bytes)
    }
}
