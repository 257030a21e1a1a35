//! Runs: training into a run folder, resuming, and reading a run folder.

mod checkpoint;
mod digest;
pub mod figures;
mod folder;
mod history;
mod loaded;
mod log;
mod manifest;
mod recorder;
mod train;

pub use checkpoint::read_checkpoint;
pub use folder::RunFolder;
pub use history::Record;
pub use loaded::LoadedRun;
pub use log::{Log, describe};
pub use manifest::{Machine, Manifest, ModelChoice, Status};
pub use recorder::RunObserver;
pub use train::{Resumed, Trained, resume, train};
