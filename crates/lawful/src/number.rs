//! Numbers as text: in three digits, or exact.

/// Returns a number in three digits: `1.23e-4`, `0.0123`, `12.3`, `0`.
pub fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return exact(value);
    }
    let scientific = format!("{value:.2e}");
    let exponent = scientific.split('e').next_back().and_then(|text| text.parse::<i32>().ok());
    // Decimals for three digits; for other exponents, scientific notation.
    match exponent {
        Some(2) => format!("{value:.0}"),
        Some(1) => format!("{value:.1}"),
        Some(0) => format!("{value:.2}"),
        Some(-1) => format!("{value:.3}"),
        Some(-2) => format!("{value:.4}"),
        _ => scientific,
    }
}

/// Returns the shortest digits that parse to the same number: `0.1`, `50`, `1e-9`.
pub fn exact(value: f64) -> String {
    let (text, scientific) = (format!("{value:?}"), format!("{value:e}"));
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if value.abs() < 0.01 && scientific.len() < text.len() { scientific } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers_have_three_digits() {
        let cases = [
            (0.0, "0"),
            (-0.012_34, "-0.0123"),
            (0.5, "0.500"),
            (1.0, "1.00"),
            (9.999, "10.0"),
            (99.97, "100"),
            (123.456, "123"),
            (999.7, "1.00e3"),
            (1.224e-5, "1.22e-5"),
            (-2e9, "-2.00e9"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "NaN"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
    }

    #[test]
    fn exact_numbers_read_back_the_same() {
        for value in
            [0.0, 1.0, -50.0, 0.1, 1e-9, 1.0 / 3.0, 1e300, 123_456_789.0, f64::MIN_POSITIVE]
        {
            let back: f64 = exact(value).parse().unwrap();
            assert_eq!(back.to_bits(), value.to_bits(), "{}", exact(value));
        }
        for (value, text) in [
            (0.0, "0"),
            (50.0, "50"),
            (1e4, "10000"),
            (0.25, "0.25"),
            (1e-4, "1e-4"),
            (1e-9, "1e-9"),
        ] {
            assert_eq!(exact(value), text);
        }
    }
}
