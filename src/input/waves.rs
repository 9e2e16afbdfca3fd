//! Parts of a file that are read side by side, with their results in the order of the file.

use crate::parallel;

/// Parts for each thread that are read before their results are taken.
const PARTS: usize = 4;
/// The largest number of parts that are read before their results are taken, so that memory does not
/// grow with the number of threads.
const MOST: usize = 32;

/// Reads parts with all threads and passes the results on in their order, a few parts at a time, so that
/// results take memory for a short while only. Ends early if `take` returns `false`.
///
/// `take` occupies one thread while the others read the next parts.
pub(super) fn in_waves<P: Sync, R: Send>(
    parts: &[P],
    read: impl Fn(&P) -> R + Sync,
    mut take: impl FnMut(R) -> bool + Send,
) {
    let mut wave: Vec<R> = Vec::new();
    let length = rayon::current_num_threads().saturating_mul(PARTS).clamp(1, MOST);
    for next in parts.chunks(length) {
        let taken = || wave.into_iter().all(&mut take);
        let (goes_on, read) = parallel::join(taken, || parallel::map(next, &read));
        if !goes_on {
            return;
        }
        wave = read;
    }
    wave.into_iter().all(take);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_up_to_the_first_that_ends_them() {
        let parts: Vec<u32> = (0..1000).collect();
        for end in [0, 1, 7, 500, 999, 2000] {
            let mut taken = Vec::new();
            in_waves(
                &parts,
                |part| part * 2,
                |result| {
                    taken.push(result);
                    result != end * 2
                },
            );
            assert_eq!(taken, (0..=end.min(999)).map(|part| part * 2).collect::<Vec<_>>());
        }
    }
}
