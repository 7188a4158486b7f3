//! Medians and ratios of noisy measurements.

/// The middle value; the upper one of two. Zero when there is none.
pub(super) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}

/// The median of what `value` finds in each round.
pub(super) fn median_of<T>(rounds: &[T], value: impl Fn(&T) -> f64) -> f64 {
    median(rounds.iter().map(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wild_round_does_not_move_the_median() {
        assert_eq!(median([2.0, 100.0, 1.0]), 2.0);
        assert_eq!(median([]), 0.0);
        assert_eq!(median_of(&["aa", "b", "ccc"], |text| text.len() as f64), 2.0);
    }
}
