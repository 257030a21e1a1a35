//! The variables that a law depends on.

use lawful_law::{Steps, Workspace};

use super::{Rows, TableMaker};
use crate::extend_rows;

impl TableMaker<'_> {
    /// Returns whether law `k` depends on each state variable, and on each learned constant behind them,
    /// at the first guess of these rows.
    pub(crate) fn depends<'r>(
        &self,
        k: usize,
        rows: impl IntoIterator<Item = &'r Rows<'r>>,
    ) -> Vec<bool> {
        let width = self.scaling.state.len() + self.constants.len();
        let mut depends = vec![false; width];
        for rows in rows {
            mark(self, k, rows, &mut depends);
        }
        depends
    }
}

/// Marks the variables on which a law depends at the first guess of these rows.
fn mark(maker: &TableMaker<'_>, k: usize, rows: &Rows<'_>, depends: &mut [bool]) {
    let d = rows.scale.len();
    let guess: Vec<f64> = (rows.guess.iter().enumerate())
        .map(|(n, z)| rows.centre[n % d] + rows.scale[n % d] * z)
        .collect();
    let mut states = Vec::new();
    extend_rows(&guess, d, rows.constants, &mut states);
    let steps = Steps { times: &rows.times, states: &states, inputs: &rows.inputs };
    let (mut workspace, n) = (Workspace::new(), rows.times.len());
    let (mut residuals, mut bars) = (vec![0.0; n], vec![0.0; states.len()]);
    let law = &maker.laws[k];
    law.residuals(&steps, &mut workspace, &mut residuals);
    // Squares, so that no two rows cancel.
    for row in law.reach().range(n) {
        let mut residual_bar = vec![0.0; n];
        residual_bar[row] = 1.0;
        bars.fill(0.0);
        law.pull_back(&steps, &mut workspace, &residual_bar, &mut bars);
        for (cell, bar) in bars.iter().enumerate() {
            depends[cell % depends.len()] |= *bar != 0.0;
        }
    }
}
