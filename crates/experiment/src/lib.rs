//! Experiment files, tables, run folders, checkpoints and figures.
//!
//! [`config`] reads an experiment file and checks it, [`Experiment`] is the checked experiment,
//! [`train()`] trains it, and [`RunFolder`] has the results.

mod audit;
mod check;
pub mod compare;
pub mod config;
mod csv_writer;
mod diagnostic;
mod experiment;
pub mod files;
pub mod interval;
mod law_warning;
mod phrases;
pub mod predict;
mod run;
pub mod runner;
mod scores;
pub mod statistics;
mod subjects;
mod summary;
pub mod table;
mod times;
mod toml_quote;

pub use audit::{audit, contradictions};
pub use check::{Check, check};
pub use config::{ExperimentFile, read, read_embedded, read_run, read_with_seed, read_with_table};
pub use csv_writer::CsvWriter;
pub use diagnostic::{Diagnostic, Formula, Place, Spot, visible};
pub use experiment::{Experiment, RECONSTRUCTION};
pub use interval::{IntervalReport, score_intervals};
pub use law_warning::law_warning;
pub use lawful::{exact, short};
pub use phrases::{counted, meant};
pub use run::figures;
pub use run::{
    LoadedRun, Log, Machine, Manifest, ModelChoice, Record, Resumed, RunFolder, RunObserver,
    Status, Trained, describe, read_checkpoint, resume, train,
};
pub use scores::{Discretisation, Scores, SetScore, law_report, score_sets};
pub use subjects::SubjectValues;
pub use summary::{expected, summary};
pub use table::{Cells, Columns, Grouped, TimeOrigin, read_dataset, write_dataset};
pub use times::read_times;
