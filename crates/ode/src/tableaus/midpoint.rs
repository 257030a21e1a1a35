//! The explicit midpoint method.

use crate::dense::Dense;
use crate::tableau::{Embedded, Tableau};

/// `midpoint`: the slope half a step ahead. Its error estimate is the difference to Euler's method.
pub const MIDPOINT: Tableau = Tableau {
    name: "midpoint",
    title: "explicit midpoint method, order 2(1)",
    order: 2,
    c: &[0.0, 0.5],
    a: &[&[], &[0.5]],
    b: &[0.0, 1.0],
    embedded: Some(Embedded { order: 1, error: &[-1.0, 1.0] }),
    dense: Dense::hermite(2),
}
.checked();
