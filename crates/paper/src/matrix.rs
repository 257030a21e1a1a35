//! All trainings of a reproduction: systems × variants × seeds, and their variations.

use lawful::{Law, Precision};
use toml::Table;

use super::preset::Preset;
use super::system::System;
use super::variant::Variant;
use super::variation::{Purpose, Variation, variations};
use lawful_experiment::Diagnostic;
use lawful_experiment::ExperimentFile;
use lawful_experiment::runner::changes;

/// Which part of the paper is run, and with which settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Settings of the paper or of its scripts.
    pub preset: Preset,
    /// Systems, in the order of the paper.
    pub systems: Vec<System>,
    /// Variants (the methods of the paper), in the order of the paper.
    pub variants: Vec<Variant>,
    /// Number of seeds: 1, 2, ….
    pub seeds: u64,
    /// Optimiser steps of each training.
    pub iterations: usize,
    /// Precision of the arithmetic inside the network.
    pub precision: Precision,
    /// Whether the two corrected datasets are also trained.
    pub truths: bool,
    /// Whether the oscillator is also trained at the rate of the authors' script.
    pub rates: bool,
    /// Number of trainings that run at the same time.
    pub jobs: usize,
}

impl Default for Options {
    /// The settings of the paper: everything, three seeds, 10 000 iterations, single precision, all cores.
    fn default() -> Self {
        Self {
            preset: Preset::Paper,
            systems: System::ALL.to_vec(),
            variants: Variant::all().collect(),
            seeds: 3,
            iterations: 10_000,
            precision: Precision::Single,
            truths: false,
            rates: false,
            jobs: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        }
    }
}

/// One row of the results before it is trained: a dataset and a variant, for all seeds.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The published system, or a variation of it.
    pub dataset: Dataset,
    /// The variant.
    pub variant: Variant,
    /// The experiment of each seed.
    pub experiments: Vec<ExperimentFile>,
    /// The laws whose violation is reported.
    pub laws: Vec<Law>,
}

/// A column `dataset`: a system as published, or with one thing changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// Which system.
    pub system: System,
    /// What is changed.
    pub variation: Option<Variation>,
}

impl Dataset {
    /// Returns its word in tables.
    pub fn name(&self) -> &str {
        self.variation.as_ref().map_or(self.system.name(), |variation| &variation.name)
    }

    /// Returns what it is varied for; `None` as published.
    pub fn purpose(&self) -> Option<Purpose> {
        self.variation.as_ref().map(|variation| variation.purpose)
    }
}

/// Returns all entries: those of the published tables first, then the selected variations.
pub fn entries(options: &Options) -> Result<Vec<Entry>, Diagnostic> {
    let mut datasets: Vec<Dataset> =
        options.systems.iter().map(|&system| Dataset { system, variation: None }).collect();
    for variation in variations() {
        let wanted = match variation.purpose {
            Purpose::Truth => options.truths,
            Purpose::Rate => options.rates,
        };
        if wanted && options.systems.contains(&variation.system) {
            datasets.push(Dataset { system: variation.system, variation: Some(variation) });
        }
    }
    let mut entries = Vec::new();
    for dataset in datasets {
        for &variant in &options.variants {
            entries.push(entry(options, dataset.clone(), variant)?);
        }
    }
    Ok(entries)
}

fn entry(options: &Options, dataset: Dataset, variant: Variant) -> Result<Entry, Diagnostic> {
    let mut table = options.preset.table(dataset.system, variant)?;
    // Violations are of the laws as published, whatever laws a script trains with.
    let mut measured = dataset.system.table()?;
    if let Some(variation) = &dataset.variation {
        variation.apply(&mut table)?;
        variation.apply(&mut measured)?;
    }
    let iterations = i64::try_from(options.iterations).unwrap_or(i64::MAX);
    changes::set(&mut table, &changes::single("training.iterations", iterations));
    let precision = options.precision.name();
    changes::set(&mut table, &changes::single("field.precision", precision));
    let laws = changes::experiment(dataset.name(), &measured)?.experiment.training.laws;
    let experiments = seeds(&table, dataset.name(), options.seeds)?;
    Ok(Entry { dataset, variant, experiments, laws })
}

/// Returns the experiment with each seed.
fn seeds(table: &Table, name: &str, seeds: u64) -> Result<Vec<ExperimentFile>, Diagnostic> {
    let with = |seed: u64| {
        let mut seeded = table.clone();
        let number = i64::try_from(seed).unwrap_or(i64::MAX);
        changes::set(&mut seeded, &changes::single("training.seed", number));
        changes::experiment(name, &seeded)
    };
    (1..=seeds).map(with).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lawful_experiment::RunFolder;
    use std::collections::BTreeSet;

    fn names(options: &Options) -> BTreeSet<String> {
        let entries = entries(options).unwrap();
        entries.iter().flat_map(|e| &e.experiments).map(RunFolder::name_of).collect()
    }

    #[test]
    fn the_paper_is_81_different_trainings_for_three_seeds() {
        assert_eq!(names(&Options::default()).len(), 81);
        let all = Options { truths: true, rates: true, ..Options::default() };
        assert_eq!(names(&all).len(), 81 + 3 * 27);
    }

    #[test]
    fn the_scripts_best_point_is_no_training_of_its_own() {
        let script = Options { preset: Preset::Script, ..Options::default() };
        assert_eq!(names(&script).len(), 45);
        assert!(names(&script).iter().all(|name| !name.contains("best")));
    }

    #[test]
    fn presets_differ_in_what_is_trained_and_agree_in_what_is_measured() {
        let of = |preset| entries(&Options { preset, seeds: 1, ..Options::default() }).unwrap();
        let (paper, script) = (of(Preset::Paper), of(Preset::Script));
        for (paper, script) in paper.iter().zip(&script) {
            let texts = |laws: &[Law]| laws.iter().map(|l| l.text().to_owned()).collect::<Vec<_>>();
            assert_eq!(texts(&paper.laws), texts(&script.laws));
            if paper.variant.kind == crate::variant::Kind::SelfAdaptive {
                let (paper, script) = (&paper.experiments[0], &script.experiments[0]);
                let (a, b) = (&paper.experiment, &script.experiment);
                assert_ne!(a.training.strategy.kind, b.training.strategy.kind, "{}", a.name);
            }
        }
    }
}
