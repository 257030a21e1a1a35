//! The recipe `evidence` and the key `least-squares` of a phase.

mod config_support;

use config_support::{Folder, LINE};
use insta::assert_snapshot;
use lawful_experiment::{files, read};

/// A file with this `[training]`.
fn with(training: &str) -> Folder {
    let text = format!(
        "name = \"line\"\n[system]\nstate = [\"x\"]\n[data]\nfile = \"data.csv\"\n[training]\n{training}"
    );
    Folder::new(&[("experiment.toml", &text), ("data.csv", LINE)])
}

#[test]
fn what_the_recipe_chooses_is_written_out_and_reads_back_the_same() {
    let folder = with("recipe = \"evidence\"\n");
    let original = folder.read().unwrap_or_else(|error| panic!("{error}"));
    files::write(&folder.path("complete.toml"), original.complete.as_bytes()).unwrap();
    let again = read(&folder.path("complete.toml")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(original.complete, again.complete);
    let (first, second) = (&original.experiment.training, &again.experiment.training);
    assert_eq!((&first.phases, &first.field), (&second.phases, &second.field));
    assert_eq!(first.field.hidden, [8]);
    let training = original.complete.split("[training]").nth(1).expect("a training");
    assert_snapshot!(training, @r#"
    loss = "mse"
    scale = "auto"
    initial-state = "train"
    weight-decay = 0.0
    validation = 0.0
    remedies = true
    seed = 1
    start = "table"
    phase = [{ least-squares = { starts = 15, screening = 30, kept = 4, rounds = 3, round = 30 }, iterations = 180, substeps = 2 }]
    "#);
}

#[test]
fn settings_of_a_phase_are_read_and_wrong_ones_named() {
    let folder = with(
        "[[training.phase]]\nleast-squares = { starts = 3, screening = 5, kept = 2 }\niterations = 40\n",
    );
    let text = "[field]\nhidden = [4]\n";
    let path = folder.path("experiment.toml");
    let written =
        files::read_text(&path).unwrap().replace("[training]", &format!("{text}[training]"));
    files::write(&path, written.as_bytes()).unwrap();
    let read = folder.read().unwrap_or_else(|error| panic!("{error}"));
    let settings = read.experiment.training.phases[0].least_squares.expect("least squares");
    assert_eq!((settings.starts, settings.screening, settings.kept), (3, 5, 2));
    assert_eq!((settings.rounds, settings.round), (3, 30));
    for (training, said) in [
        (
            "[[training.phase]]\nleast-squares = { seeds = 3 }\niterations = 40\n",
            "unknown key `seeds` in [training.phase.least-squares]",
        ),
        (
            "[[training.phase]]\nleast-squares = {}\noptimiser = \"adam\"\niterations = 40\n",
            "`optimiser` and `least-squares` cannot both be given",
        ),
        ("recipe = \"evidence\"\nweight-decay = 0.1\n", "leave `weight-decay` out"),
        ("recipe = \"evidence\"\nloss = \"mae\"\n", "`loss` must be \"mse\""),
    ] {
        let error = with(training).read().unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn process_noise_is_written_out_with_its_segments_and_reads_back_the_same() {
    let folder = with("process-noise = \"estimate\"\n");
    let original = folder.read().unwrap_or_else(|error| panic!("{error}"));
    files::write(&folder.path("complete.toml"), original.complete.as_bytes()).unwrap();
    let again = read(&folder.path("complete.toml")).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(original.complete, again.complete);
    let (first, second) = (&original.experiment.training, &again.experiment.training);
    assert_eq!((&first.phases, first.process_noise), (&second.phases, second.process_noise));
    assert!(first.process_noise && first.recipe == Some("auto"));
    for line in ["process-noise = \"estimate\"", "segments = 1, starts = \"free\""] {
        assert!(original.complete.contains(line), "{}", original.complete);
    }
    for (training, said) in [
        ("process-noise = \"yes\"\n", "process noise"),
        ("process-noise = \"estimate\"\nrecipe = \"lbfgs\"\n", "these phases have none"),
        (
            "process-noise = \"estimate\"\n[[law]]\nname = \"up\"\nholds = \"x >= -9\"\nstrategy = \"hard\"\n",
            "process noise cannot be combined with the guaranteed law `up`",
        ),
    ] {
        let error = with(training).read().unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
        assert!(error.to_string().contains("process-noise = "), "the place: {error}");
    }
}
