//! How long it took, and how long it would have taken elsewhere.

use super::figures::Trained;
use super::matrix::Entry;

/// Seconds of training, all runs together.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Total {
    /// How many trainings.
    pub trainings: usize,
    /// Optimiser steps of all of them.
    pub iterations: usize,
    /// Our seconds on one core.
    pub seconds: f64,
    /// Seconds on one core at the speed measured for torchdiffeq.
    pub torchdiffeq: f64,
}

/// The sum over all runs.
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
    let header =
        "dataset,method,best_point,mu,seed,iterations,seconds,milliseconds_per_iteration\n";
    let rows = trained.iter().flat_map(|Trained { entry, runs }| {
        let Entry { dataset, variant, .. } = entry;
        let (name, strategy, mu) = (dataset.name(), variant.strategy(), variant.mu());
        let best = if variant.best_point { "yes" } else { "no" };
        runs.iter().map(move |run| {
            let (seed, done, seconds) =
                (run.manifest.seed, run.manifest.done, run.manifest.seconds);
            let each = 1000.0 * seconds / done.max(1) as f64;
            format!("{name},{strategy},{best},{mu},{seed},{done},{seconds:.3},{each:.4}\n")
        })
    });
    header.to_owned() + &rows.collect::<Vec<_>>().concat()
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
