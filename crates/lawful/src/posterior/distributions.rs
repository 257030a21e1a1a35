//! The distributions that intervals need: normal, χ² and Student's t.

use std::f64::consts::{PI, SQRT_2};

use crate::Random;

/// Returns the probability of a standard normal number below `x`, with a relative error below 2e-7.
///
/// The complementary error function is the Chebyshev fit of Press et al., Numerical Recipes, 2nd edition, § 6.2.
pub(crate) fn normal_below(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 10] = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let z = x.abs() / SQRT_2;
    let t = 1.0 / (1.0 + 0.5 * z);
    let fit = COEFFICIENTS.iter().rev().fold(0.0, |sum, c| sum * t + c);
    let upper = 0.5 * t * (-z * z + fit).exp();
    if x > 0.0 { 1.0 - upper } else { upper }
}

/// Returns a draw of χ² with `freedom` degrees of freedom, above 0 and not necessarily whole.
///
/// Marsaglia and Tsang 2000; a shape below 1 is drawn one higher and multiplied by a power of a uniform
/// number.
pub(crate) fn draw_chi_square(random: &mut Random, freedom: f64) -> f64 {
    let shape = freedom / 2.0;
    if shape < 1.0 {
        let power = (1.0 - random.uniform()).powf(1.0 / shape);
        return power * draw_chi_square(random, freedom + 2.0);
    }
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = random.normal();
        let v = (1.0 + c * x).powi(3);
        // 1 − u is above 0.
        let u = 1.0 - random.uniform();
        if v > 0.0 && u.ln() < 0.5 * x * x + d - d * v + d * v.ln() {
            return 2.0 * d * v;
        }
    }
}

/// Returns the number below which Student's t with `freedom` degrees of freedom has the probability
/// `p`, between 0.5 and 1: by bisection of the distribution function.
pub(crate) fn t_quantile(p: f64, freedom: f64) -> f64 {
    let mut high = 1.0;
    while t_below(high, freedom) < p && high < 1e12 {
        high *= 2.0;
    }
    let mut low = 0.0;
    while high - low > 1e-12 * high {
        let middle = f64::midpoint(low, high);
        if t_below(middle, freedom) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// Returns the probability of Student's t below `t ≥ 0`: `1 − ½ I_x(ν/2, ½)` with `x = ν/(ν + t²)`.
fn t_below(t: f64, freedom: f64) -> f64 {
    1.0 - 0.5 * incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5)
}

/// Returns the regularised incomplete beta function `I_x(a, b)`, by its continued fraction.
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let front = a * x.ln() + b * (1.0 - x).ln() + log_gamma(a + b) - log_gamma(a) - log_gamma(b);
    // Lentz's method; no denominator is 0 for these arguments, up to rounding.
    let away = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let (mut c, mut d) = (1.0, 1.0 / away(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for m in (1..1000).map(f64::from) {
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = fraction;
        for term in [even, odd] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            fraction *= d * c;
        }
        if (fraction - before).abs() <= 1e-15 * fraction.abs() {
            break;
        }
    }
    front.exp() * fraction / a
}

/// Returns `log Γ(x)` for x > 0 (Lanczos, g = 7).
fn log_gamma(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    if x < 0.5 {
        return (PI / (PI * x).sin()).ln() - log_gamma(1.0 - x);
    }
    let x = x - 1.0;
    let terms = COEFFICIENTS.iter().zip(1_u8..).map(|(c, n)| c / (x + f64::from(n)));
    let sum = 0.999_999_999_999_809_9 + terms.sum::<f64>();
    let t = x + 7.5;
    0.5 * (2.0 * PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the C library's `erfc`, through Python.
    #[test]
    fn the_normal_distribution_is_that_of_the_c_library() {
        for (x, expected) in [
            (-6.0, 9.865_876_450_377e-10),
            (-1.644_853_626_951_472_2, 0.05),
            (-0.3, 0.382_088_577_811_047_4),
            (0.0, 0.5),
            (1.0, 0.841_344_746_068_542_9),
            (2.5, 0.993_790_334_674_223_8),
        ] {
            let found = normal_below(x);
            assert!((found / expected - 1.0).abs() < 3e-7, "{x}: {found} {expected}");
        }
    }

    /// Values by Simpson's rule and bisection, in Python.
    #[test]
    fn quantiles_of_t_are_those_by_integration() {
        for (p, freedom, expected) in [
            (0.95, 1.0, 6.313_751_514_675),
            (0.975, 4.0, 2.776_445_105_197_77),
            (0.95, 19.0, 1.729_132_811_521_38),
            (0.95, 3.7, 2.182_493_803_914_6),
            (0.995, 120.0, 2.617_421_145_106_85),
        ] {
            let found = t_quantile(p, freedom);
            assert!((found / expected - 1.0).abs() < 1e-9, "{p} {freedom}: {found} {expected}");
        }
    }

    #[test]
    fn chi_square_has_its_mean_and_variance() {
        for freedom in [0.7, 1.0, 3.5, 40.0] {
            let mut random = Random::new(4, "chi");
            let n = 100_000;
            let draws: Vec<f64> = (0..n).map(|_| draw_chi_square(&mut random, freedom)).collect();
            let mean = draws.iter().sum::<f64>() / f64::from(n);
            let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n);
            assert!((mean / freedom - 1.0).abs() < 0.02, "{freedom}: {mean}");
            assert!((variance / (2.0 * freedom) - 1.0).abs() < 0.06, "{freedom}: {variance}");
        }
    }
}
