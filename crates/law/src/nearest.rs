//! "Did you mean": finds the known word closest to an unknown one.

/// The longest word, in letters, for which distances are computed. Longer words match only if they
/// are equal except for case.
const LONGEST: usize = 64;

/// Returns the candidate closest to `word`, if one is close enough.
///
/// A candidate that differs only in case is always the closest. Otherwise the distance is the
/// number of letters inserted, removed, replaced or swapped with their neighbour (optimal string
/// alignment). It may be at most `(letters + 1) / 3`. Of equally close candidates, the first is
/// returned.
///
/// ```
/// use lawful_law::nearest;
///
/// assert_eq!(nearest("toleranec", ["mu", "tolerance"]), Some("tolerance"));
/// assert_eq!(nearest("e", ["A", "E"]), Some("E"));
/// assert_eq!(nearest("x", ["A", "B"]), None);
/// ```
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = word.to_lowercase();
    let letters: Vec<char> = folded.chars().collect();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let other = candidate.to_lowercase();
        if other == folded {
            return Some(candidate);
        }
        let other: Vec<char> = other.chars().collect();
        let limit = (letters.len() + 1) / 3;
        if letters.len().max(other.len()) > LONGEST || letters.len().abs_diff(other.len()) > limit {
            continue;
        }
        let distance = alignment_distance(&letters, &other);
        if distance <= limit && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Returns the least number of insertions, removals, replacements and swaps of neighbours that turn
/// `a` into `b`.
///
/// `d[i][j]` is the distance between the first `i` letters of `a` and the first `j` of `b`. Three
/// rows of this table are stored.
fn alignment_distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if swapped {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(a: &str, b: &str) -> usize {
        alignment_distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>())
    }

    #[test]
    fn one_edit_of_each_kind_has_distance_one() {
        for (a, b) in [("mass", "mas"), ("mas", "mass"), ("mass", "mast"), ("mass", "amss")] {
            assert_eq!(distance(a, b), 1, "{a} {b}");
        }
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("ca", "abc"), 3);
    }

    #[test]
    fn a_word_that_differs_only_in_case_is_the_nearest() {
        assert_eq!(nearest("Energy", ["energies", "ENERGY", "energy"]), Some("ENERGY"));
    }

    #[test]
    fn far_words_and_single_letters_have_no_neighbour() {
        assert_eq!(nearest("velocity", ["position", "mass"]), None);
        assert_eq!(nearest("y", ["x"]), None);
        assert_eq!(nearest("", ["x"]), None);
        assert_eq!(nearest("k1", ["k2"]), Some("k2"));
    }

    #[test]
    fn a_very_long_word_is_not_compared_letter_by_letter() {
        let long = "a".repeat(60_000);
        let other = "b".repeat(60_000);
        assert_eq!(nearest(&long, [other.as_str()]), None);
    }
}
