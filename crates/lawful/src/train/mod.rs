//! Training: from data and laws to a model.
//!
//! ```text
//! Training ── prepare ──► Prepared ── run ──► phase by phase: Trainer ──► Outcome ──► Trained
//!  (settings)           (all settings)             │      ▲
//!                             recipes          diagnosis ─┴─ Plan (remedies)
//! ```

mod best_model;
mod best_point;
mod diagnosis;
mod expected;
mod guarantee;
mod law_points;
mod laws;
mod observer;
mod part;
mod phase;
mod phase_checks;
mod plan;
mod prepared;
mod process_noise;
mod recipes;
mod run;
mod search;
mod selection;
mod start;
mod subjects;
mod trained;
mod trainer;
mod training;
mod training_error;

pub use best_model::BestModel;
pub use best_point::{BestPoint, Verdict};
pub use diagnosis::{STEP_LEAST, scaled_mean_square};
pub use guarantee::Kept;
pub use laws::Laws;
pub use observer::{Event, Observer, PhaseStart, Row, StopReason};
pub use phase::{Phase, Shooting, total};
pub use plan::{Extension, Plan, PlanState, Remedy};
pub use prepared::{FieldSettings, Prepared, finer};
pub use recipes::{RECIPES, Recipe};
pub use run::Run;
pub use search::LeastSquaresSettings;
pub use start::Start;
pub use trained::Trained;
pub use trainer::{
    GradientAt, Outcome, Progress, Restore, Settings, Trainer, TrainerError, Validated, Validation,
};
pub use training::Training;
pub use training_error::TrainingError;
