//! Growth of types over several snapshots of one process.

use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// A type in all snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// The name of the type.
    pub name: String,
    /// The namespace of the type.
    pub namespace: String,
    /// Objects in each snapshot.
    pub counts: Vec<u64>,
    /// Bytes in each snapshot, in the managed heap and outside it.
    pub bytes: Vec<u64>,
}

impl Series {
    /// Returns the largest number of bytes.
    pub fn peak(&self) -> u64 {
        self.bytes.iter().max().copied().unwrap_or(0)
    }

    /// Returns `true` if the bytes grew in every step.
    pub fn is_steady(&self) -> bool {
        self.bytes.windows(2).all(|step| step[0] < step[1])
    }

    /// Returns the growth of the bytes per snapshot: the slope of the straight line that fits all
    /// of them best (least squares).
    pub fn slope(&self) -> f64 {
        let middle = (self.bytes.len() as f64 - 1.0) / 2.0;
        let mean = self.bytes.iter().map(|bytes| *bytes as f64).sum::<f64>()
            / self.bytes.len().max(1) as f64;
        let steps = self
            .bytes
            .iter()
            .enumerate()
            .map(|(at, bytes)| (at as f64 - middle, *bytes as f64 - mean));
        let (products, squares) = steps
            .fold((0.0, 0.0), |(products, squares), (x, y)| (products + x * y, squares + x * x));
        if squares == 0.0 { 0.0 } else { products / squares }
    }

    /// Returns the bytes in the last snapshot minus those in the first.
    pub fn growth(&self) -> i128 {
        let at = |bytes: Option<&u64>| i128::from(bytes.copied().unwrap_or(0));
        at(self.bytes.last()) - at(self.bytes.first())
    }
}

/// Multiplies the bytes of each snapshot by its factor.
pub fn scale(series: &mut [Series], factors: &[f64]) {
    for series in series {
        for (bytes, factor) in series.bytes.iter_mut().zip(factors) {
            *bytes = (*bytes as f64 * factor).round() as u64;
        }
    }
}

/// Collects the types of one snapshot after the other.
#[derive(Clone, Debug, Default)]
pub struct Growth {
    snapshots: usize,
    series: Vec<Series>,
    index: FxHashMap<(String, String), usize>,
}

impl Growth {
    /// Begins the next snapshot. Types added from now on belong to it.
    pub fn begin_snapshot(&mut self) {
        self.snapshots += 1;
        for series in &mut self.series {
            series.counts.push(0);
            series.bytes.push(0);
        }
    }

    /// Adds objects of a type to the snapshot that was begun last.
    pub fn add(&mut self, name: &str, namespace: &str, count: u64, bytes: u64) {
        let (snapshots, series) = (self.snapshots, &mut self.series);
        let index = *self.index.entry((name.to_owned(), namespace.to_owned())).or_insert_with_key(
            |(name, namespace)| {
                let (name, namespace) = (name.clone(), namespace.clone());
                series.push(Series {
                    name,
                    namespace,
                    counts: vec![0; snapshots],
                    bytes: vec![0; snapshots],
                });
                series.len() - 1
            },
        );
        let series = &mut series[index];
        series.counts.last_mut().into_iter().for_each(|last| *last = last.saturating_add(count));
        series.bytes.last_mut().into_iter().for_each(|last| *last = last.saturating_add(bytes));
    }

    /// Returns the types, sorted by growth, then by size and name, largest first.
    pub fn finish(self) -> Vec<Series> {
        let mut series = self.series;
        series.sort_by(|a, b| {
            let key =
                |series: &Series| Reverse((series.growth(), series.bytes.iter().max().copied()));
            key(a).cmp(&key(b)).then_with(|| (&a.name, &a.namespace).cmp(&(&b.name, &b.namespace)))
        });
        series
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(bytes: &[u64]) -> Series {
        Series {
            name: String::new(),
            namespace: String::new(),
            counts: vec![0; bytes.len()],
            bytes: bytes.to_vec(),
        }
    }

    #[test]
    fn slopes_fit_all_values_and_peaks_are_kept() {
        assert_eq!(series(&[10, 20, 30]).slope(), 10.0);
        assert_eq!(series(&[10, 90, 10]).slope(), 0.0);
        assert_eq!(series(&[10, 90, 10]).peak(), 90);
        assert_eq!(series(&[0, 10, 10, 40]).slope(), 12.0);
        assert_eq!((series(&[7]).slope(), series(&[]).slope()), (0.0, 0.0));
        assert_eq!(
            [&[1, 2, 3][..], &[1, 2, 2], &[3, 2]].map(|bytes| series(bytes).is_steady()),
            [true, false, false]
        );
    }
}
