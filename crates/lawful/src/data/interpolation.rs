//! Exogenous inputs between the rows of a table.

use lawful_ode::Inputs;

/// How an input is interpolated between two rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Interpolation {
    /// Linearly; the default.
    #[default]
    Linear,
    /// It holds the value of the previous row, as a set point or a switch does.
    Previous,
}

impl Interpolation {
    /// The words of `interpolation` in an experiment file.
    pub const NAMES: [(&'static str, Self); 2] =
        [("linear", Self::Linear), ("previous", Self::Previous)];

    /// Returns its word in an experiment file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Previous => "previous",
        }
    }
}

/// The table of one trajectory; before its first and after its last row the nearest value holds.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    /// Times of the rows, strictly increasing.
    pub times: &'a [f64],
    /// Inputs, row after row.
    pub values: &'a [f64],
}

impl Table<'_> {
    /// Writes the inputs at `t` to `u`. `step_start` is where the solver's current step began: a held input takes
    /// its left limit at a row's time, unless a step begins there.
    pub fn at(&self, interpolation: Interpolation, t: f64, step_start: f64, u: &mut [f64]) {
        self.at_since(0.0, interpolation, t, step_start, u);
    }

    /// The same for times since `origin`, which are compared with the rows' in the form in which a
    /// solver has them.
    pub(crate) fn at_since(
        &self,
        origin: f64,
        interpolation: Interpolation,
        t: f64,
        step_start: f64,
        u: &mut [f64],
    ) {
        let m = u.len();
        let row = |n: usize| &self.values[n * m..][..m];
        let after = self.times.partition_point(|&time| time - origin <= t);
        if after == 0 {
            u.copy_from_slice(row(0));
            return;
        }
        let before = after - 1;
        let next = after.min(self.times.len() - 1);
        match interpolation {
            Interpolation::Previous => {
                // At the end of a step that began earlier, the interval left of it still counts.
                let left = before > 0 && t <= self.times[before] - origin && step_start < t;
                u.copy_from_slice(row(before - usize::from(left)));
            }
            Interpolation::Linear if next == before => u.copy_from_slice(row(before)),
            Interpolation::Linear => {
                let (first, last) = (self.times[before] - origin, self.times[next] - origin);
                let share = (t - first) / (last - first);
                for ((u, a), b) in u.iter_mut().zip(row(before)).zip(row(next)) {
                    *u = a + share * (b - a);
                }
            }
        }
    }
}

impl Table<'_> {
    /// Returns the time of the first row after `t`, where an input may have a kink or a jump.
    pub fn next_break(&self, t: f64) -> f64 {
        self.next_break_since(0.0, t)
    }

    /// The same for times since `origin`.
    pub(crate) fn next_break_since(&self, origin: f64, t: f64) -> f64 {
        let after = self.times.partition_point(|&time| time - origin <= t);
        self.times.get(after).map_or(f64::INFINITY, |time| time - origin)
    }
}

/// The input tables of the columns of a solve.
pub(crate) struct Tables<'a, F> {
    /// How inputs are interpolated between rows.
    pub(crate) interpolation: Interpolation,
    /// The table of a column, and the origin of its solver's times.
    pub(crate) table: F,
    pub(crate) lifetime: std::marker::PhantomData<&'a ()>,
}

impl<'a, F: Fn(usize) -> (Table<'a>, f64)> Inputs for Tables<'a, F> {
    fn at(&self, column: usize, t: f64, step_start: f64, u: &mut [f64]) {
        let (table, origin) = (self.table)(column);
        table.at_since(origin, self.interpolation, t, step_start, u);
    }

    fn next_break(&self, column: usize, t: f64) -> f64 {
        let (table, origin) = (self.table)(column);
        table.next_break_since(origin, t)
    }
}

/// Fills missing inputs (NaN) of a table from the measured values of the same input: by `interpolation`
/// between them, by the nearest value at both ends. Returns `false` if an input was never measured.
pub fn fill(
    interpolation: Interpolation,
    times: &[f64],
    values: &mut [f64],
    inputs: usize,
) -> bool {
    for input in 0..inputs {
        let known: Vec<usize> =
            (0..times.len()).filter(|n| values[n * inputs + input].is_finite()).collect();
        if known.is_empty() {
            return false;
        }
        let known_times: Vec<f64> = known.iter().map(|&n| times[n]).collect();
        let known_values: Vec<f64> = known.iter().map(|&n| values[n * inputs + input]).collect();
        let table = Table { times: &known_times, values: &known_values };
        for (n, &t) in times.iter().enumerate() {
            table.at(interpolation, t, t, &mut values[n * inputs + input..][..1]);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(interpolation: Interpolation, t: f64, step_start: f64) -> f64 {
        let table = Table { times: &[0.0, 1.0, 3.0], values: &[10.0, 20.0, 40.0] };
        let mut u = [0.0];
        table.at(interpolation, t, step_start, &mut u);
        u[0]
    }

    #[test]
    fn inputs_are_read_between_rows_as_stated() {
        for (interpolation, t, step_start, expected) in [
            (Interpolation::Linear, -1.0, -1.0, 10.0),
            (Interpolation::Linear, 0.5, 0.0, 15.0),
            (Interpolation::Linear, 1.0, 0.0, 20.0),
            (Interpolation::Linear, 2.5, 1.0, 35.0),
            (Interpolation::Linear, 9.0, 9.0, 40.0),
            (Interpolation::Previous, 0.5, 0.0, 10.0),
            (Interpolation::Previous, 1.0, 0.0, 10.0),
            (Interpolation::Previous, 1.0, 1.0, 20.0),
            (Interpolation::Previous, 3.0, 1.0, 20.0),
            (Interpolation::Previous, 9.0, 3.0, 40.0),
        ] {
            let found = at(interpolation, t, step_start);
            assert!(
                (found - expected).abs() < 1e-14,
                "{interpolation:?} at {t}: {found}, not {expected}"
            );
        }
    }

    #[test]
    fn gaps_in_inputs_are_filled_from_their_neighbours() {
        let times = [0.0, 1.0, 2.0, 4.0];
        let nan = f64::NAN;
        let mut values = [nan, 1.0, nan, 4.0];
        assert!(fill(Interpolation::Linear, &times, &mut values, 1));
        assert_eq!(values.map(f64::to_bits), [1.0, 1.0, 2.0, 4.0].map(f64::to_bits));
        let mut values = [1.0, nan, 3.0, nan];
        assert!(fill(Interpolation::Previous, &times, &mut values, 1));
        assert_eq!(values.map(f64::to_bits), [1.0, 1.0, 3.0, 3.0].map(f64::to_bits));
        assert!(!fill(Interpolation::Linear, &times, &mut [nan; 4], 1));
    }
}
