//! The pair of Dormand and Prince.

use crate::dense::Dense;
use crate::tableau::{Embedded, Tableau};

/// `dopri5`: order 5 with an embedded order 4, FSAL. Dormand and Prince, *J. Comput. Appl. Math.* 6,
/// 1980. The dense output of order 4 is the one of Hairer, Nørsett and Wanner, *Solving Ordinary
/// Differential Equations I*, section II.6.
pub const DOPRI5: Tableau = Tableau {
    name: "dopri5",
    title: "Dormand–Prince, order 5(4), first same as last",
    order: 5,
    c: &[0.0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0],
    a: &[
        &[],
        &[1.0 / 5.0],
        &[3.0 / 40.0, 9.0 / 40.0],
        &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
        &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
        &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
        &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
    ],
    b: &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0, 0.0],
    embedded: Some(Embedded {
        order: 4,
        error: &[
            71.0 / 57600.0,
            0.0,
            -71.0 / 16695.0,
            71.0 / 1920.0,
            -17253.0 / 339_200.0,
            22.0 / 525.0,
            -1.0 / 40.0,
        ],
    }),
    dense: Dense {
        order: 4,
        quartic: &[
            -12_715_105_075.0 / 11_282_082_432.0,
            0.0,
            87_487_479_700.0 / 32_700_410_799.0,
            -10_690_763_975.0 / 1_880_347_072.0,
            701_980_252_875.0 / 199_316_789_632.0,
            -1_453_857_185.0 / 822_651_844.0,
            69_997_945.0 / 29_380_423.0,
        ],
    },
}
.checked();
