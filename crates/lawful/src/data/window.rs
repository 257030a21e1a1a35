//! Laws at some rows of a trajectory, without the others: buffers are as large as the rows that matter.

use std::ops::Range;

use lawful_law::{Law, Steps, Workspace};

use super::Trajectory;

/// The rows of a trajectory on which a law at some of them depends, with the buffers to evaluate it there: its
/// values are those on the full trajectory.
#[derive(Debug, Clone, Default)]
pub struct LawWindow {
    times: Vec<f64>,
    states: Vec<f64>,
    inputs: Vec<f64>,
    residuals: Vec<f64>,
    residual_bar: Vec<f64>,
    state_bar: Vec<f64>,
    workspace: Workspace,
}

/// Rows around those that a law names: its rates are slopes of a parabola through them.
const AROUND: usize = 2;

impl LawWindow {
    /// Gathers the rows that a law at `rows` depends on. `states` are those of the full trajectory, and what
    /// follows each, such as the values of learned constants. Returns the position of the first of `rows`
    /// among the gathered ones.
    pub fn gather(
        &mut self,
        law: &Law,
        trajectory: &Trajectory,
        (states, behind): (&[f64], &[f64]),
        rows: Range<usize>,
    ) -> usize {
        let (n, reach) = (trajectory.len(), law.reach());
        let (d, m) = (states.len() / n, trajectory.inputs.len() / n);
        let first = 0..reach.initial.map_or(0, |ahead| ahead + 1 + AROUND);
        let own = rows.start.saturating_sub(reach.back + AROUND)..rows.end + reach.ahead + AROUND;
        let last = n - reach.final_.map_or(0, |back| (back + 1 + AROUND).min(n))..n;
        for buffer in [&mut self.times, &mut self.states, &mut self.inputs] {
            buffer.clear();
        }
        let (mut at, mut taken) = (0, 0);
        for Range { start, end } in [first, own, last] {
            let (start, end) = (start.max(taken), end.min(n));
            if start >= end {
                continue;
            }
            if (start..end).contains(&rows.start) {
                at = self.times.len() + rows.start - start;
            }
            self.times.extend_from_slice(&trajectory.times[start..end]);
            self.inputs.extend_from_slice(&trajectory.inputs[start * m..end * m]);
            for state in states[start * d..end * d].chunks_exact(d) {
                self.states.extend_from_slice(state);
                self.states.extend_from_slice(behind);
            }
            taken = end;
        }
        at
    }

    /// Returns the residuals of the law at the gathered rows; 0 where it has none.
    pub fn residuals(&mut self, law: &Law) -> &[f64] {
        let Self { times, states, inputs, residuals, workspace, .. } = self;
        residuals.clear();
        residuals.resize(times.len(), 0.0);
        law.residuals(&Steps { times, states, inputs }, workspace, residuals);
        residuals
    }

    /// Returns `Σ_{m, i} (∂c_n/∂y_{m,i} s_i)²` at the gathered row `n`.
    pub(crate) fn square(&mut self, law: &Law, n: usize, scale: &[f64]) -> f64 {
        self.residuals(law);
        let Self { times, states, inputs, residual_bar, state_bar, workspace, .. } = self;
        for (buffer, len) in [(&mut *residual_bar, times.len()), (state_bar, states.len())] {
            buffer.clear();
            buffer.resize(len, 0.0);
        }
        residual_bar[n] = 1.0;
        law.pull_back(&Steps { times, states, inputs }, workspace, residual_bar, state_bar);
        let bars = state_bar.iter().zip(scale.iter().cycle());
        bars.map(|(bar, s)| (bar * s).powi(2)).sum()
    }
}

#[cfg(test)]
mod tests {
    use lawful_law::Words;

    use super::*;

    /// The definition, with the law at all rows.
    fn of_all_rows(
        law: &Law,
        trajectory: &Trajectory,
        scale: &[f64],
        row: usize,
    ) -> (f64, Vec<f64>) {
        let n = trajectory.len();
        let steps = Steps {
            times: &trajectory.times,
            states: &trajectory.states,
            inputs: &trajectory.inputs,
        };
        let (mut workspace, mut residuals) = (Workspace::default(), vec![0.0; n]);
        law.residuals(&steps, &mut workspace, &mut residuals);
        let (mut residual_bar, mut state_bar) = (vec![0.0; n], vec![0.0; steps.states.len()]);
        residual_bar[row] = 1.0;
        law.pull_back(&steps, &mut workspace, &residual_bar, &mut state_bar);
        let squares = state_bar.iter().zip(scale.iter().cycle()).map(|(bar, s)| (bar * s).powi(2));
        (squares.sum(), residuals)
    }

    #[test]
    fn the_rows_around_one_decide_on_a_law_there() {
        let times: Vec<f64> =
            (0..40).map(|n| 0.1 * f64::from(n) + 0.002 * f64::from(n * n)).collect();
        let states = times.iter().flat_map(|t| [1.5 + t.sin(), 2.0 + (1.3 * t).cos()]).collect();
        let trajectory = Trajectory::new("1", times, states);
        let vocabulary = Words::new().state(["x", "v"]).check().unwrap();
        let (scale, mut near) = ([0.7, 1.1], LawWindow::default());
        for text in [
            "x <= v",
            "next(x*v) <= x^2",
            "previous(previous(x)) + v <= next(v) * t",
            "x*v == initial(x*v)",
            "x - final(v^2) <= next(initial(next(x)))",
            "rate(x*v) <= x",
            "rate(x) <= initial(rate(v)) + final(rate(x))",
        ] {
            for law in Law::parse("law", text, &vocabulary).unwrap() {
                for row in law.reach().range(trajectory.len()) {
                    let states = (&*trajectory.states, &[][..]);
                    let at = near.gather(&law, &trajectory, states, row..row + 1);
                    let square = near.square(&law, at, &scale);
                    let (expected, residual) = of_all_rows(&law, &trajectory, &scale, row);
                    let end = law.reach().range(trajectory.len()).end.min(row + 9);
                    let at = near.gather(&law, &trajectory, states, row..end);
                    let found = near.residuals(&law)[at..][..end - row].to_vec();
                    assert_eq!(found, residual[row..end], "{text}, {row}");
                    assert_eq!(square.to_bits(), expected.to_bits(), "{text}, {row}");
                    // At the first row a state is its own initial state.
                    assert!(square > 0.0 || row == 0, "{text}, {row}");
                }
            }
        }
    }
}
