//! Work of the pool beside work of the thread that asks for it.

use crate::phases;

/// Runs `there` on a thread of the pool if it has several, and `here` on this thread, which is outside of
/// the pool and may wait for an analysis that another request computes.
pub(crate) fn beside<A: Send, B>(
    there: impl FnOnce() -> A + Send,
    here: impl FnOnce() -> B,
) -> (A, B) {
    let part = phases::part();
    let (mut there, mut here) = (Some(there), Some(here));
    let (mut of_there, mut of_here) = (None, None);
    both(&mut || of_there = there.take().map(|there| part.run(there)), &mut || {
        of_here = here.take().map(|here| here())
    });
    of_there.zip(of_here).expect("both functions have run")
}

fn both(there: &mut (dyn FnMut() + Send), here: &mut dyn FnMut()) {
    if rayon::current_num_threads() == 1 {
        there();
        return here();
    }
    rayon::in_place_scope(|scope| {
        scope.spawn(|_| there());
        here();
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_results_come_back() {
        assert_eq!(beside(|| 1, || beside(|| "two", || 3.0)), (1, ("two", 3.0)));
    }

    #[test]
    fn what_runs_here_is_outside_of_the_pool() {
        let here = || (rayon::current_thread_index(), std::thread::current().id());
        assert_eq!(beside(|| (), here), ((), (None, std::thread::current().id())));
    }
}
