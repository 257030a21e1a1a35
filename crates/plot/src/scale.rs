//! From a value to its place on an axis.

/// Values beyond this are off every scale; it keeps differences of limits finite.
const LARGEST: f64 = 1e300;

/// Limits closer than this share of their size cannot be told apart on an axis.
const RESOLUTION: f64 = 1e-11;

/// How far outside its axis, in axis lengths, a value is told apart from one further out.
const FARTHEST: f64 = 1e6;

/// Spacing of an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Spacing {
    Linear,
    /// Equal ratios take equal lengths; values at or below the lower limit sit on it.
    Log,
    /// Linear between `-linear` and `linear`, logarithmic outside:
    /// `s(v) = sign(v) (1 + log10(|v| / linear))`, and `v / linear` inside.
    SymmetricLog {
        linear: f64,
    },
}

/// An axis: its limits and its spacing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    pub(super) spacing: Spacing,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// Smallest and largest finite value.
pub(super) fn limits(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    values
        .into_iter()
        .filter(|value| value.is_finite())
        .map(|value| value.clamp(-LARGEST, LARGEST))
        .fold(None, |found, value| match found {
            None => Some((value, value)),
            Some((low, high)) => Some((value.min(low), value.max(high))),
        })
}

/// Limits that differ enough to draw an axis between them; 0 to 1 where there are none.
fn apart(limits: Option<(f64, f64)>) -> (f64, f64) {
    let (low, high) = limits.unwrap_or((0.0, 1.0));
    let size = low.abs().max(high.abs());
    if high - low > (RESOLUTION * size).max(1e-290) {
        return (low, high);
    }
    let middle = f64::midpoint(low, high);
    let half = if size < 1e-290 { 1.0 } else { 0.1 * size };
    (middle - half, middle + half)
}

impl Scale {
    /// A linear axis; `room` is added at both ends, as a share of the length between the limits.
    pub(super) fn linear(found: Option<(f64, f64)>, room: f64) -> Self {
        let (low, high) = apart(found);
        let room = room * (high - low);
        Self { spacing: Spacing::Linear, low: low - room, high: high + room }
    }

    /// A logarithmic axis over the positive values, its limits one-digit numbers.
    ///
    /// At most `decades` are shown. The second result says whether any value, a zero say, lies
    /// below the axis and is drawn on its lower limit.
    pub(super) fn log(values: impl IntoIterator<Item = f64> + Clone, decades: i32) -> (Self, bool) {
        let positive = limits(values.clone().into_iter().filter(|&value| value > 0.0));
        let (low, high) = positive.unwrap_or((0.1, 1.0));
        let (least, most) = (low.max(1e-290), high.max(1e-289));
        let floor = most * 10_f64.powi(-decades);
        let below = values.into_iter().any(|value| value.is_finite() && value < least.max(floor));
        // With something to show below it, the smallest positive value keeps clear of the edge.
        let bottom = if below { least / 3.0 } else { least / 1.05 };
        let low = round_down(bottom.max(floor));
        let high = round_up(most * 1.05);
        (Self { spacing: Spacing::Log, low, high }, below)
    }

    /// A symmetric logarithmic axis, linear up to `linear`, that always shows zero.
    pub(super) fn symmetric_log(found: Option<(f64, f64)>, linear: f64) -> Self {
        let spacing = Spacing::SymmetricLog { linear };
        let (low, high) = found.unwrap_or((-linear, linear));
        let room = 0.5 * linear;
        Self { spacing, low: (1.6 * low).min(-room), high: (1.6 * high).max(room) }
    }

    /// Where a value lies: 0 at the lower limit, 1 at the upper one.
    pub(super) fn fraction(&self, value: f64) -> f64 {
        let (place, low, high) = (self.bend(value), self.bend(self.low), self.bend(self.high));
        // Halves, because the difference of two large numbers of opposite sign may be infinite.
        let fraction = (place / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
        fraction.clamp(-FARTHEST, FARTHEST)
    }

    /// The value in units in which the axis is linear.
    fn bend(&self, value: f64) -> f64 {
        match self.spacing {
            Spacing::Linear => value,
            Spacing::Log => value.max(self.low).log10(),
            Spacing::SymmetricLog { linear } => {
                let ratio = value.abs() / linear;
                value.signum() * if ratio <= 1.0 { ratio } else { 1.0 + ratio.log10() }
            }
        }
    }
}

/// The largest whole multiple, up to nine, of a power of ten that is not above `value > 0`.
fn round_down(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    // A value that misses its multiple by rounding only is that multiple.
    power * (value / power * (1.0 + 1e-9)).floor().max(1.0)
}

/// The smallest such multiple that is not below `value > 0`.
fn round_up(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    power * (value / power * (1.0 - 1e-9)).ceil()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_ignore_what_is_not_finite() {
        assert_eq!(limits([f64::NAN, 2.0, f64::INFINITY, -1.0]), Some((-1.0, 2.0)));
        assert_eq!(limits([f64::NAN]), None);
    }

    #[test]
    fn every_axis_has_a_length_and_grows_upwards() {
        let cases = [
            None,
            Some((3.0, 3.0)),
            Some((0.0, 0.0)),
            Some((-1e300, 1e300)),
            Some((0.0, 5e-324)),
            Some((1e-200, 2e-200)),
            Some((1.0, 1.0 + f64::EPSILON)),
        ];
        for case in cases {
            for scale in [
                Scale::linear(case, 0.0),
                Scale::linear(case, 0.06),
                Scale::symmetric_log(case, 1e-3),
            ] {
                let ends = (scale.fraction(scale.low), scale.fraction(scale.high));
                assert!(ends.0.abs() < 1e-9 && (ends.1 - 1.0).abs() < 1e-9, "{case:?} {scale:?}");
                let middle = scale.fraction(f64::midpoint(scale.low, scale.high));
                assert!((0.0..=1.0).contains(&middle), "{case:?} {middle}");
                assert!(scale.fraction(f64::MAX).is_finite());
            }
        }
    }

    #[test]
    fn equal_ratios_are_equally_far_apart_on_a_log_axis() {
        let (scale, below) = Scale::log([1e-6, 1e-3, 1.0], 16);
        assert!(!below);
        let gap = |a: f64, b: f64| scale.fraction(b) - scale.fraction(a);
        assert!((gap(1e-6, 1e-3) - gap(1e-3, 1.0)).abs() < 1e-12);
    }

    #[test]
    fn zeros_sit_on_the_lower_edge_of_a_log_axis_and_are_reported() {
        let (scale, below) = Scale::log([0.0, 1e-4, 1.0], 16);
        assert!(below);
        assert!(scale.fraction(0.0).abs() < 1e-12);
        assert!(scale.fraction(1e-4) > 0.02);
        let (scale, below) = Scale::log([1e-200, 1.0], 16);
        assert!(below && scale.low >= 0.9e-16);
    }
}
