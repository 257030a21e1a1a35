//! The options of `self-adaptive` that the authors' scripts need, and where they decide nothing.

mod config_support;

use config_support::{error_with, experiment_with};
use lawful::strategy::{Residual, WeighBy};
use lawful_experiment::StrategyKind;

const EQUALITY: &str = "[[law]]\nholds = \"x == t\"\n";
const INEQUALITY: &str = "[[law]]\nholds = \"x <= 100\"\n";

#[test]
fn every_option_is_read_and_written_back() {
    let strategy = "[strategy]\nweigh-by = \"mean\"\nweight-every = 100\nresidual = \"signed\"\n";
    let experiment = experiment_with(&format!("{EQUALITY}{strategy}"));
    let StrategyKind::SelfAdaptive(settings) = experiment.strategy.kind else {
        panic!("{:?}", experiment.strategy)
    };
    assert_eq!((settings.weigh_by, settings.weight_every), (WeighBy::Mean, 100));
    assert_eq!(settings.residual, Residual::Signed);
    let written = experiment.complete_text();
    for line in ["weigh-by = \"mean\"", "weight-every = 100", "residual = \"signed\""] {
        assert!(written.contains(line), "{written}");
    }
    assert!(!written.contains("count-above"), "it decides nothing: {written}");
}

/// Not a recipe's training, whose defaults are smooth.
const ONE_PHASE: &str = "[training]\niterations = 10\n";

#[test]
fn the_defaults_are_the_equations() {
    let written = experiment_with(&format!("{EQUALITY}{ONE_PHASE}")).complete_text();
    for line in ["normalise = \"mean\"", "weigh-by = \"share\"", "weight-every = 1"] {
        assert!(written.contains(line), "{written}");
    }
    assert!(written.contains("residual = \"absolute\""), "{written}");
    assert!(
        !experiment_with(&format!("{INEQUALITY}{ONE_PHASE}")).complete_text().contains("residual")
    );
}

#[test]
fn what_decides_nothing_is_an_error() {
    let strategy = "[strategy]\nweigh-by = \"mean\"\ncount-above = 1e-3\n";
    let message = error_with(&format!("{EQUALITY}{strategy}"));
    assert!(message.contains("`count-above` decides nothing with `weigh-by"), "{message}");
    let message = error_with(&format!("{INEQUALITY}[strategy]\nresidual = \"signed\"\n"));
    assert!(message.contains("`residual` is about equalities, and no law is one"), "{message}");
    let message = error_with(&format!("{EQUALITY}[strategy]\nkind = \"l1\"\nweight-every = 2\n"));
    assert!(message.contains("`weight-every` has no meaning for the strategy `l1`"), "{message}");
    let message = error_with(&format!("{EQUALITY}[strategy]\nweight-every = 0\n"));
    assert!(message.contains("a whole number of at least 1"), "{message}");
}
