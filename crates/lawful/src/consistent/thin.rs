//! Rows of a long trajectory that stand for all of it, and where laws have residuals on them.

use lawful_law::{Law, Reach};

/// Returns at most about `most` rows of `n`, with the first and the last one: runs of `width`
/// neighbours, evenly spaced.
pub(crate) fn rows(n: usize, most: usize, width: usize) -> Vec<usize> {
    let runs = (most / width).max(2);
    if n <= most || n <= runs * width {
        return (0..n).collect();
    }
    let first = |run: usize| run * (n - width) / (runs - 1);
    let mut rows: Vec<usize> = (0..runs).flat_map(|k| first(k)..first(k) + width).collect();
    rows.dedup();
    rows
}

/// Returns the number of neighbours that laws need to have residuals on a thinned trajectory.
pub(crate) fn width<'l>(laws: impl IntoIterator<Item = &'l Law>) -> usize {
    let of = |law: &Law| {
        let reach = law.reach();
        let ends = reach.initial.max(reach.final_).unwrap_or(0);
        if is_transitive(law) { 1 } else { (1 + reach.back + reach.ahead).max(1 + ends) }
    };
    laws.into_iter().map(of).max().unwrap_or(1)
}

/// Returns the positions in `rows`, a selection of `n` rows, at which a law has the residual that it has
/// on all rows, or one that follows from these.
pub(crate) fn points(law: &Law, rows: &[usize], n: usize) -> Vec<usize> {
    let (reach, count) = (law.reach(), rows.len());
    let starts = reach.initial.is_none_or(|ahead| rows.get(ahead) == Some(&ahead));
    let ends = reach
        .final_
        .is_none_or(|back| count.checked_sub(1 + back).is_some_and(|at| rows[at] == n - 1 - back));
    if !starts || !ends {
        return Vec::new();
    }
    let transitive = is_transitive(law);
    let neighbours = |at: usize| rows[at + reach.ahead] - rows[at - reach.back];
    let range = reach.range(count);
    range.filter(|&at| transitive || neighbours(at) == reach.ahead + reach.back).collect()
}

/// Returns whether a law between neighbours follows for rows further apart: `next(E) <= E`, with `>=` or
/// `==` too.
fn is_transitive(law: &Law) -> bool {
    let (Reach { back, ahead, .. }, rates) = (law.reach(), law.uses_rates());
    let conserves = || law.conserved().is_ok_and(|conserved| !conserved.is_zero);
    !rates && back + ahead == 1 && (law.never_rising().is_ok() || conserves())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lawful_law::Words;

    fn law(text: &str) -> Law {
        let vocabulary = Words::new().state(["x", "y"]).check().unwrap();
        Law::parse(text, text, &vocabulary).unwrap().remove(0)
    }

    #[test]
    fn runs_cover_a_trajectory_and_short_ones_stay_whole() {
        assert_eq!(rows(5, 8, 2), [0, 1, 2, 3, 4]);
        assert_eq!(rows(100, 5, 1), [0, 24, 49, 74, 99]);
        assert_eq!(rows(100, 6, 2), [0, 1, 49, 50, 98, 99]);
    }

    #[test]
    fn laws_between_neighbours_stay_where_neighbours_are_or_where_they_follow() {
        let thinned = rows(100, 6, 2);
        for (text, expected) in [
            ("x + y == 1", vec![0, 1, 2, 3, 4, 5]),
            ("next(x) <= x", vec![0, 1, 2, 3, 4]),
            ("next(x + 2*y) == x + 2*y", vec![0, 1, 2, 3, 4]),
            ("next(x) <= x + 0.1", vec![0, 2, 4]),
            ("next(x^2) <= x^2", vec![0, 1, 2, 3, 4]),
            ("previous(x*y) >= x*y", vec![1, 2, 3, 4, 5]),
            ("x*y == initial(x*y)", vec![0, 1, 2, 3, 4, 5]),
            ("next(next(x)) <= 3", vec![]),
        ] {
            assert_eq!(points(&law(text), &thinned, 100), expected, "{text}");
        }
        assert_eq!(width(&[law("next(x) <= x"), law("x <= 1")]), 1);
        assert_eq!(width(&[law("next(x*y) <= x"), law("x <= 1")]), 2);
    }
}
