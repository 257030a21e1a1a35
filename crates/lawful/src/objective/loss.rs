//! The loss of one measured cell.

/// The loss of one cell as a function of its error `e = ŷ − y`; the fit is the mean over all
/// measured cells, equation (1) of the paper for [`Loss::Mse`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Loss {
    /// `e²`: the paper's, the default.
    #[default]
    Mse,
    /// `|e|`, with slope 0 at 0.
    Mae,
    /// `e²/2` up to `|e| = delta`, then `delta (|e| − delta/2)`: quadratic for small errors, linear
    /// for outliers.
    Huber {
        /// Where the parabola becomes a line; positive, in units of the data.
        delta: f64,
    },
}

impl Loss {
    /// The words of `loss` in an experiment file.
    pub const NAMES: [&'static str; 3] = ["mse", "mae", "huber"];

    /// Returns the word of this loss in an experiment file.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Mse => Self::NAMES[0],
            Self::Mae => Self::NAMES[1],
            Self::Huber { .. } => Self::NAMES[2],
        }
    }

    /// Returns the loss of an error.
    #[inline]
    pub fn term(&self, error: f64) -> f64 {
        match *self {
            Self::Mse => error * error,
            Self::Mae => error.abs(),
            Self::Huber { delta } if error.abs() <= delta => 0.5 * error * error,
            Self::Huber { delta } => delta * (error.abs() - 0.5 * delta),
        }
    }

    /// Returns the derivative of [`term`](Self::term).
    #[inline]
    pub fn slope(&self, error: f64) -> f64 {
        match *self {
            Self::Mse => 2.0 * error,
            Self::Mae if error == 0.0 => 0.0,
            Self::Mae => error.signum(),
            Self::Huber { delta } => error.clamp(-delta, delta),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slope_matches_central_differences_for_every_loss() {
        for loss in [Loss::Mse, Loss::Mae, Loss::Huber { delta: 0.5 }] {
            for error in [-3.0, -0.51, -0.49, -0.1, 0.2, 0.49, 0.6, 2.0] {
                let h = 1e-6;
                let difference = (loss.term(error + h) - loss.term(error - h)) / (2.0 * h);
                assert!((loss.slope(error) - difference).abs() < 1e-8, "{loss:?} at {error}");
            }
            assert!(loss.slope(0.0).abs() < f64::MIN_POSITIVE);
        }
    }
}
