//! Fingerprints: of an experiment, for the name of its run folder, and of what a run reads back, to
//! detect changed files.

use lawful::Fingerprint;

use crate::config::ExperimentFile;
use crate::experiment::Experiment;

/// Returns six digits that depend on config and data alone.
pub(super) fn of_experiment(file: &ExperimentFile) -> String {
    let mut fingerprint = Fingerprint::new();
    fingerprint.add(file.complete.as_bytes());
    add_data(&mut fingerprint, &file.experiment);
    format!("{:06x}", fingerprint.value() >> 40)
}

/// Returns sixteen digits that depend on the data alone.
pub(super) fn of_data(experiment: &Experiment) -> String {
    let mut fingerprint = Fingerprint::new();
    add_data(&mut fingerprint, experiment);
    format!("{:016x}", fingerprint.value())
}

/// Returns sixteen digits that depend on these bytes.
pub(super) fn of_bytes(bytes: &[u8]) -> String {
    let mut fingerprint = Fingerprint::new();
    fingerprint.add(bytes);
    format!("{:016x}", fingerprint.value())
}

fn add_data(fingerprint: &mut Fingerprint, experiment: &Experiment) {
    for (name, dataset) in experiment.sets() {
        fingerprint.add(name.as_bytes());
        for trajectory in dataset.trajectories() {
            fingerprint.add(trajectory.name.as_bytes());
            fingerprint.add(&(trajectory.scored_from as u64).to_le_bytes());
            let rows = trajectory.times.iter().chain(&trajectory.states);
            for number in rows.chain(&trajectory.inputs) {
                // One NaN for all: a missing cell has no bits of its own.
                let number = if number.is_nan() { f64::NAN } else { *number };
                fingerprint.add(&number.to_bits().to_le_bytes());
            }
        }
    }
}
