//! Learned constants as a regression reports them: estimates, standard errors, correlations.

use super::Model;

/// A learned constant with its standard error.
#[derive(Debug, Clone, PartialEq)]
pub struct ConstantEstimate {
    /// Its name.
    pub name: String,
    /// Its initial value.
    pub start: f64,
    /// Its learned value.
    pub value: f64,
    /// The standard error, in the same units; `None` without a posterior.
    pub standard_error: Option<f64>,
}

/// All learned constants.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Estimates {
    /// The constants, in the order of θ.
    pub constants: Vec<ConstantEstimate>,
    /// Their correlations, row after row; empty without a posterior.
    pub correlations: Vec<f64>,
}

impl Model {
    /// Returns the learned constants. With a posterior they have standard errors and correlations: by the
    /// curvature at each kept minimum and the spread between the minima, in the data's units by the slope of
    /// each constant's value (the delta method).
    pub fn estimates(&self) -> Estimates {
        let learned = self.description.field.learned();
        let first = self.field_len - learned.len();
        let count = learned.len();
        let moments = self.posterior().filter(|_| count > 0).map(|posterior| {
            posterior.moments(&|theta| {
                let raw = &theta[first..self.field_len];
                let values = learned.iter().zip(raw).map(|(constant, &raw)| constant.value(raw));
                let gradients = learned.iter().zip(raw).enumerate().map(|(k, (constant, &raw))| {
                    let mut gradient = vec![0.0; theta.len()];
                    gradient[first + k] = constant.slope(raw);
                    gradient
                });
                (values.collect(), gradients.collect())
            })
        });
        let error = |k: usize| moments.as_ref().map(|(_, moments)| moments[k * count + k].sqrt());
        let constants = self.constants().into_iter().enumerate();
        let constants = constants.map(|(k, (name, start, value))| ConstantEstimate {
            name,
            start,
            value,
            standard_error: error(k),
        });
        let correlations = moments.as_ref().map_or_else(Vec::new, |(_, covariance)| {
            let deviation = |k: usize| covariance[k * count + k].sqrt();
            let pairs = (0..count).flat_map(|i| (0..count).map(move |j| (i, j)));
            let share = |(i, j)| match deviation(i) * deviation(j) {
                _ if i == j => 1.0,
                product if product > 0.0 => covariance[i * count + j] / product,
                // A constant without spread.
                _ => 0.0,
            };
            pairs.map(share).collect()
        });
        Estimates { constants: constants.collect(), correlations }
    }
}

impl Estimates {
    /// Returns each pair of constants, by position, with its correlation.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        let count = self.constants.len();
        let pairs = (0..count).flat_map(move |i| (0..i).map(move |j| (j, i)));
        let known = pairs.filter(|_| !self.correlations.is_empty());
        known.map(move |(i, j)| (i, j, self.correlations[i * count + j]))
    }
}
