//! The summary of an experiment that `lawful check` prints.

use std::fmt::Write as _;

use lawful::{
    Control, CountsAt, Enforcement, Kept, Law, LearnedConstant, Phase, Prepared, RateDecay,
    Relation, Schedule, Solver, exact, short,
};

use crate::config::on_data::{LawValues, law_values};
use crate::experiment::{Experiment, RECONSTRUCTION, in_a_line};
use crate::phrases::counted;
use crate::scores::{scored_range, scored_rows};

/// Returns a summary: system, laws, data, network, solvers, strategy, training.
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
    let vocabulary = &experiment.training.vocabulary;
    writeln!(out, "experiment  {}", experiment.name)?;
    writeln!(out, "state       {}", vocabulary.state().join(", "))?;
    if !vocabulary.inputs().is_empty() {
        writeln!(out, "inputs      {}", vocabulary.inputs().join(", "))?;
    }
    for (name, value) in vocabulary.constants() {
        let learned = experiment.training.constants.iter().find(|constant| constant.name == *name);
        let varies = experiment.training.field.varying.contains(name);
        let each = if varies { ", one value for each trajectory" } else { "" };
        let how = learned.map(|constant| bounds(constant) + each).unwrap_or_default();
        writeln!(out, "constant    {name} = {}{how}", exact(*value))?;
    }
    for (name, definition) in vocabulary.definitions() {
        writeln!(out, "define      {name} = {definition}")?;
    }
    Ok(())
}

/// Returns how a constant is learned, to be printed after its initial value.
fn bounds(constant: &LearnedConstant) -> String {
    let above = constant.min.map(|min| format!(", above {}", exact(min)));
    let below = constant.max.map(|max| format!(", below {}", exact(max)));
    let bounds = above.into_iter().chain(below).collect::<String>();
    format!(" initially, learned{bounds}")
}

fn write_laws(out: &mut String, experiment: &Experiment) -> std::fmt::Result {
    if experiment.training.laws.is_empty() {
        writeln!(out, "laws        none")?;
    }
    let laws = experiment.training.laws.iter().zip(&experiment.training.kept);
    for ((law, kept), (name, relation)) in laws.zip(experiment.law_titles()) {
        let kind = match law.relation() {
            Relation::Equality => "equality",
            Relation::AtMost => "inequality",
        };
        let name = if name.is_empty() { name } else { format!("{name}: ") };
        let monitored = match law.enforcement() {
            Enforcement::Monitor => ", measured only",
            Enforcement::Hard => ", guaranteed",
            Enforcement::Penalty => "",
        };
        writeln!(out, "law         {name}{relation} ({kind}{monitored})")?;
        match kept {
            Kept::Guaranteed(how) => writeln!(out, "            {how}")?,
            Kept::Penalised(Some(why)) => {
                writeln!(out, "            left to the strategy, not guaranteed: {why}")?;
            }
            Kept::Monitored(Some(why)) => writeln!(out, "            {why}")?,
            Kept::Penalised(None) | Kept::Monitored(None) => {}
        }
        let values = law_values(law, &experiment.training.data, &experiment.training.constants);
        writeln!(out, "            {}", on_the_data(law, &values))?;
        if let Some(note) = counts_at(&experiment.training, law) {
            writeln!(out, "            {note}")?;
        }
        if let Some((moment, _)) = &values.first {
            let steps = counted(values.undefined, "step");
            writeln!(
                out,
                "            warning: it has no finite value at {steps}, first at {moment}"
            )?;
        }
    }
    Ok(())
}

/// Returns where a law counts in training, if others count at more places.
fn counts_at(training: &Prepared, law: &Law) -> Option<&'static str> {
    let between = training.strategy.between > 0;
    if law.enforcement() == Enforcement::Hard || !between && training.horizon.is_none() {
        return None;
    }
    match CountsAt::of(law) {
        CountsAt::Rows if between => {
            Some("counts at rows only: between other neighbours it would say something else")
        }
        CountsAt::MeasuredRows => Some("counts at the rows of the data only, as it uses `final`"),
        CountsAt::Points | CountsAt::Rows => None,
    }
}

/// Returns how far the measurements themselves violate a law, because of noise or a wrong law.
fn on_the_data(law: &Law, values: &LawValues) -> String {
    let violations = values.residuals.iter().map(|c| law.relation().violation(*c, 0.0));
    let (mut steps, mut broken, mut sum, mut largest) = (0_usize, 0_usize, 0.0, 0.0_f64);
    for violation in violations {
        steps += 1;
        broken += usize::from(violation > 0.0);
        sum += violation;
        largest = largest.max(violation);
    }
    match (steps, broken) {
        (0, _) => "cannot be checked: every step of the data has missing values".to_owned(),
        (1, 0) => "holds at the only step of the data".to_owned(),
        (_, 0) => format!("holds at all {steps} steps of the data"),
        _ if largest <= ROUNDING => {
            format!("holds at all {steps} steps of the data, up to rounding")
        }
        _ => format!(
            "the data themselves violate it at {broken} of {}, by {} on average and {} at most",
            counted(steps, "step"),
            short(sum / steps as f64),
            short(largest)
        ),
    }
}

/// Violations up to this come from the arithmetic, not from the data.
const ROUNDING: f64 = 1e-12;

fn write_data(out: &mut String, experiment: &Experiment) -> std::fmt::Result {
    for (name, dataset) in experiment.sets() {
        let (rows, (first, last)) = (scored_rows(dataset), scored_range(dataset));
        match name {
            RECONSTRUCTION => write!(out, "data        {name} (the training set): ")?,
            _ => write!(out, "test        {name}: ")?,
        }
        match dataset.trajectories().len() {
            1 => write!(out, "{}", counted(rows, "row"))?,
            several => write!(out, "{several} trajectories, {}", counted(rows, "row"))?,
        }
        let shown = |t| experiment.time_origin.shown(t);
        write!(out, ", t from {} to {}", shown(first), shown(last))?;
        match dataset.missing() {
            0 => writeln!(out)?,
            missing => writeln!(out, ", {} missing", counted(missing, "cell"))?,
        }
    }
    if let Some(note) = experiment.time_note() {
        writeln!(out, "            {note}")?;
    }
    Ok(())
}

fn write_training(out: &mut String, experiment: &Experiment) -> std::fmt::Result {
    let training = &experiment.training;
    let (field, shape) = (&training.field, training.shape());
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
        let parameters = counted(shape.parameter_len(), "parameter");
        write!(out, " – {}, {parameters}", shape.outputs)?;
        writeln!(out, ", {} precision", field.precision.name())?;
    }
    for (variable, coordinates) in &field.coordinates {
        writeln!(out, "            sees `{variable}` in {} coordinates", coordinates.name())?;
    }
    if field.effects > 0 {
        let effects = counted(field.effects, "number");
        writeln!(out, "effects     {effects} of each trajectory, among the inputs of the network")?;
    }
    writeln!(out, "solver      {}", method(&experiment.training.solver))?;
    writeln!(out, "prediction  {}", method(&experiment.training.predict))?;
    writeln!(out, "strategy    {}", strategy(experiment))?;
    let Prepared { loss, seed, .. } = training;
    let scaled = if training.scale { "scaled to order one" } else { "not scaled" };
    writeln!(out, "training    loss {}, {scaled}, seed {seed}", loss.name())?;
    if training.initial_state {
        writeln!(out, "            initial states are trained")?;
    }
    if training.validation > 0.0 {
        let share = short(100.0 * training.validation);
        writeln!(out, "            {share} % of the data are held out for early stopping")?;
    }
    if training.decay > 0.0 {
        writeln!(out, "            weight decay {}", exact(training.decay))?;
    }
    match training.recipe {
        Some(recipe) => writeln!(out, "recipe      {recipe}")?,
        None if training.remarks.is_empty() => {}
        None => writeln!(out, "remarks")?,
    }
    for remark in training.remarks.iter().cloned().chain(expected(training)) {
        writeln!(out, "            – {remark}")?;
    }
    for (n, phase) in training.phases.iter().enumerate() {
        let title = if training.phases.len() == 1 { String::new() } else { format!("{} ", n + 1) };
        writeln!(out, "phase {title:<6}{}{}", phase.describe(), details(phase))?;
    }
    Ok(())
}

/// Returns how long the planned phases will take here, if they take long enough to begin on a part.
pub fn expected(training: &Prepared) -> Option<String> {
    let seconds = training.expected_time()?.as_secs_f64();
    let time = if seconds < 90.0 {
        format!("{seconds:.0} seconds")
    } else if seconds < 5400.0 {
        format!("{:.0} minutes", seconds / 60.0)
    } else {
        format!("{:.0} hours", seconds / 3600.0)
    };
    Some(format!("expected time: about {time} on this machine, from the time of one evaluation"))
}

/// Returns the settings of the optimiser of a phase.
fn details(phase: &Phase) -> String {
    let rate = phase.optimiser.rate().map_or(String::new(), |rate| {
        format!(", rate {}{}", exact(rate), rate_decay(&phase.schedule, rate))
    });
    rate + &phase.optimiser.details()
}

/// Returns how the rate changes, to be printed after the rate.
fn rate_decay(schedule: &Schedule, rate: f64) -> String {
    let last = short(rate * schedule.last);
    let text = match schedule.decay {
        RateDecay::Constant => String::new(),
        RateDecay::Cosine => format!(", falling as a cosine to {last}"),
        RateDecay::Exponential => format!(", falling exponentially to {last}"),
    };
    match schedule.warm_up {
        0 => text,
        rise => format!("{text}, after a warm-up of {}", counted(rise, "iteration")),
    }
}

/// Returns the strategy with its main settings.
fn strategy(experiment: &Experiment) -> String {
    let strategy = &experiment.training.strategy;
    let mut text = format!("{}{}", strategy.kind.name(), strategy.kind.details());
    if !strategy.kind.enforces() && !experiment.training.laws.is_empty() {
        text += ": laws are measured, not enforced";
    }
    if strategy.best_point.is_some() {
        text += ", returns to the best point after a worse one";
    }
    if strategy.between > 0 && !experiment.training.laws.is_empty() {
        let points = counted(strategy.between, "point");
        let _ = write!(text, "; laws count at {points} inside each interval, too");
    }
    if let Some(horizon) = experiment.training.horizon {
        let _ = write!(text, "; laws count up to t = {}", experiment.time_origin.shown(horizon));
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
