//! Small drawings of series.

/// Draws a bar for each value, or for the largest of each run of values if there are too many. Bars
/// range from the smallest value to the largest, so that small changes of large numbers are
/// visible.
pub(crate) fn spark(values: &[u64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    const WIDEST: usize = 40;
    let least = values.iter().min().copied().unwrap_or(0);
    let range = values.iter().max().copied().unwrap_or(0) - least;
    let run = values.len().div_ceil(WIDEST).max(1);
    let bar = |value: u64| match range {
        0 => BARS[3],
        _ => BARS[(u128::from(value - least) * 7).div_ceil(u128::from(range)) as usize],
    };
    values.chunks(run).map(|chunk| bar(chunk.iter().max().copied().unwrap_or(0))).collect()
}

#[cfg(test)]
mod tests {
    use super::spark;

    #[test]
    fn sparks_show_a_shape() {
        assert_eq!(spark(&[0, 1, 4, 8]), "▁▂▅█");
        assert_eq!(spark(&[1_000_000, 1_000_001, 1_000_004, 1_000_008]), "▁▂▅█");
        assert_eq!(spark(&[5, 5]), "▄▄");
        assert_eq!(spark(&[0, 0]), "▄▄");
        assert_eq!(spark(&vec![1; 100]).chars().count(), 34);
        assert_eq!(spark(&[u64::MAX, 0]), "█▁");
    }
}
