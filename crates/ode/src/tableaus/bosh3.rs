//! The pair of Bogacki and Shampine.

use crate::dense::Dense;
use crate::tableau::{Embedded, Tableau};

/// `bosh3`: order 3 with an embedded order 2, FSAL. Bogacki and Shampine, *Appl. Math. Lett.* 2,
/// 1989.
pub const BOSH3: Tableau = Tableau {
    name: "bosh3",
    title: "Bogacki–Shampine, order 3(2), first same as last",
    order: 3,
    c: &[0.0, 1.0 / 2.0, 3.0 / 4.0, 1.0],
    a: &[&[], &[1.0 / 2.0], &[0.0, 3.0 / 4.0], &[2.0 / 9.0, 1.0 / 3.0, 4.0 / 9.0]],
    b: &[2.0 / 9.0, 1.0 / 3.0, 4.0 / 9.0, 0.0],
    embedded: Some(Embedded { order: 2, error: &[-5.0 / 72.0, 1.0 / 12.0, 1.0 / 9.0, -1.0 / 8.0] }),
    dense: Dense::hermite(3),
}
.checked();
