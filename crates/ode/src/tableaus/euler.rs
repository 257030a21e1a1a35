//! Euler's method.

use crate::dense::Dense;
use crate::tableau::Tableau;

/// `euler`: `y_{n+1} = y_n + h f(t_n, y_n)`. Euler, *Institutiones calculi integralis*, 1768.
pub const EULER: Tableau = Tableau {
    name: "euler",
    title: "Euler's method, order 1",
    order: 1,
    c: &[0.0],
    a: &[&[]],
    b: &[1.0],
    embedded: None,
    dense: Dense::hermite(1),
}
.checked();
