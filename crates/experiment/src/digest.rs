//! Short fingerprints: of an experiment, for the name of its run folder, and of its data, to notice
//! when files were changed.

use crate::experiment::Experiment;
use crate::run_folder::sets;

/// FNV-1a, 64 bits: not against ill will, but against accidents.
struct Digest(u64);

impl Digest {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn add_data(&mut self, experiment: &Experiment) {
        for (name, dataset) in sets(experiment) {
            self.add(name.as_bytes());
            for trajectory in dataset.trajectories() {
                self.add(trajectory.name.as_bytes());
                self.add(&(trajectory.scored_from as u64).to_le_bytes());
                let rows = trajectory.times.iter().chain(&trajectory.states);
                for number in rows.chain(&trajectory.inputs) {
                    // One NaN for all: a missing cell has no bits of its own.
                    let number = if number.is_nan() { f64::NAN } else { *number };
                    self.add(&number.to_bits().to_le_bytes());
                }
            }
        }
    }
}

/// Six digits that depend on config and data alone.
pub(crate) fn of_experiment(experiment: &Experiment) -> String {
    let mut digest = Digest::new();
    digest.add(experiment.complete_text().as_bytes());
    digest.add_data(experiment);
    format!("{:06x}", digest.0 >> 40)
}

/// Sixteen digits that depend on the data alone.
pub(crate) fn of_data(experiment: &Experiment) -> String {
    let mut digest = Digest::new();
    digest.add_data(experiment);
    format!("{:016x}", digest.0)
}
