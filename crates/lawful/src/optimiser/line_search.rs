//! A line search for the strong Wolfe conditions.
//!
//! The strong Wolfe conditions, with `f(α)` the objective along the direction and `g = f′`:
//!
//! ```text
//! f(α) ≤ f(0) + c₁ α g(0)        |g(α)| ≤ c₂ |g(0)|
//! ```
//!
//! found by the safeguarded cubic and quadratic interpolation of Moré and Thuente (ACM TOMS 20, 1994,
//! 286–307). The caller evaluates each trial and passes the result to the search, which returns the
//! next trial; a checkpoint can be taken between any two trials.

/// Sufficient decrease, c₁.
const DECREASE: f64 = 1e-4;
/// Curvature condition, c₂.
const CURVATURE: f64 = 0.9;
/// Trials after which the search fails.
const MOST_TRIALS: f64 = 20.0;
/// An interval of uncertainty this narrow, relative to its end, is one point.
const NARROWEST: f64 = 1e-14;
/// Longest step.
const LONGEST: f64 = 1e10;
/// Before there is a bracket, the next trial extends the last step by at least and at most these
/// factors.
const REACH: (f64, f64) = (1.1, 4.0);

/// A point on the line: step, value, slope.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    step: f64,
    value: f64,
    slope: f64,
}

/// The result of a trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Answer {
    /// Evaluate this step next.
    Try(f64),
    /// The trial satisfies both conditions.
    Done,
    /// No step was found: rounding errors, or too many trials.
    Failed,
}

/// The state of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LineSearch {
    /// The start.
    value: f64,
    slope: f64,
    /// The best point so far, and the other end of the interval.
    best: Point,
    other: Point,
    /// Whether a minimum is known to lie between the two.
    bracketed: bool,
    /// Until a point has sufficient decrease and a rising slope, the search works on
    /// `f(α) − c₁ α g(0)`.
    first_stage: bool,
    /// The width of the interval, now and two trials ago.
    width: f64,
    width_before: f64,
    /// The current trial, and the longest step that may be tried.
    trial: f64,
    longest: f64,
    trials: f64,
}

impl LineSearch {
    /// Length of [`numbers`](Self::numbers).
    pub(super) const NUMBERS: usize = 15;

    /// Starts a search from a point with this value and this slope, which is below 0; the first trial
    /// is `step`.
    pub(super) fn new(value: f64, slope: f64, step: f64) -> Self {
        let start = Point { step: 0.0, value, slope };
        Self {
            value,
            slope,
            best: start,
            other: start,
            bracketed: false,
            first_stage: true,
            width: LONGEST,
            width_before: 2.0 * LONGEST,
            trial: step,
            longest: LONGEST,
            trials: 0.0,
        }
    }

    /// The current trial.
    #[cfg(test)]
    pub(super) fn trial(&self) -> f64 {
        self.trial
    }

    /// Takes the value and the slope at the trial. Returns what to do next.
    pub(super) fn judge(&mut self, value: f64, slope: f64) -> Answer {
        self.trials += 1.0;
        let trial = Point { step: self.trial, value, slope };
        let wanted = DECREASE * self.slope;
        let enough = self.value + trial.step * wanted;
        if value <= enough && slope.abs() <= CURVATURE * self.slope.abs() {
            return Answer::Done;
        }
        let (low, high) = self.interval();
        let stuck = self.bracketed
            && (trial.step <= low || trial.step >= high || high - low <= NARROWEST * high);
        let at_the_end = trial.step >= self.longest && value <= enough && slope <= wanted;
        if stuck || at_the_end || self.trials >= MOST_TRIALS {
            return Answer::Failed;
        }
        if self.first_stage && value <= enough && slope >= 0.0 {
            self.first_stage = false;
        }
        // Lower, but not sufficiently: the interval shrinks faster on f(α) − c₁ α g(0).
        if self.first_stage && value <= self.best.value && value > enough {
            let less =
                |p: Point| Point { value: p.value - p.step * wanted, slope: p.slope - wanted, ..p };
            let more =
                |p: Point| Point { value: p.value + p.step * wanted, slope: p.slope + wanted, ..p };
            (self.best, self.other) = (less(self.best), less(self.other));
            self.shrink(less(trial));
            (self.best, self.other) = (more(self.best), more(self.other));
        } else {
            self.shrink(trial);
        }
        if self.bracketed {
            let width = (self.other.step - self.best.step).abs();
            if width >= 0.66 * self.width_before {
                self.trial = self.best.step + 0.5 * (self.other.step - self.best.step);
            }
            (self.width_before, self.width) = (self.width, width);
        }
        self.trial = self.trial.clamp(0.0, self.longest);
        let (low, high) = self.interval();
        if self.bracketed
            && (self.trial <= low || self.trial >= high || high - low <= NARROWEST * high)
        {
            // The interval is empty: return to the best point.
            self.trial = self.best.step;
        }
        if self.trial > 0.0 { Answer::Try(self.trial) } else { Answer::Failed }
    }

    /// Shortens a trial that could not be evaluated; no later trial is as long.
    pub(super) fn shorten(&mut self) -> Answer {
        self.trials += 1.0;
        self.longest = self.best.step + 0.5 * (self.trial - self.best.step);
        self.trial = self.best.step + 0.25 * (self.trial - self.best.step);
        let lost = self.trials >= MOST_TRIALS || self.trial <= self.best.step;
        if lost { Answer::Failed } else { Answer::Try(self.trial) }
    }

    /// Returns the interval of the next trial.
    fn interval(&self) -> (f64, f64) {
        let (a, b) = (self.best.step, self.other.step);
        if self.bracketed { (a.min(b), a.max(b)) } else { (0.0, self.longest) }
    }

    /// Updates the interval with the trial and chooses the next one: the four cases of Moré and
    /// Thuente.
    fn shrink(&mut self, trial: Point) {
        let Self { best, other, .. } = *self;
        let turned = trial.slope * best.slope.signum() < 0.0;
        let cubic = Cubic::through(best, trial);
        let next = if trial.value > best.value {
            // 1: higher, so a minimum lies before it.
            self.bracketed = true;
            let cubic = cubic.minimum();
            let quadratic = best.step
                + best.slope
                    / ((best.value - trial.value) / (trial.step - best.step) + best.slope)
                    / 2.0
                    * (trial.step - best.step);
            if (cubic - best.step).abs() < (quadratic - best.step).abs() {
                cubic
            } else {
                cubic + (quadratic - cubic) / 2.0
            }
        } else if turned {
            // 2: lower, and the slope has turned: a minimum lies between them.
            self.bracketed = true;
            let (cubic, secant) = (cubic.minimum(), secant(best, trial));
            if (cubic - trial.step).abs() > (secant - trial.step).abs() { cubic } else { secant }
        } else if trial.slope.abs() < best.slope.abs() {
            // 3: lower, with a flatter slope of the same sign.
            let ahead = trial.step > best.step;
            let end = if ahead { self.far(trial) } else { 0.0 };
            let cubic = cubic.minimum_ahead(trial).unwrap_or(end);
            let secant = secant(best, trial);
            let closer = (cubic - trial.step).abs() < (secant - trial.step).abs();
            if self.bracketed {
                let next = if closer { cubic } else { secant };
                let most = trial.step + 0.66 * (other.step - trial.step);
                if ahead { next.min(most) } else { next.max(most) }
            } else {
                let next = if closer { secant } else { cubic };
                next.clamp(self.near(trial), self.far(trial))
            }
        } else if self.bracketed {
            // 4: lower, and no flatter.
            Cubic::through(other, trial).minimum()
        } else {
            self.far(trial)
        };
        if trial.value > best.value {
            self.other = trial;
        } else {
            if turned {
                self.other = best;
            }
            self.best = trial;
        }
        self.trial = next;
    }

    /// Returns the shortest next trial without a bracket.
    fn near(&self, trial: Point) -> f64 {
        (trial.step + REACH.0 * (trial.step - self.best.step)).min(self.longest)
    }

    /// Returns the longest next trial without a bracket.
    fn far(&self, trial: Point) -> f64 {
        (trial.step + REACH.1 * (trial.step - self.best.step)).min(self.longest)
    }

    /// Returns its state as numbers, for a checkpoint.
    pub(super) fn numbers(&self) -> [f64; Self::NUMBERS] {
        let flag = |on: bool| f64::from(u8::from(on));
        [
            self.value,
            self.slope,
            self.best.step,
            self.best.value,
            self.best.slope,
            self.other.step,
            self.other.value,
            self.other.slope,
            flag(self.bracketed),
            flag(self.first_stage),
            self.width,
            self.width_before,
            self.trial,
            self.longest,
            self.trials,
        ]
    }

    /// Restores a search from its [`numbers`](Self::numbers).
    pub(super) fn restore(numbers: &[f64; Self::NUMBERS]) -> Self {
        let &[
            value,
            slope,
            best_step,
            best_value,
            best_slope,
            other_step,
            other_value,
            other_slope,
            bracketed,
            first_stage,
            width,
            width_before,
            trial,
            longest,
            trials,
        ] = numbers;
        Self {
            value,
            slope,
            best: Point { step: best_step, value: best_value, slope: best_slope },
            other: Point { step: other_step, value: other_value, slope: other_slope },
            bracketed: bracketed > 0.0,
            first_stage: first_stage > 0.0,
            width,
            width_before,
            trial,
            longest,
            trials,
        }
    }
}

/// Returns the zero of the line through both slopes.
fn secant(a: Point, b: Point) -> f64 {
    b.step + b.slope / (b.slope - a.slope) * (a.step - b.step)
}

/// The cubic through two points with their slopes.
struct Cubic {
    a: Point,
    b: Point,
    theta: f64,
    /// The argument of the square root, divided by `scale²`.
    discriminant: f64,
    scale: f64,
}

impl Cubic {
    fn through(a: Point, b: Point) -> Self {
        let theta = 3.0 * (a.value - b.value) / (b.step - a.step) + a.slope + b.slope;
        let scale = theta.abs().max(a.slope.abs()).max(b.slope.abs());
        let discriminant = (theta / scale).powi(2) - (a.slope / scale) * (b.slope / scale);
        Self { a, b, theta, discriminant, scale }
    }

    fn root(&self) -> f64 {
        self.scale * self.discriminant.max(0.0).sqrt()
    }

    /// Returns its minimum.
    fn minimum(&self) -> f64 {
        let Self { a, b, theta, .. } = *self;
        let root = if b.step < a.step { -self.root() } else { self.root() };
        let share = ((root - a.slope) + theta) / (((root - a.slope) + root) + b.slope);
        a.step + share * (b.step - a.step)
    }

    /// Returns its minimum if it has one beyond `b`, seen from `a`.
    fn minimum_ahead(&self, b: Point) -> Option<f64> {
        let Self { a, theta, .. } = *self;
        let root = if b.step > a.step { -self.root() } else { self.root() };
        let share = ((root - b.slope) + theta) / ((root + (a.slope - b.slope)) + root);
        (share < 0.0 && root.abs() > 0.0).then_some(b.step + share * (a.step - b.step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Value and slope at a step.
    type Curve = fn(f64) -> (f64, f64);

    /// Functions of Moré and Thuente's table, each with its slope: value falls at 0.
    fn problems() -> Vec<(&'static str, Curve)> {
        vec![
            ("1: −a/(a² + 2)", |a| {
                let q = a * a + 2.0;
                (-a / q, (a * a - 2.0) / (q * q))
            }),
            ("2: (a + 0.004)⁵ − 2 (a + 0.004)⁴", |a| {
                let b = a + 0.004;
                (b.powi(5) - 2.0 * b.powi(4), 5.0 * b.powi(4) - 8.0 * b.powi(3))
            }),
            ("a quadratic", |a| ((a - 1.0).powi(2), 2.0 * (a - 1.0))),
            ("a wall", |a| (-a + (20.0 * (a - 1.0)).exp(), -1.0 + 20.0 * (20.0 * (a - 1.0)).exp())),
        ]
    }

    #[test]
    fn every_accepted_step_satisfies_the_strong_wolfe_conditions() {
        for (name, f) in problems() {
            for first in [1e-3, 1e-1, 1.0, 10.0, 1e3] {
                let (value, slope) = f(0.0);
                let mut search = LineSearch::new(value, slope, first);
                let mut trials = 0;
                let step = loop {
                    let (v, s) = f(search.trial());
                    trials += 1;
                    let answer = if v.is_finite() { search.judge(v, s) } else { search.shorten() };
                    match answer {
                        Answer::Try(_) => {}
                        Answer::Done => break search.trial(),
                        Answer::Failed => panic!("{name} from {first}: {search:?}"),
                    }
                };
                let (v, s) = f(step);
                assert!(v <= value + DECREASE * step * slope, "{name} from {first}: too high");
                assert!(s.abs() <= CURVATURE * slope.abs(), "{name} from {first}: too steep");
                assert!(trials <= 12, "{name} from {first}: {trials} trials");
            }
        }
    }

    #[test]
    fn a_step_that_cannot_be_evaluated_is_shortened_until_it_can() {
        // NaN beyond 0.01.
        let f = |a: f64| (-(0.01 - a).ln_1p() - a, 1.0 / (1.01 - a) - 1.0 - 0.1);
        let (value, slope) = f(0.0);
        let mut search = LineSearch::new(value, slope, 1.0);
        let mut answer = search.shorten();
        while let Answer::Try(step) = answer {
            if step < 0.01 {
                return;
            }
            answer = search.shorten();
        }
        panic!("{answer:?}");
    }

    #[test]
    fn a_search_is_restored_from_its_numbers() {
        let f = problems()[1].1;
        let (value, slope) = f(0.0);
        let mut search = LineSearch::new(value, slope, 10.0);
        let (v, s) = f(10.0);
        search.judge(v, s);
        assert_eq!(LineSearch::restore(&search.numbers()), search);
    }
}
