//! The options of `self-adaptive` that the authors' scripts need, and where they have no effect.

mod config_support;

use config_support::{complete_with, error_with, experiment_with};
use lawful::strategy::{Residual, StrategyKind, WeighBy};

const EQUALITY: &str = "[[law]]\nholds = \"x == t\"\n";
const INEQUALITY: &str = "[[law]]\nholds = \"x <= 100\"\n";

#[test]
fn every_option_is_read_and_written_back() {
    let strategy = "[strategy]\nweigh-by = \"mean\"\nweight-every = 100\nresidual = \"signed\"\n";
    let experiment = experiment_with(&format!("{EQUALITY}{strategy}"));
    let StrategyKind::SelfAdaptive(settings) = experiment.training.strategy.kind else {
        panic!("{:?}", experiment.training.strategy)
    };
    assert_eq!((settings.weigh_by, settings.weight_every), (WeighBy::Mean, 100));
    assert_eq!(settings.residual, Residual::Signed);
    let written = complete_with(&format!("{EQUALITY}{strategy}"));
    for line in ["weigh-by = \"mean\"", "weight-every = 100", "residual = \"signed\""] {
        assert!(written.contains(line), "{written}");
    }
    assert!(!written.contains("count-above"), "it has no effect: {written}");
}

/// Not a recipe's training, whose defaults are smooth.
const ONE_PHASE: &str = "[training]\niterations = 10\n";

#[test]
fn the_defaults_are_the_equations() {
    let written = complete_with(&format!("{EQUALITY}{ONE_PHASE}"));
    for line in ["normalise = \"mean\"", "weigh-by = \"share\"", "weight-every = 1"] {
        assert!(written.contains(line), "{written}");
    }
    assert!(written.contains("residual = \"absolute\""), "{written}");
    assert!(!complete_with(&format!("{INEQUALITY}{ONE_PHASE}")).contains("residual"));
}

#[test]
fn what_has_no_effect_is_an_error() {
    let strategy = "[strategy]\nweigh-by = \"mean\"\ncount-above = 1e-3\n";
    let message = error_with(&format!("{EQUALITY}{strategy}"));
    assert!(message.contains("`count-above` has no effect with `weigh-by"), "{message}");
    let message = error_with(&format!("{INEQUALITY}[strategy]\nresidual = \"signed\"\n"));
    assert!(message.contains("`residual` has no effect without an equality"), "{message}");
    let message = error_with(&format!("{EQUALITY}[strategy]\nkind = \"l1\"\nweight-every = 2\n"));
    assert!(message.contains("the strategy `l1` has no key `weight-every`"), "{message}");
    let message = error_with(&format!("{EQUALITY}[strategy]\nweight-every = 0\n"));
    assert!(message.contains("a whole number of at least 1"), "{message}");
}
