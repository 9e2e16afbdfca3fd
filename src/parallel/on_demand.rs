//! Values that are computed when they are first asked for.

use super::{join, lock};
use std::sync::{Mutex, OnceLock};

/// A value that is computed when it is first asked for, and then kept.
///
/// A thread of the pool that waits inside a computation takes up other work, which may ask for the same
/// value: with a `OnceLock`, it would wait for itself. So threads of the pool never wait for a value here.
/// They compute it once more if another thread has not finished, which costs time and memory. Other threads
/// wait for each other: ask for large values on these, if need be with [`OnDemand::get_with`] or
/// `parallel::beside`.
#[derive(Debug)]
pub(crate) struct OnDemand<T> {
    value: OnceLock<T>,
    turn: Mutex<()>,
}

impl<T> OnDemand<T> {
    /// The value, if it was computed before.
    pub(crate) fn get(&self) -> Option<&T> {
        self.value.get()
    }

    /// The value, which `compute` returns if it was not computed before.
    pub(crate) fn get_or_compute(&self, compute: impl FnOnce() -> T) -> &T {
        if let Some(known) = self.get() {
            return known;
        }
        let is_in_pool = rayon::current_thread_index().is_some();
        let _turn = (!is_in_pool).then(|| lock(&self.turn));
        match self.get() {
            Some(known) => known,
            None => {
                let value = compute();
                self.value.get_or_init(|| value)
            }
        }
    }
}

impl<T: Send> OnDemand<T> {
    /// The value, and the result of `other`, which runs on another thread while the value is computed.
    pub(crate) fn get_with<R: Send>(
        &self,
        compute: impl FnOnce() -> T + Send,
        other: impl FnOnce() -> R + Send,
    ) -> (&T, R) {
        let (mut other, mut of_other) = (Some(other), None);
        let value = self.get_or_compute(|| {
            let other = other.take().map(|other| || of_other = Some(other()));
            join(compute, || other.map(|other| other())).0
        });
        let of_other = of_other.or_else(|| other.map(|other| other()));
        (value, of_other.expect("the other function has run"))
    }
}

impl<T: Clone> Clone for OnDemand<T> {
    fn clone(&self) -> Self {
        Self { value: self.value.clone(), turn: Mutex::new(()) }
    }
}

impl<T> Default for OnDemand<T> {
    fn default() -> Self {
        Self { value: OnceLock::new(), turn: Mutex::new(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    /// Asks for a value on four threads at once. Its computation waits for other threads of the pool.
    fn ask(
        value: &OnDemand<usize>,
        ask: impl Fn(&(dyn Fn() -> usize + Sync)) -> usize + Sync,
    ) -> usize {
        let computed = AtomicUsize::new(0);
        let get = || {
            *value.get_or_compute(|| {
                computed.fetch_add(1, Relaxed);
                parallel::map(0..100, |part| (part..part + 2000).map(|at| at % 7).sum::<usize>())
                    .len()
            })
        };
        std::thread::scope(|scope| {
            (0..4).for_each(|_| _ = scope.spawn(|| assert_eq!(ask(&get), 100)));
        });
        computed.into_inner()
    }

    #[test]
    fn a_thread_of_the_pool_that_asks_again_while_it_computes_does_not_wait_for_itself() {
        for _ in 0..50 {
            ask(&OnDemand::default(), |get| parallel::join(get, || ()).0);
        }
    }

    #[test]
    fn the_other_function_runs_whether_the_value_is_known_or_not() {
        let value = OnDemand::default();
        assert_eq!(value.get_with(|| 1, || 2), (&1, 2));
        assert_eq!(value.get_with(|| 3, || 4), (&1, 4));
    }

    #[test]
    fn other_threads_compute_a_value_once() {
        for _ in 0..50 {
            assert_eq!(ask(&OnDemand::default(), |get| get()), 1);
        }
    }
}
