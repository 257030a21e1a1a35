//! Files in, files out: experiment files, tables, run folders, checkpoints, figures.
//!
//! An experiment as written ([`config`]) is checked into one as meant ([`Experiment`]); training it
//! ([`train()`]) leaves one as happened ([`RunFolder`]).

mod assemble;
mod assess;
pub mod compare;
pub mod config;
mod csv_writer;
mod diagnosis;
mod diagnostic;
mod digest;
mod experiment;
pub mod figures;
pub mod files;
mod history;
mod loaded_run;
mod log;
mod manifest;
mod model;
mod number;
mod phrases;
mod plan;
pub mod predict;
pub mod recipes;
mod recorder;
mod run_folder;
pub mod runner;
mod summary;
pub mod table;
mod times;
mod toml_quote;
mod train;

pub use assess::{ConstantValue, Discretisation, LawScore, Score, Scores, SetScore, assess, score};
pub use config::{read, read_embedded, read_run};
pub use csv_writer::CsvWriter;
pub use diagnostic::{Diagnostic, Place, Spot};
pub use experiment::{
    Experiment, Field, OptimiserSettings, Phase, Shooting, Strategy, StrategyKind, Training,
};
pub use history::Record;
pub use loaded_run::LoadedRun;
pub use log::{Log, describe};
pub use manifest::{Machine, Manifest, ModelChoice, Status};
pub use model::{FORMAT, KnownConstant, KnownMetadata, Metadata, ModelFile, save_model};
pub use number::{exact, short};
pub use phrases::{counted, meant};
pub use plan::{PlanState, Remedy};
pub use recorder::RunObserver;
pub use run_folder::{RECONSTRUCTION, RunFolder, sets};
pub use summary::summary;
pub use table::{read_dataset, write_dataset};
pub use times::read_times;
pub use train::{Resumed, Trained, resume, train};
