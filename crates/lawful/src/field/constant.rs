//! Learned constants of written equations.

/// A learned constant of the equations: its initial value, and bounds that it never crosses.
///
/// θ holds a raw number `r` for it, 0 at the start, that any optimiser may move freely. With the
/// start `s`, the bounds `a` and `b` and `p = (s − a)/(b − a)`, its value is
///
/// | bounds | value |
/// |---|---|
/// | none | `s + ‖s‖ r`, with `‖s‖ = abs(s)`, or 1 for `s = 0` |
/// | `a` below | `a + (s − a) eʳ` |
/// | `b` above | `b − (b − s) e⁻ʳ` |
/// | both | `a + (b − a) p/(p + (1 − p) e⁻ʳ)` |
///
/// so a small step of `r` is a small part of `s`, or of its distance to a bound, in any units.
///
/// ```
/// use lawful::LearnedConstant;
/// let k = LearnedConstant { name: "k".to_owned(), start: 2.0, min: Some(0.0), max: None };
/// assert_eq!(k.value(0.0), 2.0);
/// assert_eq!(k.value(2.0_f64.ln()), 4.0);
/// assert!(k.value(-100.0) > 0.0);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LearnedConstant {
    /// Its name in the equations.
    pub name: String,
    /// Its initial value.
    pub start: f64,
    /// Lower bound.
    pub min: Option<f64>,
    /// Upper bound.
    pub max: Option<f64>,
}

/// Appends values, such as those of learned constants, to each row of `width` states: the rows of laws
/// that are read with [`with_learned_as_variables`](crate::with_learned_as_variables). Replaces the
/// contents of `rows`.
pub fn extend_rows(states: &[f64], width: usize, values: &[f64], rows: &mut Vec<f64>) {
    rows.clear();
    for state in states.chunks_exact(width) {
        rows.extend_from_slice(state);
        rows.extend_from_slice(values);
    }
}

impl LearnedConstant {
    /// Returns whether it starts strictly between its bounds, at a finite distance from them.
    pub fn starts_inside(&self) -> bool {
        let Self { start, min, max, .. } = *self;
        let (above, below) = (min.is_none_or(|min| min < start), max.is_none_or(|max| start < max));
        let slope = self.slope(0.0);
        start.is_finite() && above && below && slope.is_finite() && slope > 0.0
    }

    /// Returns the value at a raw number.
    pub fn value(&self, raw: f64) -> f64 {
        let start = self.start;
        match (self.min, self.max) {
            (None, None) => start + self.size() * raw,
            (Some(min), None) => min + (start - min) * raw.exp(),
            (None, Some(max)) => max - (max - start) * (-raw).exp(),
            (Some(min), Some(max)) => {
                (min + (max - min) * self.share(min, max, raw)).clamp(min, max)
            }
        }
    }

    /// Returns the derivative of [`value`](Self::value).
    pub fn slope(&self, raw: f64) -> f64 {
        let start = self.start;
        match (self.min, self.max) {
            (None, None) => self.size(),
            (Some(min), None) => (start - min) * raw.exp(),
            (None, Some(max)) => (max - start) * (-raw).exp(),
            (Some(min), Some(max)) => {
                let share = self.share(min, max, raw);
                (max - min) * share * (1.0 - share)
            }
        }
    }

    /// Returns the change of the value per raw number without bounds.
    fn size(&self) -> f64 {
        let size = self.start.abs();
        if size > 0.0 { size } else { 1.0 }
    }

    /// Returns the position between `min` and `max`, from 0 to 1.
    fn share(&self, min: f64, max: f64, raw: f64) -> f64 {
        let p = (self.start - min) / (max - min);
        p / (p + (1.0 - p) * (-raw).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constants() -> impl Iterator<Item = LearnedConstant> {
        let bounds = [(None, None), (Some(-1.0), None), (None, Some(9.0)), (Some(-1.0), Some(9.0))];
        let starts = [1.5, 0.0, -0.25, 3e-7];
        bounds.into_iter().flat_map(move |(min, max)| {
            starts.map(|start| LearnedConstant { name: "k".to_owned(), start, min, max })
        })
    }

    #[test]
    fn every_constant_starts_where_it_should_and_rises_with_its_raw_number() {
        for constant in constants() {
            assert!(constant.starts_inside());
            let error = (constant.value(0.0) - constant.start).abs();
            assert!(error < 1e-15, "{constant:?}: {error:e}");
            for raw in [-3.0, -0.1, 0.7, 2.0] {
                let h = 1e-5;
                let difference = (constant.value(raw + h) - constant.value(raw - h)) / (2.0 * h);
                let slope = constant.slope(raw);
                assert!(slope > 0.0, "{constant:?}");
                assert!((difference - slope).abs() <= 1e-8 * slope.max(1.0), "{constant:?}");
            }
        }
    }

    #[test]
    fn no_raw_number_leads_across_a_bound() {
        for constant in constants() {
            for raw in [-1e300, -1e4, -50.0, -30.0, 30.0, 50.0, 1e4, 1e300] {
                let (value, slope) = (constant.value(raw), constant.slope(raw));
                assert!(constant.min.is_none_or(|min| value >= min), "{constant:?} at {raw}");
                assert!(constant.max.is_none_or(|max| value <= max), "{constant:?} at {raw}");
                assert!(slope >= 0.0, "{constant:?} at {raw}: {slope}");
            }
        }
    }

    #[test]
    fn a_start_on_a_bound_is_outside() {
        let constant = |min, max| LearnedConstant { name: String::new(), start: 1.0, min, max };
        assert!(constant(Some(0.0), Some(2.0)).starts_inside());
        assert!(!constant(Some(1.0), None).starts_inside());
        assert!(!constant(None, Some(1.0)).starts_inside());
        assert!(!constant(Some(2.0), Some(0.0)).starts_inside());
        assert!(!constant(Some(f64::NEG_INFINITY), None).starts_inside());
        assert!(!constant(Some(f64::MIN), Some(f64::MAX)).starts_inside());
    }
}
