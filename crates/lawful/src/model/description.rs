//! The description of a model in its file, beside its numbers.

use lawful_law::{Enforcement, Law};
use lawful_ode::{Adaptive, Control, Solver, Tableau};
use serde::{Deserialize, Serialize};

use super::subjects::Subjects;
use crate::{Accuracy, FieldDescription, FieldError, Interpolation, with_learned_as_variables};

/// Most steps per interval of a model's solver.
const MOST_SUBSTEPS: usize = 1_000_000;
/// Most adaptive steps of a model's solver.
const MOST_STEPS: usize = 100_000_000;

/// Everything about a model but its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ModelDescription {
    /// The right-hand side.
    pub field: FieldDescription,
    /// The laws that it was trained under.
    pub laws: Vec<LawDescription>,
    /// How inputs are interpolated between rows.
    #[serde(with = "interpolation")]
    pub interpolation: Interpolation,
    /// Solver of predictions.
    pub solver: SolverDescription,
    /// The trained initial states; empty if they were not trained.
    pub starts: Vec<TrainedStart>,
    /// Violation above which a step counts as violated in a report.
    pub count_above: f64,
    /// How accurate the training data are, if the field guarantees laws: initial states that are off a law
    /// by no more are moved to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy: Option<Accuracy>,
    /// What training trajectories have of their own, if they have anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subjects: Option<Subjects>,
    /// The iteration at which training reached these parameters.
    pub iteration: usize,
}

/// A law as text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct LawDescription {
    /// Its name.
    pub name: String,
    /// The relation.
    pub holds: String,
    /// The word of its enforcement.
    pub strategy: String,
    /// The violation above which it counts as broken, if that is not a share of its size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
}

/// A trained initial state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct TrainedStart {
    /// The trajectory's name.
    pub trajectory: String,
    /// Its first time.
    pub time: f64,
    /// The state there.
    pub state: Vec<f64>,
}

/// A solver as a value in a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SolverDescription {
    /// The tableau's name.
    pub method: String,
    /// Equal steps per interval; `None` for adaptive steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub substeps: Option<usize>,
    /// Settings of adaptive steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<AdaptiveDescription>,
}

/// Settings of adaptive steps; the others have their defaults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct AdaptiveDescription {
    rtol: f64,
    atol: f64,
    max_steps: usize,
    min_step: f64,
    first_step: Option<f64>,
}

impl SolverDescription {
    /// Returns the description of a solver.
    pub fn of(solver: &Solver) -> Self {
        let method = solver.tableau().name.to_owned();
        match solver.control() {
            Control::Grid { substeps } => Self { method, substeps: Some(substeps), adaptive: None },
            Control::Adaptive(Adaptive { rtol, atol, max_steps, min_step, first_step, .. }) => {
                let adaptive = AdaptiveDescription { rtol, atol, max_steps, min_step, first_step };
                Self { method, substeps: None, adaptive: Some(adaptive) }
            }
        }
    }
}

impl LawDescription {
    /// Returns the description of a law.
    pub fn of(law: &Law) -> Self {
        Self {
            name: law.name().to_owned(),
            holds: law.text().to_owned(),
            strategy: law.enforcement().name().to_owned(),
            tolerance: law.tolerance(),
        }
    }
}

impl ModelDescription {
    /// Reads the laws in the names of the field.
    pub(super) fn laws(&self) -> Result<Vec<Law>, FieldError> {
        let vocabulary = self.field.vocabulary().map_err(FieldError::Names)?;
        let names = with_learned_as_variables(&vocabulary, &self.field.learned())?;
        let mut laws = Vec::with_capacity(self.laws.len());
        for LawDescription { name, holds, strategy, tolerance } in &self.laws {
            let known = Enforcement::NAMES.iter().find(|(word, _)| word == strategy);
            let enforcement = known
                .map(|(_, enforcement)| *enforcement)
                .ok_or_else(|| FieldError::Word { what: "enforcement", word: strategy.clone() })?;
            let read = Law::parse(name, holds, &names).map_err(FieldError::Names)?;
            let given = |law: Law| law.enforced(enforcement).tolerating(*tolerance);
            laws.extend(read.into_iter().map(given));
        }
        Ok(laws)
    }

    /// Returns the solver of predictions, which may take as many steps as an experiment file can ask for.
    pub(super) fn solver(&self) -> Result<Solver, FieldError> {
        let SolverDescription { method, substeps, adaptive } = &self.solver;
        let unknown = || FieldError::Word { what: "solver", word: method.clone() };
        let tableau = Tableau::from_name(method).ok_or_else(unknown)?;
        let control = match (substeps, adaptive) {
            (Some(substeps), None) => Control::Grid { substeps: *substeps },
            (None, Some(adaptive)) => {
                let AdaptiveDescription { rtol, atol, max_steps, min_step, first_step } = *adaptive;
                let default = Adaptive::default();
                Control::Adaptive(Adaptive {
                    rtol,
                    atol,
                    max_steps,
                    min_step,
                    first_step,
                    ..default
                })
            }
            _ => return Err(unknown()),
        };
        let (steps, most) = match &control {
            Control::Grid { substeps } => (*substeps, MOST_SUBSTEPS),
            Control::Adaptive(adaptive) => (adaptive.max_steps, MOST_STEPS),
        };
        if steps > most {
            return Err(FieldError::Steps { steps, most });
        }
        Solver::new(tableau, control).map_err(|_| unknown())
    }
}

/// An interpolation by its word.
mod interpolation {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use crate::Interpolation;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
    pub(super) fn serialize<S: Serializer>(
        interpolation: &Interpolation,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(interpolation.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Interpolation, D::Error> {
        let word = String::deserialize(deserializer)?;
        let found = Interpolation::NAMES.iter().find(|(known, _)| *known == word);
        let unknown = || D::Error::custom(format!("there is no interpolation `{word}`"));
        found.map(|(_, interpolation)| *interpolation).ok_or_else(unknown)
    }
}
