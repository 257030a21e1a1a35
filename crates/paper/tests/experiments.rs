//! The experiment files of the paper's three systems.

use lawful::optimiser::OptimiserKind;
use lawful_experiment::read_embedded;
use lawful_paper::System;

#[test]
fn every_system_trains_as_the_paper_says() {
    for system in System::ALL {
        let experiment = read_embedded(system.name(), system.file()).unwrap().experiment;
        let names: Vec<&str> = experiment.tests.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["extrapolation", "completion"]);
        assert_eq!(experiment.training.iterations(), 10_000);
        assert!(!experiment.training.scale && !experiment.training.remedies);
        let OptimiserKind::Adam(adam) = &experiment.training.phases[0].optimiser else {
            panic!("the paper uses Adam");
        };
        assert!((adam.rate - 1e-5).abs() < 1e-20);
    }
}
