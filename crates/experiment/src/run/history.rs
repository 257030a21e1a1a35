//! Reads `log.csv`, for the learning figure and the count of failures.

use std::path::Path;

use super::log::{BACKTRACKED, PHASE, TAKEN_BACK};
use crate::diagnostic::Diagnostic;
use crate::files;

/// The columns of a log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Record {
    /// Iterations, from 0.
    pub iterations: Vec<f64>,
    /// The objective φ.
    pub value: Vec<f64>,
    /// The training loss.
    pub loss: Vec<f64>,
    /// The raw total violation.
    pub violation: Vec<f64>,
    /// Mean violation of each law; where a row leaves it out, that of the row before.
    pub violations: Vec<Vec<f64>>,
    /// Weight of each law, likewise.
    pub weights: Vec<Vec<f64>>,
    /// Iterations at which the best point was accepted.
    pub accepted: Vec<f64>,
    /// Iterations whose evaluation failed, so that the step was undone.
    pub taken_back: Vec<f64>,
    /// Iterations at which rejections in a row halved the step.
    pub backtracked: Vec<f64>,
    /// Iterations at which a phase after the first began.
    pub phases: Vec<f64>,
}

impl Record {
    /// Reads a log. The numbers of a failed evaluation are NaN.
    pub fn read(path: &Path) -> Result<Self, Diagnostic> {
        let damaged = |what: &str| {
            Diagnostic::new(format!("`{}` is damaged: {what}", path.display()))
                .with_hint("`lawful resume` truncates the log to the last checkpoint")
        };
        // On a pipe this would wait for ever.
        if path.exists() && !path.is_file() {
            return Err(damaged("it is not a file"));
        }
        let text = files::read_text(path)?;
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader.headers().map_err(|error| damaged(&error.to_string()))?.clone();
        let columns = |what: &str| -> Vec<usize> {
            (0..header.len()).filter(|&n| header[n].starts_with(what)).collect()
        };
        let column = |name: &str| {
            let found = header.iter().position(|cell| cell == name);
            found.ok_or_else(|| damaged(&format!("it has no column `{name}`")))
        };
        let (iteration, verdict, event) =
            (column("iteration")?, column("verdict")?, column("event")?);
        let singles = [column("value")?, column("loss")?, column("violation")?];
        let (laws, weights) = (columns("violation: "), columns("weight: "));
        let mut record = Self {
            violations: vec![Vec::new(); laws.len()],
            weights: vec![Vec::new(); weights.len()],
            ..Self::default()
        };
        for row in reader.records() {
            let row = row.map_err(|error| damaged(&error.to_string()))?;
            let number = |n: usize| row[n].parse::<f64>().unwrap_or(f64::NAN);
            let at = number(iteration);
            record.iterations.push(at);
            let Self { value, loss, violation, .. } = &mut record;
            for (series, n) in [value, loss, violation].into_iter().zip(singles) {
                series.push(number(n));
            }
            // With many laws, most rows leave their cells out.
            let failed = row[singles[0]].is_empty();
            for (all, columns) in [(&mut record.violations, &laws), (&mut record.weights, &weights)]
            {
                for (series, &n) in all.iter_mut().zip(columns) {
                    let repeated = row[n].is_empty() && !failed;
                    let known = series.iter().rev().find(|number| !number.is_nan());
                    let value = if repeated { known.copied() } else { None };
                    series.push(value.unwrap_or_else(|| number(n)));
                }
            }
            if &row[verdict] == "accepted" {
                record.accepted.push(at);
            }
            if row[event].starts_with(TAKEN_BACK) {
                record.taken_back.push(at);
            } else if row[event].starts_with(BACKTRACKED) {
                record.backtracked.push(at);
            } else if row[event].starts_with(PHASE) && at > 0.0 {
                record.phases.push(at);
            }
        }
        Ok(record)
    }
}
