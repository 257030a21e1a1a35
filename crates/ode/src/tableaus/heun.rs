//! Heun's method of order two.

use crate::dense::Dense;
use crate::tableau::{Embedded, Tableau};

/// `heun`: the mean of the slopes at both ends. Its error estimate is the difference to Euler's
/// method.
pub const HEUN: Tableau = Tableau {
    name: "heun",
    title: "Heun's method (explicit trapezoid), order 2(1)",
    order: 2,
    c: &[0.0, 1.0],
    a: &[&[], &[1.0]],
    b: &[1.0 / 2.0, 1.0 / 2.0],
    embedded: Some(Embedded { order: 1, error: &[-1.0 / 2.0, 1.0 / 2.0] }),
    dense: Dense::hermite(2),
}
.checked();
