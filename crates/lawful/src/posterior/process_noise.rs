//! Process noise in a posterior: increments of the training trajectories, and their size.
//!
//! In a model file, with `count` components or draws, `n` increments of all trajectories and d states:
//!
//! | entry | content |
//! |---|---|
//! | metadata `process-noise` | the spacing of increments, and for each trajectory its name, first time, and the times of its increments |
//! | `process-noise.increments`, `process-noise.sizes` | components × n d, and components × d |
//! | `process-noise.increments-of-draws`, `process-noise.sizes-of-draws` | the same of draws |

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::WITH_PROCESS_NOISE;
use crate::{Archive, ModelError};

/// The key of the metadata.
const KEY: &str = "process-noise";
/// The process noise of a posterior: what paths of the training trajectories jump by.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessNoise {
    /// The spacing of increments along new paths.
    pub every: f64,
    /// Where the increments of training trajectories are.
    pub trajectories: Vec<OwnTimes>,
    /// The increments of each component.
    pub components: Vec<Realisation>,
    /// Those of each draw.
    pub draws: Vec<Realisation>,
}

/// The times of a trajectory's increments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct OwnTimes {
    /// The trajectory's name.
    pub trajectory: String,
    /// Its first time.
    pub start: f64,
    /// The times of its increments, ascending, after the first.
    pub times: Vec<f64>,
}

/// One realisation of the process noise.
#[derive(Debug, Clone, PartialEq)]
pub struct Realisation {
    /// The increments of all trajectories in the data's units, each of all state variables.
    pub increments: Vec<f64>,
    /// The standard deviation of an increment of each state variable, per square root of time.
    pub sizes: Vec<f64>,
}

/// The metadata.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Entry {
    every: f64,
    trajectories: Vec<OwnTimes>,
}

impl ProcessNoise {
    /// Returns the number of increments of all trajectories.
    fn len(&self) -> usize {
        self.trajectories.iter().map(|own| own.times.len()).sum()
    }

    /// Returns whether there are increments and sizes of d states for this many components and draws.
    pub(super) fn fits(&self, components: usize, draws: usize, d: usize) -> bool {
        let fits =
            |own: &Realisation| own.increments.len() == self.len() * d && own.sizes.len() == d;
        (self.components.len(), self.draws.len()) == (components, draws)
            && self.components.iter().chain(&self.draws).all(fits)
    }

    pub(super) fn write(&self, archive: &mut Archive, d: usize) {
        let (every, trajectories) = (self.every, self.trajectories.clone());
        let entry = serde_json::to_value(Entry { every, trajectories });
        archive.set(KEY, entry.expect("plain data"));
        archive.set("format", WITH_PROCESS_NOISE.into());
        for (of, all) in [("", &self.components), ("-of-draws", &self.draws)] {
            let joined = |part: fn(&Realisation) -> &[f64]| -> Vec<f64> {
                all.iter().flat_map(part).copied().collect()
            };
            let (increments, sizes) = (joined(|own| &own.increments), joined(|own| &own.sizes));
            let name = format!("process-noise.increments{of}");
            archive.add_matrix(&name, [all.len(), self.len() * d], &increments);
            archive.add_matrix(&format!("process-noise.sizes{of}"), [all.len(), d], &sizes);
        }
    }

    /// Reads the process noise of a file with this many components and draws, if it has any.
    pub(super) fn read(
        archive: &Archive,
        (components, draws, d): (usize, usize, usize),
    ) -> Result<Option<Self>, ModelError> {
        let Some(entry) = archive.get(KEY) else { return Ok(None) };
        let version = archive.get("format").and_then(Value::as_u64);
        if version != Some(u64::from(WITH_PROCESS_NOISE)) {
            return Err(archive.damaged("it has process noise, which its format does not have"));
        }
        let Entry { every, trajectories } = serde_json::from_value(entry.clone())
            .map_err(|error| archive.damaged(&format!("metadata: {error}")))?;
        let rises = |own: &OwnTimes| {
            let all: Vec<f64> =
                std::iter::once(own.start).chain(own.times.iter().copied()).collect();
            all.iter().all(|t| t.is_finite()) && all.windows(2).all(|pair| pair[0] < pair[1])
        };
        if !(every.is_finite() && every > 0.0 && trajectories.iter().all(rises)) {
            return Err(archive.damaged("the times of its process noise do not increase"));
        }
        let joins: usize = trajectories.iter().map(|own| own.times.len()).sum();
        let each = |of: &str, count: usize| -> Result<Vec<Realisation>, ModelError> {
            let rows = |name: &str, each: usize, least: f64| {
                let values = archive.values(name)?;
                let fits = |value: &f64| value.is_finite() && *value >= least;
                if Some(values.len()) != count.checked_mul(each) || !values.iter().all(fits) {
                    let what = format!("`{name}` does not have {count} times {each} numbers");
                    return Err(archive.damaged(&what));
                }
                Ok(values)
            };
            let increments =
                rows(&format!("process-noise.increments{of}"), joins * d, f64::NEG_INFINITY)?;
            let sizes = rows(&format!("process-noise.sizes{of}"), d, 0.0)?;
            let own = |k: usize| Realisation {
                increments: increments[k * joins * d..][..joins * d].to_vec(),
                sizes: sizes[k * d..][..d].to_vec(),
            };
            Ok((0..count).map(own).collect())
        };
        let components = each("", components)?;
        let draws = each("-of-draws", draws)?;
        Ok(Some(Self { every, trajectories, components, draws }))
    }
}
