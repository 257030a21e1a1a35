//! The paper's figure of each system, and how its trainings went.

use super::matrix::Entry;
use super::results::{Cell, variant};
use super::system::{System, Task};
use super::variant::{Kind, Variant};
use lawful_experiment::Diagnostic;
use lawful_experiment::LoadedRun;
use lawful_experiment::Record;
use lawful_experiment::figures::predicted;
use lawful_experiment::runner::FinishedRun;
use lawful_plot::{
    Exhibit, Figure, GalleryFigure, History, LearningFigure, Line, Trajectory, gallery, learning,
};

/// The panels of the paper's figures, in order.
pub(super) const PANELS: [Variant; 5] = [
    variant(Kind::Vanilla, false),
    variant(Kind::L1(1), false),
    variant(Kind::L1(1), true),
    variant(Kind::SelfAdaptive, false),
    variant(Kind::SelfAdaptive, true),
];

/// A row of the results with its run folders.
pub(super) struct Trained<'a> {
    /// What was asked.
    pub(super) entry: &'a Entry,
    /// What came out, for each seed.
    pub(super) runs: &'a [FinishedRun],
}

/// The run of each panel that is best at extrapolation, and where it is.
fn best<'a>(
    system: System,
    trained: &[Trained<'a>],
    cells: &[Cell],
) -> Vec<(Variant, &'a FinishedRun)> {
    let mut found = Vec::new();
    for panel in PANELS {
        let is_panel = |entry: &Entry| {
            entry.dataset.variation.is_none()
                && (entry.dataset.system, entry.variant) == (system, panel)
        };
        let Some(row) = trained.iter().find(|row| is_panel(row.entry)) else { continue };
        let cell = super::results::find(cells, system, Task::Extrapolation, panel);
        let scored = cell.into_iter().flat_map(|cell| cell.runs.iter().enumerate());
        let solved = scored.filter_map(|(n, run)| Some((n, run.as_ref().ok()?.mse)));
        if let Some((n, _)) = solved.min_by(|a, b| a.1.total_cmp(&b.1)) {
            found.push((panel, &row.runs[n]));
        }
    }
    found
}

/// Curves and learning of a system, each with its name; none if no panel was trained.
pub(super) fn of_system(
    system: System,
    trained: &[Trained],
    cells: &[Cell],
) -> Result<Vec<(String, Figure)>, Diagnostic> {
    let best = best(system, trained, cells);
    if best.is_empty() {
        return Ok(Vec::new());
    }
    let mut curves = GalleryFigure {
        title: format!("{}: extrapolation, the best run of each method", system.name()),
        time: "t".to_owned(),
        ..GalleryFigure::default()
    };
    let mut histories = LearningFigure {
        title: format!("{}: how these runs were trained", system.name()),
        ..LearningFigure::default()
    };
    for (variant, finished) in best {
        let run = LoadedRun::open(finished.folder.path(), None)?;
        show(&mut curves, &run, variant);
        add(&mut histories, Record::read(&run.folder.log())?, variant, &run.experiment.law_names());
    }
    Ok(vec![
        (format!("{}-curves", system.name()), gallery(&curves)),
        (format!("{}-learning", system.name()), learning(&histories)),
    ])
}

/// Adds a model; real is the test's own data.
fn show(figure: &mut GalleryFigure, run: &LoadedRun, variant: Variant) {
    let experiment = &run.experiment;
    let test = experiment.sets().find(|(name, _)| *name == Task::Extrapolation.name());
    let dataset = test.map_or(&experiment.training.data, |(_, dataset)| dataset);
    if let Some(real) = dataset.trajectories().first() {
        figure.states = experiment.state().to_vec();
        figure.real = Trajectory {
            name: real.name.clone(),
            t: real.times.to_vec(),
            values: real.states.to_vec(),
        };
    }
    let name = variant.to_string();
    let prediction = predicted(&run.model, &name, Line::Solid, dataset);
    let predicted = prediction.trajectories.into_iter().next().unwrap_or_default();
    figure.exhibits.push(Exhibit { name, predicted });
}

/// Adds the history of one run.
fn add(figure: &mut LearningFigure, record: Record, variant: Variant, laws: &[String]) {
    if record.iterations.len() > figure.iterations.len() {
        figure.iterations = record.iterations;
    }
    let name = variant.to_string();
    figure.losses.push(History { name: name.clone(), values: record.loss });
    figure.violations.push(History { name: name.clone(), values: record.violation });
    if variant.kind == Kind::SelfAdaptive {
        for (law, values) in laws.iter().zip(record.weights) {
            figure.weights.push(History { name: format!("{name}: {law}"), values });
        }
    }
}
