//! Constants of known physics alone: where starts are drawn, and a prior that is as wide.
//!
//! A bad value by hand is often wrong by a power of ten. Starts are therefore drawn over decades: in the raw
//! number of a constant with bounds, which is on the scale of the logarithm of its distance to one, and in the
//! logarithm of the value itself without bounds. The sign of a constant without bounds is the one it starts
//! with; a step of the least squares may change it.

use crate::{LearnedConstant, Random};

/// Precision of the raw number of a constant with bounds: two decades are one standard deviation.
pub(super) const PRECISION: f64 = 0.047;
/// Precision of one without bounds: a hundred times the start is one standard deviation.
const UNBOUNDED: f64 = 1e-4;
/// Standard deviations of drawn raw numbers, which starts use in turn: factors of 3, 20 and 100.
const SPREADS: [f64; 3] = [1.0, 3.0, 4.6];

/// Returns the precision of a constant relative to [`PRECISION`].
pub(super) fn relative(constant: &LearnedConstant) -> f64 {
    if is_bounded(constant) { 1.0 } else { UNBOUNDED / PRECISION }
}

/// Draws the raw number of a constant for start `number`, above 0.
pub(super) fn draw(constant: &LearnedConstant, number: usize, random: &mut Random) -> f64 {
    let drawn = SPREADS[number % SPREADS.len()] * random.normal();
    if is_bounded(constant) || constant.start == 0.0 {
        return drawn;
    }
    // Of the value s + |s| r, a multiple e^drawn of s.
    constant.start.signum() * drawn.exp_m1()
}

fn is_bounded(constant: &LearnedConstant) -> bool {
    constant.min.is_some() || constant.max.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_are_drawn_over_decades_with_the_sign_of_the_first() {
        for (start, min) in [(0.3, Some(0.0)), (0.3, None), (-0.3, None)] {
            let constant = LearnedConstant { name: String::new(), start, min, max: None };
            let mut random = Random::new(1, "draws");
            let draws =
                (1..=300).map(|number| constant.value(draw(&constant, number, &mut random)));
            let factors: Vec<f64> = draws.map(|value| value / start).collect();
            assert!(factors.iter().all(|factor| *factor > 0.0), "{start}");
            let decades = |range: std::ops::Range<f64>| {
                factors.iter().filter(|factor| range.contains(&factor.log10().abs())).count()
            };
            assert!(decades(0.0..0.5) > 60 && decades(1.0..9.0) > 80 && decades(2.0..9.0) > 25);
        }
    }

    #[test]
    fn a_prior_without_bounds_is_wider_in_raw_numbers() {
        let bounded =
            LearnedConstant { name: String::new(), start: 1.0, min: Some(0.0), max: None };
        let free = LearnedConstant { min: None, ..bounded.clone() };
        assert!((relative(&bounded) - 1.0).abs() < 1e-12);
        assert!((PRECISION * relative(&free) - 1e-4).abs() < 1e-12);
    }
}
