//! Which sums depend on others, and whether their values fit.

use lawful_law::Invariant;

/// A sum with its position in the list of laws.
#[derive(Debug, Clone)]
pub(super) struct Sum {
    pub(super) law: usize,
    pub(super) weights: Vec<f64>,
    pub(super) value: Option<f64>,
}

/// What becomes of a sum.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Verdict {
    /// It is independent of those before.
    Independent,
    /// It follows from those before.
    Follows,
    /// Its value is another than that which follows from these laws.
    Contradicts(Vec<usize>),
}

/// Share of its length by which a sum must be independent of those before.
const DEPENDENT: f64 = 1e-9;

/// Independent sums.
#[derive(Debug, Default)]
pub(super) struct Sums {
    pub(super) kept: Vec<Sum>,
    /// Orthonormal rows, and how each is made of the kept sums.
    basis: Vec<Vec<f64>>,
    made_of: Vec<Vec<f64>>,
}

impl Sums {
    /// Adds a sum. Those with a stated value come first.
    pub(super) fn add(&mut self, law: usize, invariant: &Invariant, scale: &[f64]) -> Verdict {
        let scaled = |weights: &[f64]| -> Vec<f64> {
            weights.iter().zip(scale).map(|(w, s)| w * s).collect()
        };
        let length = |row: &[f64]| row.iter().map(|x| x * x).sum::<f64>().sqrt();
        let mut row = scaled(&invariant.weights);
        let whole = length(&row);
        // How what is left of the row is made of the kept sums, and of itself.
        let mut made_of = vec![0.0; self.kept.len() + 1];
        made_of[self.kept.len()] = 1.0;
        for _ in 0..2 {
            for (u, parts) in self.basis.iter().zip(&self.made_of) {
                let along: f64 = u.iter().zip(&row).map(|(u, x)| u * x).sum();
                row.iter_mut().zip(u).for_each(|(x, u)| *x -= along * u);
                made_of.iter_mut().zip(parts).for_each(|(sum, part)| *sum -= along * part);
            }
        }
        let left = length(&row);
        let sum = Sum { law, weights: invariant.weights.clone(), value: invariant.value };
        if left > DEPENDENT * whole {
            for x in row.iter_mut().chain(&mut made_of) {
                *x /= left;
            }
            self.basis.push(row);
            self.made_of.push(made_of);
            self.kept.push(sum);
            return Verdict::Independent;
        }
        let Some(value) = sum.value else { return Verdict::Follows };
        // 0 = Σ made_of · sum: the values must do the same.
        let used = |k: usize| {
            let size = length(&scaled(&self.kept[k].weights));
            (made_of[k] * size).abs() > DEPENDENT * whole
        };
        let used: Vec<usize> = (0..self.kept.len()).filter(|&k| used(k)).collect();
        let (mut off, mut size) = (value, value.abs());
        for &k in &used {
            // Those before with a value of their own have none that could contradict.
            let Some(value) = self.kept[k].value else { return Verdict::Follows };
            off += made_of[k] * value;
            size += (made_of[k] * value).abs();
        }
        if off.abs() <= DEPENDENT * size {
            Verdict::Follows
        } else {
            Verdict::Contradicts(used.into_iter().map(|k| self.kept[k].law).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(weights: &[f64], value: Option<f64>) -> Invariant {
        Invariant { weights: weights.to_vec(), value }
    }

    #[test]
    fn dependent_sums_follow_or_contradict_by_name() {
        let scale = [1.0, 100.0, 1e-3];
        let mut sums = Sums::default();
        let mut add = |law: usize, weights: &[f64], value: Option<f64>| {
            sums.add(law, &sum(weights, value), &scale)
        };
        assert_eq!(add(0, &[1.0, 1.0, 0.0], Some(3.0)), Verdict::Independent);
        assert_eq!(add(1, &[2.0, 2.0, 0.0], Some(6.0)), Verdict::Follows);
        assert_eq!(add(2, &[2.0, 2.0, 0.0], Some(7.0)), Verdict::Contradicts(vec![0]));
        assert_eq!(add(3, &[0.0, 1.0, 1.0], Some(5.0)), Verdict::Independent);
        assert_eq!(add(4, &[1.0, 2.0, 1.0], Some(8.0)), Verdict::Follows);
        assert_eq!(add(5, &[1.0, 0.0, -1.0], Some(8.0)), Verdict::Contradicts(vec![0, 3]));
        assert_eq!(add(6, &[1.0, 0.0, -1.0], None), Verdict::Follows);
        assert_eq!(add(7, &[1.0, 0.0, 0.0], None), Verdict::Independent);
        assert_eq!(add(8, &[0.0, 1.0, 0.0], None), Verdict::Follows);
    }
}
