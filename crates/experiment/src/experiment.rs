//! A checked experiment, ready to train.

use lawful::{Dataset, Prepared};

use crate::table::TimeOrigin;

/// The name of the training set in files and reports.
pub const RECONSTRUCTION: &str = "reconstruction";

/// Everything a run needs, read from a file and checked.
#[derive(Debug, Clone)]
pub struct Experiment {
    /// Its name, which is part of the name of the run folder.
    pub name: String,
    /// The training, with every setting selected.
    pub training: Prepared,
    /// Named test sets, in the order of the file.
    pub tests: Vec<(String, Dataset)>,
    /// The time column of its files.
    pub time_column: String,
    /// The time from which all its times are counted.
    pub time_origin: TimeOrigin,
    /// The time up to which laws are measured beyond the data; by default the training's horizon.
    pub horizon: Option<f64>,
}

impl Experiment {
    /// An experiment with the horizon of its training.
    pub(crate) fn new(
        name: String,
        training: Prepared,
        tests: Vec<(String, Dataset)>,
        (time_column, time_origin): (String, TimeOrigin),
    ) -> Self {
        let horizon = training.horizon;
        Self { name, training, tests, time_column, time_origin, horizon }
    }

    /// Returns what messages with times must say, if they are counted from an origin.
    pub fn time_note(&self) -> Option<String> {
        let origin = self.time_origin.text()?;
        Some(format!("times in messages and figures, and `t` in laws, are counted from {origin}"))
    }

    /// Returns the name of the axis of times.
    pub(crate) fn time_axis(&self) -> String {
        self.time_origin.text().map_or_else(|| "t".to_owned(), |origin| format!("t − {origin}"))
    }

    /// Name, strategy and seed: `oscillator, self-adaptive, seed 1`.
    pub fn label(&self) -> String {
        let (strategy, seed) = (self.training.strategy.label(), self.training.seed);
        format!("{}, {strategy}, seed {seed}", self.name)
    }

    /// The training set and the test sets, with their names.
    pub fn sets(&self) -> impl Iterator<Item = (&str, &Dataset)> {
        let tests = self.tests.iter().map(|(name, dataset)| (name.as_str(), dataset));
        std::iter::once((RECONSTRUCTION, &self.training.data)).chain(tests)
    }

    /// Names of the state variables.
    pub fn state(&self) -> &[String] {
        self.training.vocabulary.state()
    }

    /// Names of the laws, in order, each in one line.
    pub fn law_names(&self) -> Vec<String> {
        self.training.laws.iter().map(|law| in_a_line(law.name())).collect()
    }

    /// Returns the name and the relation of each law. A law without a name of its own has an empty
    /// name, and a part of a chain has the name of the chain.
    pub fn law_titles(&self) -> Vec<(String, String)> {
        let titles = self.training.laws.iter().map(|law| {
            let (name, relation) = (in_a_line(law.name()), in_a_line(law.text()));
            let part = format!(" ({relation})");
            let name = name.strip_suffix(&part).unwrap_or(&name);
            (if name == relation { String::new() } else { name.to_owned() }, relation)
        });
        titles.collect()
    }
}

/// A text in one line, with single spaces.
pub(crate) fn in_a_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
