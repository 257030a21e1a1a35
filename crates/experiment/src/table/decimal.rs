//! Decimal numbers as they are written, subtracted before they are rounded, and added without rounding.

/// A number with finitely many decimal digits: `units · 10^(−scale)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Decimal {
    units: i128,
    scale: u32,
}

impl Decimal {
    /// Returns `None` if the text is no number, or has more digits than fit.
    fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let units: i128 = format!("{whole}{fraction}").parse().ok()?;
        let scale = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        match u32::try_from(scale) {
            Ok(scale) => Some(Self { units, scale }),
            Err(_) => Some(Self { units: times_ten_to(units, scale.unsigned_abs())?, scale: 0 }),
        }
    }

    /// The same number with more digits after the point.
    fn at(self, scale: u32) -> Option<i128> {
        times_ten_to(self.units, scale.checked_sub(self.scale)?)
    }
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scale = usize::try_from(self.scale).unwrap_or(usize::MAX);
        let sign = if self.units < 0 { "-" } else { "" };
        let digits = format!("{:0>1$}", self.units.unsigned_abs(), scale.saturating_add(1));
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        let fraction = fraction.trim_end_matches('0');
        let point = if fraction.is_empty() { "" } else { "." };
        write!(out, "{sign}{whole}{point}{fraction}")
    }
}

fn times_ten_to(units: i128, power: u32) -> Option<i128> {
    units.checked_mul(10_i128.checked_pow(power)?)
}

/// Returns `later − earlier`, two numbers as text, rounded once; `None` if one is no number, or they have
/// too many digits together.
pub(crate) fn difference(later: &str, earlier: &str) -> Option<f64> {
    let (later, earlier) = (Decimal::parse(later.trim())?, Decimal::parse(earlier.trim())?);
    let scale = later.scale.max(earlier.scale);
    let units = later.at(scale)?.checked_sub(earlier.at(scale)?)?;
    format!("{units}e-{scale}").parse().ok().filter(|number: &f64| number.is_finite())
}

/// Returns `a + b`, two numbers as text, with all digits; `None` as for [`difference`].
pub(super) fn sum(a: &str, b: &str) -> Option<String> {
    let (a, b) = (Decimal::parse(a.trim())?, Decimal::parse(b.trim())?);
    let scale = a.scale.max(b.scale);
    let units = a.at(scale)?.checked_add(b.at(scale)?)?;
    Some(Decimal { units, scale }.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_texts_are_rounded_once() {
        for (later, earlier, expected) in [
            ("1700000000000000001", "1700000000000000000", 1.0),
            ("1700000000.0001", "1700000000", 1e-4),
            (" 1.7e18 ", "1699999999999999999.5", 0.5),
            ("0.3", "0.1", 0.2),
            ("-.5", "+0.25", -0.75),
            ("1e3", "1E-3", 999.999),
            ("5", "5.0", 0.0),
        ] {
            let found = difference(later, earlier).map(f64::to_bits);
            assert_eq!(found, Some(f64::to_bits(expected)), "{later} - {earlier}");
        }
        for (later, earlier) in
            [("x", "1"), ("1", ""), ("1e300", "0"), ("1e-300", "1e30"), ("1.-5", "0"), ("-", "1")]
        {
            assert_eq!(difference(later, earlier), None, "{later} - {earlier}");
        }
    }
}
