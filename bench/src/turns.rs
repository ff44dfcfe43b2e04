//! The order of turns.
//!
//! Owns the order of contenders within each round, and nothing else.

/// The order of turns in a round: a row of a Williams square.
///
/// Over a full square everyone comes first equally often, and everyone follows
/// each other equally often. A plain rotation would give each the same two
/// neighbours throughout, and with them what those leave behind: bwrap, say,
/// leaves a network namespace that the kernel takes down in the background.
pub(crate) fn turn_order(round: usize, lanes: usize) -> Vec<usize> {
    let zigzag = (0..lanes).map(|place| match place % 2 {
        1 => place.div_ceil(2),
        _ => (lanes - place / 2) % lanes,
    });
    let shift = |lane: usize| (lane + round) % lanes;
    let mut order: Vec<usize> = zigzag.map(shift).collect();
    // With an odd number the square is balanced only together with its mirror.
    if lanes % 2 == 1 && (round / lanes) % 2 == 1 {
        order.reverse();
    }
    order
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// How often each turn directly follows each other, over a full square.
    fn follows(lanes: usize) -> BTreeMap<(usize, usize), usize> {
        let mut seen = BTreeMap::new();
        for round in 0..lanes * 2 {
            for pair in turn_order(round, lanes).windows(2) {
                *seen.entry((pair[0], pair[1])).or_default() += 1;
            }
        }
        seen
    }

    #[test]
    fn everyone_follows_everyone_equally_often() {
        for lanes in 2..9 {
            let seen = follows(lanes);
            assert_eq!(seen.len(), lanes * (lanes - 1));
            assert!(seen.values().all(|times| *times == 2), "{lanes}: {seen:?}");
        }
    }

    #[test]
    fn everyone_comes_first_equally_often() {
        for lanes in 1..9 {
            let mut first = vec![0; lanes];
            (0..lanes * 2).for_each(|round| first[turn_order(round, lanes)[0]] += 1);
            assert!(first.iter().all(|times| *times == 2), "{lanes}: {first:?}");
        }
        assert!(turn_order(5, 0).is_empty());
    }
}
