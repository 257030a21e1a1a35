//! Rate schedules: the learning rate over the iterations of a run.

use std::f64::consts::PI;

/// How the learning rate falls after warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RateDecay {
    /// The same rate throughout.
    #[default]
    Constant,
    /// Half a cosine wave down to `last`: `last + (1 − last) (1 + cos πx)/2`, with x from 0 at the
    /// end of warm-up to 1 at the planned end (Loshchilov and Hutter, arXiv 1608.03983, without
    /// restarts).
    Cosine,
    /// A constant factor per iteration, down to `last`: `last^x`, with x as above.
    Exponential,
}

/// A factor for the learning rate at each iteration; in warm-up it is `(k + 1)/(warm_up + 1)` at
/// iteration k.
///
/// | setting | default | range | purpose |
/// |---|---|---|---|
/// | `decay` | constant | | what happens after warm-up |
/// | `last` | 0.01 | (0, 1] | the factor at the end of cosine and exponential |
/// | `warm_up` | 0 | iterations | linear rise at the start |
/// | `iterations` | – | ≥ 1 | the planned length; beyond it the last value holds |
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// What happens after warm-up.
    pub decay: RateDecay,
    /// The factor at the end of the planned iterations.
    pub last: f64,
    /// Iterations over which the rate rises linearly to its full value.
    pub warm_up: usize,
    /// Planned number of iterations.
    pub iterations: usize,
}

impl Schedule {
    /// The words of `schedule` in an experiment file. `warm-up` is a linear rise over the first
    /// tenth of the iterations, then constant.
    pub const NAMES: [&'static str; 4] = ["constant", "cosine", "exponential", "warm-up"];

    /// The default value of `last`.
    pub const LAST: f64 = 0.01;

    /// The same rate throughout.
    pub fn constant() -> Self {
        Self { decay: RateDecay::Constant, last: Self::LAST, warm_up: 0, iterations: 1 }
    }

    /// The schedule of that name for a run of this many iterations.
    pub fn from_name(name: &str, iterations: usize) -> Option<Self> {
        let of = |decay, warm_up| Self { decay, last: Self::LAST, warm_up, iterations };
        match name {
            "constant" => Some(of(RateDecay::Constant, 0)),
            "cosine" => Some(of(RateDecay::Cosine, 0)),
            "exponential" => Some(of(RateDecay::Exponential, 0)),
            "warm-up" => Some(of(RateDecay::Constant, iterations.div_ceil(10))),
            _ => None,
        }
    }

    /// Returns the factor at an iteration, counted from 0.
    pub fn factor(&self, iteration: usize) -> f64 {
        if iteration < self.warm_up {
            return (iteration + 1) as f64 / (self.warm_up + 1) as f64;
        }
        let span = self.iterations.saturating_sub(self.warm_up).max(1);
        // 0 at the end of warm-up, 1 from the planned end on.
        let x = ((iteration - self.warm_up) as f64 / span as f64).min(1.0);
        match self.decay {
            RateDecay::Constant => 1.0,
            RateDecay::Cosine => self.last + (1.0 - self.last) * 0.5 * (1.0 + (PI * x).cos()),
            RateDecay::Exponential => self.last.powf(x),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schedule_stays_in_range_and_holds_its_last_value() {
        for name in Schedule::NAMES {
            let schedule = Schedule::from_name(name, 100).unwrap();
            for iteration in 0..300 {
                let factor = schedule.factor(iteration);
                assert!(factor > 0.0 && factor <= 1.0, "{name} at {iteration}: {factor}");
                if iteration >= 100 {
                    assert_eq!(factor.to_bits(), schedule.factor(100).to_bits(), "{name}");
                }
            }
        }
        assert_eq!(Schedule::from_name("linear", 10), None);
    }

    #[test]
    fn values_are_those_of_the_formulas() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-14, "{a} is not {b}");
        let cosine = Schedule::from_name("cosine", 100).unwrap();
        close(cosine.factor(0), 1.0);
        close(cosine.factor(50), 0.505);
        close(cosine.factor(100), 0.01);
        let exponential = Schedule::from_name("exponential", 100).unwrap();
        close(exponential.factor(0), 1.0);
        close(exponential.factor(50), 0.1);
        let warm_up = Schedule::from_name("warm-up", 90).unwrap();
        close(warm_up.factor(0), 0.1);
        close(warm_up.factor(8), 0.9);
        close(warm_up.factor(9), 1.0);
        let both = Schedule { warm_up: 10, ..cosine };
        close(both.factor(10), 1.0);
        close(both.factor(55), 0.505);
    }
}
