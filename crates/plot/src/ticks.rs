//! Round numbers along an axis, and how they are written.

use super::scale::{Scale, Spacing};

/// The numbers that stand along an axis.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Ticks {
    /// Where a number stands, and the number as written.
    pub(super) major: Vec<(f64, String)>,
    /// Marks without a number.
    pub(super) minor: Vec<f64>,
    /// What all the written numbers are to be multiplied by, such as `×10⁻⁵`.
    pub(super) factor: Option<String>,
}

/// The digits written along a short logarithmic axis: all, or fewer.
const DIGITS: [&[f64]; 3] =
    [&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], &[1.0, 2.0, 4.0, 6.0, 8.0], &[1.0, 2.0, 5.0]];

/// About `count` ticks for this axis.
pub(super) fn ticks(scale: &Scale, count: usize) -> Ticks {
    let count = count.max(2);
    match scale.spacing {
        Spacing::Linear => linear(scale, count),
        Spacing::Log => log(scale, count),
        Spacing::SymmetricLog { linear } => symmetric(scale, linear, count),
    }
}

fn linear(scale: &Scale, count: usize) -> Ticks {
    let step = round_step((scale.high - scale.low) / count as f64);
    // A tick that misses the limit by rounding only is still on the axis.
    let (first, last) = ((scale.low / step - 1e-9).ceil(), (scale.high / step + 1e-9).floor());
    let values: Vec<f64> = (0..4 * count)
        .map(|index| first + index as f64)
        .take_while(|&multiple| multiple <= last)
        .map(|multiple| multiple * step)
        .collect();
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    let exponent = if largest > 0.0 { decade(largest) } else { 0 };
    // From 0.001 to 99 999 a number is written out.
    let shift = if (-3..5).contains(&exponent) { 0 } else { exponent };
    let decimals = usize::try_from(shift - decade(step)).unwrap_or(0).min(12);
    let unit = 10_f64.powi(shift);
    let write = |value: f64| minus(&format!("{:.decimals$}", value / unit));
    Ticks {
        major: values.iter().map(|&value| (value, write(value))).collect(),
        minor: Vec::new(),
        factor: (shift != 0).then(|| format!("×{}", power_of_ten(shift))),
    }
}

fn log(scale: &Scale, count: usize) -> Ticks {
    let inside = |value: &f64| {
        let fraction = scale.fraction(*value);
        *value >= scale.low * 0.999_999 && (-1e-6..=1.000_001).contains(&fraction)
    };
    let decades: Vec<i32> = (decade(scale.low)..=decade(scale.high)).collect();
    let within = |digits: &[f64]| -> Vec<(f64, i32, f64)> {
        let all = decades.iter().flat_map(|&k| digits.iter().map(move |&d| (d, k)));
        all.map(|(d, k)| (d, k, d * 10_f64.powi(k))).filter(|(_, _, v)| inside(v)).collect()
    };
    let powers = within(&[1.0]);
    if powers.len() < 2 {
        // Less than two powers of ten in sight: other digits are written too, as many as fit.
        let finest = DIGITS.iter().map(|digits| within(digits)).find(|set| set.len() <= count + 1);
        let written = finest.unwrap_or(powers).into_iter();
        let major = written.map(|(digit, k, value)| (value, times_power(digit, k))).collect();
        let minor = within(DIGITS[0]).into_iter().map(|tick| tick.2).collect();
        return Ticks { major, minor, factor: None };
    }
    let every = powers.len().div_ceil(count);
    let major: Vec<_> = powers.iter().rev().step_by(every).collect();
    let minor = if powers.len() <= 5 {
        within(DIGITS[0]).iter().map(|tick| tick.2).collect()
    } else {
        powers.iter().map(|tick| tick.2).collect()
    };
    Ticks {
        major: major.iter().rev().map(|&&(_, k, value)| (value, power_of_ten(k))).collect(),
        minor,
        factor: None,
    }
}

fn symmetric(scale: &Scale, linear: f64, count: usize) -> Ticks {
    let largest = scale.low.abs().max(scale.high.abs());
    let powers: Vec<i32> = (decade(linear)..=decade(largest)).collect();
    let every = (2 * powers.len()).div_ceil(count);
    let mut major = vec![(0.0, "0".to_owned())];
    for &k in powers.iter().rev().step_by(every) {
        let value = 10_f64.powi(k);
        major.push((value, power_of_ten(k)));
        major.push((-value, format!("−{}", power_of_ten(k))));
    }
    major.retain(|(value, _)| (scale.low..=scale.high).contains(value));
    major.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ticks { major, ..Ticks::default() }
}

/// The nearest of 1, 2, 5 times a power of ten that is not below `value`.
fn round_step(value: f64) -> f64 {
    let power = 10_f64.powi(decade(value));
    let ratio = value / power;
    power * [1.0, 2.0, 5.0].into_iter().find(|&digit| ratio <= digit * 1.000_001).unwrap_or(10.0)
}

/// The exponent of the power of ten at or just below a positive value.
#[expect(clippy::cast_possible_truncation, reason = "a double's exponent of ten is below 309")]
fn decade(value: f64) -> i32 {
    (value.log10() + 1e-9).floor() as i32
}

/// `10⁻³`.
fn power_of_ten(exponent: i32) -> String {
    let raise = |digit: char| match digit {
        '-' => '⁻',
        '0' => '⁰',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '4' => '⁴',
        '5' => '⁵',
        '6' => '⁶',
        '7' => '⁷',
        '8' => '⁸',
        _ => '⁹',
    };
    let raised: String = exponent.to_string().chars().map(raise).collect();
    format!("10{raised}")
}

fn times_power(digit: f64, exponent: i32) -> String {
    if (-3..4).contains(&exponent) {
        let decimals = usize::try_from(-exponent).unwrap_or(0);
        format!("{:.decimals$}", digit * 10_f64.powi(exponent))
    } else if digit < 1.5 {
        power_of_ten(exponent)
    } else {
        format!("{digit:.0}×{}", power_of_ten(exponent))
    }
}

/// A number as a reader would write it: three digits, a power of ten if need be.
pub(super) fn short_number(value: f64) -> String {
    if value.abs() <= 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return minus(&value.to_string());
    }
    let exponent = decade(value.abs());
    if (-3..4).contains(&exponent) {
        let decimals = usize::try_from(2 - exponent).unwrap_or(0);
        minus(&format!("{value:.decimals$}"))
    } else {
        // In two steps: a power of ten below 1e-308 would lose its digits.
        let (half, rest) = (exponent / 2, exponent - exponent / 2);
        let digits = value / 10_f64.powi(half) / 10_f64.powi(rest);
        minus(&format!("{digits:.2}×{}", power_of_ten(exponent)))
    }
}

/// The written number with a true minus sign, and no sign on zero.
fn minus(written: &str) -> String {
    match written.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => rest.to_owned(),
        Some(rest) => format!("−{rest}"),
        None => written.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(ticks: &Ticks) -> Vec<&str> {
        ticks.major.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn linear_ticks_are_round_numbers() {
        let ticks = ticks(&Scale::linear(Some((-1.0, 1.0)), 0.0), 5);
        assert_eq!(written(&ticks), ["−1.0", "−0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(ticks.factor, None);
    }

    #[test]
    fn tiny_and_huge_numbers_share_a_factor() {
        let small = ticks(&Scale::linear(Some((-2e-5, 4e-5)), 0.0), 4);
        assert_eq!(small.factor.as_deref(), Some("×10⁻⁵"));
        assert_eq!(written(&small), ["−2", "0", "2", "4"]);
        let large = ticks(&Scale::linear(Some((0.0, 3e250)), 0.0), 3);
        assert_eq!(large.factor.as_deref(), Some("×10²⁵⁰"));
    }

    #[test]
    fn log_ticks_are_powers_of_ten() {
        let (scale, _) = Scale::log([1e-4, 1.0], 16);
        assert_eq!(written(&ticks(&scale, 6)), ["10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "10⁰"]);
        let (narrow, _) = Scale::log([0.21, 0.9], 16);
        assert_eq!(written(&ticks(&narrow, 6)), ["0.2", "0.4", "0.6", "0.8", "1"]);
    }

    #[test]
    fn symmetric_ticks_mirror_each_other() {
        let scale = Scale::symmetric_log(Some((-1e-1, 1e-1)), 1e-3);
        assert_eq!(
            written(&ticks(&scale, 6)),
            ["−10⁻¹", "−10⁻²", "−10⁻³", "0", "10⁻³", "10⁻²", "10⁻¹"]
        );
    }

    #[test]
    fn every_axis_gets_at_least_two_and_not_too_many_ticks() {
        for exponent in (-280..=280).step_by(7) {
            for (low, high) in [(0.0, 1.0), (-3.3, 4.1), (1.0, 1.000_001), (0.7, 0.71)] {
                let unit = 10_f64.powi(exponent);
                let limits = Some((low * unit, high * unit));
                for scale in [Scale::linear(limits, 0.0), Scale::linear(limits, 0.06)] {
                    let found = ticks(&scale, 5).major.len();
                    assert!((2..=7).contains(&found), "{limits:?}: {found}");
                }
                let (scale, _) = Scale::log([low * unit, high * unit], 16);
                let found = ticks(&scale, 5).major.len();
                assert!((2..=7).contains(&found), "log {limits:?}: {found}");
            }
        }
    }

    #[test]
    fn numbers_in_notes_are_short() {
        let cases =
            [(0.0, "0"), (-0.5, "−0.500"), (123_456.0, "1.23×10⁵"), (1e-310, "1.00×10⁻³¹⁰")];
        for (value, text) in cases {
            assert_eq!(short_number(value), text);
        }
    }
}
