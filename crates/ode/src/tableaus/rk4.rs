//! The classical Runge–Kutta method.

use crate::dense::Dense;
use crate::tableau::Tableau;

/// `rk4`: the classical method of order four. Kutta, *Z. Math. Phys.* 46, 1901.
pub const RK4: Tableau = Tableau {
    name: "rk4",
    title: "classical Runge–Kutta method, order 4",
    order: 4,
    c: &[0.0, 1.0 / 2.0, 1.0 / 2.0, 1.0],
    a: &[&[], &[1.0 / 2.0], &[0.0, 1.0 / 2.0], &[0.0, 0.0, 1.0]],
    b: &[1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0],
    embedded: None,
    dense: Dense::hermite(4),
}
.checked();
