//! Why a training cannot be prepared.

use thiserror::Error;

use crate::model::OffLaw;
use crate::settings::SettingError;
use crate::{DataError, FieldError, ObjectiveError};

/// Why a training cannot be prepared.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TrainingError {
    /// The data cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The laws name other variables than the data.
    #[error("the laws are written for the variables {laws}, the data have {data}")]
    Names {
        /// The variables of the laws.
        laws: String,
        /// The variables of the data.
        data: String,
    },
    /// The vector field cannot be built.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// The objective cannot be built.
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
    /// A setting of the training is outside its range.
    #[error("`{setting}` is {value}, but must be {range}")]
    Setting {
        /// The setting.
        setting: &'static str,
        /// Its value.
        value: String,
        /// The values that it takes.
        range: &'static str,
    },
    /// A setting of the strategy is outside its range.
    #[error(transparent)]
    StrategySetting(#[from] SettingError),
    /// There is no phase.
    #[error("there is no phase, so nothing would be trained")]
    NoPhase,
    /// A phase cannot be run on the data.
    #[error("phase {number}: {reason}")]
    Phase {
        /// Which phase, counted from 1.
        number: usize,
        /// Why not.
        reason: String,
    },
    /// A law cannot be guaranteed by the vector field.
    #[error("the law `{law}` cannot be guaranteed: {reason}")]
    Law {
        /// The law's name.
        law: String,
        /// Why not.
        reason: String,
        /// What can be done instead.
        hint: String,
    },
    /// What trajectories have of their own cannot be trained.
    #[error("{what} {reason}")]
    Subjects {
        /// The subject of the sentence, in the plural.
        what: String,
        /// The end of the sentence.
        reason: String,
        /// What can be done instead.
        hint: String,
    },
    /// The network cannot see a state variable in the coordinates that were asked for.
    #[error("`{variable}` cannot have {word} coordinates: {reason}")]
    Coordinates {
        /// The state variable.
        variable: String,
        /// The word of the coordinates.
        word: &'static str,
        /// Why not.
        reason: String,
        /// What can be done instead.
        hint: String,
    },
    /// Process noise cannot be estimated.
    #[error("process noise {reason}")]
    ProcessNoise {
        /// The end of the sentence.
        reason: String,
        /// What can be done instead.
        hint: String,
    },
    /// An initial state is off a law that is guaranteed along its path.
    #[error(transparent)]
    Start(#[from] OffLaw),
}

impl TrainingError {
    /// Returns what can be done, where there is more to say than the message does.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Law { hint, .. }
            | Self::Subjects { hint, .. }
            | Self::Coordinates { hint, .. }
            | Self::ProcessNoise { hint, .. } => Some(hint),
            Self::Start(_) => Some(
                "correct the first row, train initial states along with the field, or leave \
                 `strategy = \"hard\"` out",
            ),
            _ => None,
        }
    }
}
