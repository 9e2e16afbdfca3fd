//! The smallest and the largest value of a column in a row group.

use super::super::{CellKind, TableCells};
use ::parquet::data_type::ByteArray;
use ::parquet::file::statistics::Statistics;

/// Texts that are longer are not in the statistics: these are read before anything else.
const LONGEST: usize = 64;

/// What is known of the values so far.
#[derive(Default)]
pub(super) struct Summary {
    pub(super) nulls: u64,
    numbers: Option<(i64, i64)>,
    texts: Option<(String, String)>,
}

impl Summary {
    pub(super) fn add_cells(&mut self, cells: &TableCells) {
        self.nulls += cells.present.iter().filter(|present| !**present).count() as u64;
        let booleans = cells.booleans.iter().map(|value| i64::from(*value));
        self.add_numbers(cells.integers.iter().copied().chain(booleans));
    }

    fn add_numbers(&mut self, numbers: impl Iterator<Item = i64>) {
        let (least, most) = self.numbers.unwrap_or((i64::MAX, i64::MIN));
        let (least, most) = numbers
            .fold((least, most), |(least, most), number| (least.min(number), most.max(number)));
        self.numbers = (least <= most).then_some((least, most));
    }

    #[inline]
    pub(super) fn add_text(&mut self, text: &str) {
        match &mut self.texts {
            None => self.texts = Some((text.to_owned(), text.to_owned())),
            Some((least, _)) if text < least.as_str() => text.clone_into(least),
            Some((_, most)) if text > most.as_str() => text.clone_into(most),
            Some(_) => {}
        }
    }

    pub(super) fn statistics(&self, kind: CellKind) -> Statistics {
        let nulls = Some(self.nulls);
        let numbers = self.numbers.unzip();
        match kind {
            CellKind::Integer => Statistics::int64(numbers.0, numbers.1, None, nulls, false),
            CellKind::SmallInteger => {
                let (least, most) = (numbers.0.map(small), numbers.1.map(small));
                Statistics::int32(least, most, None, nulls, false)
            }
            CellKind::Boolean => {
                let (least, most) = (numbers.0.map(|n| n != 0), numbers.1.map(|n| n != 0));
                Statistics::boolean(least, most, None, nulls, false)
            }
            CellKind::Text => {
                let texts = self.texts.as_ref();
                let short = texts.filter(|(least, most)| least.len().max(most.len()) <= LONGEST);
                let bytes = |text: &String| ByteArray::from(text.as_bytes().to_vec());
                let (least, most) = short.map(|(least, most)| (bytes(least), bytes(most))).unzip();
                Statistics::byte_array(least, most, None, nulls, false)
            }
        }
    }
}

/// The number, or the nearest one of 32 bits.
pub(super) fn small(number: i64) -> i32 {
    number.clamp(i32::MIN.into(), i32::MAX.into()) as i32
}
