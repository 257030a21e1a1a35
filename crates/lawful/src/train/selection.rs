//! What the evidence chooses before a training by least squares: how many effects trajectories have.
//!
//! Each candidate is another field for the same data. A short search gives each its log evidence, and the one of
//! the greatest is trained. Evidences of short searches differ by some nats from start to start, and small
//! margins mislead, so that a larger field must be better by [`MARGIN`]. What was chosen is written out in the
//! completed experiment; a resumed run chooses nothing again.

use super::{FieldSettings, Prepared, Training};
use crate::number::short;

/// Nats by which a larger field must be better.
const MARGIN: f64 = 10.0;
/// Most effects that are tried, and the fewest trajectories for them.
const MOST_EFFECTS: usize = 2;
const FEWEST_TRAJECTORIES: usize = 3;

/// What a short search has found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pilot {
    /// Log evidence of the best start.
    pub(super) log_evidence: f64,
    /// Its effective parameters.
    pub(super) effective: f64,
    /// The noise of each kind of measurement, in standard deviations.
    pub(super) noise: Vec<f64>,
}

impl Pilot {
    fn in_words(&self) -> String {
        let noise: Vec<String> = self.noise.iter().map(|&noise| short(noise)).collect();
        format!(
            "{:.1} ({:.1} effective parameters, noise {})",
            self.log_evidence,
            self.effective,
            noise.join(", ")
        )
    }
}

impl Training {
    /// Returns the training with the number of effects that the evidence chooses; `prepared` is this training
    /// without effects. The choice is a remark. A candidate that cannot be trained is left out.
    pub(super) fn choose_effects(self, prepared: Prepared) -> Prepared {
        let several = prepared.data.trajectories().len() >= FEWEST_TRAJECTORIES;
        if !several || !prepared.has_network() || prepared.effects_each() > 0 {
            return prepared;
        }
        let Some(pilot) = prepared.pilot() else { return prepared };
        let mut words = vec![format!("none {}", pilot.in_words())];
        let (mut best, mut chosen) = (pilot.log_evidence, prepared);
        for effects in 1..=MOST_EFFECTS {
            let field = FieldSettings { effects, ..chosen.field.clone() };
            let Ok(candidate) = self.clone().field(field).open_width(false).complete() else {
                break;
            };
            let Some(pilot) = candidate.pilot() else { break };
            words.push(format!("{effects} {}", pilot.in_words()));
            if pilot.log_evidence < best + MARGIN {
                break;
            }
            (best, chosen) = (pilot.log_evidence, candidate);
        }
        let number = match chosen.effects_each() {
            0 => "trajectories have no effects of their own".to_owned(),
            1 => "each trajectory has an effect of its own".to_owned(),
            count => format!("each trajectory has {count} effects of its own"),
        };
        chosen.remarks.push(format!("{number}, by log evidence: {}", words.join(", ")));
        chosen
    }
}
