//! Values that are stored once and referred to by number.

use rustc_hash::FxHashMap;
use serde::Serialize;
use std::hash::Hash;

/// Distinct values in the order of first use, which is that of their numbers.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Distinct<T> {
    pub(crate) all: Vec<T>,
    #[serde(skip)]
    numbers: FxHashMap<T, u32>,
    #[serde(skip)]
    last: u32,
}

impl<T> Default for Distinct<T> {
    fn default() -> Self {
        Self { all: Vec::new(), numbers: FxHashMap::default(), last: 0 }
    }
}

impl<T: Clone + Eq + Hash> Distinct<T> {
    /// Returns the number of a value, and adds the value if it is new.
    #[inline]
    pub(crate) fn number(&mut self, value: T) -> u32 {
        let all = &mut self.all;
        *self.numbers.entry(value).or_insert_with_key(|value| {
            all.push(value.clone());
            all.len() as u32 - 1
        })
    }
}

impl<T: Copy + Eq + Hash> Distinct<T> {
    /// Like [`Distinct::number`], for values of which many are like the one before: those are not
    /// hashed.
    #[inline]
    pub(crate) fn number_again(&mut self, value: T) -> u32 {
        if self.all.get(self.last as usize) != Some(&value) {
            self.last = self.number(value);
        }
        self.last
    }
}

impl Distinct<String> {
    /// Returns the number of a text, and adds a copy if it is new.
    pub(crate) fn text(&mut self, text: &str) -> u32 {
        match self.numbers.get(text) {
            Some(number) => *number,
            None => self.number(text.to_owned()),
        }
    }
}
