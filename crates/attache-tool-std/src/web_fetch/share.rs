//! Divides a budget. Pages that need less than a fair share leave the rest to the others.

/// The share of each need in `budget`.
pub(super) fn share(needs: &[usize], budget: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..needs.len()).collect();
    order.sort_by_key(|index| needs[*index]);
    let mut shares = vec![0; needs.len()];
    let (mut left, mut waiting) = (budget, needs.len());
    for index in order {
        let share = needs[index].min(left / waiting);
        shares[index] = share;
        left -= share;
        waiting -= 1;
    }
    shares
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn those_who_need_little_leave_more_to_others() {
        for (needs, budget, expected) in [
            (&[] as &[usize], 10, &[] as &[usize]),
            (&[5, 3], 10, &[5, 3]),
            (&[100, 2, 100], 12, &[5, 2, 5]),
            (&[100, 100], 11, &[5, 6]),
        ] {
            assert_eq!(share(needs, budget), expected);
        }
    }

    proptest! {
        #[test]
        fn nothing_is_given_twice_or_kept_back(needs in prop::collection::vec(0_usize..100, 1..20), budget in 0_usize..500) {
            let shares = share(&needs, budget);
            let given: usize = shares.iter().sum();
            prop_assert_eq!(given, needs.iter().sum::<usize>().min(budget));
            prop_assert!(shares.iter().zip(&needs).all(|(share, need)| share <= need));
        }
    }
}
