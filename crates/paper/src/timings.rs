//! Processor time of trainings, beside that of torchdiffeq.

use super::figures::Trained;
use super::matrix::Entry;
use lawful_experiment::{CsvWriter, Manifest};

/// Seconds of training, all runs together.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Total {
    /// Number of trainings.
    pub trainings: usize,
    /// Optimiser steps of all of them.
    pub iterations: usize,
    /// Seconds on one core.
    pub seconds: f64,
    /// Seconds on one core at the speed measured for torchdiffeq.
    pub torchdiffeq: f64,
}

/// Sums over all runs.
pub(super) fn total(trained: &[Trained]) -> Total {
    let mut total = Total::default();
    for Trained { entry, runs } in trained {
        for run in *runs {
            total.trainings += 1;
            total.iterations += run.manifest.done;
            total.seconds += run.manifest.seconds;
            let milliseconds = entry.dataset.system.torchdiffeq_milliseconds();
            total.torchdiffeq += run.manifest.done as f64 * milliseconds / 1000.0;
        }
    }
    total
}

/// `timings.csv`: one row for each training.
pub(super) fn csv(trained: &[Trained]) -> String {
    let mut csv = CsvWriter::new();
    csv.row([
        "dataset",
        "method",
        "best_point",
        "mu",
        "seed",
        "iterations",
        "seconds",
        "milliseconds_per_iteration",
    ]);
    for Trained { entry: Entry { dataset, variant, .. }, runs } in trained {
        for run in *runs {
            let Manifest { seed, done, seconds, .. } = run.manifest;
            csv.cell(dataset.name());
            csv.cell(variant.strategy());
            csv.cell(if variant.best_point { "yes" } else { "no" });
            csv.cell(variant.mu());
            csv.cell(seed.to_string());
            csv.cell(done.to_string());
            csv.cell(format!("{seconds:.3}"));
            csv.cell(format!("{:.4}", 1000.0 * seconds / done.max(1) as f64));
            csv.end_row();
        }
    }
    csv.into_text()
}

/// `3.2 s`, `7.5 min`, `1.9 h`, `3.8 days`.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 99.5 => format!("{s:.1} s"),
        s if s < 99.5 * 60.0 => format!("{:.1} min", s / 60.0),
        s if s < 48.0 * 3600.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} days", s / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_the_unit_that_reads_best() {
        for (seconds, text) in
            [(3.21, "3.2 s"), (450.0, "7.5 min"), (7200.0, "2.0 h"), (326_160.0, "3.8 days")]
        {
            assert_eq!(duration(seconds), text);
        }
    }
}
