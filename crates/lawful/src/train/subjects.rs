//! What trajectories have of their own: effects, and values of constants.
//!
//! Both are effects of the vector field (`lawful_ode::VectorField::effect_len`): of each trajectory first the
//! inputs of the network, then the deviations of constants. In θ they stand behind the trained initial states.
//! Each kind has a normal prior around 0 whose precision the evidence chooses, so that trajectories share what
//! they have in common, and differ as far as the data say (partial pooling).

use lawful_law::Law;

use super::{Prepared, TrainingError};
use crate::least_squares::{Evidence, Group};

/// Precision of effects, and of deviations of raw numbers of constants, at the start.
const EFFECTS: f64 = 1.0;
const DEVIATIONS: f64 = 10.0;

impl Prepared {
    /// Returns the number of effects of the network.
    pub(super) fn effects_of_network(&self) -> usize {
        if self.has_network() { self.field.effects } else { 0 }
    }

    /// Returns the number of effects of one trajectory.
    pub(crate) fn effects_each(&self) -> usize {
        self.effects_of_network() + self.field.varying.len()
    }

    /// Returns the number of effects of all trajectories.
    pub(super) fn effects_len(&self) -> usize {
        self.effects_each() * self.data.trajectories().len()
    }

    /// Returns the effects in the θ of a model.
    pub(super) fn effects_at<'t>(&self, theta: &'t [f64]) -> &'t [f64] {
        &theta[theta.len() - self.effects_len()..]
    }

    /// Returns the groups of effects, which begin at index `first` in θ: one for those of the network, and one
    /// for each constant.
    pub(super) fn groups_of_effects(&self, first: usize) -> Vec<Group> {
        let (each, of_network) = (self.effects_each(), self.effects_of_network());
        let of_trajectory = |own: std::ops::Range<usize>| {
            let count = self.data.trajectories().len();
            (0..count).flat_map(|n| own.clone().map(move |k| first + n * each + k)).collect()
        };
        let effects = Group {
            name: "effects".to_owned(),
            members: of_trajectory(0..of_network),
            precision: EFFECTS,
            chosen: true,
        };
        let constants = self.field.varying.iter().enumerate().map(|(k, name)| Group {
            name: format!("`{name}` of trajectories"),
            members: of_trajectory(of_network + k..of_network + k + 1),
            precision: DEVIATIONS,
            chosen: true,
        });
        std::iter::once(effects).chain(constants).collect()
    }

    /// Returns the logarithm of the number of minima that differ by the order and the signs of effects only.
    pub(super) fn copies_of_effects(&self) -> f64 {
        Evidence::copies(&[self.effects_of_network()], &[crate::Activation::Tanh])
    }

    /// Checks that what trajectories have of their own can be trained.
    pub(super) fn check_subjects(&self) -> Result<(), TrainingError> {
        let effects = self.field.effects;
        let Some(what) = own_numbers(effects, &self.field.varying) else { return Ok(()) };
        let error = |reason: String, hint: &str| {
            Err(TrainingError::Subjects { what: what.clone(), reason, hint: hint.to_owned() })
        };
        let most = crate::field::MOST_EFFECTS;
        if effects > most {
            return error(format!("are too many: at most {most} are possible"), "give fewer");
        }
        if effects > 0 && !self.has_network() {
            return error(
                "are inputs of the network, but every rate is known".to_owned(),
                "give a constant one value for each trajectory instead: \
                 `{ start = 1.0, per = \"trajectory\" }`",
            );
        }
        let known = |name: &&String| self.constants.iter().any(|constant| constant.name == **name);
        if let Some(name) = self.field.varying.iter().find(|name| !known(name)) {
            let hint = "list it among the learned constants, `Laws::with_learned`";
            return error(format!("need learned constants, and `{name}` is not one"), hint);
        }
        let count = self.data.trajectories().len();
        if count < 2 {
            return error(
                "need several trajectories, and the data have one".to_owned(),
                "leave them out; if the data are several trajectories, name the column that tells them \
                 apart: `trajectory = \"…\"` in [data]",
            );
        }
        if self.phases.iter().any(|phase| phase.least_squares.is_none()) {
            return error(
                "need a prior whose width the evidence chooses, and these phases have none"
                    .to_owned(),
                "train by `recipe = \"evidence\"`, or by `recipe = \"auto\"`, which then does so",
            );
        }
        let uses = |law: &&Law| law.uses_rates() || self.uses_varying(law);
        if let Some(law) = self.laws.iter().find(uses) {
            let name = law.name();
            let reason = format!("cannot be used beside the law `{name}`, which depends on them");
            return error(
                reason,
                "write laws in state variables and shared constants, without `rate`",
            );
        }
        Ok(())
    }

    /// Returns whether a law depends on a constant with one value for each trajectory.
    fn uses_varying(&self, law: &Law) -> bool {
        let d = self.vocabulary.state().len();
        let mut constants = self.constants.iter().enumerate();
        constants.any(|(k, constant)| {
            self.field.varying.contains(&constant.name) && law.depends_on(d + k)
        })
    }
}

/// Returns what trajectories have of their own, in words: the subject of a sentence in the plural.
pub(super) fn own_numbers(effects: usize, varying: &[String]) -> Option<String> {
    match (effects, varying) {
        (0, []) => None,
        (0, names) => {
            let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            Some(format!("values of {} for each trajectory", names.join(", ")))
        }
        _ => Some("effects of trajectories".to_owned()),
    }
}
