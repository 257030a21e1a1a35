//! The figures of a run: curves and residuals of each set, and the course of training.

use lawful::{Dataset, Model, Relation, Score};
use lawful_plot::{
    Band, CurvesFigure, Events, Figure, History, LawResiduals, LearningFigure, Line, Prediction,
    ResidualCurve, ResidualsFigure, Side, TimeRange, Trajectory, curves, learning, phase,
    residuals,
};

use super::folder::RunFolder;
use super::history::Record;
use crate::diagnostic::Diagnostic;
use crate::experiment::{Experiment, RECONSTRUCTION};
use crate::interval::LEVEL;
use crate::scores::{Scores, scored_range};
use crate::{files, predict};

/// Writes all figures of a run, as SVG and PNG.
pub fn write(
    experiment: &Experiment,
    folder: &RunFolder,
    model: &Model,
    scores: &Scores,
    record: Record,
) -> Result<(), Diagnostic> {
    for ((name, dataset), set) in experiment.sets().zip(&scores.sets) {
        let figure = curves_of(experiment, model, name, dataset);
        save(folder, &format!("curves-{name}"), &curves(&figure))?;
        if experiment.state().len() == 2 && name == RECONSTRUCTION {
            save(folder, "phase", &phase(&figure, 0, 1))?;
        }
        if experiment.training.laws.is_empty() {
            continue;
        }
        let residuals_name = format!("residuals-{name}");
        match &set.score {
            Ok(score) => {
                let figure = residuals_of(experiment, name, score);
                save(folder, &residuals_name, &residuals(&figure))?;
            }
            // There may be one of an earlier model.
            Err(_) => remove(folder, &residuals_name)?,
        }
    }
    save(folder, "learning", &learning(&learning_of(experiment, record)))
}

/// Writes one figure, as SVG and PNG.
pub fn save(folder: &RunFolder, name: &str, figure: &Figure) -> Result<(), Diagnostic> {
    let [svg, png] = folder.figure(name);
    files::write(&svg, figure.svg.as_bytes())?;
    files::write(&png, &figure.png)
}

/// Removes a figure, if it exists.
fn remove(folder: &RunFolder, name: &str) -> Result<(), Diagnostic> {
    for file in folder.figure(name) {
        if file.is_file() {
            files::remove(&file)?;
        }
    }
    Ok(())
}

/// Trajectories above which only those that the figures show have curves.
const MANY: usize = 100;
/// Trajectories that the figures show.
const SHOWN: usize = 6;

/// Returns how many of the trajectories have curves.
fn drawn(trajectories: usize) -> usize {
    if trajectories > MANY { SHOWN } else { trajectories }
}

/// Measured and predicted curves of a set.
pub fn curves_of(
    experiment: &Experiment,
    model: &Model,
    name: &str,
    dataset: &Dataset,
) -> CurvesFigure {
    let mut ranges = vec![range("training", &experiment.training.data)];
    if name != RECONSTRUCTION {
        ranges.push(range(name, dataset));
    }
    CurvesFigure {
        title: format!("{}: {name}", experiment.name),
        time: experiment.time_axis(),
        states: experiment.state().to_vec(),
        measured: measured_of(experiment, dataset),
        predictions: vec![predicted(model, "predicted", Line::Solid, dataset)],
        band: band(model, dataset),
        ranges,
    }
}

/// What was measured; of very many trajectories, those that are not shown have no points.
fn measured_of(experiment: &Experiment, dataset: &Dataset) -> Vec<Trajectory> {
    let all = dataset.trajectories();
    let (shown, others) = all.split_at(drawn(all.len()));
    let nothing =
        |t: &lawful::Trajectory| Trajectory { name: t.name.clone(), ..Default::default() };
    shown.iter().map(|t| measured(experiment, t)).chain(others.iter().map(nothing)).collect()
}

/// What was measured. A test of the later part of a trajectory has no rows of the earlier one, so
/// these come from the training set.
fn measured(experiment: &Experiment, trajectory: &lawful::Trajectory) -> Trajectory {
    let (name, scored) = (trajectory.name.clone(), trajectory.scored_from);
    let mut training = experiment.training.data.trajectories().iter();
    let earlier = training.find(|earlier| scored > 0 && earlier.name == name);
    let Some(earlier) = earlier else {
        let (t, values) = (trajectory.times.to_vec(), trajectory.states.to_vec());
        return Trajectory { name, t, values };
    };
    let d = experiment.state().len();
    let rows = earlier.times.partition_point(|t| *t < trajectory.times[scored]);
    Trajectory {
        name,
        t: [&earlier.times[..rows], &trajectory.times[scored..]].concat(),
        values: [&earlier.states[..rows * d], &trajectory.states[scored * d..]].concat(),
    }
}

/// Returns the predictions along each trajectory, at times dense enough for a smooth line.
pub fn predicted(model: &Model, name: &str, line: Line, dataset: &Dataset) -> Prediction {
    let all = dataset.trajectories();
    let drawn = drawn(all.len());
    let mut failed = 0;
    let trajectories = all.iter().enumerate().map(|(n, trajectory)| {
        if n >= drawn {
            return Trajectory { name: trajectory.name.clone(), ..Trajectory::default() };
        }
        let times = predict::smooth_times(trajectory);
        // A solve that fails leaves its line out; the scores say why.
        let solved = model.along(trajectory, &times);
        failed += usize::from(solved.is_err());
        Trajectory { name: trajectory.name.clone(), t: times, values: solved.unwrap_or_default() }
    });
    let trajectories = trajectories.collect();
    let name = match failed {
        0 => name.to_owned(),
        _ if failed == all.len() => format!("{name} (could not be solved)"),
        _ => format!("{name} ({failed} of {} could not be solved)", all.len()),
    };
    Prediction { name, line, trajectories }
}

/// Returns the interval along the first trajectory, since several would hide each other; `None` for a model
/// without intervals.
fn band(model: &Model, dataset: &Dataset) -> Option<Band> {
    let intervals = model.intervals(LEVEL).ok()?;
    let all = dataset.trajectories();
    let first = all.first()?;
    let times = predict::smooth_times(first);
    // A band that fails is left out; the scores say why.
    let found = intervals.along(first, &times).ok()?;
    let end = |values| Trajectory { name: first.name.clone(), t: times.clone(), values };
    let of = if all.len() > 1 { format!(", {}", first.name) } else { String::new() };
    Some(Band {
        name: format!("{} % interval{of}", 100.0 * LEVEL),
        low: vec![end(found.low)],
        high: vec![end(found.high)],
    })
}

/// The scored times of a set.
fn range(name: &str, dataset: &Dataset) -> TimeRange {
    let (from, to) = scored_range(dataset);
    TimeRange { name: name.to_owned(), from, to }
}

/// Residuals of each law on a set.
pub fn residuals_of(experiment: &Experiment, name: &str, score: &Score) -> ResidualsFigure {
    let titles = experiment.law_titles();
    let laws = experiment.training.laws.iter().zip(titles).zip(&score.residuals);
    let laws = laws.map(|((law, (name, text)), parts)| LawResiduals {
        name,
        text,
        side: match law.relation() {
            Relation::Equality => Side::Both,
            Relation::AtMost => Side::Above,
        },
        tolerance: 0.0,
        curves: parts
            .iter()
            .map(|(t, residual)| ResidualCurve {
                name: "predicted".to_owned(),
                line: Line::Solid,
                t: t.clone(),
                residual: residual.clone(),
            })
            .collect(),
    });
    ResidualsFigure {
        title: format!("{}: residuals, {name}", experiment.name),
        time: experiment.time_axis(),
        laws: laws.collect(),
    }
}

/// Returns the learning curves of a training.
pub fn learning_of(experiment: &Experiment, record: Record) -> LearningFigure {
    let named = |names: Vec<String>, rows: Vec<Vec<f64>>| -> Vec<History> {
        names.into_iter().zip(rows).map(|(name, values)| History { name, values }).collect()
    };
    let mut events = Vec::new();
    if experiment.training.strategy.best_point.is_some() {
        events.push(Events { name: "best point accepted".to_owned(), iterations: record.accepted });
    }
    for (name, iterations) in [
        ("next phase", record.phases),
        ("step taken back", record.taken_back),
        ("step halved", record.backtracked),
    ] {
        if !iterations.is_empty() {
            events.push(Events { name: name.to_owned(), iterations });
        }
    }
    LearningFigure {
        title: format!("{}: training", experiment.name),
        iterations: record.iterations,
        losses: vec![
            History { name: "loss".to_owned(), values: record.loss },
            History { name: "objective".to_owned(), values: record.value },
        ],
        violations: named(experiment.law_names(), record.violations),
        weights: named(experiment.law_names(), record.weights),
        events,
    }
}
