//! Values that are kept once and referred to by numbers.

use rustc_hash::FxHashMap;
use serde::Serialize;
use std::hash::Hash;

/// Different values in the order in which they came up, which is that of their numbers.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub(crate) struct Distinct<T> {
    pub(crate) all: Vec<T>,
    #[serde(skip)]
    numbers: FxHashMap<T, u32>,
}

impl<T> Default for Distinct<T> {
    fn default() -> Self {
        Self { all: Vec::new(), numbers: FxHashMap::default() }
    }
}

impl<T: Clone + Eq + Hash> Distinct<T> {
    /// The number of a value, which is new if the value is.
    #[inline]
    pub(crate) fn number(&mut self, value: T) -> u32 {
        let all = &mut self.all;
        *self.numbers.entry(value).or_insert_with_key(|value| {
            all.push(value.clone());
            all.len() as u32 - 1
        })
    }
}

impl Distinct<String> {
    /// The number of a text, which is copied if it is new.
    pub(crate) fn text(&mut self, text: &str) -> u32 {
        match self.numbers.get(text) {
            Some(number) => *number,
            None => self.number(text.to_owned()),
        }
    }
}
