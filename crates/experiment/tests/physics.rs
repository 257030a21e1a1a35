//! Known physics alone: the fits of `experiments/physics` beside those of `SciPy`, which `scipy_reference.py`
//! there has saved.
#![expect(clippy::unwrap_used, reason = "what a test's helper cannot do fails the test")]

use std::path::{Path, PathBuf};

use lawful::{Dataset, Model};
use lawful_experiment::{ExperimentFile, files, read};

/// The experiments, in the repository.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments")
}

/// Reads an experiment with more lines at its end.
fn experiment(name: &str, more: &str) -> ExperimentFile {
    let text = files::read_text(&folder().join(format!("physics/{name}.toml"))).unwrap();
    let data = folder().join("real");
    let text = text.replace("../real", data.to_str().unwrap()) + more;
    let own = tempfile::tempdir().unwrap();
    let path = own.path().join("experiment.toml");
    files::write(&path, text.as_bytes()).unwrap();
    read(&path).unwrap_or_else(|error| panic!("{error}"))
}

const FIXED: &str = "[training]\ninitial-state = \"data\"\n";
const FITTED: &str = "[training]\ninitial-state = \"train\"\n";

fn trained(file: &ExperimentFile) -> Model {
    let prepared = &file.experiment.training;
    assert!(prepared.phases[0].least_squares.is_some(), "{:?}", prepared.remarks);
    prepared.trained(&prepared.run(&mut ())).model
}

/// The sum of squares over the measured cells, in standard deviations of each state; a state that is measured
/// in the first rows only has the scale of the others.
fn squares(model: &Model, data: &Dataset) -> f64 {
    let d = data.state().len();
    let predicted = model.score(data).unwrap().predicted;
    let cells = |i: usize| {
        let each = data.trajectories().iter().zip(&predicted);
        let each = each.flat_map(move |(own, predicted)| {
            own.states.iter().copied().zip(predicted.iter().copied()).skip(i).step_by(d)
        });
        each.filter(|(measured, _)| measured.is_finite()).collect::<Vec<_>>()
    };
    let spread = |i: usize| {
        let cells = cells(i);
        let n = cells.len() as f64;
        let mean = cells.iter().map(|(y, _)| y).sum::<f64>() / n;
        let squares = cells.iter().map(|(y, _)| (y - mean).powi(2)).sum::<f64>();
        (cells.len() > 2).then(|| (squares / n).sqrt())
    };
    let own: Vec<f64> = (0..d).filter_map(spread).collect();
    let usual = (own.iter().map(|s| s.ln()).sum::<f64>() / own.len() as f64).exp();
    let of = |i: usize| {
        let unit = spread(i).unwrap_or(usual);
        cells(i).iter().map(|(measured, at)| ((at - measured) / unit).powi(2)).sum::<f64>()
    };
    (0..d).map(of).sum()
}

/// What `SciPy` has found.
struct Reference {
    set: String,
    initial: String,
    squares: f64,
    errors: Vec<f64>,
    correlations: Vec<f64>,
}

fn references() -> Vec<Reference> {
    let text = files::read_text(&folder().join("physics/scipy.csv")).unwrap();
    let mut rows = csv::Reader::from_reader(text.as_bytes());
    let numbers = |text: &str| -> Vec<f64> {
        text.split_whitespace()
            .map(|word| word.rsplit_once('=').unwrap().1.parse().unwrap())
            .collect()
    };
    let rows = rows.records().map(|row| row.unwrap()).filter(|row| &row[2] == "several");
    let rows = rows.map(|row| Reference {
        set: row[0].to_owned(),
        initial: row[1].to_owned(),
        squares: row[3].parse().unwrap(),
        errors: numbers(&row[6]),
        correlations: numbers(&row[7]),
    });
    rows.collect()
}

#[test]
fn every_textbook_model_fits_as_well_as_scipy_from_several_starts() {
    let references = references();
    assert_eq!(references.len(), 12);
    for reference in references {
        let Reference { set, initial, squares: best, errors, correlations } = reference;
        let file = experiment(&set, if initial == "fixed" { FIXED } else { FITTED });
        let model = trained(&file);
        let found = squares(&model, &file.experiment.training.data);
        // Twenty-four initial states, each with a prior, cost theophylline a thousandth.
        let most = if set == "theoph" && initial == "fitted" { 1.002 } else { 1.0001 };
        assert!(found <= most * best, "{set}, {initial}: {found} {best}");
        let estimates = model.estimates();
        for (constant, error) in estimates.constants.iter().zip(&errors) {
            let ratio = constant.standard_error.unwrap() / error;
            assert!((0.95..1.01).contains(&ratio), "{set}, {initial}, {}: {ratio}", constant.name);
        }
        for ((.., found), expected) in estimates.pairs().zip(&correlations) {
            assert!((found - expected).abs() < 0.05, "{set}, {initial}: {found} {expected}");
        }
    }
}

#[test]
fn subjects_with_constants_of_their_own_fit_better_than_those_that_share_them() {
    let [shared, own] = ["theoph", "theoph-subjects"].map(|name| {
        let file = experiment(name, "");
        squares(&trained(&file), &file.experiment.training.data)
    });
    assert!(own < 0.4 * shared, "{own} {shared}");
}

#[test]
fn rows_two_years_apart_and_bad_starts_lead_to_the_same_hares() {
    let file = experiment("hares", "");
    let usual = trained(&file);
    for (constant, factor) in [("birth", 0.1), ("hunt", 30.0), ("feed", 0.05), ("death", 20.0)] {
        let text = files::read_text(&folder().join("physics/hares.toml")).unwrap();
        let line = text.lines().find(|line| line.starts_with(constant)).unwrap();
        let start = line.split("start = ").nth(1).unwrap().split(',').next().unwrap();
        let moved: f64 = factor * start.parse::<f64>().unwrap();
        let changed = line.replace(&format!("start = {start}"), &format!("start = {moved:?}"));
        let data = folder().join("real");
        let text = text.replace(line, &changed).replace("../real", data.to_str().unwrap());
        let own = tempfile::tempdir().unwrap();
        let path = own.path().join("experiment.toml");
        files::write(&path, text.as_bytes()).unwrap();
        let moved = trained(&read(&path).unwrap());
        for (a, b) in usual.estimates().constants.iter().zip(&moved.estimates().constants) {
            assert!((a.value / b.value).ln().abs() < 0.02, "{constant}: {} {}", a.value, b.value);
        }
    }
    // Every second year alone.
    let text = files::read_text(&folder().join("real/hares.csv")).unwrap();
    let kept = text.lines().enumerate().filter(|(n, _)| *n == 0 || n % 2 == 1);
    let kept: Vec<&str> = kept.map(|(_, line)| line).collect();
    let own = tempfile::tempdir().unwrap();
    files::write(&own.path().join("hares.csv"), (kept.join("\n") + "\n").as_bytes()).unwrap();
    let text = files::read_text(&folder().join("physics/hares.toml")).unwrap();
    let path = own.path().join("experiment.toml");
    files::write(&path, text.replace("../real/hares.csv", "hares.csv").as_bytes()).unwrap();
    let model = trained(&read(&path).unwrap());
    for (a, b) in usual.estimates().constants.iter().zip(&model.estimates().constants) {
        assert!((a.value / b.value).ln().abs() < 0.3, "{}: {} {}", a.name, a.value, b.value);
    }
}
