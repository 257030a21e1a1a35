//! The misfit at one θ, as a strategy takes it.

use std::ops::Range;

use super::mean;
use crate::Relation;

/// The place of one law's residuals in [`MisfitView::residuals`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LawRows {
    /// Whether the law is an equality or an inequality.
    pub relation: Relation,
    /// Index of its first residual.
    pub start: usize,
    /// Number of its residuals: the N of this law.
    pub len: usize,
    /// Number of points of the law in all data. [`MisfitView::points`] are below this number.
    pub points: usize,
}

impl LawRows {
    /// Returns the range of law `k` in a state that has one number for each law and point, law after
    /// law.
    pub fn state_range(laws: &[Self], k: usize) -> Range<usize> {
        let start = Self::state_len(&laws[..k]);
        start..start + laws[k].points
    }

    /// Returns the length of a state that has one number for each law and point.
    pub fn state_len(laws: &[Self]) -> usize {
        laws.iter().map(|law| law.points).sum()
    }
}

/// Computes [`MisfitView::violations`] from residuals: `|c|` of an equality, `max(c + margin, 0)` of an
/// inequality.
///
/// # Panics
/// If there are fewer residuals or violations than rows of the laws.
pub fn fill_violations(laws: &[LawRows], residuals: &[f64], margin: f64, violations: &mut [f64]) {
    for &LawRows { relation, start, len, .. } in laws {
        for (v, &c) in violations[start..][..len].iter_mut().zip(&residuals[start..][..len]) {
            *v = relation.violation(c, margin);
        }
    }
}

/// The misfit at one θ: loss terms of the data and residuals of the laws that are penalised.
#[derive(Debug, Clone, Copy)]
pub struct MisfitView<'a> {
    /// Loss terms whose mean is the fit `l(θ)`, one per measured cell (or one number, the loss).
    pub terms: &'a [f64],
    /// Residuals `c` of all laws: an equality holds where `c = 0`, an inequality where `c ≤ 0`.
    pub residuals: &'a [f64],
    /// Violations `v ≥ 0` in the same order: `|c|` of an equality, `max(c + margin, 0)` of an
    /// inequality. [`fill_violations`] computes them.
    pub violations: &'a [f64],
    /// The point of each residual, in the same order. It is the same number for the same row of the
    /// data in every batch and in every set of segments.
    pub points: &'a [usize],
    /// The place of each law's residuals.
    pub laws: &'a [LawRows],
    /// Margin of inequalities in `violations`, in units of the law.
    pub margin: f64,
}

impl<'a> MisfitView<'a> {
    /// Returns the fit `l(θ)`, equation (1): the mean of the loss terms, 0 without any.
    pub fn fit(&self) -> f64 {
        mean(self.terms.iter().copied())
    }

    /// Returns the violations of law `k`.
    pub fn violations_of(&self, k: usize) -> &'a [f64] {
        let rows = &self.laws[k];
        &self.violations[rows.start..][..rows.len]
    }

    /// Returns the residuals of law `k`.
    pub fn residuals_of(&self, k: usize) -> &'a [f64] {
        let rows = &self.laws[k];
        &self.residuals[rows.start..][..rows.len]
    }

    /// Returns the points of law `k`.
    pub fn points_of(&self, k: usize) -> &'a [usize] {
        let rows = &self.laws[k];
        &self.points[rows.start..][..rows.len]
    }

    /// Returns the derivative of a violation of law `k` with respect to its residual; 0 at the kink,
    /// where the law holds.
    pub fn violation_slope(&self, k: usize, row: usize) -> f64 {
        let rows = &self.laws[k];
        let at = rows.start + row;
        match rows.relation {
            Relation::Equality => Relation::Equality.slope(self.residuals[at], 0.0),
            // The violation includes the margin.
            Relation::AtMost => Relation::AtMost.slope(self.violations[at], 0.0),
        }
    }

    /// Returns the raw total violation: the sum over laws of the mean violation.
    pub fn violation(&self) -> f64 {
        (0..self.laws.len()).map(|k| mean(self.violations_of(k).iter().copied())).sum()
    }

    /// Returns the number of laws with this relation: the paper's `#E` and `#I`.
    pub fn count(&self, relation: Relation) -> usize {
        self.laws.iter().filter(|law| law.relation == relation).count()
    }
}
