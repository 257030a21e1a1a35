//! What was understood of an experiment, in words.

use std::fmt::Write as _;

use lawful::law::{Steps, Workspace};
use lawful::{Batch, Control, Dataset, Law, Method, Relation};

use crate::experiment::Experiment;
use crate::run_folder::{RECONSTRUCTION, sets};

/// A page of text: system, laws, data, network, solvers, strategy, training.
pub fn summary(experiment: &Experiment) -> String {
    let mut text = String::new();
    let out = &mut text;
    // Writing to a string cannot fail.
    let _ = write_system(out, experiment);
    let _ = write_laws(out, experiment);
    let _ = write_data(out, experiment);
    let _ = write_training(out, experiment);
    text
}

fn write_system(out: &mut String, experiment: &Experiment) -> std::fmt::Result {
    let vocabulary = &experiment.vocabulary;
    writeln!(out, "experiment  {}", experiment.name)?;
    writeln!(out, "state       {}", vocabulary.state().join(", "))?;
    if !vocabulary.inputs().is_empty() {
        writeln!(out, "inputs      {}", vocabulary.inputs().join(", "))?;
    }
    for (name, value) in vocabulary.constants() {
        writeln!(out, "constant    {name} = {value}")?;
    }
    for (name, definition) in vocabulary.definitions() {
        writeln!(out, "define      {name} = {definition}")?;
    }
    Ok(())
}

fn write_laws(out: &mut String, experiment: &Experiment) -> std::fmt::Result {
    if experiment.laws.is_empty() {
        writeln!(out, "laws        none")?;
    }
    for law in &experiment.laws {
        let kind = match law.relation() {
            Relation::Equality => "equality",
            Relation::AtMost => "inequality",
        };
        writeln!(out, "law         {}: {} ({kind})", law.name(), law.text())?;
        writeln!(out, "            {}", on_the_data(law, &experiment.training_set))?;
    }
    Ok(())
}

/// How far the measurements themselves break a law: noise, or a law that is not true.
fn on_the_data(law: &Law, dataset: &Dataset) -> String {
    let (d, mut workspace) = (dataset.state().len(), Workspace::default());
    let (mut steps, mut broken, mut sum) = (0_usize, 0_usize, 0.0);
    for trajectory in dataset.trajectories() {
        let n = trajectory.len();
        let mut residuals = vec![0.0; n];
        let rows = Steps {
            times: &trajectory.times,
            states: &trajectory.states,
            inputs: &trajectory.inputs,
        };
        law.residuals(&rows, &mut workspace, &mut residuals);
        let reach = law.reach();
        for row in reach.range(n) {
            let near = (row - reach.back) * d..(row + reach.ahead + 1) * d;
            // Where a cell is missing nothing is known.
            if !residuals[row].is_finite() || trajectory.states[near].iter().any(|x| x.is_nan()) {
                continue;
            }
            let violation = match law.relation() {
                Relation::Equality => residuals[row].abs(),
                Relation::AtMost => residuals[row].max(0.0),
            };
            steps += 1;
            broken += usize::from(violation > 0.0);
            sum += violation;
        }
    }
    match (steps, broken) {
        (0, _) => "no step of the data is complete enough to look at it".to_owned(),
        (_, 0) => format!("holds at all {steps} steps of the data"),
        _ => format!(
            "the data themselves break it at {broken} of {steps} steps, by {:.1e} on average",
            sum / steps as f64
        ),
    }
}

fn write_data(out: &mut String, experiment: &Experiment) -> std::fmt::Result {
    for (name, dataset) in sets(experiment) {
        let trajectories = dataset.trajectories();
        let scored = |t: &lawful::Trajectory| t.times[t.scored_from.min(t.len() - 1)];
        let first = trajectories.iter().map(scored).fold(f64::INFINITY, f64::min);
        let lasts = trajectories.iter().map(|t| t.times[t.len() - 1]);
        let last = lasts.fold(f64::NEG_INFINITY, f64::max);
        let rows: usize = trajectories.iter().map(|t| t.len() - t.scored_from).sum();
        let what = if name == RECONSTRUCTION { "training" } else { "test" };
        write!(out, "{what:<12}{name}: ")?;
        match trajectories.len() {
            1 => write!(out, "{rows} rows")?,
            several => write!(out, "{several} trajectories, {rows} rows")?,
        }
        write!(out, ", t from {first} to {last}")?;
        match dataset.missing() {
            0 => writeln!(out)?,
            missing => writeln!(out, ", {missing} cells missing")?,
        }
    }
    Ok(())
}

fn write_training(out: &mut String, experiment: &Experiment) -> std::fmt::Result {
    let (field, training) = (&experiment.field, &experiment.training);
    let shape = experiment.shape();
    write!(out, "network     {}", shape.input_len())?;
    for (width, activation) in field.hidden.iter().zip(&field.activations) {
        write!(out, " – {width} {}", activation.name())?;
    }
    write!(out, " – {}, ", experiment.vocabulary.state().len())?;
    writeln!(out, "{} parameters, {} precision", shape.parameter_len(), field.precision.name())?;
    writeln!(out, "solver      {}", method(&experiment.solver))?;
    writeln!(out, "prediction  {}", method(&experiment.predict))?;
    writeln!(out, "strategy    {}", experiment.strategy.label())?;
    let batch = match training.batch {
        Batch::Full => "all data at once".to_owned(),
        Batch::Trajectories { count } => format!("{count} trajectories at a time"),
        Batch::Windows { count, rows } => format!("{count} windows of {rows} rows at a time"),
    };
    let (loss, rate) = (training.loss.name(), training.optimiser.rate);
    writeln!(
        out,
        "training    {} iterations of adam, rate {rate}, loss {loss}, {batch}, seed {}",
        training.iterations, training.seed
    )
}

fn method(method: &Method) -> String {
    let name = method.tableau().name;
    match method.control() {
        Control::Grid { substeps: 1 } => format!("{name}, one step per data interval"),
        Control::Grid { substeps } => format!("{name}, {substeps} steps per data interval"),
        Control::Adaptive(adaptive) => {
            format!("{name}, adaptive, rtol {:e}, atol {:e}", adaptive.rtol, adaptive.atol)
        }
    }
}
