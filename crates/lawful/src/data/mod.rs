//! Measurements: trajectories with gaps and inputs, their noise and their scale; or simulated ones.

mod accuracy;
mod dataset;
mod interpolation;
mod noise;
mod numbers;
mod scale;
mod segment;
mod simulate;
mod window;

pub use accuracy::Accuracy;
pub use dataset::{DataError, Dataset, Trajectory};
pub(crate) use interpolation::Tables;
pub use interpolation::{Interpolation, Table, fill};
pub(crate) use noise::at_most as noise_at_most;
pub use noise::noise;
pub use numbers::Numbers;
pub(crate) use scale::{completed, has_own_scale, scaling_by, spread_on};
pub use scale::{scaling, units};
pub use segment::{Batch, Sampler, Segment};
pub use simulate::{Noise, NoiseLevel, Simulation};
pub use window::LawWindow;
