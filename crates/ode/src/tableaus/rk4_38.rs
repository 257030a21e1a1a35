//! Kutta's 3/8 rule.

use crate::dense::Dense;
use crate::tableau::Tableau;

/// `rk4-38`: the 3/8 rule, order four with smaller error constants than
/// [`RK4`](super::RK4). Kutta, *Z. Math. Phys.* 46, 1901. torchdiffeq calls it `rk4`.
pub const RK4_38: Tableau = Tableau {
    name: "rk4-38",
    title: "Kutta's 3/8 rule, order 4",
    order: 4,
    c: &[0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0],
    a: &[&[], &[1.0 / 3.0], &[-1.0 / 3.0, 1.0], &[1.0, -1.0, 1.0]],
    b: &[1.0 / 8.0, 3.0 / 8.0, 3.0 / 8.0, 1.0 / 8.0],
    embedded: None,
    dense: Dense::hermite(4),
}
.checked();
