//! Values by the number of a type of events, which is looked up for each event.

use rustc_hash::FxHashMap;

/// Numbers below this one have a place in a list. Recordings have some hundred types.
const SMALL: u64 = 4096;

/// A value for each type of events that was met.
pub(super) struct ByType<T> {
    small: Vec<Option<T>>,
    large: FxHashMap<u64, T>,
}

impl<T> Default for ByType<T> {
    fn default() -> Self {
        Self { small: Vec::new(), large: FxHashMap::default() }
    }
}

impl<T> ByType<T> {
    /// The value of a type, which is made for its first event.
    #[inline]
    pub(super) fn of(&mut self, type_id: u64, make: impl FnOnce() -> T) -> &mut T {
        if type_id >= SMALL {
            return self.large.entry(type_id).or_insert_with(make);
        }
        let at = type_id as usize;
        if at >= self.small.len() {
            self.small.resize_with(at.saturating_add(1), || None);
        }
        match self.small.get_mut(at) {
            Some(place) => place.get_or_insert_with(make),
            // Never happens, because the list is long enough.
            None => self.large.entry(type_id).or_insert_with(make),
        }
    }

    /// All types with their values.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (u64, &mut T)> {
        let small = (0..)
            .zip(&mut self.small)
            .filter_map(|(type_id, value)| Some((type_id, value.as_mut()?)));
        small.chain(self.large.iter_mut().map(|(type_id, value)| (*type_id, value)))
    }

    /// All types with their values.
    pub(super) fn into_iter(self) -> impl Iterator<Item = (u64, T)> {
        let small = (0..).zip(self.small).filter_map(|(type_id, value)| Some((type_id, value?)));
        small.chain(self.large)
    }
}
