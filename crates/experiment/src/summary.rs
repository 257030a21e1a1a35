//! What was understood of an experiment, in words.

use std::fmt::Write as _;

use lawful::law::{Steps, Workspace};
use lawful::optimiser::LbfgsScaling;
use lawful::strategy::{Penalise, Penalty};
use lawful::{Control, Law, LearnedConstant, RateDecay, Relation, Schedule, Solver};

use crate::assemble::in_a_line;
use crate::assess::{scored_range, scored_rows};
use crate::experiment::{Experiment, OptimiserSettings, Phase, StrategyKind, Training};
use crate::number::{exact, short};
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
        let learned = experiment.constants.iter().find(|constant| constant.name == *name);
        let how = learned.map(bounds).unwrap_or_default();
        writeln!(out, "constant    {name} = {}{how}", exact(*value))?;
    }
    for (name, definition) in vocabulary.definitions() {
        writeln!(out, "define      {name} = {definition}")?;
    }
    Ok(())
}

/// How a constant is learned, behind its first value.
fn bounds(constant: &LearnedConstant) -> String {
    let above = constant.min.map(|min| format!(", above {}", exact(min)));
    let below = constant.max.map(|max| format!(", below {}", exact(max)));
    let bounds = above.into_iter().chain(below).collect::<String>();
    format!(" at first, learned{bounds}")
}

fn write_laws(out: &mut String, experiment: &Experiment) -> std::fmt::Result {
    if experiment.laws.is_empty() {
        writeln!(out, "laws        none")?;
    }
    for (law, (name, relation)) in experiment.laws.iter().zip(experiment.law_titles()) {
        let kind = match law.relation() {
            Relation::Equality => "equality",
            Relation::AtMost => "inequality",
        };
        let name = if name.is_empty() { name } else { format!("{name}: ") };
        writeln!(out, "law         {name}{relation} ({kind})")?;
        writeln!(out, "            {}", on_the_data(law, experiment))?;
    }
    Ok(())
}

/// How far the measurements themselves break a law: noise, or a law that is not true.
fn on_the_data(law: &Law, experiment: &Experiment) -> String {
    let dataset = &experiment.training_set;
    let firsts: Vec<f64> = experiment.constants.iter().map(|constant| constant.start).collect();
    let (d, mut workspace) = (dataset.state().len(), Workspace::default());
    let (mut steps, mut broken, mut sum, mut largest) = (0_usize, 0_usize, 0.0, 0.0_f64);
    for trajectory in dataset.trajectories() {
        let n = trajectory.len();
        let mut residuals = vec![0.0; n];
        let mut seen = Vec::new();
        lawful::extend_rows(&trajectory.states, d, &firsts, &mut seen);
        let rows = Steps { times: &trajectory.times, states: &seen, inputs: &trajectory.inputs };
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
            largest = largest.max(violation);
        }
    }
    match (steps, broken) {
        (0, _) => "no step of the data is complete enough to look at it".to_owned(),
        (_, 0) => format!("holds at all {steps} steps of the data"),
        _ if largest <= ROUNDING => {
            format!("holds at all {steps} steps of the data, up to rounding")
        }
        _ => format!(
            "the data themselves break it at {broken} of {steps} steps, by {} on average and {} at \
             most",
            short(sum / steps as f64),
            short(largest)
        ),
    }
}

/// Violations up to this come from the arithmetic, not from the data.
const ROUNDING: f64 = 1e-12;

fn write_data(out: &mut String, experiment: &Experiment) -> std::fmt::Result {
    for (name, dataset) in sets(experiment) {
        let (rows, (first, last)) = (scored_rows(dataset), scored_range(dataset));
        match name {
            RECONSTRUCTION => write!(out, "data        {name} (the training set): ")?,
            _ => write!(out, "test        {name}: ")?,
        }
        match dataset.trajectories().len() {
            1 => write!(out, "{rows} rows")?,
            several => write!(out, "{several} trajectories, {rows} rows")?,
        }
        write!(out, ", t from {} to {}", exact(first), exact(last))?;
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
    for (variable, rate) in &field.known {
        let more = if field.learn.contains(variable) { " + network" } else { "" };
        writeln!(out, "known       d{variable}/dt = {}{more}", in_a_line(rate))?;
    }
    for variable in field.learn.iter().filter(|_| !field.known.is_empty()) {
        if !field.known.iter().any(|(known, _)| known == variable) {
            writeln!(out, "learned     d{variable}/dt = network")?;
        }
    }
    if shape.outputs == 0 {
        writeln!(out, "network     none")?;
    } else {
        write!(out, "network     {}", shape.input_len())?;
        for (width, activation) in field.hidden.iter().zip(&field.activations) {
            write!(out, " – {width} {}", activation.name())?;
        }
        write!(out, " – {}, {} parameters", shape.outputs, shape.parameter_len())?;
        writeln!(out, ", {} precision", field.precision.name())?;
    }
    writeln!(out, "solver      {}", method(&experiment.solver))?;
    writeln!(out, "prediction  {}", method(&experiment.predict))?;
    writeln!(out, "strategy    {}", strategy(experiment))?;
    let Training { loss, seed, .. } = training;
    let units = if training.scale { "read off the data" } else { "the data's own" };
    writeln!(out, "training    loss {}, units {units}, seed {seed}", loss.name())?;
    if training.initial_state {
        writeln!(out, "            initial states are trained along")?;
    }
    if training.validation > 0.0 {
        let share = short(100.0 * training.validation);
        writeln!(out, "            {share} % of the data are held out, to stop on")?;
    }
    if training.decay > 0.0 {
        writeln!(out, "            weight decay {}", exact(training.decay))?;
    }
    if let Some(recipe) = training.recipe {
        writeln!(out, "recipe      {recipe}")?;
        for remark in &training.remarks {
            writeln!(out, "            – {remark}")?;
        }
    }
    for (n, phase) in training.phases.iter().enumerate() {
        let title = if training.phases.len() == 1 { String::new() } else { format!("{} ", n + 1) };
        writeln!(out, "phase {title:<6}{}{}", phase.describe(), details(phase))?;
    }
    Ok(())
}

/// The numbers of a phase's optimiser.
fn details(phase: &Phase) -> String {
    match phase.optimiser {
        OptimiserSettings::Adam(adam) => {
            let clip = adam
                .clip
                .map_or(String::new(), |clip| format!(", gradients clipped at {}", exact(clip)));
            let rate = exact(adam.rate);
            format!(", rate {rate}{}{clip}", decay(&phase.schedule, adam.rate))
        }
        OptimiserSettings::Lbfgs(lbfgs) => {
            let by = match lbfgs.scaling {
                LbfgsScaling::Every => "",
                LbfgsScaling::Newest => ", scaled by the newest",
            };
            format!(", memory of {} pairs{by}", lbfgs.memory)
        }
    }
}

/// How the rate changes, behind the rate.
fn decay(schedule: &Schedule, rate: f64) -> String {
    let last = short(rate * schedule.last);
    let text = match schedule.decay {
        RateDecay::Constant => String::new(),
        RateDecay::Cosine => format!(", falling as a cosine to {last}"),
        RateDecay::Exponential => format!(", falling exponentially to {last}"),
    };
    match schedule.warm_up {
        0 => text,
        rise => format!("{text}, after a rise over {rise} iterations"),
    }
}

/// The strategy with the numbers that matter most.
fn strategy(experiment: &Experiment) -> String {
    let strategy = &experiment.strategy;
    let numbers = |mu: &[f64]| mu.iter().map(|mu| exact(*mu)).collect::<Vec<_>>().join(", ");
    let mut text = match &strategy.kind {
        StrategyKind::Vanilla if experiment.laws.is_empty() => "vanilla".to_owned(),
        StrategyKind::Vanilla => "vanilla: laws are measured, not enforced".to_owned(),
        StrategyKind::L1(mu) => format!("l1, mu {}", numbers(mu)),
        StrategyKind::L2(mu) => format!("l2, mu {}", numbers(mu)),
        StrategyKind::SelfAdaptive(settings) => {
            let form = match settings.penalty {
                Penalty::Absolute => "",
                Penalty::Squared => ", squared violations",
            };
            match settings.penalise {
                Penalise::Tolerance => {
                    format!("self-adaptive{form}, tolerance {}", exact(strategy.tolerance))
                }
                Penalise::Always => format!("self-adaptive{form} that always count"),
            }
        }
    };
    if strategy.best_point.is_some() {
        text += ", back to the best point after a worse one";
    }
    text
}

fn method(method: &Solver) -> String {
    let name = method.tableau().name;
    match method.control() {
        Control::Grid { substeps: 1 } => format!("{name}, one step per data interval"),
        Control::Grid { substeps } => format!("{name}, {substeps} steps per data interval"),
        Control::Adaptive(adaptive) => {
            let (rtol, atol) = (exact(adaptive.rtol), exact(adaptive.atol));
            format!("{name}, adaptive, rtol {rtol}, atol {atol}")
        }
    }
}
