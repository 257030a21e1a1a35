//! The warning about broken laws, with what to try next.

use std::fmt::Write as _;

use lawful::strategy::StrategyKind;
use lawful::{
    Enforcement, FieldPart, Kept, Law, LawReport, LawStatus, LawVerdict, dissipation,
    smooth_equality,
};

use crate::config;
use crate::experiment::Experiment;
use crate::phrases::listed;

/// Returns a warning of several lines about the laws that a model does not keep: each with where and by
/// how much, and then what to try next. `None` if every law is guaranteed or kept.
///
/// `model` names it: `this model`.
pub fn law_warning(experiment: &Experiment, report: &LawReport, model: &str) -> Option<String> {
    let mut paragraphs = Vec::new();
    let (failed, broken): (Vec<_>, Vec<_>) =
        report.faults().partition(|law| law.status == LawStatus::GuaranteeFailed);
    if !failed.is_empty() {
        let mut text = String::from("error: a guarantee of the vector field does not hold");
        add_verdicts(&mut text, &failed);
        text += "\nhint: this is an error in lawful; please report it with the run folder";
        paragraphs.push(text);
    }
    if !broken.is_empty() {
        let mut text = format!("warning: {model} breaks {}", many(broken.len(), report.laws.len()));
        add_verdicts(&mut text, &broken);
        for (hint, laws) in hints(experiment, &broken) {
            let of = if laws.len() == broken.len() {
                String::new()
            } else {
                format!("for {}: ", listed(laws))
            };
            // Writing to a string cannot fail.
            let _ = write!(text, "\nhint: {of}{hint}");
        }
        paragraphs.push(text);
    }
    for path in &report.unsolved {
        let place = path.describe();
        paragraphs.push(format!("warning: the laws are not known {place}: the solver stops there"));
    }
    (!paragraphs.is_empty()).then(|| paragraphs.join("\n"))
}

/// Returns `its only law`, `2 of its 6 laws`.
fn many(broken: usize, all: usize) -> String {
    match (broken, all) {
        (1, 1) => "its law".to_owned(),
        (broken, all) if broken == all => format!("all of its {all} laws"),
        _ => format!("{broken} of its {all} laws"),
    }
}

fn add_verdicts(text: &mut String, laws: &[&LawVerdict]) {
    for law in laws {
        let relation =
            if law.holds == law.name { String::new() } else { format!(" ({})", law.holds) };
        let _ = write!(text, "\n  `{}`{relation} {}", law.name, law.describe());
    }
}

/// Returns what to try next, each with the names of the laws for which it helps, in order.
fn hints<'a>(experiment: &Experiment, broken: &[&'a LawVerdict]) -> Vec<(String, Vec<&'a str>)> {
    let mut hints: Vec<(String, Vec<&str>)> = Vec::new();
    for verdict in broken {
        let names = experiment.law_names();
        let Some(law) = names.iter().position(|name| *name == verdict.name) else { continue };
        let hint = hint(experiment, law, verdict);
        match hints.iter_mut().find(|(known, _)| *known == hint) {
            Some((_, laws)) => laws.push(&verdict.name),
            None => hints.push((hint, vec![&verdict.name])),
        }
    }
    hints
}

/// Returns what to type next for a broken law.
fn hint(experiment: &Experiment, law: usize, verdict: &LawVerdict) -> String {
    let training = &experiment.training;
    let (law, untried) = (&training.laws[law], training.kept[law] == Kept::Penalised(None));
    let has_multipliers = matches!(training.strategy.kind, StrategyKind::AugmentedLagrangian(_));
    let kept_at_rows = verdict.rows <= verdict.tolerance;
    let beyond = verdict.place.as_ref().is_some_and(|place| place.beyond);
    if verdict.status == LawStatus::Undefined {
        "check where it is defined, or add a law that keeps the states there, such as `x >= 0`"
            .to_owned()
    } else if law.enforcement() == Enforcement::Monitor {
        "it is measured only: leave out `strategy = \"monitor\"` under its `[[law]]`, unless the data \
         contradict it (`lawful check` says)"
            .to_owned()
    } else if verdict.start > verdict.tolerance && !training.initial_state {
        "its initial state is off it: correct the first row, or train it with `initial-state = true` \
         under `[training]`"
            .to_owned()
    } else if !has_multipliers {
        "`kind = \"auto\"` under `[strategy]` guarantees laws, or enforces them by multipliers"
            .to_owned()
    } else if untried && can_be_guaranteed(experiment, law) {
        "`strategy = \"hard\"` under its `[[law]]` guarantees it".to_owned()
    } else if let Some(horizon) = horizon(experiment).filter(|_| kept_at_rows && beyond) {
        format!(
            "`horizon = {}` under `[system]` enforces laws up to there",
            experiment.time_origin.shown(horizon)
        )
    } else if kept_at_rows && !beyond && config::has_key("strategy", "between") {
        "it is kept at the rows: `between = 3` under `[strategy]` enforces laws between them"
            .to_owned()
    } else {
        "is it true? If so, give the training more `iterations`".to_owned()
    }
}

/// Returns whether the vector field could guarantee a law.
fn can_be_guaranteed(experiment: &Experiment, law: &Law) -> bool {
    let field = experiment.training.description();
    let known = field.parts.iter().flat_map(|part| match part {
        FieldPart::Known(known) => known.rates.as_slice(),
        _ => &[],
    });
    let index = |name: &String| field.state.iter().position(|state| state == name);
    let known: Vec<usize> = known.filter_map(|(name, _)| index(name)).collect();
    smooth_equality(law, &field.state, &known).is_ok()
        || dissipation(law, &field.state, &known).is_ok()
}

/// Returns the last time at which laws are measured, if laws are not enforced up to there.
fn horizon(experiment: &Experiment) -> Option<f64> {
    let sets = experiment.sets().flat_map(|(_, set)| set.trajectories());
    let ends = sets.filter_map(|trajectory| trajectory.times.last().copied());
    let end = ends.chain(experiment.horizon).fold(f64::NEG_INFINITY, f64::max);
    let horizon = experiment.training.horizon.unwrap_or(f64::NEG_INFINITY);
    (end > horizon).then_some(end)
}
